/** How much of a candidate is shown: its text can be a page or one line of a megabyte. */

import type { Candidate, LineSpan, Outline } from "../../protocol/generated";
import { indentationOf } from "../../text/mkdocs";
import { clip } from "../../text/untrusted";
import { type Block, type Span, textOf } from "./docsText";

/** So few that the fourth result is in sight in a panel of 1000 by 900 pixels. */
const EXCERPT_LINES = 6;
/** The lines of an included file that follow the page's own. */
const INCLUDED_LINES = 4;
/** A text that exceeds its excerpt by this little is shown whole. */
const SLACK_LINES = 1;
const LONGEST_LINE = 2000;
const LONGEST_TEXT = 60_000;
/** What stands above each file in a candidate's included files; the same is written by the chunker of pages. */
const INCLUDED = /^\[INCLUDED ([^\]\n]+)\]$/m;
/** What the server puts in the place of lines that it did not choose. */
const LEFT_OUT = /^\[\.{3}(?: \d+ lines)?\]$/m;
/** Characters of an outline, about two lines of a panel beside an editor. */
const LONGEST_OUTLINE = 180;
/** What an outline has around the name of a part: its lines and what separates it from the next part. */
const AROUND_PART = 20;

/** The first of several lines of a signature, and the last one. */
const SIGNATURE_BEGINS = /^\s*(?:async +)?(?:def|class) [^)]*[(,]\s*(?:#.*)?$/;
export const SIGNATURE_ENDS = /:\s*(?:#.*)?$/;
/** What names the lines below it, such as `Args:` in a docstring. */
const LABEL = /^\s*[A-Z]\w*(?: \w+)?:\s*$/;

/** Characters in a line of the page, by which lines are counted that the page breaks. */
export const COLUMNS = { narrow: 42, wide: 100 } as const;

/** The text at its longest, and whether that leaves something out. */
export function longest(text: string): { text: string; cut: boolean } {
  const whole = text.replace(/\s+$/, "");
  const clipped = clipLines(clip(whole, LONGEST_TEXT));
  return { text: clipped, cut: clipped !== whole };
}

export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    lines++;
  }
  return lines;
}

/** Code of which the first `skip` lines are not shown: what they begin, such as a string, gives the others their colours. */
export interface CodePiece {
  text: string;
  skip: number;
  /** It is no code, but the words of a string. */
  words?: boolean;
}

/** What the server chose of a candidate's text: the passages to show, and the lines of these that match best. */
type Chosen = Pick<Candidate, "passages" | "best" | "lines">;

/** The lines of code to show first; null where the whole text is as short. */
export function codeExcerpt(text: string, chosen: Chosen, columns: number): CodePiece | null {
  const lines = text.split("\n");
  if (heightOf(lines, columns) <= EXCERPT_LINES + SLACK_LINES) {
    return null;
  }
  const { passages, best } = spansOf(chosen);
  const spans = passages
    .map(([start, end]): Span => [Math.max(0, start), Math.min(lines.length, end)])
    .filter(([start, end]) => start < end);
  const [start, end] = windowOf(unitsOfCode(lines, spans.length > 0 ? spans : [[0, lines.length]], columns), best);
  return pieceOf(lines, start, end);
}

/**
 * The blocks of the docs to show first, without the heading that is the card's title.
 *
 * @returns `all` where nothing else is left out.
 */
export function docsExcerpt(
  blocks: readonly Block[],
  { headings, ...chosen }: Chosen & Pick<Candidate, "headings">,
  columns: number,
): { blocks: Block[]; all: boolean } {
  const { passages, best } = spansOf(chosen);
  const title = headings.at(-1);
  const all = unitsOf(blocks, columns).filter(({ heading }) => heading === undefined || heading !== title);
  const isChosen = ({ lines: [start, end] }: Unit) => passages.some((span) => start < span[1] && span[0] < end);
  const within = all.flatMap((unit, at) => {
    const before = all[at - 1];
    const apart = unit.apart || (before !== undefined && !isChosen(before));
    return isChosen(unit) ? [{ ...unit, apart }] : [];
  });
  const units = within.length === 0 ? all : within;
  const height = units.reduce((sum, unit) => sum + unit.height, 0);
  if (units.length === all.length && height <= EXCERPT_LINES + SLACK_LINES) {
    const short = cutOut(blocks, [0, Number.POSITIVE_INFINITY], title);
    return { blocks: short.length > 0 ? short : [...blocks], all: !hasOther(blocks) };
  }
  return { blocks: cutOut(blocks, windowOf(units, best), title), all: false };
}

/** Lines of a file that a page includes. */
export interface Included {
  path: string;
  piece: CodePiece;
}

/**
 * The first lines to show of the files that a page includes; null without any.
 *
 * @param shown What the server chose of the files, each below its path.
 */
export function includedExcerpt(shown: string, columns: number): Included | null {
  const [, path = "", text = ""] = clip(shown, LONGEST_TEXT).split(INCLUDED);
  const lines = (text.split(LEFT_OUT).find((part) => part.trim() !== "") ?? "").split("\n");
  const piece = pieceOf(lines, ...windowOf(unitsOfCode(lines, [[0, lines.length]], columns), null, INCLUDED_LINES));
  return piece && { path, piece: { ...piece, text: clipLines(piece.text) } };
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

// The window

/** What an excerpt has whole or not at all. */
interface Unit {
  lines: Span;
  /** Lines on the page. */
  height: number;
  text: string;
  /** The words of a heading. */
  heading?: string;
  /** It does not follow the unit before it in the text. */
  apart: boolean;
  /** It is a line of a page's code behind the first one. */
  within?: boolean;
}

/** The lines of a text that the server chose, counted from 0. */
function spansOf({ passages, best, lines: cited }: Chosen): { passages: Span[]; best: Span | null } {
  const first = cited?.start ?? 1;
  const spanOf = ({ start, end }: LineSpan): Span => [start - first, end - first + 1];
  return { passages: passages.map(({ lines }) => spanOf(lines)), best: best && spanOf(best) };
}

/** The lines of successive units: from the best ones on as many as there is room for, and before these if room is left. */
function windowOf(units: readonly Unit[], best: Span | null, room = EXCERPT_LINES): Span {
  const begins = ({ lines, text }: Unit) => text.trim() !== "" && (best === null || lines[1] > best[0]);
  const first = Math.max(0, units.findIndex(begins));
  let [from, to] = [first, first];
  let height = 0;
  const fits = (unit: Unit | undefined) => unit !== undefined && (height === 0 || height + unit.height <= room);
  for (let unit = units[to]; unit !== undefined && fits(unit) && (to === from || !unit.apart); unit = units[to]) {
    height += unit.height;
    to++;
  }
  for (let unit = units[from - 1]; unit !== undefined && fits(unit) && !units[from]?.apart; unit = units[from - 1]) {
    height += unit.height;
    from--;
  }
  // The end of code that stands before them says nothing without its beginning.
  while (from < first && units[from]?.within && !units[first]?.within) {
    from++;
  }
  // Of a definition, the parameters are what is asked for.
  const opened = units.findLastIndex(({ text }, at) => at < to && SIGNATURE_BEGINS.test(text));
  const end = units.findIndex(({ text, apart }, at) => at > opened && (apart || SIGNATURE_ENDS.test(text)));
  if (opened >= 0 && end >= from && !units[end]?.apart) {
    [from, to] = [Math.min(from, opened), Math.max(to, end + 1)];
  }
  // What names lines that are left out names nothing.
  const isEmpty = (unit?: Unit) => !unit || "heading" in unit || unit.text.trim() === "" || LABEL.test(unit.text);
  while (to - 1 > from && isEmpty(units[to - 1])) {
    to--;
  }
  return [units[from]?.lines[0] ?? 0, units[to - 1]?.lines[1] ?? 0];
}

/** Each line of these spans. */
function unitsOfCode(lines: readonly string[], spans: readonly Span[], columns: number): Unit[] {
  return spans.flatMap(([start, end]) =>
    lines.slice(start, end).map((line, at) => ({
      lines: [start + at, start + at + 1],
      height: lineHeight(line, columns),
      text: line,
      apart: at === 0,
    })),
  );
}

function unitsOf(blocks: readonly Block[], columns: number): Unit[] {
  const units: Unit[] = [];
  let apart = false;
  const add = (lines: Span, text: string, height: number, more: Partial<Unit> = {}) => {
    units.push({ lines, height, text, apart, ...more });
    apart = false;
  };
  const visit = (block: Block): void => {
    switch (block.kind) {
      case "heading":
      case "paragraph": {
        const text = textOf(block.inline);
        add(block.lines, text, lineHeight(text, columns), block.kind === "heading" ? { heading: text } : {});
        break;
      }
      case "code":
        for (const [at, line] of block.text.split("\n").entries()) {
          const lines: Span = [block.lines[0] + at, block.lines[0] + at + 1];
          add(lines, line, lineHeight(line, columns), { within: at > 0 });
        }
        break;
      case "row":
        add(block.lines, block.cells.map(textOf).join(" "), 1);
        break;
      case "rule":
        break;
      default:
        if (block.kind === "tab" && block.other) {
          // What stands before and after it is not shown as one.
          apart = true;
        } else {
          block.children.forEach(visit);
        }
    }
  };
  blocks.forEach(visit);
  return units;
}

/** The blocks of these lines, without what is for other readers and without the heading that is the card's title. */
function cutOut(blocks: readonly Block[], [start, end]: Span, title: string | undefined): Block[] {
  return blocks.flatMap((block): Block[] => {
    if (block.lines[1] <= start || block.lines[0] >= end) {
      return [];
    }
    switch (block.kind) {
      case "heading":
        return textOf(block.inline) === title ? [] : [block];
      case "code": {
        const piece = pieceOf(block.text.split("\n"), start - block.lines[0], end - block.lines[0]);
        return piece === null ? [] : [{ ...block, ...piece }];
      }
      case "table": {
        const rows = cutOut(block.children, [start, end], title);
        const heads = block.children.filter((row) => row.kind === "row" && row.head && !rows.includes(row));
        return rows.length === 0 ? [] : [{ ...block, children: [...heads, ...rows] }];
      }
      case "paragraph":
      case "row":
      case "rule":
        return [block];
      default: {
        if (block.kind === "tab" && block.other) {
          return [];
        }
        const children = cutOut(block.children, [start, end], title);
        if (children.length === 0) {
          return [];
        }
        // The numbers of a list stay those of its items.
        if (block.kind === "list" && block.first !== null) {
          const skipped = block.children.filter((child) => child.lines[1] <= start).length;
          return [{ ...block, children, first: block.first + skipped }];
        }
        return [{ ...block, children }];
      }
    }
  });
}

function hasOther(blocks: readonly Block[]): boolean {
  return blocks.some(
    (block) => "children" in block && ((block.kind === "tab" && block.other) || hasOther(block.children)),
  );
}

/** These lines without blank ones around them and without the indentation that all have; null if all are blank. */
export function pieceOf(lines: readonly string[], start: number, end: number): CodePiece | null {
  const filled = (line: string) => line.trim() !== "";
  const wanted = lines.slice(Math.max(0, start), end);
  const from = wanted.findIndex(filled);
  if (from < 0) {
    return null;
  }
  const kept = wanted.slice(from, wanted.findLastIndex(filled) + 1);
  const margin = Math.min(...kept.filter(filled).map(indentationOf));
  const skip = Math.max(0, start) + from;
  const text = lines
    .slice(0, skip + kept.length)
    .map((line) => line.slice(Math.min(margin, indentationOf(line))))
    .join("\n");
  return { text, skip };
}

function heightOf(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + lineHeight(line, columns), 0);
}

function lineHeight(line: string, columns: number): number {
  return Math.max(1, Math.ceil(line.length / columns));
}

function clipLines(text: string): string {
  return text.length <= LONGEST_LINE
    ? text
    : text
        .split("\n")
        .map((line) => clip(line, LONGEST_LINE))
        .join("\n");
}
