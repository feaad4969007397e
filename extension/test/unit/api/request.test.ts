import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { paramsOfPrompt, paramsOfRequest } from "../../../src/api/request";

describe("a request of another extension", () => {
  it("needs a query alone", () => {
    assert.deepEqual(paramsOfRequest({ query: "x" }), { query: "x", filters: {} });
  });

  it("becomes the parameters of the server, without what does not belong there", () => {
    const request = {
      query: "x",
      taskMode: "debug" as const,
      maxResults: 3,
      timeBudgetMs: 500,
      sources: ["code" as const],
      pathAllowlist: ["src/**"],
      pathBlocklist: ["tests"],
      scope: "untitled:Untitled-1",
      folder: "file:///elsewhere",
    };
    assert.deepEqual(paramsOfRequest(request), {
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
    assert.deepEqual(paramsOfRequest({ query: "x", ...{ maxResults: undefined as never } }), {
      query: "x",
      filters: {},
    });
  });

  it("has a prompt of a budget alone, or of options", () => {
    assert.deepEqual(paramsOfPrompt(undefined), {});
    assert.deepEqual(paramsOfPrompt(500), { maxTokens: 500 });
    const options = { maxTokens: 500, system: "Be brief.", maxDocuments: 3, maxDocumentTokens: 600 };
    assert.deepEqual(paramsOfPrompt(options), options);
  });
});
