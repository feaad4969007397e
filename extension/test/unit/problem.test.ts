import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Problem } from "../../src/problem";

describe("a problem", () => {
  it("is an error whose message is its sentence", () => {
    const problem = new Problem("There is no index. Ingest the corpora.", "no_index", [
      { title: "Ingest", command: "adkEvidence.ingest" },
    ]);
    assert.ok(problem instanceof Error);
    assert.equal(String(problem), "Problem: There is no index. Ingest the corpora.");
    assert.equal(problem.code, "no_index");
    assert.equal(problem.fixes[0]?.command, "adkEvidence.ingest");
  });
});
