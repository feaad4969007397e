import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Memento } from "vscode";
import { RecentQuestions } from "../../../src/commands/recentQuestions";

function memento(kept?: unknown): Memento {
  const values = new Map<string, unknown>([["adkEvidence.recentQuestions", kept]]);
  return {
    keys: () => [...values.keys()],
    get: <T>(key: string) => values.get(key) as T | undefined,
    update: async (key: string, value: unknown) => void values.set(key, value),
  } as Memento;
}

describe("questions that were asked before", () => {
  it("are there once, the latest first, and not more than can be looked over", async () => {
    const recent = new RecentQuestions(memento());
    for (let i = 0; i < 30; i++) {
      await recent.add(`question ${i}`);
    }
    await recent.add("question 15");
    assert.equal(recent.all.length, 20);
    assert.deepEqual(recent.all.slice(0, 3), ["question 15", "question 29", "question 28"]);
  });

  it("are none where something else was kept", () => {
    assert.deepEqual(new RecentQuestions(memento({ no: "list" })).all, []);
    assert.deepEqual(new RecentQuestions(memento(["one", 2, null])).all, ["one"]);
  });
});
