/** The Python extension, where there is one: which interpreters it knows, and which it uses for a folder. */

import { type Environment, PVSC_EXTENSION_ID, PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";
import { withinTime } from "./time";

const ANSWER_MS = 10_000;

type Environments = PythonExtension["environments"];

const changes = new vscode.EventEmitter<void>();
let attached = false;

/** The interpreter that it uses for a folder. */
export function activePython(scope: vscode.Uri | undefined): Promise<string | undefined> {
  return ask(async (environments) => {
    const chosen = environments.getActiveEnvironmentPath(scope);
    return executableOf(await inTime(environments.resolveEnvironment(chosen)));
  });
}

/** The interpreters that it has found on this machine. */
export async function knownPythons(): Promise<string[]> {
  const known = await ask(async (environments) => environments.known.map(executableOf));
  return known?.filter((file) => file !== undefined) ?? [];
}

/** Calls back when another interpreter is chosen. An extension that is not active has chosen none, and stays so. */
export function onDidChangePython(listener: () => void): vscode.Disposable {
  attach();
  return vscode.Disposable.from(changes.event(listener), vscode.extensions.onDidChange(attach));
}

/** Asks another extension, which may be missing, slow, or of a version with another API; undefined then. */
async function ask<T>(question: (environments: Environments) => Promise<T>): Promise<T | undefined> {
  try {
    const { environments } = await inTime(PythonExtension.api());
    attach();
    return await question(environments);
  } catch {
    return undefined;
  }
}

function attach(): void {
  const extension = vscode.extensions.getExtension<Partial<PythonExtension>>(PVSC_EXTENSION_ID);
  if (!attached && extension?.isActive) {
    attached = true;
    extension.exports?.environments?.onDidChangeActiveEnvironmentPath?.(() => changes.fire());
  }
}

function executableOf(environment: Pick<Environment, "executable"> | undefined): string | undefined {
  const path: unknown = environment?.executable.uri?.fsPath;
  return typeof path === "string" && path ? path : undefined;
}

function inTime<T>(work: Promise<T>): Promise<T> {
  return withinTime(work, ANSWER_MS, () => new Error("no answer in time"));
}
