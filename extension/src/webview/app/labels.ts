/** The words for what the protocol names. */

import { t } from "@vscode/l10n";
import { trailOf } from "../../evidence/trail";
import type { Candidate, Drift, EvidenceResult, Verification } from "../../protocol/generated";
import { namedLine } from "../../text/untrusted";
import type { Question, TaskMode } from "../messages";
import type { IconName } from "./Icon";

export function taskModes(): { value: TaskMode; label: string }[] {
  return [
    { value: "build", label: t("Build") },
    { value: "debug", label: t("Debug") },
    { value: "explain", label: t("Explain") },
    { value: "refactor", label: t("Refactor") },
  ];
}

export function sourceChoices(): { value: Question["sources"]; label: string }[] {
  return [
    { value: "both", label: t("Both") },
    { value: "docs", label: t("Docs") },
    { value: "code", label: t("Code") },
  ];
}

/** What kind of source a candidate is from. */
export function sourceBadge(candidate: Candidate): { icon: IconName; label: string; kind: string } {
  if (candidate.origin === "api-reference") {
    return { icon: "api", label: t("API reference"), kind: "api" };
  }
  if (candidate.origin === "sample") {
    return { icon: "code", label: t("Sample"), kind: "code" };
  }
  return candidate.source_type === "docs"
    ? { icon: "docs", label: t("Docs"), kind: "docs" }
    : { icon: "code", label: t("Code"), kind: "code" };
}

/** Titles of the server's table (server/adk_evidence/languages.py) that are not the name with a capital letter. */
const LANGUAGES = new Map([
  ["php", "PHP"],
  ["javascript", "JavaScript"],
  ["typescript", "TypeScript"],
]);

/** A programming language as people write its name. */
export function languageLabel(language: string): string {
  return LANGUAGES.get(language) ?? namedLine(language.charAt(0).toUpperCase() + language.slice(1), 40);
}

/** What became of a citation, in a few words. */
export function verificationLabel({ state, lines, path }: Verification): string {
  const words: string =
    {
      exact: t("Verified"),
      moved: t("Moved"),
      same_tree: t("Same code"),
      changed: t("Changed"),
      gone: t("Gone"),
      unverified: t("Not verified"),
    }[state] ?? t("Unknown");
  if (lines === null || state === "exact") {
    return words;
  }
  return typeof path === "string"
    ? t("{0}, now in {1}, lines {2}\u2013{3}", words, namedLine(path, 200), lines.start, lines.end)
    : t("{0}, now lines {1}\u2013{2}", words, lines.start, lines.end);
}

/** The most names that a card lists; the pack has the others. */
const MAX_DRIFT_NAMES = 3;

/** What the code of a candidate shows and the answering version lacks, or calls deprecated: a sentence each. */
export function driftLabels({ drift = [] }: Candidate): string[] {
  const deprecated = drift.filter(({ kind }) => kind === "deprecated");
  const lacking = drift.filter(({ kind }) => kind !== "deprecated");
  return [
    ...lacking.slice(0, 1).map(({ version }) => t("Not in google-adk {0}: {1}", version, listed(lacking))),
    ...deprecated.slice(0, 1).map(({ version }) => t("Deprecated in google-adk {0}: {1}", version, listed(deprecated))),
  ];
}

function listed(drift: Drift[]): string {
  const names = drift.slice(0, MAX_DRIFT_NAMES).map(driftName);
  const more = drift.length - names.length;
  return (more > 0 ? [...names, t("{0} more", more)] : names).join(", ");
}

function driftName({ kind, symbol, since, until, instead }: Drift): string {
  const name = shortSymbol(symbol);
  if (kind === "deprecated") {
    return instead ? t("{0} (use {1})", name, shortSymbol(instead)) : name;
  }
  if (until) {
    return t("{0} (until {1})", name, until);
  }
  return since ? t("{0} (since {1})", name, since) : name;
}

/** `Runner(app=)` of `google.adk.runners.Runner(app=)`: the name from its first class on, else its last part. */
function shortSymbol(symbol: string): string {
  const parts = symbol.split(".");
  const first = parts.findIndex((part) => /^\p{Lu}/u.test(part));
  return parts.slice(first < 0 ? -1 : first).join(".");
}

export function qualityLabel(level: EvidenceResult["quality"]["level"]): string {
  return (
    {
      none: t("No close match"),
      keyword_only: t("Keywords only"),
      mixed: t("Mixed quality"),
      high: t("High quality"),
    }[level] ?? t("Unknown quality")
  );
}

/** `path:start-end` in the repository. */
export function locationOf({ path, lines }: Candidate): string {
  return lines === null ? path : `${path}:${lines.start}-${lines.end}`;
}

/** A candidate's name for attributes, on one line. */
export function nameOf(candidate: Candidate): string {
  return namedLine(trailOf(candidate).join(" \u203a "));
}

/** The words for a branch of retrieval, e.g. `dense#2`. */
export function branchLabel(branch: string): string {
  const [kind = branch, part] = branch.split("#", 2);
  const words = new Map([
    ["dense", t("Meaning")],
    ["sparse", t("Keywords")],
    ["symbol", t("Symbol")],
  ]);
  const label = words.get(kind) ?? kind;
  return part === undefined ? label : t("{0}, part {1}", label, part);
}
