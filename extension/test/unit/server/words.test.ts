import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { doctorReport, type Examination } from "../../../src/commands/doctorReport";
import { serverLine, withoutCredentials } from "../../../src/log";
import type { IndexInfo, ProjectStatus, ServerStatus } from "../../../src/protocol/generated";
import { looksLikeKey } from "../../../src/server/key";
import type { ServerState } from "../../../src/server/managedServer";
import { PROBLEMS } from "../../../src/server/problems";
import { statusText } from "../../../src/server/statusText";

const LAUNCH = { command: "p", args: [], isolated: true, key: "p", origin: "command", version: null } as const;
const READY: ServerState = { kind: "ready", launch: LAUNCH };
const INDEX: IndexInfo = {
  generation: "g",
  created_at: "2026-01-01T00:00:00Z",
  content: null,
  fingerprint: "f",
  dense: "complete",
  dense_model: null,
  corpora: {
    adk_docs: {
      repo: "google/adk-docs",
      commit: "0123456789abcdef",
      ref: null,
      source: "git",
      chunks: 1,
      content: null,
    },
    adk_python: {
      repo: "google/adk-python",
      commit: "v2.0.0",
      ref: "v2.0.0",
      source: "distribution",
      chunks: 2,
      content: null,
    },
  },
};
const NOW = new Date("2026-01-03T01:00:00Z");

function text(state: ServerState, index: IndexInfo | null | undefined, trusted = true) {
  return statusText({ state, index, trusted }, NOW, "en");
}

describe("the status item", () => {
  it("tells each state by itself", () => {
    const kinds: [ServerState, IndexInfo | null | undefined, boolean, string][] = [
      [{ kind: "idle" }, undefined, true, "idle"],
      [{ kind: "starting" }, undefined, true, "starting"],
      [READY, undefined, true, "ready"],
      [READY, INDEX, true, "ready"],
      [READY, { ...INDEX, dense: "pending" }, true, "partial"],
      [READY, null, true, "noIndex"],
      [{ kind: "down", problem: PROBLEMS.noEnvironment() }, undefined, true, "notSetUp"],
      [{ kind: "down", problem: PROBLEMS.noEnvironment() }, undefined, false, "restricted"],
      [{ kind: "down", problem: PROBLEMS.crashed() }, undefined, true, "down"],
      [{ kind: "down", problem: PROBLEMS.startFailed("p") }, undefined, false, "down"],
    ];
    for (const [state, index, trusted, kind] of kinds) {
      assert.equal(text(state, index, trusted).kind, kind);
    }
  });

  it("does not call a server ready that has not told yet whether there is an index", () => {
    assert.deepEqual(
      [text(READY, undefined).text, text(READY, undefined).tooltip],
      ["$(loading~spin) ADK", "ADK Evidence is starting"],
    );
  });

  it("tells the index's age and commits", () => {
    assert.equal(
      text(READY, INDEX).tooltip,
      [
        "ADK Evidence is ready",
        "Index made 2 days ago",
        "google/adk-docs@0123456789ab",
        "google/adk-python@v2.0.0",
      ].join("\n"),
    );
  });

  it("names the version that the project uses, and says where another one answers", () => {
    const project = { folder: "file:///work", version: "1.18.0", taken_from: ".venv", asked: "", indexed: "1.18.0" };
    const shown = (more: Partial<ProjectStatus>) =>
      statusText(
        { state: READY, index: INDEX, trusted: true, project: { ...project, exact: true, ...more } },
        NOW,
        "en",
      );
    const own = shown({});
    assert.equal(own.text, "$(verified) ADK 1.18.0");
    assert.match(own.tooltip, /^ADK Evidence is ready\ngoogle-adk 1\.18\.0, from \.venv\nIndex made/);
    const other = shown({ indexed: "2.13.0", exact: false });
    assert.equal(other.text, "$(warning) ADK 1.18.0");
    assert.match(other.tooltip, /google-adk 1\.18\.0 is not indexed: answers are of 2\.13\.0\./);
    const unknown = shown({ indexed: null, exact: false });
    assert.equal(unknown.text, "$(warning) ADK 1.18.0");
    assert.match(unknown.tooltip, /answers are of another version\./);
    assert.doesNotMatch(shown({ taken_from: "$(bug)" }).tooltip, /\$\(bug\)/);
  });

  it("tells what an index lacks, and how to go on", () => {
    const { corpora, ...rest } = INDEX;
    assert.match(text(READY, { ...INDEX, dense: "pending" }).tooltip, /keywords alone.*Resume goes on/);
    const { adk_docs: _, ...withoutGuides } = corpora;
    assert.match(
      text(READY, { ...rest, corpora: withoutGuides }).tooltip,
      /guides \(google\/adk-docs\) are not indexed/,
    );
  });

  it("tells what is wrong, and Restricted Mode", () => {
    const { tooltip } = text({ kind: "down", problem: PROBLEMS.noEnvironment() }, undefined, false);
    assert.match(tooltip, /Set it up once/);
    assert.match(tooltip, /Restricted Mode/);
  });
});

describe("a line of the log", () => {
  it("has the level that the server gave it", () => {
    assert.deepEqual(serverLine("WARNING adk: x"), { level: "warn", text: "adk: x" });
    assert.deepEqual(serverLine("CRITICAL adk: x"), { level: "error", text: "adk: x" });
    assert.deepEqual(serverLine("Traceback (most recent call last):"), {
      level: "info",
      text: "Traceback (most recent call last):",
    });
  });

  it("has no credentials", () => {
    const line = "Looking in indexes: https://me:pass@index.invalid/simple with pa-abcdefghijklmnopqrstu";
    assert.equal(withoutCredentials(line), "Looking in indexes: https://***@index.invalid/simple with ***");
    assert.equal(withoutCredentials("refused sk-proj-abcdefghijklmnop_qrs"), "refused ***");
  });
});

describe("a key of Voyage AI", () => {
  it("is one long word", () => {
    assert.ok(looksLikeKey(" pa-abcdefghijklmnopqrst "));
    for (const text of ["", "short", "pa-abcdefghij klmnopqrst", "pa-abcdefghijklmnopqrstü"]) {
      assert.ok(!looksLikeKey(text));
    }
  });
});

describe("the doctor's report", () => {
  const found: Examination = {
    extension: "0.1.0",
    editor: "Editor 1.2.3",
    trusted: true,
    resolution: {
      trail: [{ origin: "privateEnvironment", found: "It is not set up." }],
      problem: PROBLEMS.noEnvironment(),
    },
    outcome: { problem: PROBLEMS.noEnvironment() },
  };
  const status: ServerStatus = {
    version: "0.1.0",
    home: "/home",
    profile: "local",
    services: [],
    index: null,
    symbols: true,
    models: { dense_model: "all-MiniLM-L6-v2", dense_dimension: 384, sparse_model: "bm25", lexical_version: 3 },
    findings: [
      { what: "index", state: "broken", found: "Nothing is indexed.", mend: "Run `adk-ingest all`." },
      { what: "home", state: "ok", found: "/a_b_[c](command:evil)<img src=x>", mend: "" },
    ],
    ingesting: false,
    settings_problem: null,
    projects: [
      {
        folder: "file:///work/<img src=x>",
        version: "1.18.0",
        taken_from: "[venv](command:evil)",
        asked: "",
        indexed: "2.13.0",
        exact: false,
      },
    ],
  };

  it("says why there is no server, and what was looked at", () => {
    const report = doctorReport(found);
    assert.match(report, /The server does not run/);
    assert.match(report, /Private environment: It is not set up\\\./);
  });

  it("lists what the server finds", () => {
    const report = doctorReport({ ...found, outcome: { status } });
    assert.match(report, /Something is missing or broken/);
    assert.match(report, /- ✗ \*\*index\*\*: Nothing is indexed\\\./);
    assert.match(report, /^# What Is Set Up\n/);
    // A finding says in words what searches by meaning.
    assert.doesNotMatch(report, /MiniLM/);
    assert.match(report.replaceAll("\\", ""), /- ! .*google-adk 1\.18\.0.* is not indexed: answers are of 2\.13\.0/);
  });

  it("shows names in backticks as code, whatever is in them", () => {
    const findings = [
      { what: "settings", state: "ok" as const, found: "as `profile: [x](command:y)` says *", mend: "" },
    ];
    const report = doctorReport({ ...found, outcome: { status: { ...status, findings } } });
    assert.ok(report.includes(": as `profile: [x] (command:y)` says \\*\n"));
  });

  it("does not call an index complete whose list of symbols is not", () => {
    const said = { ...status, index: INDEX, symbols: false, findings: [] };
    const report = doctorReport({ ...found, outcome: { status: said } });
    assert.match(report, /\*\*The index is not complete\.\*\*/);
    assert.match(report, /- ADK Evidence answers\\, but its list of symbols is not complete/);
    const whole = doctorReport({ ...found, outcome: { status: { ...said, symbols: true } } });
    assert.match(whole, /Everything that is needed is there/);
  });

  it("shows nothing of it as markup", () => {
    const report = doctorReport({
      ...found,
      resolution: { trail: [], launch: { ...LAUNCH, command: "a`b", args: ["https://me:secret@x.invalid"] } },
      outcome: { status },
    });
    assert.ok(!report.includes("](command:"));
    assert.ok(!/(?<!\\)<img/.test(report));
    assert.match(report, /`` a`b https:\/\/\*\*\*@x\.invalid ``/);
  });
});
