/** How much of a candidate is shown: its text can be a page or one line of a megabyte. */

import type { Candidate, Outline } from "../../protocol/generated";
import { clip } from "../../text/untrusted";

// The provenance header that older servers leave on top of a text (server/adk_evidence/render/view.py).
const HEADER = /^\[CORPUS=[^\n]*\n(?:\[[^\n]*\n){0,2}---\n/;

/** So few that the third result is in sight in a panel of 1000 by 900 pixels. */
const FOLDED_LINES = 6;
const FOLDED_LENGTH = 1000;
/** A text that exceeds its fold by this little is shown whole: a button would take as much room. */
const SLACK_LINES = 2;
const LONGEST_LINE = 2000;
const LONGEST_TEXT = 60_000;
const LIST_ITEM = /^\s*(?:[*+-]|\d{1,3}[.)])\s/;
/** Characters of an outline, about two lines of a panel beside an editor. */
const LONGEST_OUTLINE = 180;
/** What an outline has around the name of a part: its lines and what separates it from the next part. */
const AROUND_PART = 20;

export interface Excerpt {
  text: string;
  /** Lines of the whole text. */
  lines: number;
  /** There is a longer form of it. */
  folded: boolean;
  /** There is a shorter form of it. */
  foldable: boolean;
  /** Even the longest form leaves something out. */
  cut: boolean;
}

/** Successive lines of a text; `language` names the other programming language that they are for. */
export interface Part {
  text: string;
  language: string | null;
  start: number;
  end: number;
}

/** A candidate's text without the header that older servers put on top of it. */
export function body(text: string): string {
  return text.replace(HEADER, "");
}

/**
 * The part of a text to show, folded or not.
 *
 * A folded text is the lines with most different terms, out of the passages that the server chose. If a paragraph
 * begins inside these lines and the lines from there on have as many terms, the folded text begins there. Without terms,
 * the folded text is the first lines.
 */
export function excerpt(
  text: string,
  expanded: boolean,
  passages: readonly string[] = [],
  terms: RegExp | null = null,
): Excerpt {
  const whole = text.replace(/\s+$/, "");
  const lines = countLines(whole);
  const cut = whole.length > LONGEST_TEXT;
  const most = cut ? clip(whole, LONGEST_TEXT) : whole;
  const fits = lines <= FOLDED_LINES + SLACK_LINES && whole.length <= FOLDED_LENGTH * 1.25;
  const from = passages.length > 0 ? passages : [most];
  const shown = expanded || fits ? most : clip(bestLines(from, terms), FOLDED_LENGTH);
  const clipped = clipLines(shown);
  return {
    text: clipped,
    lines,
    folded: !expanded && !fits,
    foldable: !fits,
    cut: (expanded || fits) && (cut || clipped !== shown),
  };
}

/** A candidate's text in parts for readers of its own language, and parts for readers of other languages. */
export function partsOf(text: string, candidate: Pick<Candidate, "lines" | "left_out">): Part[] {
  const all = text.split("\n");
  const first = candidate.lines?.start ?? 1;
  const parts: Part[] = [];
  let next = 0;
  const take = (end: number, language: string | null) => {
    if (end > next) {
      parts.push({ text: all.slice(next, end).join("\n"), language, start: first + next, end: first + end - 1 });
      next = end;
    }
  };
  // Older servers do not say what is left out.
  for (const { lines, language } of candidate.left_out ?? []) {
    take(Math.min(lines.start - first, all.length), null);
    take(Math.min(lines.end - first + 1, all.length), language);
  }
  take(all.length, null);
  return parts.length > 0 ? parts : [{ text, language: null, start: first, end: first }];
}

/** How many parts of an outline its line has room for, at least one. */
export function partsInLine({ title, parts }: Pick<Outline, "title" | "parts">): number {
  let length = title.length;
  const over = parts.findIndex(({ name }) => {
    length += name.length + AROUND_PART;
    return length > LONGEST_OUTLINE;
  });
  return over < 0 ? parts.length : Math.max(1, over);
}

/** At most as many successive lines as a folded text has; see `excerpt`. */
function bestLines(passages: readonly string[], terms: RegExp | null): string {
  let best: string[] = [];
  let most = -1;
  for (const passage of passages) {
    const lines = passage.split("\n");
    const found = lines.map((line) => (terms === null ? [] : (clip(line, LONGEST_LINE).match(terms) ?? [])));
    let chosen = Number.NEGATIVE_INFINITY;
    for (let start = 0; start === 0 || start <= lines.length - FOLDED_LINES; start++) {
      const end = start + FOLDED_LINES;
      const different = new Set(found.slice(start, end).flatMap((words) => words.map((word) => word.toLowerCase())));
      const better = start < chosen + FOLDED_LINES && !beginsParagraph(lines, chosen) && beginsParagraph(lines, start);
      if (different.size > most || (different.size === most && better)) {
        most = different.size;
        chosen = start;
        best = lines.slice(start, end);
      }
    }
  }
  return best.join("\n").replace(/^(?:[ \t]*\n)+|\s+$/g, "");
}

function beginsParagraph(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  return at === 0 || LIST_ITEM.test(line) || (lines[at - 1]?.trim() === "" && line.trim() !== "");
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    lines++;
  }
  return lines;
}

function clipLines(text: string): string {
  return text.length <= LONGEST_LINE
    ? text
    : text
        .split("\n")
        .map((line) => clip(line, LONGEST_LINE))
        .join("\n");
}
