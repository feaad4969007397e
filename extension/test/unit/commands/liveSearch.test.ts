import assert from "node:assert/strict";
import { mock } from "node:test";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { CancellationToken } from "vscode";
import { LiveSearch } from "../../../src/commands/liveSearch";

interface Asked {
  query: string;
  token: CancellationToken;
  answer(text: string): void;
  fail(reason: Error): void;
}

describe("a search while somebody types", () => {
  let asked: Asked[];
  let told: unknown[];
  let busy: boolean;
  let live: LiveSearch<string>;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    asked = [];
    told = [];
    busy = false;
    const search = (query: string, token: CancellationToken) =>
      new Promise<string>((answer, fail) => asked.push({ query, token, answer, fail }));
    live = new LiveSearch(search, {
      onBusy: (is) => {
        busy = is;
      },
      onAnswer: (answer) => told.push(answer),
      onFailure: (reason) => told.push(reason),
    });
  });
  afterEach(() => mock.timers.reset());

  /** Types a text and lets it rest. */
  function rest(text: string): Asked {
    live.type(text);
    mock.timers.tick(1000);
    const last = asked.at(-1);
    assert.ok(last);
    return last;
  }

  /** Lets what was answered arrive. */
  async function arrive(): Promise<void> {
    await new Promise(setImmediate);
  }

  it("asks for a text that rests, not for every letter", () => {
    for (const text of ["R", "Ru", " Run "]) {
      live.type(text);
      mock.timers.tick(50);
    }
    assert.equal(asked.length, 0);
    mock.timers.tick(1000);
    assert.deepEqual(
      asked.map(({ query }) => query),
      ["Run"],
    );
  });

  it("tells the answer, and is busy until then", async () => {
    const request = rest("Run");
    assert.equal(busy, true);
    request.answer("Runner");
    await arrive();
    assert.deepEqual([told, busy], [["Runner"], false]);
  });

  it("cancels what was asked before, and tells neither its late answer nor its failure", async () => {
    const first = rest("Run");
    const second = rest("Runn");
    const third = rest("Runner");
    assert.deepEqual(
      asked.map(({ token }) => token.isCancellationRequested),
      [true, true, false],
    );
    third.answer("third");
    first.answer("first");
    second.fail(new Error("cancelled"));
    await arrive();
    assert.deepEqual(told, ["third"]);
  });

  it("asks nothing for a blank text, and cancels what was asked", async () => {
    const request = rest("Run");
    live.type("  ");
    mock.timers.tick(1000);
    request.answer("Runner");
    await arrive();
    assert.deepEqual([asked.length, request.token.isCancellationRequested, told, busy], [1, true, [null], false]);
  });

  it("tells a failure", async () => {
    const reason = new Error("no index");
    rest("Run").fail(reason);
    await arrive();
    assert.deepEqual([told, busy], [[reason], false]);
  });

  it("asks and tells nothing once it is closed", async () => {
    const request = rest("Run");
    live.type("Runn");
    live.dispose();
    mock.timers.tick(1000);
    request.answer("Runner");
    await arrive();
    assert.deepEqual([asked.length, told], [1, []]);
  });
});
