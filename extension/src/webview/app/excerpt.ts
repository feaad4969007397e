/** How much of a candidate's text is shown: a text can be a page or one line of a megabyte. */

// The provenance header that older servers leave on top of a text (server/adk_evidence/render/view.py).
const HEADER = /^\[CORPUS=[^\n]*\n(?:\[[^\n]*\n){0,2}---\n/;

const FOLDED_LINES = 14;
const FOLDED_LENGTH = 1600;
/** A text that exceeds its fold by this little is shown whole: a button would take as much room. */
const SLACK_LINES = 3;
const LONGEST_LINE = 2000;
const LONGEST_TEXT = 60_000;

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

/** A candidate's text without the header that older servers put on top of it. */
export function body(text: string): string {
  return text.replace(HEADER, "");
}

/** The part of a text to show, folded or not. */
export function excerpt(text: string, expanded: boolean): Excerpt {
  const whole = text.replace(/\s+$/, "");
  const lines = countLines(whole);
  const cut = whole.length > LONGEST_TEXT;
  const most = cut ? clip(whole, LONGEST_TEXT) : whole;
  const fits = lines <= FOLDED_LINES + SLACK_LINES && whole.length <= FOLDED_LENGTH * 1.25;
  const shown = expanded || fits ? most : clip(firstLines(most, FOLDED_LINES), FOLDED_LENGTH);
  const clipped = clipLines(shown);
  return {
    text: clipped,
    lines,
    folded: !expanded && !fits,
    foldable: !fits,
    cut: (expanded || fits) && (cut || clipped !== shown),
  };
}

function firstLines(text: string, count: number): string {
  let end = -1;
  for (let line = 0; line < count; line++) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) {
      return text;
    }
  }
  return text.slice(0, end);
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

import { clip } from "../../text/untrusted";
