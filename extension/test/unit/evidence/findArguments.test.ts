import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { isRequest, parseFindArguments } from "../../../src/evidence/findArguments";

const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 8 } };

describe("the arguments of Find ADK Evidence", () => {
  for (const argument of [undefined, null, "query", 7, [], {}, { scheme: "file", path: "/x.py" }]) {
    it(`are no request in ${JSON.stringify(argument)}`, () => {
      assert.ok(!isRequest(argument));
    });
  }

  it("are those of a hover's link", () => {
    const argument = { query: "LlmAgent", taskMode: "explain" };
    assert.ok(isRequest(argument));
    assert.deepEqual(parseFindArguments(argument), argument);
  });

  it("are those of a code action", () => {
    const argument = { query: "Unknown field", taskMode: "debug", textDocument: { uri: "file:///a.py" }, range };
    assert.deepEqual(parseFindArguments(argument), argument);
  });

  it("may be a place alone", () => {
    const argument = { textDocument: { uri: "untitled:Untitled-1" }, range };
    assert.deepEqual(parseFindArguments(argument), argument);
  });

  it("leave out whatever else was given", () => {
    const argument = { query: "x", command: "evil", filters: {}, textDocument: { uri: "file:///a", version: 7 } };
    assert.deepEqual(parseFindArguments(argument), { query: "x", textDocument: { uri: "file:///a" } });
  });

  for (const argument of [
    { query: "" },
    { query: " \n" },
    { query: "x".repeat(100_001) },
    { query: 7 },
    { query: ["x"] },
    { query: null },
    { query: "x", taskMode: "guess" },
    { query: "x", taskMode: "toString" },
    { query: "x", textDocument: "file:///a" },
    { query: "x", textDocument: {} },
    { query: "x", textDocument: { uri: 7 } },
    { query: "x", range: [] },
    { query: "x", range: { start: { line: -1, character: 0 }, end: { line: 0, character: 0 } } },
    { query: "x", range: { start: { line: 0.5, character: 0 }, end: { line: 1, character: 0 } } },
    { query: "x", range: { start: { line: 0, character: 2 ** 31 }, end: { line: 1, character: 0 } } },
    { textDocument: { uri: "file:///a" } },
  ]) {
    it(`are refused in ${JSON.stringify(argument).slice(0, 80)}`, () => {
      assert.equal(parseFindArguments(argument), null);
    });
  }
});
