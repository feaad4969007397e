import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { paramsOf, questionOfText } from "../../../src/evidence/question";

describe("a question of the query line", () => {
  it("asks for everything unless it is told less, in its own mode", () => {
    assert.deepEqual(paramsOf({ query: "x", taskMode: "debug", sources: "both", path: "  " }), {
      query: "x",
      taskMode: "debug",
      filters: {},
    });
  });

  it("narrows to a corpus and to paths", () => {
    const { filters } = paramsOf({ query: "x", taskMode: "build", sources: "code", path: " src/**, ,docs/a.md," });
    assert.deepEqual(filters, { source_types: ["code"], path_allowlist: ["src/**", "docs/a.md"] });
  });
});

describe("selected text as a question", () => {
  for (const [selected, question] of [
    ["  how do I\n   retry?  ", "how do I retry?"],
    ["# how do I\r\n# retry?", "how do I retry?"],
    ["#: documented", "documented"],
    ["// how do I\n/// retry?", "how do I retry?"],
    ["/** how do I\n * retry?\n */", "how do I retry?"],
    ["-- how do I retry?", "how do I retry?"],
    ["new LlmAgent({\n  model: 'm',\n})", "new LlmAgent({ model: 'm', })"],
    ["\n\t \n", ""],
    ["//", ""],
  ] as const) {
    it(`is ${JSON.stringify(question)} for ${JSON.stringify(selected)}`, () => {
      assert.equal(questionOfText(selected), question);
    });
  }

  it("is of a length that a question has", () => {
    assert.equal(questionOfText("x".repeat(100_000)).length, 1500);
  });
});
