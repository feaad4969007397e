import assert from "node:assert/strict";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import * as vscode from "vscode";
import { findBase, install, setUpEnvironment } from "../../../src/commands/environment";
import { findPayload, PrivateEnvironment } from "../../../src/server/environment";
import type { JobState } from "../../../src/server/getStarted";
import type { ServerPool } from "../../../src/server/pool";
import { PROBLEMS } from "../../../src/server/problems";
import type { Finished, Run } from "../../../src/server/process";
import { environmentPython, type Probe, type Prober } from "../../../src/server/python";
import { proxyPlace, type SetUpFailure } from "../../../src/server/setUpFailures";

const DONE: Finished = { code: 0, stdout: "", stderr: "", end: "exited" };

describe("the private environment", () => {
  let root: string;
  let payloads: string;
  /** What each step of the next set-up does. */
  let venv: () => Promise<Finished>;
  let pip: () => Promise<Finished>;
  let installed: string | null;
  let commands: string[][];
  let voyage: boolean;

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
  const environment = () => new PrivateEnvironment(root, () => findPayload(payloads, voyage), run, probe);
  const setUp = (signal = new AbortController().signal, onWait: () => void = () => undefined) =>
    environment().setUp({ base: "/base/python", signal, onWait, onLine: () => undefined });
  const bring = async (version: string, text = "wheel") => {
    await fs.rm(payloads, { recursive: true, force: true });
    await fs.mkdir(payloads, { recursive: true });
    await fs.writeFile(path.join(payloads, `adk_evidence-${version}-py3-none-any.whl`), text);
    await fs.writeFile(path.join(payloads, "constraints.txt"), "numpy==2.0\n");
    installed = version;
  };
  const options = () => ({
    base: "/base/python",
    signal: new AbortController().signal,
    onWait: () => undefined,
    onLine: () => undefined,
  });
  const folders = () => fs.readdir(path.join(root, "environments")).catch((): string[] => []);
  const fails = (failure: SetUpFailure, work: Promise<void>) => assert.rejects(work, { failure });

  beforeEach(async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), "adk-evidence-environment-"));
    root = path.join(folder, "storage");
    payloads = path.join(folder, "server");
    venv = async () => DONE;
    pip = async () => DONE;
    commands = [];
    voyage = false;
    await bring("1.2.3");
  });
  afterEach(() => fs.rm(path.dirname(root), { recursive: true, force: true }));

  it("is made of the wheel and the constraints that the extension brings along", async () => {
    assert.deepEqual(await environment().state(), { kind: "none" });
    let waits = 0;
    await setUp(undefined, () => waits++);
    const state = await environment().state();
    assert.ok(state.kind === "ready" && state.current);
    assert.equal(state.version, "1.2.3");
    assert.equal(waits, 0);
    assert.deepEqual(commands[0]?.slice(0, 4), ["/base/python", "-I", "-m", "venv"]);
    assert.equal(commands[1]?.[0], state.python);
    assert.deepEqual(commands[1]?.slice(-3), [
      "--constraint",
      path.join(payloads, "constraints.txt"),
      `${path.join(payloads, "adk_evidence-1.2.3-py3-none-any.whl")}[mcp]`,
    ]);
  });

  it("gets Voyage's client with the first key", async () => {
    await setUp();
    voyage = true;
    const before = await environment().state();
    assert.ok(before.kind === "ready" && !before.current);
    await setUp();
    const after = await environment().state();
    assert.ok(after.kind === "ready" && after.current);
    assert.match(commands.at(-1)?.at(-1) ?? "", /\[mcp,voyage\]$/);
  });

  it("has a path that stays when it is made anew", async () => {
    const lasting = async () => {
      await setUp();
      const state = await environment().state();
      assert.ok(state.kind === "ready");
      const python = await environment().lasting(state.python);
      assert.equal(await fs.realpath(python), await fs.realpath(state.python));
      return python;
    };
    const first = await lasting();
    await bring("1.2.4");
    assert.equal(await lasting(), first);
    assert.equal(await environment().lasting("/other/python"), "/other/python");
  });

  it("is told of once it is there, and not after a failure", async () => {
    const made = environment();
    const states: string[] = [];
    const told: Promise<void>[] = [];
    made.onDidSetUp(() => {
      told.push(made.state().then(({ kind }) => void states.push(kind)));
    });
    const options = { base: "/base/python", signal: new AbortController().signal, onWait() {}, onLine() {} };
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
    const parts = {
      environment: environment(),
      prober: { probe, forget: () => undefined } as unknown as Prober,
      pool: { reconcile: async () => undefined } as unknown as ServerPool,
      log: { info: () => undefined, error: () => undefined } as unknown as vscode.LogOutputChannel,
    };
    const [repair] = PROBLEMS.environmentBroken("Its interpreter is gone.").fixes;
    assert.equal(repair?.title, "Repair");
    const { PATH } = process.env;
    // Without uv.
    process.env.PATH = "";
    try {
      const job = { state: { phase: "idle" } as JobState };
      await setUpEnvironment(
        repair.arguments?.[0],
        parts,
        job,
        () => undefined,
        (request) => install(parts, request, new vscode.CancellationTokenSource().token, () => undefined),
      );
    } finally {
      process.env.PATH = PATH;
    }
    const repaired = await environment().state();
    assert.ok(repaired.kind === "ready" && repaired.base === "/base/python");
  });

  it("is made by uv where uv is installed", async () => {
    await environment().setUp({ ...options(), uv: "/bin/uv" });
    const state = await environment().state();
    assert.ok(state.kind === "ready");
    assert.deepEqual(commands, [
      [
        "/bin/uv",
        "venv",
        "--no-project",
        "--seed",
        "--python",
        "/base/python",
        path.dirname(path.dirname(state.python)),
      ],
      [
        ...["/bin/uv", "pip", "install", "--python", state.python],
        ...["--constraint", path.join(payloads, "constraints.txt")],
        `${path.join(payloads, "adk_evidence-1.2.3-py3-none-any.whl")}[mcp]`,
      ],
    ]);
  });

  it("is made by venv and pip where uv fails, but not where the disk is full", async () => {
    let tried = 0;
    pip = async () => (++tried === 1 ? { ...DONE, code: 2, stderr: "error: Failed to fetch" } : DONE);
    await environment().setUp({ ...options(), uv: "/bin/uv" });
    assert.equal((await environment().state()).kind, "ready");
    assert.deepEqual(
      commands.map(([program = "", , word]) => `${path.basename(program)} ${word}`),
      ["uv --no-project", "uv install", "python -m", "python -m"],
    );
    assert.equal((await folders()).length, 1);
    pip = async () => ({ ...DONE, code: 2, stderr: "No space left on device (os error 28)" });
    await fails("disk_full", environment().setUp({ ...options(), uv: "/bin/uv" }));
  });

  for (const [what, failure, stderr] of [
    [
      "the network",
      "no_network",
      "Caused by: error sending request for url (https://a.b/)\nCaused by: dns error: failed",
    ],
    ["a package", "no_package", "  × No solution found when resolving dependencies:"],
  ] as const) {
    it(`says what uv lacks where only uv could have made it: ${what}`, async () => {
      const broken = { ...DONE, code: 1, stderr: "ensurepip is not available" };
      venv = async () => (commands.length === 1 ? DONE : broken);
      pip = async () => ({ ...DONE, code: 2, stderr });
      await fails(failure, environment().setUp({ ...options(), uv: "/bin/uv" }));
      assert.equal(commands.length, 3);
      assert.deepEqual(await folders(), []);
    });
  }

  it("says what venv and pip lack where uv failed for a reason that it did not tell", async () => {
    venv = async () => ({
      ...DONE,
      code: 1,
      stderr: commands.length === 1 ? "error: unexpected" : "No module named venv",
    });
    await fails("no_venv", environment().setUp({ ...options(), uv: "/bin/uv" }));
  });

  it("is not begun while a job runs: that job is shown, and nothing is asked", async () => {
    const parts = { environment: environment() } as Parameters<typeof setUpEnvironment>[1];
    const did: string[] = [];
    const begin = (phase: JobState["phase"]) =>
      setUpEnvironment(
        { consented: true },
        parts,
        { state: { phase } as JobState },
        () => did.push("shown"),
        async () => void did.push("run"),
      );
    await begin("running");
    assert.deepEqual(did, ["shown"]);
    await begin("stopped");
    assert.deepEqual(did, ["shown", "shown", "run"]);
  });

  it("is updated with the Python that it was made with, as long as that can make one", async () => {
    const file = environmentPython(path.join(root, "chosen"));
    await environment().setUp({
      base: file,
      signal: new AbortController().signal,
      onWait() {},
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

  it("names the proxy without its password", () => {
    assert.equal(proxyPlace({ HTTPS_PROXY: "http://me:secret@10.0.0.1:3128/" }), "10.0.0.1:3128");
    assert.equal(proxyPlace({ https_proxy: "proxy.corp:8080" }), "proxy.corp:8080");
    assert.equal(proxyPlace({ HTTPS_PROXY: "http://" }), "");
    assert.equal(proxyPlace({}), "");
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
      both = [1, 2].map(() => setUp(undefined, resolve));
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
