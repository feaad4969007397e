import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { checkName, checkPrompt, checkRequest, paramsOfRequest } from "../../../src/api/request";
import { Problem } from "../../../src/problem";

function refusal(check: () => unknown): string {
  try {
    check();
  } catch (reason) {
    assert.ok(reason instanceof Problem);
    assert.equal(reason.code, "invalid_request");
    return reason.message;
  }
  assert.fail("it was accepted");
}

describe("a request of another extension", () => {
  it("needs a query alone", () => {
    assert.deepEqual(paramsOfRequest(checkRequest({ query: "x" })), { query: "x", filters: {} });
  });

  it("becomes the parameters of the server", () => {
    const request = {
      query: "x",
      taskMode: "debug",
      maxResults: 3,
      timeBudgetMs: 500,
      sources: ["code"],
      pathAllowlist: ["src/**"],
      pathBlocklist: ["tests"],
      scope: "untitled:Untitled-1",
    };
    assert.deepEqual(paramsOfRequest(checkRequest(request)), {
      query: "x",
      taskMode: "debug",
      maxResults: 3,
      timeBudgetMs: 500,
      filters: {
        source_types: ["code"],
        path_allowlist: ["src/**"],
        path_blocklist: ["tests"],
      },
    });
  });

  it("may name members that are undefined", () => {
    assert.deepEqual(paramsOfRequest(checkRequest({ query: "x", maxResults: undefined })), { query: "x", filters: {} });
  });

  for (const [request, word] of [
    [undefined, "object"],
    [null, "object"],
    ["x", "object"],
    [["x"], "object"],
    [{}, "no query"],
    [{ query: undefined }, "no query"],
    [{ query: "" }, "query"],
    [{ query: "   " }, "query"],
    [{ query: 7 }, "query"],
    [{ query: "x".repeat(100_001) }, "100000"],
    [{ query: "x", taskMode: "guess" }, "taskMode"],
    [{ query: "x", maxResults: 0 }, "maxResults"],
    [{ query: "x", maxResults: 1.5 }, "maxResults"],
    [{ query: "x", maxResults: Number.NaN }, "maxResults"],
    [{ query: "x", maxResults: 101 }, "100"],
    [{ query: "x", maxResults: null }, "maxResults"],
    [{ query: "x", timeBudgetMs: "1" }, "timeBudgetMs"],
    [{ query: "x", sources: [] }, "sources"],
    [{ query: "x", sources: ["web"] }, "sources"],
    [{ query: "x", pathAllowlist: "src" }, "pathAllowlist"],
    [{ query: "x", pathBlocklist: [""] }, "pathBlocklist"],
    [{ query: "x", scope: "nowhere" }, "scope"],
    [{ query: "x", task_mode: "debug" }, '"task_mode"'],
    [{ query: "x", toString: () => "x" }, '"toString"'],
  ] as const) {
    it(`is refused with a word on what is wrong: ${JSON.stringify(request)?.slice(0, 60)}`, () => {
      const message = refusal(() => checkRequest(request));
      assert.ok(message.includes(word), message);
      assert.ok(message.endsWith(".") && message.length < 200);
    });
  }

  it("names a symbol by a text", () => {
    assert.equal(checkName("LlmAgent"), "LlmAgent");
    for (const name of [undefined, "", " ", 7, "x".repeat(501)]) {
      refusal(() => checkName(name));
    }
  });

  it("has a prompt of a budget alone, or of options", () => {
    assert.deepEqual(checkPrompt(undefined), {});
    assert.deepEqual(checkPrompt(500), { maxTokens: 500 });
    assert.deepEqual(checkPrompt({ maxTokens: undefined }), {});
    const history = [
      { role: "user", content: "a" },
      { role: "assistant", content: "" },
    ];
    const options = { maxTokens: 500, system: "Be brief.", history, maxDocuments: 3, maxDocumentTokens: 600 };
    assert.deepEqual(checkPrompt(options), options);
  });

  for (const [options, word] of [
    [0, "maxTokens"],
    [-1, "maxTokens"],
    [1.5, "maxTokens"],
    ["8000", "maxTokens"],
    [null, "object"],
    [[], "object"],
    [{ maxTokens: 2 ** 31 }, "maxTokens"],
    [{ system: 7 }, "system"],
    [{ history: "x" }, "history"],
    [{ history: [{ role: "system", content: "x" }] }, "history"],
    [{ history: [{ role: "user" }] }, "history"],
    [{ history: [{ role: "user", content: "x", name: "y" }] }, "history"],
    [{ maxDocuments: 0 }, "maxDocuments"],
    [{ maxDocuments: 101 }, "100"],
    [{ maxDocumentTokens: 0 }, "maxDocumentTokens"],
    [{ max_tokens: 5 }, '"max_tokens"'],
  ] as const) {
    it(`has no prompt of ${JSON.stringify(options)}`, () => {
      const message = refusal(() => checkPrompt(options));
      assert.ok(message.includes(word), message);
      assert.ok(message.endsWith(".") && message.length < 200);
    });
  }
});
