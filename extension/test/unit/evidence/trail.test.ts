import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { trailOf } from "../../../src/evidence/trail";
import { candidate } from "./packs";

describe("The trail of a candidate", () => {
  it("is the last two headings, or the symbol of code", () => {
    const headings = ["Guides", "Tools", "Confirmation", "Boolean confirmation"];
    assert.deepEqual(trailOf(candidate({ source_type: "docs", headings })), ["Confirmation", "Boolean confirmation"]);
    assert.deepEqual(trailOf(candidate({ source_type: "docs", headings: ["Tools"] })), ["Tools"]);
    assert.deepEqual(trailOf(candidate({ source_type: "code", symbol: "Runner.run", headings: [] })), ["Runner.run"]);
  });
});
