import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { fromDocumentPath, toDocumentPath } from "../../../src/evidence/sourceAddress";
import type { SourceFile } from "../../../src/protocol/generated";

const PLACES: SourceFile[] = [
  { repo: "google/adk-python", commit: "v2.13.0", path: "src/google/adk/agents/llm_agent.py" },
  { repo: "google/adk-docs", commit: "979a8fa9dba9290b85ba6746686d1c274b20ca90", path: "docs/a b/c@d#e?f%2F.md" },
  { repo: "me/x@y", commit: "release/1.0+build", path: "ä/漢.py" },
  { repo: "alone", commit: "100%", path: "x" },
];

describe("the address of a document with a cited source", () => {
  it("reads as repository, commit and path", () => {
    const [first] = PLACES;
    assert.ok(first);
    assert.equal(toDocumentPath(first), "/google/adk-python@v2.13.0/src/google/adk/agents/llm_agent.py");
  });

  for (const place of PLACES) {
    it(`says again what ${place.repo}@${place.commit}:${place.path} was`, () => {
      assert.deepEqual(fromDocumentPath(toDocumentPath(place)), place);
    });
  }

  for (const path of ["", "/", "/x", "/x@y", "/x@y/", "x@y/z", "/@y/z", "/x@/z", "/x@%/z", "/status.md"]) {
    it(`is not ${JSON.stringify(path)}`, () => {
      assert.equal(fromDocumentPath(path), null);
    });
  }
});
