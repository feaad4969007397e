import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { factsOf, followupsOf } from "../../../src/chat/followups";
import type { AnswerFacts } from "../../../src/protocol/generated";

const FACTS: AnswerFacts = { outcome: "answered", packId: "p", citations: 2, query: "How?", taskMode: "explain" };

describe("follow-ups", () => {
  it("ask the same question for other tasks", () => {
    assert.deepEqual(
      followupsOf(FACTS).map(({ prompt, command }) => [prompt, command]),
      [
        ["How?", "build"],
        ["How?", "debug"],
      ],
    );
  });

  it("are none where nothing was found or asked", () => {
    assert.deepEqual(followupsOf({ ...FACTS, outcome: "nothing" }), []);
    assert.deepEqual(followupsOf({ ...FACTS, query: " " }), []);
  });

  it("come from facts alone, whatever the editor has kept", () => {
    assert.deepEqual(factsOf({ ...FACTS }), FACTS);
    for (const kept of [undefined, null, "x", {}, { ...FACTS, taskMode: "x" }, { ...FACTS, query: 1 }]) {
      assert.equal(factsOf(kept), null);
    }
  });
});
