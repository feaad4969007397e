import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { ageOf } from "../../src/age";

const NOW = Date.parse("2026-11-21T12:00:00Z");

describe("the age of an index", () => {
  for (const [time, words] of [
    ["2026-11-21T11:59:40Z", "this minute"],
    ["2026-11-21T11:30:00Z", "30 minutes ago"],
    ["2026-11-21T09:10:00Z", "3 hours ago"],
    ["2026-11-20T11:00:00Z", "yesterday"],
    ["2026-10-01T12:00:00Z", "51 days ago"],
    ["no time", null],
  ] as const) {
    it(`is "${words}" for ${time}`, () => {
      assert.equal(ageOf(time, NOW, "en"), words);
    });
  }
});
