import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "mocha";
import type { Availability, Drift } from "../../../src/protocol/generated";
import { availabilityLabels, driftLabels, languageLabel } from "../../../src/webview/app/labels";
import { candidate } from "../evidence/packs";

/** The server's table of languages: each name with its title. */
const TABLE = [
  ...fs.readFileSync("server/adk_evidence/languages.py", "utf8").matchAll(/^ {4}Language\("(.+?)", "(.+?)"/gm),
];
/** The languages that lines of a page may be for. */
const PROGRAMMING = /ProgrammingLanguage = Literal\[([^\]]+)\]/.exec(
  fs.readFileSync("server/adk_evidence/models/chunk.py", "utf8"),
)?.[1];

describe("a programming language", () => {
  it("is written as the server writes it", () => {
    const titles = new Map(TABLE.map(([, name = "", title]) => [name, title]));
    const names: string[] = PROGRAMMING?.match(/[^",\s]+/g) ?? [];
    assert.ok(names.includes("typescript") && names.includes("c++"), names.join(" "));
    for (const name of names) {
      assert.equal(languageLabel(name), titles.get(name));
    }
  });

  it("that is not known here is a name, and no more than a name", () => {
    assert.equal(languageLabel("zig\u202e"), "Zig[U+202E]");
    assert.equal(languageLabel("__proto__"), "__proto__");
  });
});

/** A name that an answer from 1.4.2 lacks. */
function lacking(symbol: string, more: Partial<Drift> = {}): Drift {
  const lines = { start: 2, end: 2 };
  const where = { version: "1.4.2", lines, until: null, since: null, instead: null, text: "" };
  return { kind: "import", symbol, ...where, ...more };
}

describe("where a feature exists, as its page says", () => {
  const python = { language: "python", since: "1.25.0" };
  const others = [
    { language: "typescript", since: "1.0.0" },
    { language: "go", since: null },
  ];

  it("is told where the reader does not have the feature", () => {
    const elsewhere: Availability = { languages: others, stage: null, lacks: "language", version: null };
    assert.deepEqual(availabilityLabels(candidate({ availability: elsewhere })), [
      "The docs say: supported only in TypeScript, Go",
    ]);
    const languages = [...others, python];
    const newer: Availability = { languages, stage: "experimental", lacks: "version", version: "1.20.0" };
    assert.deepEqual(availabilityLabels(candidate({ availability: newer })), [
      "The docs say: supported since google-adk 1.25.0, not in 1.20.0",
      "The docs call this: experimental",
    ]);
  });

  it("is not told where the reader has the feature", () => {
    const here = { languages: [python], stage: null, lacks: null, version: null };
    assert.deepEqual(availabilityLabels(candidate({ availability: here })), []);
  });
});

describe("what evidence shows and the version lacks", () => {
  it("is listed with the versions that have it", () => {
    const drift = [
      lacking("google.adk.apps.App", { since: "1.14.0" }),
      lacking("google.adk.agents.LlmAgent(mode=)", { kind: "keyword" }),
      lacking("google.adk.agents.LoopAgent", { kind: "deprecated", instead: "google.adk.Workflow" }),
      lacking("google.adk.skills", { until: "1.2.0", instead: "google.adk.tools.skills" }),
      lacking("google.adk.plugins"),
      lacking("google.adk.tools.ToolContext.load_artifact", { kind: "await" }),
    ];
    assert.deepEqual(driftLabels(candidate({ drift })), [
      "Not in google-adk 1.4.2: App (since 1.14.0), LlmAgent(mode=), skills (until 1.2.0, use google.adk.tools.skills), 1 more",
      "Lacks await or async for in google-adk 1.4.2: ToolContext.load_artifact",
      "Deprecated in google-adk 1.4.2: LoopAgent (use Workflow)",
    ]);
  });

  it("is not told where there is nothing", () => {
    assert.deepEqual(driftLabels(candidate()), []);
    assert.deepEqual(driftLabels(candidate({ needs: "google-adk[mcp]" })), ["The imports need google-adk[mcp]"]);
  });
});
