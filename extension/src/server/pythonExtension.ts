/** The Python extension, where there is one: which interpreters it knows, and which it uses for a folder. */

import * as vscode from "vscode";

const ID = "ms-python.python";
const ANSWER_MS = 10_000;

/** The parts of its API that are used; it is another extension's, so each is checked before it is called. */
interface Environments {
  getActiveEnvironmentPath?(resource?: vscode.Uri): unknown;
  resolveEnvironment?(environment: unknown): Promise<unknown>;
  onDidChangeActiveEnvironmentPath?(listener: () => void): vscode.Disposable;
  known?: unknown;
}

/** The interpreter that it uses for a folder. */
export async function activePython(scope: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = await withinTime(environmentsOf());
  if (!environments?.getActiveEnvironmentPath || !environments.resolveEnvironment) {
    return undefined;
  }
  try {
    const chosen = environments.getActiveEnvironmentPath(scope);
    return executableOf(await withinTime(environments.resolveEnvironment(chosen)));
  } catch {
    return undefined;
  }
}

/** The interpreters that it has found on this machine. */
export async function knownPythons(): Promise<string[]> {
  const known = (await withinTime(environmentsOf()))?.known;
  if (!Array.isArray(known)) {
    return [];
  }
  return known.map(executableOf).filter((file) => file !== undefined);
}

/** Calls back when another interpreter is chosen. It is not activated for that: until it is, it has chosen none. */
export function onDidChangePython(listener: () => void): vscode.Disposable {
  const changes: vscode.Disposable[] = [];
  let listening = false;
  const attach = () => {
    const extension = vscode.extensions.getExtension<unknown>(ID);
    if (listening || !extension?.isActive) {
      return;
    }
    const change = environmentsIn(extension.exports)?.onDidChangeActiveEnvironmentPath;
    if (!change) {
      return;
    }
    listening = true;
    changes.push(change(listener));
  };
  attach();
  changes.push(vscode.extensions.onDidChange(attach));
  attachments.add(attach);
  return {
    dispose: () => {
      attachments.delete(attach);
      for (const change of changes) {
        change.dispose();
      }
    },
  };
}

const attachments = new Set<() => void>();

async function environmentsOf(): Promise<Environments | undefined> {
  const extension = vscode.extensions.getExtension<unknown>(ID);
  if (!extension) {
    return undefined;
  }
  try {
    const api = extension.isActive ? extension.exports : await extension.activate();
    for (const attach of attachments) {
      attach();
    }
    return environmentsIn(api);
  } catch {
    return undefined;
  }
}

function environmentsIn(api: unknown): Environments | undefined {
  const found = member(api, "environments");
  return typeof found === "object" && found !== null ? (found as Environments) : undefined;
}

function executableOf(environment: unknown): string | undefined {
  const path = member(member(member(environment, "executable"), "uri"), "fsPath");
  return typeof path === "string" && path ? path : undefined;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

async function withinTime<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ANSWER_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
