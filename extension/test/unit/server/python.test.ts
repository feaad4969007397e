import assert from "node:assert/strict";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import { expandHere, indexSettings, launchSettings, serverSettings } from "../../../src/config";
import { serverLevel } from "../../../src/log";
import { expandPath, expandVariables, findOnPath } from "../../../src/server/paths";
import { type Finished, type Run, run } from "../../../src/server/process";
import { areCompatible, isNewEnough, Prober, pythonOfUv, pythonsOfLauncher } from "../../../src/server/python";
import { Uri, workspace } from "../fake-vscode";

const DONE: Finished = { code: 0, stdout: "", stderr: "", end: "exited" };

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), "adk-evidence-python-"));
});
afterEach(() => fs.rm(folder, { recursive: true, force: true }));

describe("a probe of an interpreter", () => {
  const answers: [string, Finished, unknown][] = [
    [
      "tells version and package",
      { ...DONE, stdout: 'noise\n{"version": "3.12.1", "package": "0.1.0", "makes": true, "missing": ["numpy"]}\n' },
      { version: "3.12.1", package: "0.1.0", missing: ["numpy"], makesEnvironments: true },
    ],
    [
      "tells that the package is missing",
      { ...DONE, stdout: '{"version": "3.11.0", "package": null, "makes": false}' },
      { version: "3.11.0", package: null, missing: [], makesEnvironments: false },
    ],
    ["tells one that is too old", { ...DONE, code: 2, stderr: "unknown option -P\nusage: python" }, "too_old"],
    ["tells one that hangs", { ...DONE, code: null, end: "timed_out" }, "timed_out"],
    ["tells one that is no Python", { ...DONE, stdout: "hello" }, "failed"],
    ["tells one that fails", { ...DONE, code: 1 }, "failed"],
  ];
  for (const [what, finished, expected] of answers) {
    it(what, async () => {
      const file = path.join(folder, "python");
      await fs.writeFile(file, "");
      const probed = await new Prober(async () => finished).probe(file);
      if ("failure" in probed) {
        assert.equal(probed.failure, expected);
      } else {
        assert.deepEqual(probed.python, { path: file, ...(expected as object) });
      }
    });
  }

  it("tells which packages are missing that the server needs", async function () {
    const real = path.join(process.cwd(), ".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
    // It is there wherever all tests are run.
    if (!(await fs.stat(real).catch(() => null))) {
      return this.skip();
    }
    const whole = await new Prober(run).probe(real);
    assert.ok("python" in whole, JSON.stringify(whole));
    assert.deepEqual(whole.python.missing, []);
    const site = path.join(folder, "site");
    const about = path.join(site, "adk_evidence-1.2.3.dist-info");
    await fs.mkdir(about, { recursive: true });
    const needs = ["numpy", "gone-package>=2", 'other-extra; extra == "mcp"', 'other-system; sys_platform == "none"'];
    const metadata = ["Metadata-Version: 2.1", "Name: adk-evidence", "Version: 1.2.3"];
    const lines = [...metadata, ...needs.map((need) => `Requires-Dist: ${need}`), ""];
    await fs.writeFile(path.join(about, "METADATA"), lines.join("\n"));
    // The package of the tests is hidden behind the other.
    const among: Run = (command, [flags, ...args], options) =>
      run(command, [flags === "-E" ? "-s" : (flags ?? ""), ...args], {
        ...options,
        env: { ...options.env, PYTHONPATH: site },
      });
    const broken = await new Prober(among).probe(real);
    assert.ok("python" in broken, JSON.stringify(broken));
    assert.deepEqual([broken.python.package, broken.python.missing], ["1.2.3", ["gone-package"]]);
  });

  it("is made once until the file changes or it is forgotten", async () => {
    const file = path.join(folder, "python");
    await fs.writeFile(file, "");
    let asked = 0;
    const prober = new Prober(async () => {
      asked += 1;
      return DONE;
    });
    await Promise.all([prober.probe(file), prober.probe(file)]);
    assert.equal(asked, 1);
    const later = new Date(Date.now() + 60_000);
    await fs.utimes(file, later, later);
    await prober.probe(file);
    assert.equal(asked, 2);
    prober.forget();
    await prober.probe(file);
    assert.equal(asked, 3);
    assert.deepEqual(await prober.probe(path.join(folder, "none")), { failure: "missing" });
    assert.equal(asked, 3);
  });
});

describe("a short process", () => {
  const options = () => ({ cwd: folder, env: process.env });
  const node = (script: string) => ["-e", script] as const;

  it("gives its status and both outputs", async () => {
    const lines: string[] = [];
    const script = "console.log('a'); console.error('b'); process.exitCode = 3";
    const done = await run(process.execPath, node(script), { ...options(), onLine: (line) => lines.push(line) });
    assert.deepEqual(done, { code: 3, stdout: "a", stderr: "b", end: "exited" });
    assert.deepEqual(lines.sort(), ["a", "b"]);
  });

  it("is ended when its time is over", async () => {
    const done = await run(process.execPath, node("setInterval(() => {}, 1000)"), { ...options(), timeoutMs: 200 });
    assert.equal(done.end, "timed_out");
  });

  it("is ended with what it started when it is cancelled", async () => {
    const abort = new AbortController();
    const script = `
      const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
      console.log(child.pid);
      setInterval(() => {}, 1000);`;
    const done = await run(process.execPath, node(script), {
      ...options(),
      signal: abort.signal,
      onLine: () => abort.abort(),
    });
    assert.equal(done.end, "cancelled");
    // Without a status there are no such processes: the outputs close when the last one that has them ends.
    assert.equal(done.code, null);
  });

  it("that is not there says so", async () => {
    assert.equal((await run(path.join(folder, "none"), [], options())).end, "not_started");
    const aborted = AbortSignal.abort();
    assert.equal((await run(process.execPath, [], { ...options(), signal: aborted })).end, "cancelled");
  });
});

describe("versions", () => {
  it("fit where major and minor are the same", () => {
    assert.ok(areCompatible("0.1.0", "0.1.9"));
    assert.ok(areCompatible("1.2.0.dev1", "1.2.3"));
    assert.ok(!areCompatible("0.2.0", "0.1.0"));
    assert.ok(!areCompatible("1.20.0", "1.2.0"));
    assert.ok(!areCompatible("", ""));
  });

  it("of Python are new enough from 3.11", () => {
    assert.deepEqual(["3.10.9", "3.11.0", "3.14.1", "2.7.18", "4.0.0"].map(isNewEnough), [
      false,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("a setting with variables", () => {
  const variable = (name: string) => `$${"{"}${name}}`;
  const home = path.resolve("/home/me");
  const here = path.resolve("/work/it");
  const place = { folder: here, home, env: { DATA: "/data", EMPTY: undefined } };
  const nowhere = { ...place, folder: undefined };

  it("has them written out in a path, which else counts from the folder", () => {
    for (const [text, expected] of [
      ["~/env/python", path.join(home, "env/python")],
      [`${variable("userHome")}/env/python`, path.join(home, "env/python")],
      [`${variable("workspaceFolder")}/.venv/bin/python`, path.join(here, ".venv/bin/python")],
      [`${variable("env:DATA")}/index`, path.resolve("/data/index")],
      [".venv/bin/python", path.join(here, ".venv/bin/python")],
      ["~me/python", path.join(here, "~me/python")],
    ] as const) {
      assert.equal(expandPath(text, place), expected);
    }
  });

  it("has them written out in any text, and others left as they are", () => {
    const text = `--home=${variable("env:DATA")} ${variable("env:NOT_SET")}${variable("config:x")} ~`;
    assert.equal(expandVariables(text, place), `--home=/data ${variable("config:x")} ~`);
    // What is put in is not read again.
    const odd = { ...place, folder: `/a$&${variable("userHome")}` };
    assert.equal(expandVariables(variable("workspaceFolder"), odd), odd.folder);
  });

  it("means nothing without the folder that it counts from", () => {
    assert.equal(expandPath(`${variable("workspaceFolder")}/python`, nowhere), undefined);
    assert.equal(expandPath("python", nowhere), undefined);
    assert.equal(expandVariables(variable("workspaceFolder"), nowhere), undefined);
  });

  describe("of a workspace", () => {
    const values: Record<string, unknown> = {};
    const { getConfiguration } = workspace;
    const folder = { uri: Uri.file(here), name: "it", index: 0 } as never;

    beforeEach(() => {
      workspace.getConfiguration = () => ({ get: (name: string, value?: unknown) => values[name] ?? value });
      Object.assign(values, {
        home: `${variable("workspaceFolder")}/index`,
        "server.command": ["~/bin/adk-evidence", "serve", "lsp", `${variable("env:HOME")}`],
        "server.interpreter": "",
        maxResults: 20,
        "diagnostics.severity": { "missing-await": "error" },
      });
    });
    afterEach(() => {
      workspace.getConfiguration = getConfiguration;
      workspace.isTrusted = true;
    });

    it("reaches the server written out, with how much to log", () => {
      assert.deepEqual(serverSettings(folder, 4), {
        home: path.join(here, "index"),
        maxResults: 20,
        logLevel: "warning",
        diagnostics: { severity: { "missing-await": "error" } },
      });
      values["diagnostics.severity"] = {};
      assert.ok(!("diagnostics" in serverSettings(folder, 4)));
      assert.equal(launchSettings(folder).command[0], path.join(os.homedir(), "bin/adk-evidence"));
    });

    it("does not lead into a folder that is not trusted", () => {
      workspace.isTrusted = false;
      values["server.command"] = [`${variable("workspaceFolder")}/run-me`];
      assert.equal(indexSettings(folder).home, undefined);
      assert.deepEqual(launchSettings(folder).command, [`${variable("workspaceFolder")}/run-me`]);
      assert.equal(expandHere("run-me", folder), undefined);
    });
  });
});

describe("the log level of the channel", () => {
  it("is the server's, as far as it has such a one", () => {
    assert.deepEqual([0, 1, 2, 3, 4, 5].map(serverLevel), ["error", "debug", "debug", "info", "warning", "error"]);
  });
});

describe("a program on PATH", () => {
  it("is looked for in absolute folders alone", async function () {
    if (process.platform === "win32") {
      this.skip();
    }
    const file = path.join(folder, "tool");
    await fs.writeFile(file, "", { mode: 0o755 });
    await fs.writeFile(path.join(folder, "text"), "");
    assert.equal(await findOnPath("tool", { PATH: `.:${folder}` }), file);
    assert.equal(await findOnPath("tool", { PATH: "." }), undefined);
    assert.equal(await findOnPath("text", { PATH: folder }), undefined);
    assert.equal(await findOnPath("tool", {}), undefined);
  });
});

describe("the interpreters that other programs know", () => {
  const printing =
    (stdout: string, asked: string[][] = []): Run =>
    async (program, args) => {
      asked.push([program, ...args]);
      return { ...DONE, stdout };
    };

  it("are those of the py launcher, old and new", async () => {
    const asked: string[][] = [];
    const output = [
      " -V:3.13 *        C:\\Program Files\\Python313\\python.exe",
      " -V:3.12          C:\\Users\\me\\Python312\\python.exe",
      " -3.11-64         C:\\Python311\\python.exe *",
      "Installed Pythons found by py Launcher for Windows",
      " -V:Broken        not a path",
    ].join("\r\n");
    const found = await pythonsOfLauncher(printing(output, asked), {}, Promise.resolve("C:\\Windows\\py.exe"));
    assert.deepEqual(found, [
      "C:\\Program Files\\Python313\\python.exe",
      "C:\\Users\\me\\Python312\\python.exe",
      "C:\\Python311\\python.exe",
    ]);
    assert.deepEqual(asked, [["C:\\Windows\\py.exe", "-0p"]]);
  });

  it("are none where there is no launcher, and no program is started then", async () => {
    const asked: string[][] = [];
    assert.deepEqual(await pythonsOfLauncher(printing("", asked), {}, Promise.resolve(undefined)), []);
    assert.deepEqual(asked, []);
  });

  it("are the one that uv finds, which downloads nothing", async () => {
    const asked: string[][] = [];
    assert.deepEqual(await pythonOfUv(printing("/opt/python3.12/bin/python\n", asked), "/bin/uv"), [
      "/opt/python3.12/bin/python",
    ]);
    assert.deepEqual(asked[0], ["/bin/uv", "python", "find", "--no-project", ">=3.11"]);
    assert.deepEqual(await pythonOfUv(printing("error: none\n"), "/bin/uv"), []);
    assert.deepEqual(await pythonOfUv(printing("/x"), undefined), []);
  });
});
