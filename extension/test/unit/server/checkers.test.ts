import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { describe, it } from "mocha";
import { Uri } from "vscode";
import { Problem } from "../../../src/problem";
import { Checkers } from "../../../src/server/checkers";
import type { ServerState } from "../../../src/server/managedServer";
import type { Folder } from "../../../src/server/pool";
import type { Launch } from "../../../src/server/resolve";

const LAUNCH = { command: "p", args: [], isolated: true, key: "p", origin: "command", version: null } as const;
const DOWN: ServerState = { kind: "down", problem: new Problem("x", "no_environment") };
const READY: ServerState = { kind: "ready", launch: LAUNCH };

describe("the checkers of folders", () => {
  function setUp(python: () => Promise<string> = async () => "/bin/python3") {
    const states = new Map<string, ServerState>();
    const told: string[] = [];
    const launches: Launch[] = [];
    let changed = () => {};
    let started = async () => {};
    const folderOf = (id: string): Folder => ({ id, uri: Uri.file(`/${id}`) });
    const checkers = new Checkers("/program", {
      log: { info: (line: string) => told.push(line) },
      folders: () => [...states.keys()].map(folderOf),
      state: ({ id }) => states.get(id) ?? { kind: "idle" },
      onDidChange: (listener) => {
        changed = listener;
        return { dispose: () => told.push("deaf") };
      },
      findPython: python,
      createSession: (launch, _key, { id }) => {
        launches.push(launch);
        return {
          start: async () => {
            told.push(`start ${id}`);
            await started();
          },
          stop: async () => void told.push(`stop ${id}`),
          request: () => assert.fail("nothing is asked of a checker"),
        };
      },
    });
    const become = async (id: string, state?: ServerState) => {
      if (state) {
        states.set(id, state);
      } else {
        states.delete(id);
      }
      told.length = 0;
      changed();
      await turn();
      return [...told];
    };
    const whileStarting = (work: () => Promise<void>) => {
      started = work;
    };
    return { checkers, told, launches, become, whileStarting };
  }

  it("start where the server cannot, once, and end when the server is ready or the folder is closed", async () => {
    const { checkers, told, launches, become } = setUp();
    assert.deepEqual(await become("a", { kind: "idle" }), []);
    assert.deepEqual(await become("a", DOWN), ["start a"]);
    assert.deepEqual(await become("a", DOWN), []);
    assert.deepEqual(await become("b", DOWN), ["start b"]);
    // The environment is there, and the server looks at its files: until it is ready, the checker stays.
    assert.deepEqual(await become("a", { kind: "starting" }), []);
    assert.deepEqual(await become("a", READY), ["stop a"]);
    assert.deepEqual(await become("b"), ["stop b"]);
    assert.deepEqual(await become("a", DOWN), ["start a"]);
    checkers.dispose();
    assert.deepEqual(told.slice(1), ["deaf", "stop a"]);
    assert.deepEqual(launches[0]?.args, ["-I", "-S", "-B", "-X", "utf8", "/program"]);
    assert.equal(launches[0]?.command, "/bin/python3");
  });

  it("end also when they are still starting, and do not start where they are needed no longer", async () => {
    const { become, whileStarting } = setUp();
    let go = () => {};
    whileStarting(() => new Promise((resolve) => (go = resolve)));
    await become("a", DOWN);
    assert.deepEqual(await become("a", READY), ["stop a"]);
    go();
    assert.deepEqual(await become("b", { kind: "idle" }), ["stop a"]);
    let find = (_python: string) => {};
    const slow = setUp(() => new Promise((resolve) => (find = resolve)));
    await slow.become("a", DOWN);
    assert.deepEqual(await slow.become("a", READY), []);
    find("/bin/python3");
    assert.deepEqual(await slow.become("a", READY), []);
  });

  it("tell the log alone and are not tried again where there is no Python, or where they fail", async () => {
    assert.deepEqual(await setUp(() => Promise.reject(new Problem("x", "no_python"))).become("a", DOWN), [
      "The code is not checked: x",
    ]);
    const { become, whileStarting } = setUp();
    whileStarting(() => Promise.reject(new Problem("x", "start_failed")));
    assert.deepEqual(await become("a", DOWN), ["start a", "The code is not checked: x"]);
    assert.deepEqual(await become("a", DOWN), []);
  });
});
