/** What differs between two packs, as a report for a person. */

import { l10n } from "vscode";
import type { Candidate, EvidenceResult } from "../protocol/generated";
import { codeSpan, fenced, markdownLine, visible } from "../text/untrusted";
import { shortCommit } from "./commit";
import { indexDate } from "./savedPack";

/** A piece of evidence of either pack. `before` is null where it is new, `after` where it is gone. */
export interface Compared {
  readonly before: Candidate | null;
  readonly after: Candidate | null;
}

/** How many pairs of lines a comparison looks at, in all its texts: some tenths of a second. */
const MAX_LINE_PAIRS = 8_000_000;
const CONTEXT_LINES = 3;

/**
 * Finds each piece of evidence of one pack in the other: the same evidence, else what stands at the same place of the
 * same source, with the same text if there are several. The order is that of `after`, then that of `before`.
 */
export function comparePacks(before: EvidenceResult, after: EvidenceResult): Compared[] {
  const found = new Map<Candidate, Candidate>();
  const left = new Set(before.candidates);
  for (const keyOf of [idOf, placeAndTextOf, placeOf]) {
    const earlier = new Map<string, Candidate[]>();
    for (const then of left) {
      const alike = earlier.get(keyOf(then)) ?? [];
      alike.push(then);
      earlier.set(keyOf(then), alike);
    }
    for (const now of after.candidates.filter((candidate) => !found.has(candidate))) {
      const then = earlier.get(keyOf(now))?.shift();
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

/** The comparison of a saved pack with the shown one, as Markdown. */
export function comparisonReport(before: EvidenceResult, after: EvidenceResult): string {
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
    `- ${l10n.t("Saved pack")}: ${about(before)}`,
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
    const effort = { pairs: MAX_LINE_PAIRS };
    lines.push(`## ${l10n.t("Changed text")}`, "");
    for (const { before: then, after: now } of changed) {
      lines.push(`### ${titleOf(now)}`, "", `${citation(then)} → ${citation(now)}`, "");
      lines.push(fenced(lineDifference(then.text, now.text, effort), "diff"), "");
    }
  }
  return `${lines.join("\n")}\n`;
}

/**
 * The lines of both texts: those of the first alone after `-`, those of the second alone after `+`.
 *
 * @param effort How many pairs of lines may be compared; less is left afterwards. Where that is not enough, all lines
 * between the first and the last difference count as changed.
 */
export function lineDifference(before: string, after: string, effort = { pairs: MAX_LINE_PAIRS }): string {
  return shortened(marked(before.split("\n"), after.split("\n"), effort)).join("\n");
}

function idOf({ candidate_id }: Candidate): string {
  return candidate_id;
}

function placeAndTextOf(candidate: Candidate): string {
  return JSON.stringify([placeOf(candidate), candidate.text]);
}

function placeOf({ source_type, origin, repo, path, symbol, headings }: Candidate): string {
  return JSON.stringify([source_type, origin, repo, path, symbol, headings]);
}

function inBoth(one: Compared): one is { before: Candidate; after: Candidate } {
  return one.before !== null && one.after !== null;
}

/** The question of a pack, and from what it was answered. */
function about(pack: EvidenceResult): string {
  const corpora = Object.values(pack.index?.corpora ?? {}).map(({ repo, commit }) => `${repo}@${shortCommit(commit)}`);
  const date = indexDate(pack);
  const facts = [
    ...[...new Set(corpora)].map(markdownLine),
    ...(date === null ? [] : [markdownLine(l10n.t("index built on {0}", date))]),
  ];
  return `${markdownLine(pack.query)}${facts.length > 0 ? ` (${facts.join("; ")})` : ""}`;
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

/** Every line of both texts with its mark. */
function marked(old: readonly string[], now: readonly string[], effort: { pairs: number }): string[] {
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) {
    head++;
  }
  let tail = 0;
  while (tail < shorter - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) {
    tail++;
  }
  const middles = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)] as const;
  const pairs = middles[0].length * middles[1].length;
  const isAffordable = pairs <= effort.pairs;
  effort.pairs -= isAffordable ? pairs : 0;
  return [
    ...old.slice(0, head).map((line) => ` ${line}`),
    ...(pairs > 0 && isAffordable ? markedByCommon(...middles) : markedWhole(...middles)),
    ...old.slice(old.length - tail).map((line) => ` ${line}`),
  ];
}

function markedWhole(old: readonly string[], now: readonly string[]): string[] {
  return [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
}

/** Every line with its mark, by a longest common subsequence. */
function markedByCommon(old: readonly string[], now: readonly string[]): string[] {
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
