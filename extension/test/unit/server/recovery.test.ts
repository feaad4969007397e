import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Problem } from "../../../src/problem";
import type { JobState } from "../../../src/server/getStarted";
import type { ServerState } from "../../../src/server/managedServer";
import type { Answered } from "../../../src/server/pool";
import { onDidRecover } from "../../../src/server/recovery";

const LAUNCH = { command: "p", args: [], isolated: true, key: "p", origin: "command", version: null } as const;
const FOLDER = { id: "", uri: undefined };

describe("what is mended", () => {
  const told: string[] = [];
  let state: ServerState = { kind: "idle" };
  let change = () => {};
  let job = { answers: "nothing" } as JobState;
  let changeJob = (_answers: JobState["answers"]) => {};
  const better: boolean[] = [];
  let answer = (_answered: Answered) => {};
  onDidRecover(
    {
      state: () => state,
      onDidChange: (listener) => {
        change = listener;
        return { dispose: () => undefined };
      },
      onDidAnswer: (listener) => {
        answer = listener;
        return { dispose: () => undefined };
      },
    },
    {
      get state() {
        return job;
      },
      onDidChange: (listener) => {
        changeJob = (answers) => {
          job = { ...job, answers };
          listener(job);
        };
        return { dispose: () => undefined };
      },
    },
    (codes, again) => {
      told.push(...codes);
      better.push(again);
    },
  );
  const become = (next: ServerState): string[] => {
    told.length = 0;
    state = next;
    change();
    return [...told];
  };

  it("is that there was no server, each time that one becomes ready", () => {
    assert.deepEqual(become({ kind: "starting" }), []);
    const codes = become({ kind: "ready", launch: LAUNCH });
    for (const code of ["no_environment", "start_failed", "server_crashed"]) {
      assert.ok(codes.includes(code), code);
    }
    // A question that ends its server must not end the next one.
    assert.ok(!codes.includes("server_ended"));
    assert.deepEqual(become({ kind: "ready", launch: LAUNCH }), []);
    assert.deepEqual(become({ kind: "down", problem: new Problem("x", "server_crashed") }), []);
    assert.notDeepEqual(become({ kind: "ready", launch: LAUNCH }), []);
  });

  it("is that nothing was indexed, once an ingestion has ended well", () => {
    told.length = 0;
    answer({ folder: FOLDER, method: "adk/ingest", problem: new Problem("x", "source_unavailable") });
    answer({ folder: FOLDER, method: "adk/status", result: {} });
    assert.equal(told.length, 0);
    better.length = 0;
    answer({ folder: FOLDER, method: "adk/ingest", problem: new Problem("x", "cancelled") });
    // What it published before it was stopped may answer better.
    assert.deepEqual([told, better], [[], [true]]);
    answer({ folder: FOLDER, method: "adk/ingest", result: {} });
    assert.ok(told.includes("no_index"));
  });

  it("is that nothing was indexed, as soon as keywords answer, and that vectors were missing later", () => {
    told.length = 0;
    better.length = 0;
    changeJob("nothing");
    assert.equal(told.length, 0);
    changeJob("keywords");
    assert.ok(told.includes("no_index"));
    changeJob("keywords");
    changeJob("meaning");
    assert.deepEqual(better, [false, true]);
  });
});
