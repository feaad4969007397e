import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { planOpening } from "../../../src/evidence/opening";
import type { Verification } from "../../../src/protocol/generated";
import { candidate, source } from "./packs";

const LINES = { start: 6, end: 12 };
const URL = "https://adk.dev/runtime/#run";
const SITE = "https://adk.dev/";
const code = candidate();
const docs = candidate({ source_type: "docs" });

function changed(state: Verification["state"]) {
  const lines = state === "gone" ? null : { start: 20, end: 26 };
  return source({
    matches_index: false,
    local_matches: false,
    lines,
    verification: { state, lines, path: null, reason: "" },
  });
}

describe("what a click on a citation opens", () => {
  it("is the read-only source, and never the file itself, whatever became of the file", () => {
    for (const changes of [{}, { local_matches: false }, changed("moved"), changed("gone")]) {
      assert.equal(planOpening(code, source(changes), "source", "browser").kind, "document");
    }
    assert.deepEqual(planOpening(code, source(), "default", "browser"), { kind: "document", lines: LINES, note: null });
  });

  it("is the source at its commit where the file has changed and its history is kept", () => {
    const plan = planOpening(code, source({ local_matches: false }), "default", "browser");
    assert.deepEqual(plan, { kind: "document", lines: LINES, note: "kept" });
  });

  it("is the source at its commit where the file is gone and its history is kept", () => {
    const plan = planOpening(code, source({ local_matches: false, local_file: null }), "default", "browser");
    assert.equal(plan.kind, "document");
  });

  for (const state of ["moved", "same_tree", "changed", "unverified"] as const) {
    it(`is the source as it is now where the text is ${state}, and says so`, () => {
      const plan = planOpening(code, changed(state), "default", "browser");
      assert.deepEqual(plan, { kind: "document", lines: { start: 20, end: 26 }, note: state });
    });
  }

  it("is the source where what became of the text is a word that is new, and says that nobody could tell", () => {
    const plan = planOpening(code, changed("withdrawn" as "moved"), "default", "browser");
    assert.ok(plan.kind === "document" && plan.note === "unverified");
  });

  it("is the source without any lines where the text is gone, and says so", () => {
    const plan = planOpening(code, changed("gone"), "default", "browser");
    assert.deepEqual(plan, { kind: "document", lines: null, note: "gone" });
  });

  it("is the other indexed file that has the text now, with the lines where the text is", () => {
    const lines = { start: 20, end: 26 };
    const verification = { state: "moved" as const, lines, path: null, reason: "" };
    const plan = planOpening(code, source({ lines, verification }), "default", "browser");
    assert.deepEqual(plan, { kind: "document", lines, note: "moved" });
  });

  it("needs no remark where other lines of the file changed", () => {
    const plan = planOpening(code, changed("exact"), "default", "browser");
    assert.ok(plan.kind === "document" && plan.note === null);
  });

  it("says that nobody could tell where the cited lines are not known to the index", () => {
    const plan = planOpening(code, source({ matches_index: false, verification: null }), "default", "browser");
    assert.ok(plan.kind === "document" && plan.note === "unverified");
  });
});

describe("what a click on a citation of the docs opens", () => {
  const page = source({ url: URL, site_url: SITE });

  it("is the page at its heading or the source at its lines, as the setting says", () => {
    assert.deepEqual(planOpening(docs, page, "default", "browser"), { kind: "page", url: URL });
    assert.equal(planOpening(docs, page, "default", "source").kind, "document");
  });

  it("is what was clicked, whatever the setting says", () => {
    assert.equal(planOpening(docs, page, "source", "browser").kind, "document");
    assert.equal(planOpening(docs, page, "browser", "source").kind, "page");
  });

  it("is the source where the page is of another site, and says so", () => {
    const foreign = source({ url: "https://evil.example/", site_url: SITE });
    const plan = planOpening(docs, foreign, "default", "browser");
    assert.ok(plan.kind === "document" && plan.note === "no-page");
    assert.deepEqual(planOpening(docs, foreign, "browser", "browser"), { kind: "nothing" });
  });

  it("keeps the graver remark where the source has changed, too", () => {
    const plan = planOpening(docs, { ...changed("changed"), url: null }, "default", "browser");
    assert.ok(plan.kind === "document" && plan.note === "changed");
  });

  it("is the source for code, which has no page", () => {
    assert.equal(planOpening(code, page, "default", "browser").kind, "document");
  });
});
