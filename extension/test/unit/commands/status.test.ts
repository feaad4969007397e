import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { statusItems } from "../../../src/commands/status";
import type { ServerStatus } from "../../../src/protocol/generated";

const NOW = Date.parse("2026-11-21T12:00:00Z");

function status(more: Partial<ServerStatus> = {}): ServerStatus {
  return {
    version: "0.1.0",
    home: "/home/of/it",
    profile: "local",
    index: {
      generation: "g1",
      created_at: "2026-11-21T09:00:00Z",
      fingerprint: "f",
      content: null,
      dense: "complete",
      dense_model: null,
      corpora: {
        adk_docs: {
          repo: "google/adk-docs",
          commit: "c".repeat(40),
          ref: null,
          source: "git",
          chunks: 7,
          content: null,
        },
      },
    },
    generations: ["g1"],
    models: { dense_model: "MiniLM" },
    findings: [{ what: "index", state: "ok", found: "7 points", mend: "" }],
    ingesting: false,
    load: {
      requests: { running: 0, waiting: 0, most_running: 2, most_waiting: 1000, answered: 0, refused: 0 },
      shared: 0,
      caches: [],
    },
    settings_problem: null,
    projects: [],
    ...more,
  };
}

function lines(of: ServerStatus): string[] {
  return statusItems(of, NOW).map(({ label, description = "", detail = "" }) => `${label} ${description} ${detail}`);
}

describe("the status", () => {
  it("tells what is indexed, how old that is and with which models", () => {
    const told = lines(status()).join("\n");
    for (const word of ["google/adk-docs", "7 passages from git", "c".repeat(40), "3 hours ago", "MiniLM", "local"]) {
      assert.ok(told.includes(word), word);
    }
  });

  it("begins with what is to be mended, and how", () => {
    const finding = { what: "dense model", state: "broken", found: "It is missing.", mend: "Download it." } as const;
    const told = statusItems(status({ findings: [finding], settings_problem: "The profile is unknown." }), NOW);
    assert.equal(told[0]?.label, "To do");
    assert.ok(told[1]?.detail?.includes("The profile is unknown."));
    assert.ok(told[2]?.label.includes("dense model") && told[2].detail === "Download it." && told[2].run);
  });

  it("names the version of each project, and offers to index one that is missing", () => {
    const own = { folder: "file:///work/own", version: "2.13.0", taken_from: "uv.lock", asked: "" };
    const other = { folder: "file:///work/other", version: "1.18.0", taken_from: "Pipfile", asked: "google-adk<2" };
    const projects = [
      { ...own, indexed: "2.13.0", exact: true },
      { ...other, indexed: "2.13.0", exact: false },
    ];
    const told = statusItems(status({ projects }), NOW);
    const [first, second] = ["own", "other"].map((name) => told.find(({ label }) => label.endsWith(` ${name}`)));
    assert.equal(first?.description, "google-adk 2.13.0, from uv.lock");
    assert.equal(first.run, undefined);
    assert.equal(second?.description, "google-adk 1.18.0, from Pipfile · google-adk<2");
    assert.match(second.detail ?? "", /1\.18\.0 is not indexed: answers are of 2\.13\.0\. Choose this/);
    assert.ok(second.run);
  });

  it("offers to ingest where nothing is indexed", () => {
    const told = statusItems(status({ index: null }), NOW);
    assert.ok(told.some(({ label, run }) => label.includes("Nothing is indexed yet") && run !== undefined));
  });

  it("says that answers go by keywords until an ingestion has ended", () => {
    const { index } = status();
    assert.ok(index);
    const pending = { ...index, dense: "pending" } as const;
    const told = lines(status({ index: pending, ingesting: true }));
    assert.ok(told.some((line) => line.includes("keywords alone until the ingestion has ended")));
    assert.ok(told.some((line) => line.includes("being ingested")));
  });

  it("offers to go on with an ingestion that was stopped", () => {
    const { index } = status();
    assert.ok(index);
    const told = statusItems(status({ index: { ...index, dense: "pending" } }), NOW);
    const built = told.find(({ label }) => label.includes("Built"));
    assert.match(built?.detail ?? "", /keywords alone, because the ingestion was stopped/);
    assert.ok(built?.run);
    assert.ok(!told.some(({ detail }) => detail?.includes("until the ingestion has ended")));
  });

  it("shows nothing of the server's words as an icon", () => {
    const finding = { what: "$(trash)", state: "note", found: "$(zap)", mend: "$(x)" } as const;
    const told = lines(status({ findings: [finding], home: "$(a)", profile: "$(b)" })).join("\n");
    assert.doesNotMatch(told, /\$\((trash|zap|x|a|b)\)/);
  });
});
