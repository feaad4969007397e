/** Python interpreters: what an interpreter is and has, and how it starts the server. */

import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { findOnPath } from "./paths";
import type { Run } from "./process";

export const OLDEST_PYTHON = "3.11";

/** What a probe found out about an interpreter. */
export interface Python {
  readonly path: string;
  readonly version: string;
  /** Version of the package `adk-evidence`; null where it is not installed. */
  readonly package: string | null;
  /** Names of packages that `adk-evidence` needs and that are not there, as far as that can be told. */
  readonly missing: readonly string[];
  /** Whether the interpreter can make environments: some systems ship the modules for that separately. */
  readonly makesEnvironments: boolean;
}

export type ProbeFailure = "missing" | "too_old" | "timed_out" | "failed";
export type Probed = { readonly python: Python } | { readonly failure: ProbeFailure };
export type Probe = (interpreter: string) => Promise<Probed>;

const PROBE_MS = 10_000;
const PROBE = `
import json, sys
from importlib import metadata, util
try:
    package = metadata.version("adk-evidence")
except metadata.PackageNotFoundError:
    package = None
makes = all(util.find_spec(name) for name in ("venv", "ensurepip"))
def is_there(name):
    try:
        files = metadata.files(name)
    except metadata.PackageNotFoundError:
        return False
    module = next((file for file in files or () if file.suffix == ".py" and ".." not in file.parts), None)
    return module is None or module.locate().exists()
def lacking(name, seen):
    seen.add(name)
    if not is_there(name):
        return [name]
    needed = [Requirement(line) for line in metadata.requires(name) or ()]
    wanted = [one.name for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [gone for one in wanted if one not in seen for gone in lacking(one, seen)]
missing = []
try:
    from pip._vendor.packaging.requirements import Requirement
    missing = lacking("adk-evidence", set()) if package is not None else []
except Exception:
    # Without pip nobody can tell.
    pass
print(json.dumps({
    "version": ".".join(map(str, sys.version_info[:3])), "package": package, "makes": makes, "missing": missing,
}))
`;

/** -E and -P: neither variables of the shell nor modules in the current folder may change what runs. */
const ISOLATED = ["-E", "-P"];

/** Asks interpreters what they are. An answer holds until the interpreter's file changes or it is forgotten. */
export class Prober {
  private readonly known = new Map<string, { mtime: number; probed: Promise<Probed> }>();

  constructor(private readonly run: Run) {}

  readonly probe: Probe = async (interpreter) => {
    const mtime = await modified(interpreter);
    if (mtime === undefined) {
      return { failure: "missing" };
    }
    const known = this.known.get(interpreter);
    if (known?.mtime === mtime) {
      return known.probed;
    }
    const probed = this.ask(interpreter);
    this.known.set(interpreter, { mtime, probed });
    return probed;
  };

  /** Forgets all answers: packages may have been installed since. */
  forget(): void {
    this.known.clear();
  }

  private async ask(interpreter: string): Promise<Probed> {
    const options = { cwd: os.homedir(), env: pythonEnvironment(), timeoutMs: PROBE_MS };
    const done = await this.run(interpreter, [...ISOLATED, "-c", PROBE], options);
    if (done.end === "timed_out") {
      return { failure: "timed_out" };
    }
    // -P came with 3.11.
    if (/unknown option:? '?-P/i.test(done.stderr)) {
      return { failure: "too_old" };
    }
    const answer = done.code === 0 ? readAnswer(done.stdout) : undefined;
    return answer ? { python: { path: interpreter, ...answer } } : { failure: "failed" };
  }
}

function readAnswer(stdout: string): Omit<Python, "path"> | undefined {
  try {
    const found: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    if (typeof found !== "object" || found === null) {
      return undefined;
    }
    const { version, package: installed, makes, missing } = found as Record<string, unknown>;
    if (typeof version !== "string") {
      return undefined;
    }
    return {
      version,
      package: typeof installed === "string" ? installed : null,
      missing: Array.isArray(missing) ? missing.filter((name) => typeof name === "string") : [],
      makesEnvironments: makes === true,
    };
  } catch {
    return undefined;
  }
}

async function modified(file: string): Promise<number | undefined> {
  try {
    return (await fs.stat(file)).mtimeMs;
  } catch {
    return undefined;
  }
}

/** Arguments that make an interpreter the language server. After the start a setting decides how much it logs. */
export function serverArguments(): string[] {
  // Not the installed script: in a copied or moved environment the script names an interpreter that is gone.
  const program = ["-c", "from adk_evidence_cli.entry import evidence; evidence()"];
  return [...ISOLATED, "-X", "utf8", ...program, "serve", "lsp", "--log-level", "info"];
}

/** Variables that would make one interpreter load another's modules. */
export const FOREIGN_VARIABLES: readonly string[] = ["PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__"];

/** The editor's environment without these variables. */
export function pythonEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN_VARIABLES.includes(name)));
}

/** Where a virtual environment has its interpreter. */
export function environmentPython(folder: string): string {
  return process.platform === "win32" ? path.join(folder, "Scripts", "python.exe") : path.join(folder, "bin", "python");
}

/** Names of interpreters, ordered by how likely the needed packages are published for them. */
const NAMES = ["python3.13", "python3.12", "python3.11", "python3.14", "python3", "python"];

/** The interpreters on PATH. */
export async function pythonsOnPath(env: NodeJS.ProcessEnv): Promise<string[]> {
  const found = await Promise.all(NAMES.map((name) => findOnPath(name, env)));
  return [...new Set(found.filter((file) => file !== undefined))];
}

/** The interpreters that the `py` launcher of Windows knows. */
export async function pythonsOfLauncher(
  run: Run,
  env: NodeJS.ProcessEnv,
  launcher: Promise<string | undefined> = process.platform === "win32" ? findOnPath("py", env) : NOWHERE,
): Promise<string[]> {
  const found = await launcher;
  return found === undefined ? [] : pathsIn(await outputOf(run, found, ["-0p"]));
}

/** The interpreter that uv would take, be it one that uv has installed. uv downloads nothing for this. */
export async function pythonOfUv(run: Run, uv: string | undefined): Promise<string[]> {
  const wanted = ["python", "find", "--no-project", `>=${OLDEST_PYTHON}`];
  const output = uv === undefined ? "" : await outputOf(run, uv, wanted);
  const file = output.trim();
  return path.isAbsolute(file) && !file.includes("\n") ? [file] : [];
}

/** The program uv on PATH. */
export function findUv(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return findOnPath("uv", env);
}

const NOWHERE = Promise.resolve(undefined);

async function outputOf(run: Run, program: string, args: readonly string[]): Promise<string> {
  const options = { cwd: os.homedir(), env: pythonEnvironment(), timeoutMs: PROBE_MS };
  const done = await run(program, args, options);
  return done.code === 0 ? done.stdout : "";
}

/** The paths in lines such as ` -V:3.12 *        C:\Python312\python.exe`; the star marks the usual interpreter. */
function pathsIn(output: string): string[] {
  const lines = output.split(/\r?\n/).map((line) => /^\s*-\S+\s+(?:\*\s+)?(\S.*?)(?:\s+\*)?\s*$/.exec(line)?.[1]);
  return lines.filter((file) => file !== undefined && path.win32.isAbsolute(file)).map(String);
}

/** Whether an environment for the server can be made with an interpreter. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major === 3 && minor >= 11;
}

/** Whether a server of one version fits an extension of another: the wire may change with the minor version. */
export function areCompatible(server: string, extension: string): boolean {
  const release = (version: string) => /^(\d+\.\d+)(?!\d)/.exec(version)?.[1];
  return release(server) !== undefined && release(server) === release(extension);
}
