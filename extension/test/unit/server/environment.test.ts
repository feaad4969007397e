import assert from "node:assert/strict";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { findBase, setUpEnvironment } from "../../../src/commands/environment";
import { findPayload, PrivateEnvironment, type SetUpStep } from "../../../src/server/environment";
import type { ServerPool } from "../../../src/server/pool";
import { PROBLEMS } from "../../../src/server/problems";
import type { Finished, Run } from "../../../src/server/process";
import { environmentPython, type Probe, type Prober } from "../../../src/server/python";
import type { SetUpFailure } from "../../../src/server/setUpFailures";

const DONE: Finished = { code: 0, stdout: "", stderr: "", end: "exited" };

describe("the private environment", () => {
  let root: string;
  let payloads: string;
  /** What each step of the next set-up does. */
  let venv: () => Promise<Finished>;
  let pip: () => Promise<Finished>;
  let installed: string | null;
  let commands: string[][];

  const run: Run = async (command, args) => {
    commands.push([command, ...args]);
    if (args.includes("venv")) {
      const python = environmentPython(args.at(-1) ?? "");
      await fs.mkdir(path.dirname(python), { recursive: true });
      await fs.writeFile(python, "");
      return venv();
    }
    return pip();
  };
  const probe: Probe = async (python) => ({
    python: { path: python, version: "3.12.0", package: installed, missing: [], makesEnvironments: true },
  });
  const environment = () => new PrivateEnvironment(root, () => findPayload(payloads), run, probe);
  const setUp = (signal = new AbortController().signal, onStep: (step: SetUpStep) => void = () => undefined) =>
    environment().setUp({ base: "/base/python", signal, onStep, onLine: () => undefined });
  const bring = async (version: string, text = "wheel") => {
    await fs.rm(payloads, { recursive: true, force: true });
    await fs.mkdir(payloads, { recursive: true });
    await fs.writeFile(path.join(payloads, `adk_evidence-${version}-py3-none-any.whl`), text);
    await fs.writeFile(path.join(payloads, "constraints.txt"), "numpy==2.0\n");
    installed = version;
  };
  const folders = () => fs.readdir(path.join(root, "environments")).catch((): string[] => []);
  const fails = (failure: SetUpFailure, work: Promise<void>) => assert.rejects(work, { failure });

  beforeEach(async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), "adk-evidence-environment-"));
    root = path.join(folder, "storage");
    payloads = path.join(folder, "server");
    venv = async () => DONE;
    pip = async () => DONE;
    commands = [];
    await bring("1.2.3");
  });
  afterEach(() => fs.rm(path.dirname(root), { recursive: true, force: true }));

  it("is made of the wheel and the constraints that the extension brings along", async () => {
    const steps: SetUpStep[] = [];
    assert.deepEqual(await environment().state(), { kind: "none" });
    await setUp(undefined, (step) => steps.push(step));
    const state = await environment().state();
    assert.ok(state.kind === "ready" && state.current);
    assert.equal(state.version, "1.2.3");
    assert.deepEqual(steps, ["creating", "installing", "checking"]);
    assert.deepEqual(commands[0]?.slice(0, 4), ["/base/python", "-I", "-m", "venv"]);
    assert.equal(commands[1]?.[0], state.python);
    assert.deepEqual(commands[1]?.slice(-3), [
      "--constraint",
      path.join(payloads, "constraints.txt"),
      `${path.join(payloads, "adk_evidence-1.2.3-py3-none-any.whl")}[mcp,voyage]`,
    ]);
  });

  it("is told of once it is there, and not after a failure", async () => {
    const made = environment();
    const states: string[] = [];
    const told: Promise<void>[] = [];
    made.onDidSetUp(() => {
      told.push(made.state().then(({ kind }) => void states.push(kind)));
    });
    const options = { base: "/base/python", signal: new AbortController().signal, onStep() {}, onLine() {} };
    pip = async () => ({ ...DONE, code: 1 });
    await assert.rejects(made.setUp(options));
    pip = async () => DONE;
    await made.setUp(options);
    await Promise.all(told);
    assert.deepEqual(states, ["ready"]);
  });

  it("is begun anew after an interruption, and nothing of the first try stays", async () => {
    const left = path.join(root, "environments", "1.2.3-dead");
    await fs.mkdir(path.dirname(environmentPython(left)), { recursive: true });
    await fs.writeFile(environmentPython(left), "");
    assert.deepEqual(await environment().state(), { kind: "none" });
    await setUp();
    assert.equal((await environment().state()).kind, "ready");
    const kept = await folders();
    assert.equal(kept.length, 1);
    assert.ok(!kept.includes("1.2.3-dead"));
  });

  it("is another once the extension brings other bytes along; the old one serves until then and a while longer", async () => {
    await setUp();
    const old = await environment().state();
    await bring("1.2.4");
    const outdated = await environment().state();
    assert.ok(old.kind === "ready" && outdated.kind === "ready");
    assert.deepEqual([outdated.current, outdated.version, outdated.python], [false, "1.2.3", old.python]);
    await setUp();
    const updated = await environment().state();
    assert.ok(updated.kind === "ready" && updated.current);
    assert.equal(updated.version, "1.2.4");
    await fs.access(old.python);
    await bring("1.2.4", "rebuilt");
    const rebuilt = await environment().state();
    assert.ok(rebuilt.kind === "ready" && !rebuilt.current);
    await setUp();
    await assert.rejects(fs.access(old.python));
  });

  it("stays as it was where an update fails", async () => {
    await setUp();
    await bring("1.2.4");
    pip = async () => ({ ...DONE, code: 1, stderr: "ERROR: No matching distribution found for numpy" });
    await fails("no_package", setUp());
    const state = await environment().state();
    assert.ok(state.kind === "ready");
    assert.equal(state.version, "1.2.3");
    assert.equal((await folders()).length, 1);
  });

  it("is broken, and not merely not there, once the Python that it was made with is gone", async () => {
    await setUp();
    const state = await environment().state();
    assert.ok(state.kind === "ready");
    await fs.rm(state.python);
    assert.deepEqual(await environment().state(), { kind: "broken", base: "/base/python" });
    await setUp();
    assert.equal((await environment().state()).kind, "ready");
  });

  it("is made again with its Python by the button of the problem, without another question", async () => {
    await setUp();
    const state = await environment().state();
    assert.ok(state.kind === "ready");
    await fs.rm(state.python);
    const asked: string[] = [];
    const window = { ...vscode.window };
    const noToken = { onCancellationRequested: () => ({ dispose: () => undefined }) };
    Object.assign(vscode.window, {
      showInformationMessage: async (message: string) => void asked.push(message),
      showErrorMessage: async (message: string) => void asked.push(message),
      withProgress: (_: unknown, work: (progress: unknown, token: unknown) => unknown) =>
        work({ report: () => undefined }, noToken),
    });
    try {
      const [repair] = PROBLEMS.environmentBroken("Its interpreter is gone.").fixes;
      assert.equal(repair?.title, "Repair");
      await setUpEnvironment(repair.arguments?.[0], {
        environment: environment(),
        prober: { probe, forget: () => undefined } as unknown as Prober,
        pool: {
          ensure: async () => undefined,
          reconcile: async () => undefined,
          request: async () => ({ index: {} }),
        } as unknown as ServerPool,
        log: { info: () => undefined, error: () => undefined } as unknown as vscode.LogOutputChannel,
      });
    } finally {
      Object.assign(vscode.window, { withProgress: undefined }, window);
    }
    const repaired = await environment().state();
    assert.ok(repaired.kind === "ready" && repaired.base === "/base/python");
    assert.deepEqual(asked, ["ADK Evidence is ready."]);
  });

  it("is updated with the Python that it was made with, as long as that can make one", async () => {
    const file = environmentPython(path.join(root, "chosen"));
    await environment().setUp({
      base: file,
      signal: new AbortController().signal,
      onStep() {},
      onLine() {},
    });
    const log = { debug() {}, info() {} } as unknown as vscode.LogOutputChannel;
    const bases = (usable: string) =>
      findBase({
        environment: environment(),
        log,
        prober: {
          probe: async (python) =>
            python.includes(usable)
              ? { python: { path: python, version: "3.12.0", package: null, missing: [], makesEnvironments: true } }
              : { failure: "missing" },
          forget() {},
        } as Prober,
      });
    assert.equal(await bases(""), file);
    const { PATH } = process.env;
    const other = path.join(path.dirname(root), "python3");
    await fs.writeFile(other, "", { mode: 0o755 });
    process.env.PATH = path.dirname(root);
    try {
      assert.equal(await bases("python3"), other);
    } finally {
      process.env.PATH = PATH;
    }
  });

  it("is taken as it is where it was made before its Python was written down", async () => {
    await setUp();
    const file = path.join(root, "environment.json");
    const { base: _, ...older } = JSON.parse(await fs.readFile(file, "utf8"));
    await fs.writeFile(file, JSON.stringify(older));
    const state = await environment().state();
    assert.ok(state.kind === "ready" && state.base === undefined);
  });

  const failures: [string, SetUpFailure, () => void][] = [
    ["no venv", "no_venv", () => (venv = async () => ({ ...DONE, code: 1, stderr: "ensurepip is not available" }))],
    [
      "no network",
      "no_network",
      () =>
        (pip = async () => ({
          ...DONE,
          code: 1,
          stderr: "NewConnectionError(...)\nERROR: No matching distribution found for x",
        })),
    ],
    [
      "a full disk",
      "disk_full",
      () => (pip = async () => ({ ...DONE, code: 1, stderr: "OSError: [Errno 28] No space left on device" })),
    ],
    [
      "a folder that is not its own",
      "not_writable",
      () => (pip = async () => ({ ...DONE, code: 1, stderr: "[Errno 13] Permission denied" })),
    ],
    ["another failure", "failed", () => (pip = async () => ({ ...DONE, code: 2 }))],
    ["a program that is gone", "failed", () => (venv = async () => ({ ...DONE, code: null, end: "not_started" }))],
    ["an installation that does not answer", "not_installed", () => (installed = null)],
  ];
  for (const [what, failure, arrange] of failures) {
    it(`tells ${what}, and leaves nothing`, async () => {
      arrange();
      await fails(failure, setUp());
      assert.deepEqual(await folders(), []);
      assert.deepEqual(await environment().state(), { kind: "none" });
    });
  }

  it("cannot be made by an extension without a wheel", async () => {
    await fs.rm(payloads, { recursive: true });
    await fails("no_payload", setUp());
  });

  it("cannot be made where nothing can be written", async () => {
    await fs.writeFile(root, "a file");
    await fails("not_writable", setUp());
  });

  it("leaves nothing where it is cancelled", async () => {
    const abort = new AbortController();
    pip = async () => {
      abort.abort();
      return { ...DONE, code: null, end: "cancelled" };
    };
    await fails("cancelled", setUp(abort.signal));
    assert.deepEqual(await folders(), []);
  });

  it("is made once where two windows want it", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    venv = async () => {
      await held;
      return DONE;
    };
    let both: Promise<void>[] = [];
    // Whichever is faster makes it.
    const waits = new Promise<void>((resolve) => {
      const onStep = (step: SetUpStep) => step === "waiting" && resolve();
      both = [1, 2].map(() => setUp(undefined, onStep));
    });
    await waits;
    release();
    await Promise.all(both);
    assert.equal(commands.filter((command) => command.includes("venv")).length, 1);
  });

  it("does not wait for a window that is gone", async () => {
    await fs.mkdir(root, { recursive: true });
    const lock = path.join(root, "set-up.lock");
    await fs.writeFile(lock, "");
    const long = new Date(Date.now() - 3_600_000);
    await fs.utimes(lock, long, long);
    await setUp();
    assert.equal((await environment().state()).kind, "ready");
    await assert.rejects(fs.access(lock));
  });

  it("is not taken from a stamp that names another place", async () => {
    await setUp();
    const outside = path.join(path.dirname(root), "evil");
    await fs.mkdir(path.dirname(environmentPython(outside)), { recursive: true });
    await fs.writeFile(environmentPython(outside), "");
    for (const folder of ["../../evil", "..", "", outside]) {
      await fs.writeFile(
        path.join(root, "environment.json"),
        JSON.stringify({ folder, version: "1.2.3", fingerprint: "x" }),
      );
      assert.deepEqual(await environment().state(), { kind: "none" });
    }
  });
});
