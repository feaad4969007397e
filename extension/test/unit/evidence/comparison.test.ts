import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { comparePacks, comparisonReport, lineDifference } from "../../../src/evidence/comparison";
import { candidate, pack } from "./packs";

const runner = candidate();
const page = candidate({
  rank: 2,
  candidate_id: "docs:a",
  source_type: "docs",
  path: "docs/a.md",
  symbol: null,
  headings: ["Tools", "Retry"],
  citation: "adk-docs@c:https://adk.dev/a/#retry",
  text: "one\ntwo\nthree",
});

describe("comparing packs", () => {
  it("finds nothing to say of the same pack", () => {
    const both = pack({ candidates: [runner, page] });
    const report = comparisonReport(both, both);
    assert.match(report, /0 new, 0 gone, 0 moved in rank, 0 with changed text, 2 as they were\./);
    assert.doesNotMatch(report, /##/);
  });

  it("tells what is new, gone, moved and changed", () => {
    const changed = { ...page, rank: 1, candidate_id: "docs:b", text: "one\n2\nthree" };
    const added = candidate({ rank: 2, candidate_id: "new", symbol: "App", citation: "adk-python@v3:app.py#L1-L2" });
    const report = comparisonReport(pack({ candidates: [runner, page] }), pack({ candidates: [changed, added] }));
    assert.match(report, /1 new, 1 gone, 1 moved in rank, 1 with changed text, 0 as they were\./);
    assert.match(report, /## New\n\n- 2\. `adk-python@v3:app\.py#L1-L2`/);
    assert.match(report, /## Gone\n\n- was 1: `adk-python@v2\.13\.0/);
    assert.match(report, /## Moved in rank\n\n- 2 → 1: `adk-docs@c/);
    assert.match(report, /```diff\n one\n-two\n\+2\n three\n```/);
  });

  it("knows evidence of another version by its place, and of several at one place by the text", () => {
    const parts = ["first", "second"].map((text, index) =>
      candidate({ rank: index + 1, candidate_id: `v1:${text}`, text, ref: "v1" }),
    );
    const later = ["second", "first"].map((text, index) =>
      candidate({ rank: index + 1, candidate_id: `v2:${text}`, text, ref: "v2" }),
    );
    const found = comparePacks(pack({ candidates: parts }), pack({ candidates: later }));
    assert.deepEqual(
      found.map(({ before, after }) => [before?.text, after?.text]),
      [
        ["second", "second"],
        ["first", "first"],
      ],
    );
  });

  it("shows texts of a corpus as texts", () => {
    const hostile = "```\n[x](command:evil)\n\u202e<script>";
    const then = candidate({ text: "a", symbol: "[y](command:evil)" });
    const report = comparisonReport(
      pack({ candidates: [then], query: "<b> $(zap)" }),
      pack({ candidates: [{ ...then, text: hostile }] }),
    );
    assert.match(report, /````diff\n-a\n\+```\n\+\[x\]\(command:evil\)\n\+<U\+202E><script>\n````/);
    assert.match(report, /### \\\[y\\\] \\\(command/);
    assert.match(report, /\\<b\\> /);
  });

  it("names the index of each pack: commits short, tags and branches whole, and its date", () => {
    const corpus = { repo: "google/adk-python", ref: null, source: "git", chunks: 1, content: null };
    const corpora = {
      adk_python: { ...corpus, commit: "feature/a-long-name" },
      adk_docs: { ...corpus, repo: "google/adk-docs", commit: "a".repeat(40) },
    };
    const created_at = "2026-11-20T12:00:00Z";
    const index = {
      generation: "g",
      created_at,
      fingerprint: "f",
      content: null,
      dense: "complete",
      dense_model: null,
      corpora,
    } as const;
    const report = comparisonReport(pack({ index }), pack()).replaceAll("\\", "");
    assert.match(
      report,
      /google\/adk-python@feature\/a-long-name; google\/adk-docs@a{12}; index built on Nov 2[01], 2026/,
    );
  });

  it("compares no more lines than it can afford, and no lines at the ends of a text that are the same", () => {
    const effort = { pairs: 100 };
    const before = Array.from({ length: 1000 }, (_, index) => `line ${index}`);
    const shown = lineDifference(before.join("\n"), before.with(500, "another").join("\n"), effort);
    assert.deepEqual([effort.pairs, shown.split("\n").length], [99, 10]);
    assert.equal(lineDifference(" a\nb\nc", "b\nc\nd", { pairs: 9 }), "- a\n b\n c\n+d");
    assert.equal(lineDifference(" a\nb\nc", "b\nc\nd", { pairs: 8 }), "- a\n-b\n-c\n+b\n+c\n+d");
    const twice = { pairs: 10 };
    lineDifference("a\nb", "c\nd\ne", twice);
    assert.equal(lineDifference("a\nb", "b\nc\nd", twice), "-a\n-b\n+b\n+c\n+d");
  });

  it("leaves out what is far from any change, and gives up on enormous texts", () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const other = lines.with(20, "another");
    const shown = lineDifference(lines.join("\n"), other.join("\n")).split("\n");
    assert.deepEqual([shown[0], shown.at(-1), shown.length], [" …", " …", 10]);
    const huge = "x\n".repeat(5000);
    const rest = huge.replaceAll("x", "y");
    assert.equal(lineDifference(`${huge}a`, `${rest}b`).split("\n").length, 2 * 5001);
  });
});
