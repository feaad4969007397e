/** The words for what the protocol names. */

import { t } from "@vscode/l10n";
import { trailOf } from "../../evidence/trail";
import type { Candidate, Drift, EvidenceResult, Verification } from "../../protocol/generated";
import { namedLine } from "../../text/untrusted";
import type { Question } from "../messages";
import type { IconName } from "./Icon";

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

/** What a candidate is to the pasted error, with the line of its call; null where it is nothing to an error. */
export function errorLabel({ error }: Candidate): string | null {
  if (error == null) {
    return null;
  }
  const { role, frame, calls, line } = error;
  const words: string =
    {
      raise_site: t("Raises the error"),
      cause: t("Raises what led to the error"),
      frame: typeof frame === "number" && typeof calls === "number" ? t("Call {0} of {1}", frame, calls) : t("A call"),
      message: t("Holds the message"),
      remedy: t("May say what to do"),
    }[role] ?? t("Part of the error");
  return typeof line === "number" ? t("{0}: line {1}", words, line) : words;
}

/** What keeps a reader from the feature that a page is about, and how finished the feature is: a sentence each. */
export function availabilityLabels({ availability }: Candidate): string[] {
  if (availability === null) {
    return [];
  }
  const { languages, lacks, stage, version } = availability;
  const since = languages.find(({ language }) => language === "python")?.since ?? "";
  const names = languages.map(({ language }) => languageLabel(language)).join(", ");
  return [
    ...(lacks === "language" ? [t("The docs say: supported only in {0}", names)] : []),
    ...(lacks === "version"
      ? [t("The docs say: supported since google-adk {0}, not in {1}", since, version ?? "")]
      : []),
    ...(stage ? [t("The docs call this: {0}", stage)] : []),
  ];
}

/** The most names that a card lists; the pack has the others. */
const MAX_DRIFT_NAMES = 3;

/** What the code of a candidate shows and the answering version lacks or has otherwise, or needs: a sentence each. */
export function driftLabels({ drift, needs }: Candidate): string[] {
  const deprecated = drift.filter(({ kind }) => kind === "deprecated");
  const unawaited = drift.filter(({ kind }) => kind === "await");
  const lacking = drift.filter(({ kind }) => kind !== "deprecated" && kind !== "await");
  return [
    ...lacking.slice(0, 1).map(({ version }) => t("Not in google-adk {0}: {1}", version, listed(lacking))),
    ...unawaited
      .slice(0, 1)
      .map(({ version }) => t("Lacks await or async for in google-adk {0}: {1}", version, listed(unawaited))),
    ...deprecated.slice(0, 1).map(({ version }) => t("Deprecated in google-adk {0}: {1}", version, listed(deprecated))),
    ...(needs ? [t("The imports need {0}", needs)] : []),
  ];
}

function listed(drift: Drift[]): string {
  const names = drift.slice(0, MAX_DRIFT_NAMES).map(driftName);
  const more = drift.length - names.length;
  return (more > 0 ? [...names, t("{0} more", more)] : names).join(", ");
}

function driftName({ symbol, since, until, instead }: Drift): string {
  const name = shortSymbol(symbol);
  const facts = [until ? t("until {0}", until) : since ? t("since {0}", since) : ""];
  if (instead) {
    // What has moved has the same name at another path.
    facts.push(t("use {0}", shortSymbol(instead) === name ? instead : shortSymbol(instead)));
  }
  const said = facts.filter(Boolean).join(", ");
  return said === "" ? name : `${name} (${said})`;
}

/** `Runner(app=)` of `google.adk.runners.Runner(app=)`: the name from its first class on, else its last part. */
function shortSymbol(symbol: string): string {
  const parts = symbol.split(".");
  const first = parts.findIndex((part) => /^\p{Lu}/u.test(part));
  return parts.slice(first < 0 ? -1 : first).join(".");
}

/** In two words, what keeps an answer from high quality; null where nothing does, or where only its note tells. */
export function qualityLabel(level: EvidenceResult["quality"]["level"]): string | null {
  switch (level) {
    case "keyword_only":
      return t("Keywords only");
    case "mixed":
      return t("Less certain");
    default:
      return null;
  }
}

/** What a state of a citation means, as a sentence. */
export function verificationHelp(state: Verification["state"]): string {
  return (
    {
      exact: t("Verified: the source has this text at exactly these lines."),
      moved: t("The source has this text, at other lines than the cited ones."),
      same_tree: t("The source has this code, formatted otherwise."),
      changed: t("The source has another text now."),
      gone: t("The source does not have this text any more."),
      unverified: t("The text could not be compared with its source."),
    }[state] ?? t("What became of the citation is not known.")
  );
}

/** How well a text alone answers a question; the server calls what has less than a tenth of `support` far from it. */
export function fitLabel(support: number): string {
  return support >= 0.5 ? t("well") : support >= 0.1 ? t("partly") : t("little");
}

/** `path:start-end` in the repository. */
export function locationOf({ path, lines }: Candidate): string {
  return lines === null ? path : `${path}:${lines.start}-${lines.end}`;
}

/** Folders that all files of a repository are in. */
const ROOTS = /^(?:src\/google\/adk\/|docs\/)(?=.)/;

/** The location without what most locations have in common: the folder, and the file with its lines. */
export function shortLocation({ path, lines }: Candidate): [folder: string, file: string] {
  const short = path.replace(ROOTS, "");
  const [folder, file] = [short.slice(0, short.lastIndexOf("/") + 1), short.slice(short.lastIndexOf("/") + 1)];
  if (lines === null) {
    return [folder, file];
  }
  return [folder, lines.start === lines.end ? `${file}:${lines.start}` : `${file}:${lines.start}\u2013${lines.end}`];
}

/** A candidate's name for attributes, on one line. */
export function nameOf(candidate: Candidate): string {
  return namedLine(trailOf(candidate).join(" \u203a "));
}

/** The words for a branch of retrieval, e.g. `dense#2`. */
export function branchLabel(branch: string): string {
  const [kind = branch, part] = branch.split("#", 2);
  const words = new Map([
    ["dense", t("by meaning")],
    ["sparse", t("by keywords")],
    ["symbol", t("by its name")],
    ["asked", t("by a question that it answers")],
  ]);
  const label = words.get(kind) ?? kind;
  return part === undefined ? label : t("{0}, part {1}", label, part);
}
