/**
 * The extensions for Python, where there are any: which interpreters they know, and which they use for a folder. The
 * Python Environments extension comes first, as the Python extension leaves interpreters to it where it is installed.
 */

import path from "node:path";
import { type Environment, PVSC_EXTENSION_ID, PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";
import { withinTime } from "./time";

const ANSWER_MS = 10_000;

const ENVIRONMENTS_EXTENSION_ID = "ms-python.vscode-python-envs";

type Environments = PythonExtension["environments"];

/** What is used of the API of the Python Environments extension. */
interface EnvironmentsApi {
  getEnvironment?(scope: vscode.Uri | undefined): Promise<ManagedEnvironment | undefined>;
  getEnvironments?(scope: "all"): Promise<readonly ManagedEnvironment[]>;
  onDidChangeEnvironment?(listener: () => void): vscode.Disposable;
}

interface ManagedEnvironment {
  readonly execInfo?: { readonly run?: { readonly executable?: unknown } };
}

const changes = new vscode.EventEmitter<void>();
/** The APIs that are listened to. */
const attached = new WeakSet<object>();

/** The interpreter that is used for a folder. */
export async function activePython(scope: vscode.Uri | undefined): Promise<string | undefined> {
  const managed = await askManager(async (api) => programOf(await api.getEnvironment?.(scope)));
  return (
    managed ??
    ask(async (environments) => {
      const chosen = environments.getActiveEnvironmentPath(scope);
      return executableOf(await inTime(environments.resolveEnvironment(chosen)));
    })
  );
}

/** The interpreters that were found on this machine. */
export async function knownPythons(): Promise<string[]> {
  const managed = await askManager(async (api) => (await api.getEnvironments?.("all"))?.map(programOf));
  const known = await ask(async (environments) => environments.known.map(executableOf));
  return [...new Set([...(managed ?? []), ...(known ?? [])].filter((file) => file !== undefined))];
}

/** Calls back when another interpreter is chosen. An extension that is not active has chosen none, and stays so. */
export function onDidChangePython(listener: () => void): vscode.Disposable {
  attach();
  return vscode.Disposable.from(changes.event(listener), vscode.extensions.onDidChange(attach));
}

/** Asks the Python Environments extension; undefined where it is missing, turned off, slow, or has another API. */
async function askManager<T>(question: (api: EnvironmentsApi) => Promise<T>): Promise<T | undefined> {
  const extension = vscode.extensions.getExtension<EnvironmentsApi | undefined>(ENVIRONMENTS_EXTENSION_ID);
  try {
    const api = extension && (await inTime(Promise.resolve(extension.activate())));
    attach();
    return api ? await inTime(question(api)) : undefined;
  } catch {
    return undefined;
  }
}

/** Asks the Python extension, which may be missing, slow, or of a version with another API; undefined then. */
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
  const changed = () => changes.fire();
  follow<Partial<PythonExtension>>(PVSC_EXTENSION_ID, (api) =>
    api.environments?.onDidChangeActiveEnvironmentPath?.(changed),
  );
  follow<EnvironmentsApi>(ENVIRONMENTS_EXTENSION_ID, (api) => api.onDidChangeEnvironment?.(changed));
}

/** Listens once to an extension that is active. */
function follow<T extends object>(id: string, listen: (api: T) => void): void {
  const extension = vscode.extensions.getExtension<T | undefined>(id);
  const api = extension?.isActive ? extension.exports : undefined;
  if (api && !attached.has(api)) {
    attached.add(api);
    listen(api);
  }
}

function programOf(environment: ManagedEnvironment | undefined): string | undefined {
  const program = environment?.execInfo?.run?.executable;
  return typeof program === "string" && path.isAbsolute(program) ? program : undefined;
}

function executableOf(environment: Pick<Environment, "executable"> | undefined): string | undefined {
  const path: unknown = environment?.executable.uri?.fsPath;
  return typeof path === "string" && path ? path : undefined;
}

function inTime<T>(work: Promise<T>): Promise<T> {
  return withinTime(work, ANSWER_MS, () => new Error("no answer in time"));
}
