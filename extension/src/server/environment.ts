/**
 * The private environment: a virtual environment in the extension's own storage with the server that the extension
 * brings along. Each set-up makes a new folder; a stamp, which is written last, says which folder is used. So nobody
 * can take an interrupted set-up for a complete one, and a running server keeps its files.
 */

import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "vscode";
import { WindowLock } from "./lock";
import type { Run, RunOptions } from "./process";
import { environmentPython, type Probe, pythonEnvironment } from "./python";
import { pipFailure, SetUpError, type SetUpFailure, uvFailure, venvFailure } from "./setUpFailures";

/** What the extension brings along to install. */
export interface Payload {
  readonly wheel: string;
  readonly constraints: string;
  readonly version: string;
  /** The extras of the wheel that are installed, separated by commas. */
  readonly extras: string;
  /** Changes with the wheel's name, the extras, and any byte of either file. */
  readonly fingerprint: string;
}

export type EnvironmentState =
  | { readonly kind: "none" }
  /** The interpreter is gone: somebody removed the environment's folder, or the Python that made the environment. */
  | { readonly kind: "broken"; readonly base: string | undefined }
  /**
   * `current`: it was made from the payload that the extension brings along now. `base`: the Python that it was made
   * with; undefined where an older version of the extension made it and did not record its Python.
   */
  | {
      readonly kind: "ready";
      readonly python: string;
      readonly version: string;
      readonly current: boolean;
      readonly base: string | undefined;
    };

export interface SetUpOptions {
  /** The interpreter that the environment is made with. */
  readonly base: string;
  /** The program uv; without it, or where it fails, the environment is made with venv and pip. */
  readonly uv?: string | undefined;
  readonly signal: AbortSignal;
  /** Called while another window makes the environment. */
  readonly onWait: () => void;
  /** Gets every line of output. */
  readonly onLine: (line: string) => void;
}

interface Stamp {
  readonly folder: string;
  readonly version: string;
  readonly fingerprint: string;
  readonly base?: string;
}

const STAMP = "environment.json";
const FOLDERS = "environments";
/** A link to the environment in use. */
const CURRENT = "current";
const POLL_MS = 500;
/** Failures of uv that venv and pip may not have. */
const OF_UV: readonly SetUpFailure[] = ["failed", "no_network", "no_package"];

/** The wheel and the constraints in a folder, if there are any. Voyage's client needs a fifth of all packages. */
export async function findPayload(folder: string, voyage: boolean): Promise<Payload | undefined> {
  try {
    const names = await fs.readdir(folder);
    const wheel = names.find((name) => /^adk_evidence-[^-]+-.*\.whl$/.test(name));
    if (!wheel) {
      return undefined;
    }
    const files = { wheel: path.join(folder, wheel), constraints: path.join(folder, "constraints.txt") };
    const extras = voyage ? "mcp,voyage" : "mcp";
    const hash = createHash("sha256").update(`${wheel}[${extras}]`);
    for (const file of [files.wheel, files.constraints]) {
      hash.update(await fs.readFile(file));
    }
    return { ...files, version: wheel.split("-")[1] ?? "", extras, fingerprint: hash.digest("hex") };
  } catch {
    return undefined;
  }
}

export class PrivateEnvironment {
  private readonly setUps = new EventEmitter<void>();

  /** Fires when the environment was set up, also where this window waited for another that did it. */
  readonly onDidSetUp = this.setUps.event;

  /**
   * @param root The extension's storage.
   * @param payload The wheel and the constraints that the extension brings along.
   */
  constructor(
    private readonly root: string,
    private readonly payload: () => Promise<Payload | undefined>,
    private readonly run: Run,
    private readonly probe: Probe,
  ) {}

  /** Whether there is something to install. */
  async canBeSetUp(): Promise<boolean> {
    return (await this.payload()) !== undefined;
  }

  /** The state of the environment. Starts no program. */
  async state(): Promise<EnvironmentState> {
    const stamp = await this.stamp();
    if (!stamp) {
      return { kind: "none" };
    }
    const python = environmentPython(path.join(this.root, FOLDERS, stamp.folder));
    if (!(await exists(python))) {
      return { kind: "broken", base: stamp.base };
    }
    const payload = await this.payload();
    const current = payload === undefined || payload.fingerprint === stamp.fingerprint;
    return { kind: "ready", python, version: stamp.version, current, base: stamp.base };
  }

  /**
   * Makes the environment, unless another window has made it meanwhile.
   *
   * @throws SetUpError
   */
  async setUp(options: SetUpOptions): Promise<void> {
    const payload = await this.payload();
    if (!payload) {
      throw new SetUpError("no_payload");
    }
    await guard(() => fs.mkdir(path.join(this.root, FOLDERS), { recursive: true }));
    const lock = await this.lock(options);
    try {
      const state = await this.state();
      if (!(lock.waited && state.kind === "ready" && state.current)) {
        await this.removeLeftovers();
        await this.make(payload, options);
      }
    } finally {
      await lock.release();
    }
    this.setUps.fire();
  }

  private async lock(options: SetUpOptions): Promise<{ waited: boolean; release: () => Promise<void> }> {
    const lock = new WindowLock(path.join(this.root, "set-up.lock"));
    let waited = false;
    while (!(await guard(() => lock.take()))) {
      waited = true;
      options.onWait();
      // An abort ends the wait; the next lines handle it.
      await delay(POLL_MS, undefined, { signal: options.signal }).catch(() => undefined);
      if (options.signal.aborted) {
        throw new SetUpError("cancelled");
      }
    }
    return { waited, release: () => lock.release() };
  }

  private async make(payload: Payload, options: SetUpOptions): Promise<void> {
    const name = `${payload.version}-${randomBytes(4).toString("hex")}`;
    const folder = path.join(this.root, FOLDERS, name);
    const python = environmentPython(folder);
    try {
      const failed = options.uv === undefined ? "failed" : await this.makeWithUv(options.uv, folder, payload, options);
      if (failed !== null) {
        const reason = (output: string) => {
          const own = venvFailure(output);
          // uv needs no venv, so its own failure is what the user can mend.
          return own === "no_venv" && failed !== "failed" ? failed : own;
        };
        await this.step(options.base, ["-I", "-m", "venv", folder], options, reason);
        await this.step(python, pipArguments(payload), options, pipFailure);
      }
      const probed = await this.probe(python);
      if (!("python" in probed) || probed.python.package !== payload.version) {
        throw new SetUpError("not_installed");
      }
      const { version, fingerprint } = payload;
      await this.write({ folder: name, version, fingerprint, base: options.base });
    } catch (error) {
      await fs.rm(folder, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Returns why uv cannot make the environment, and null where it has: uv may be old, or only pip may be configured to
   * reach a package index.
   */
  private async makeWithUv(
    uv: string,
    folder: string,
    payload: Payload,
    options: SetUpOptions,
  ): Promise<SetUpFailure | null> {
    try {
      // With pip in it: pip's modules tell which packages are missing.
      const venv = ["venv", "--no-project", "--seed", "--python", options.base, folder];
      await this.step(uv, venv, options, uvFailure);
      await this.step(uv, uvArguments(payload, environmentPython(folder)), options, uvFailure);
      return null;
    } catch (error) {
      if (!(error instanceof SetUpError) || !OF_UV.includes(error.failure)) {
        throw error;
      }
      options.onLine("uv could not make the environment; venv and pip are tried.");
      await fs.rm(folder, { recursive: true, force: true }).catch(() => undefined);
      return error.failure;
    }
  }

  private async step(
    command: string,
    args: readonly string[],
    options: SetUpOptions,
    failure: (output: string) => SetUpFailure,
  ): Promise<void> {
    const runOptions: RunOptions = {
      cwd: this.root,
      env: pythonEnvironment(),
      signal: options.signal,
      onLine: options.onLine,
    };
    const done = await this.run(command, args, runOptions);
    if (done.end === "cancelled") {
      throw new SetUpError("cancelled");
    }
    if (done.code !== 0) {
      throw new SetUpError(failure(`${done.stdout}\n${done.stderr}`));
    }
  }

  private async write(stamp: Stamp): Promise<void> {
    const file = path.join(this.root, STAMP);
    const draft = `${file}.${randomBytes(4).toString("hex")}`;
    await guard(async () => {
      await fs.writeFile(draft, `${JSON.stringify(stamp)}\n`);
      await fs.rename(draft, file);
    });
    const link = path.join(this.root, CURRENT);
    await fs.rm(link, { force: true }).catch(() => undefined);
    await fs.symlink(path.join(this.root, FOLDERS, stamp.folder), link, "junction").catch(() => undefined);
  }

  /** A path of the environment's interpreter that stays when the environment is made anew; others stay as they are. */
  async lasting(python: string): Promise<string> {
    const state = await this.state();
    const lasting = environmentPython(path.join(this.root, CURRENT));
    return state.kind === "ready" && state.python === python && (await exists(lasting)) ? lasting : python;
  }

  private async stamp(): Promise<Stamp | undefined> {
    try {
      const found: unknown = JSON.parse(await fs.readFile(path.join(this.root, STAMP), "utf8"));
      return isStamp(found) ? found : undefined;
    } catch {
      return undefined;
    }
  }

  /** Removes what interrupted set-ups left, and older environments. */
  private async removeLeftovers(): Promise<void> {
    const kept = (await this.stamp())?.folder;
    const folder = path.join(this.root, FOLDERS);
    for (const name of await fs.readdir(folder)) {
      // A file in use cannot be removed everywhere; the next set-up tries again.
      if (name !== kept) {
        await fs.rm(path.join(folder, name), { recursive: true, force: true }).catch(() => undefined);
      }
    }
  }
}

function pipArguments({ wheel, extras, constraints }: Payload): string[] {
  // --no-user: a setting for the whole machine would make pip refuse to install into an environment.
  // --no-compile: Python compiles what it imports, a fraction of what pip would compile before the first answer.
  const quiet = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-user", "--no-compile"];
  return ["-I", "-m", "pip", "install", ...quiet, "--constraint", constraints, `${wheel}[${extras}]`];
}

function uvArguments({ wheel, extras, constraints }: Payload, python: string): string[] {
  return ["pip", "install", "--python", python, "--constraint", constraints, `${wheel}[${extras}]`];
}

function isStamp(found: unknown): found is Stamp {
  if (typeof found !== "object" || found === null) {
    return false;
  }
  const { folder, version, fingerprint, base } = found as Record<string, unknown>;
  // The folder's name becomes part of a path that is run.
  const plain = typeof folder === "string" && /^[A-Za-z0-9._+-]+$/.test(folder) && !/^\.+$/.test(folder);
  const named = base === undefined || typeof base === "string";
  return plain && named && typeof version === "string" && typeof fingerprint === "string";
}

async function exists(file: string): Promise<boolean> {
  try {
    await fs.stat(file);
    return true;
  } catch {
    return false;
  }
}

async function guard<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const full = error instanceof Error && "code" in error && error.code === "ENOSPC";
    throw new SetUpError(full ? "disk_full" : "not_writable");
  }
}
