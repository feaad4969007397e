import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { continued, isFollowUp, searchText } from "../../../src/chat/search";

describe("what is searched for", () => {
  it("is the prompt with what is selected", () => {
    assert.equal(searchText(" Why? ", ["# RetryPlugin\n  # throws"]), "Why?\nRetryPlugin throws");
    assert.equal(searchText("", ["plugin = RetryPlugin()"]), "plugin = RetryPlugin()");
    assert.equal(searchText("  ", ["\n"]), "");
  });

  it("is never longer than the server takes", () => {
    assert.ok(searchText("x".repeat(20_000), ["y"]).length <= 8000);
    assert.ok(continued("x".repeat(20_000), "y").length <= 8000);
  });

  it("keeps the error at the end of a long traceback", () => {
    const traceback = `Traceback (most recent call last):\n${'  File "a.py", line 1, in f\n'.repeat(6000)}KeyError: 'x'`;
    for (const search of [searchText("Why?", [traceback]), searchText(traceback, []), continued("Why?", traceback)]) {
      assert.ok(search.length <= 100_000 && search.endsWith("line 1, in f\nKeyError: 'x'"));
    }
    assert.ok(searchText("Why?", [traceback]).startsWith("Why?\nTraceback"));
  });

  it("goes on with the question before where it says too little", () => {
    for (const prompt of ["why?", "show me an example", "And then?"]) {
      assert.ok(isFollowUp(prompt), prompt);
    }
    for (const prompt of ["LlmAgent", "output_key", "google.adk", "How do I retry a tool that throws?", " "]) {
      assert.ok(!isFollowUp(prompt), prompt);
    }
    assert.equal(continued("How do I retry?", "why?"), "How do I retry?\nwhy?");
  });
});
