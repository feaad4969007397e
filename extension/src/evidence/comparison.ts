/** What differs between two packs, as a report for a person. */

import { l10n } from "vscode";
import type { Candidate, EvidenceResult } from "../protocol/generated";
import { codeSpan, fenced, markdownLine, visible } from "../text/untrusted";

/** A piece of evidence of either pack. `before` is null where it is new, `after` where it is gone. */
export interface Compared {
  readonly before: Candidate | null;
  readonly after: Candidate | null;
}

/** Longer texts are shown whole, one after the other. */
const MAX_DIFF_LINES = 1500;
const CONTEXT_LINES = 3;

/**
 * Finds each piece of evidence of one pack in the other: the same evidence, else what stands at the same place of the
 * same source, with the same text if there are several. The order is that of `after`, then that of `before`.
 */
export function comparePacks(before: EvidenceResult, after: EvidenceResult): Compared[] {
  const found = new Map<Candidate, Candidate>();
  const left = new Set(before.candidates);
  for (const same of [isSame, isAlike, isAtOnePlace]) {
    for (const now of after.candidates.filter((candidate) => !found.has(candidate))) {
      const then = [...left].find((candidate) => same(candidate, now));
      if (then !== undefined) {
        found.set(now, then);
        left.delete(then);
      }
    }
  }
  return [
    ...after.candidates.map((now) => ({ before: found.get(now) ?? null, after: now })),
    ...[...left].map((then) => ({ before: then, after: null })),
  ];
}

/** The comparison as Markdown; `savedAt` is the date of the earlier pack in words. */
export function comparisonReport(before: EvidenceResult, after: EvidenceResult, savedAt: string): string {
  const compared = comparePacks(before, after);
  const isNew = compared.filter((one) => one.before === null);
  const isGone = compared.filter((one) => one.after === null);
  const both = compared.filter(inBoth);
  const moved = both.filter((one) => one.before.rank !== one.after.rank);
  const changed = both.filter((one) => one.before.text !== one.after.text);
  const kept = both.length - new Set([...moved, ...changed]).size;
  const lines = [
    `# ${l10n.t("Comparison with a saved pack")}`,
    "",
    `- ${l10n.t("Saved on {0}", savedAt)}: ${about(before)}`,
    `- ${l10n.t("Shown now")}: ${about(after)}`,
    "",
    l10n.t(
      "{0} new, {1} gone, {2} moved in rank, {3} with changed text, {4} as they were.",
      isNew.length,
      isGone.length,
      moved.length,
      changed.length,
      kept,
    ),
    "",
    ...list(
      l10n.t("New"),
      isNew.map(({ after }) => after && `${after.rank}. ${citation(after)}`),
    ),
    ...list(
      l10n.t("Gone"),
      isGone.map(({ before }) => before && l10n.t("was {0}: {1}", before.rank, citation(before))),
    ),
    ...list(
      l10n.t("Moved in rank"),
      moved.map(({ before, after }) => `${before.rank} → ${after.rank}: ${citation(after)}`),
    ),
  ];
  if (changed.length > 0) {
    lines.push(`## ${l10n.t("Changed text")}`, "");
    for (const { before: then, after: now } of changed) {
      lines.push(`### ${titleOf(now)}`, "", `${citation(then)} → ${citation(now)}`, "");
      lines.push(fenced(lineDifference(then.text, now.text), "diff"), "");
    }
  }
  return `${lines.join("\n")}\n`;
}

/** The lines of both texts: those of the first alone after `-`, those of the second alone after `+`. */
export function lineDifference(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  if (old.length > MAX_DIFF_LINES || now.length > MAX_DIFF_LINES) {
    return [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)].join("\n");
  }
  return shortened(marked(old, now)).join("\n");
}

function isSame(then: Candidate, now: Candidate): boolean {
  return then.candidate_id === now.candidate_id;
}

function isAlike(then: Candidate, now: Candidate): boolean {
  return isAtOnePlace(then, now) && then.text === now.text;
}

function isAtOnePlace(then: Candidate, now: Candidate): boolean {
  return (
    then.source_type === now.source_type &&
    then.origin === now.origin &&
    then.repo === now.repo &&
    then.path === now.path &&
    then.symbol === now.symbol &&
    then.headings.join("\n") === now.headings.join("\n")
  );
}

function inBoth(one: Compared): one is { before: Candidate; after: Candidate } {
  return one.before !== null && one.after !== null;
}

function about(pack: EvidenceResult): string {
  const corpora = Object.values(pack.index?.corpora ?? {}).map(({ repo, commit }) => `${repo}@${commit.slice(0, 12)}`);
  const from = corpora.length > 0 ? ` (${[...new Set(corpora)].map(markdownLine).join(", ")})` : "";
  return `${markdownLine(pack.query)}${from}`;
}

function citation(candidate: Candidate): string {
  return codeSpan(visible(candidate.citation));
}

function titleOf(candidate: Candidate): string {
  return markdownLine(candidate.symbol ?? candidate.headings.at(-1) ?? candidate.title ?? candidate.path);
}

function list(title: string, items: readonly (string | null)[]): string[] {
  return items.length === 0 ? [] : [`## ${title}`, "", ...items.map((item) => `- ${item}`), ""];
}

/** Every line of both texts with its mark, by a longest common subsequence. */
function marked(old: readonly string[], now: readonly string[]): string[] {
  // common[i][j]: how many lines old[i..] and now[j..] have in common, in order.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      (common[i] as Uint16Array)[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(` ${old[i]}`);
      i++;
      j++;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`-${old[i++]}`);
    } else {
      lines.push(`+${now[j++]}`);
    }
  }
  return lines;
}

/** The changed lines with some lines around them; what is left out is an ellipsis. */
function shortened(lines: readonly string[]): string[] {
  const isNear = (place: number) =>
    lines.slice(Math.max(0, place - CONTEXT_LINES), place + CONTEXT_LINES + 1).some((line) => !line.startsWith(" "));
  const kept: string[] = [];
  for (const [place, line] of lines.entries()) {
    if (isNear(place)) {
      kept.push(line);
    } else if (kept.at(-1) !== " …") {
      kept.push(" …");
    }
  }
  return kept;
}
