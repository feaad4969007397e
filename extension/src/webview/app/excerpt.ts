/** How much of a candidate is shown: its text can be a page or one line of a megabyte. */

import type { Candidate, Outline } from "../../protocol/generated";
import { clip } from "../../text/untrusted";
import { type Block, type Span, textOf } from "./docsText";
import { type Terms, termsIn, worth } from "./terms";

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
const LEFT_OUT = "[...]";
const LIST_ITEM = /^\s*(?:[*+-]|\d{1,3}[.)])\s/;
/** Characters of an outline, about two lines of a panel beside an editor. */
const LONGEST_OUTLINE = 180;
/** What an outline has around the name of a part: its lines and what separates it from the next part. */
const AROUND_PART = 20;

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
}

/**
 * The lines of code to show first; null where the whole text is as short.
 *
 * @param candidate Its passages are what the server chose of the text.
 */
export function codeExcerpt(
  text: string,
  { passages, lines: cited }: Pick<Candidate, "lines"> & Partial<Pick<Candidate, "passages">>,
  terms: Terms,
  columns: number,
): CodePiece | null {
  const lines = text.split("\n");
  if (heightOf(lines, columns) <= EXCERPT_LINES + SLACK_LINES) {
    return null;
  }
  const first = cited?.start ?? 1;
  const spans = (passages ?? [])
    .map(({ lines: { start, end } }): Span => [Math.max(0, start - first), Math.min(lines.length, end - first + 1)])
    .filter(([start, end]) => start < end);
  const units = unitsOfCode(lines, spans.length > 0 ? spans : [[0, lines.length]], terms, columns);
  const [from, to] = bestWindow(units, terms);
  return pieceOf(lines, units[from]?.at ?? 0, (units[to - 1]?.at ?? 0) + 1);
}

/**
 * The blocks of the docs to show first, without the heading that is the card's title.
 *
 * @param candidate Its passages are what the server chose of the text, its last heading is the card's title.
 * @returns `all` where nothing else is left out.
 */
export function docsExcerpt(
  blocks: readonly Block[],
  { passages, lines, headings }: Pick<Candidate, "lines" | "headings"> & Partial<Pick<Candidate, "passages">>,
  terms: Terms,
  columns: number,
): { blocks: Block[]; all: boolean } {
  const first = lines?.start ?? 1;
  const chosen = (passages ?? []).map(({ lines }): Span => [lines.start - first, lines.end - first + 1]);
  const title = headings.at(-1);
  const all = unitsOf(blocks, terms, columns).filter(({ heading }) => heading === null || heading !== title);
  const isChosen = ({ lines: [start, end] }: DocsUnit) => chosen.some((span) => start < span[1] && span[0] < end);
  const within = all.flatMap((unit, at) => {
    const before = all[at - 1];
    const apart = unit.apart || (before !== undefined && !isChosen(before));
    return isChosen(unit) ? [{ ...unit, apart }] : [];
  });
  const units = chosen.length === 0 || within.length === 0 ? all : within;
  const height = units.reduce((sum, unit) => sum + unit.height, 0);
  if (units.length === all.length && height <= EXCERPT_LINES + SLACK_LINES) {
    const short = cutOut(blocks, [0, Number.POSITIVE_INFINITY], title);
    return { blocks: short.length > 0 ? short : [...blocks], all: !hasOther(blocks) };
  }
  const [from, to] = bestWindow(units, terms);
  const start = units[from]?.lines[0] ?? 0;
  const end = units[to - 1]?.lines[1] ?? 0;
  return { blocks: cutOut(blocks, [start, end], title), all: false };
}

/** Lines of a file that a page includes. */
export interface Included {
  path: string;
  piece: CodePiece;
}

/**
 * The lines to show of the files that a page includes, of the file that has most of the question; null without any.
 *
 * @param shown What the server chose of the files, each below its path.
 */
export function includedExcerpt(shown: string, terms: Terms, columns: number): Included | null {
  let best: Included | null = null;
  let most = Number.NEGATIVE_INFINITY;
  const [, ...parts] = clip(shown, LONGEST_TEXT).split(INCLUDED);
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const lines = (parts[at + 1] ?? "").split("\n");
    const units = unitsOfCode(lines, spansBetween(lines, LEFT_OUT), terms, columns);
    const [from, to] = bestWindow(units, terms, INCLUDED_LINES);
    const piece = pieceOf(lines, units[from]?.at ?? 0, (units[to - 1]?.at ?? -1) + 1);
    const value = worth(new Set(units.slice(from, to).flatMap((unit) => [...unit.terms])), terms);
    if (piece !== null && value > most) {
      most = value;
      best = { path: parts[at] ?? "", piece: { ...piece, text: clipLines(piece.text) } };
    }
  }
  return best;
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

// The best window

/** What an excerpt has whole or not at all. */
interface Unit {
  terms: ReadonlySet<string>;
  /** Lines on the page. */
  height: number;
  /** A reader can begin here. */
  begins: boolean;
  /** It shows nothing. */
  blank: boolean;
  /** It does not follow the unit before it in the text. */
  apart: boolean;
}

/**
 * The successive units, as many as an excerpt has room for, whose different terms are worth most together. The first unit
 * shows something. Of windows that are worth the same it is the one that begins where a reader can, with little before
 * the first term.
 */
function bestWindow(units: readonly Unit[], terms: Terms, room = EXCERPT_LINES): [number, number] {
  let best: [number, number] = [0, Math.min(1, units.length)];
  let most = Number.NEGATIVE_INFINITY;
  for (let from = 0; from < units.length; from++) {
    if (units[from]?.blank) {
      continue;
    }
    const found = new Set<string>();
    let height = 0;
    let before = 0;
    let to = from;
    for (; to < units.length; to++) {
      const unit = units[to];
      if (unit === undefined || (to > from && (unit.apart || height + unit.height > room))) {
        break;
      }
      before += found.size + unit.terms.size === 0 ? unit.height : 0;
      height += unit.height;
      for (const term of unit.terms) {
        found.add(term);
      }
    }
    const value = worth(found, terms);
    // Worth far less than any term: these decide between windows with the same terms only.
    const filled = Math.min(height, room) / room;
    const place = (units[from]?.begins ? 2 : 0) + filled - (value > 0 ? before / room : 0);
    if (value + place * 0.001 > most) {
      most = value + place * 0.001;
      best = [from, to];
    }
  }
  return best;
}

/** The runs of lines between lines that are a mark. */
function spansBetween(lines: readonly string[], mark: string): Span[] {
  const marks = lines.flatMap((line, at) => (line === mark ? [at] : []));
  return [-1, ...marks].map((at, number): Span => [at + 1, marks[number] ?? lines.length]);
}

/** Each line of these spans. */
function unitsOfCode(lines: readonly string[], spans: readonly Span[], terms: Terms, columns: number) {
  return spans.flatMap(([start, end]) =>
    lines.slice(start, end).map((line, at): Unit & { at: number } => ({
      at: start + at,
      terms: termsIn(line, terms),
      height: lineHeight(line, columns),
      begins: beginsParagraph(lines, start + at),
      blank: line.trim() === "",
      apart: at === 0,
    })),
  );
}

interface DocsUnit extends Unit {
  lines: Span;
  /** The words of a heading. */
  heading: string | null;
}

function unitsOf(blocks: readonly Block[], terms: Terms, columns: number): DocsUnit[] {
  const units: DocsUnit[] = [];
  let apart = false;
  const add = (lines: Span, text: string, height: number, begins: boolean, heading: string | null = null) => {
    units.push({ lines, terms: termsIn(text, terms), height, begins, blank: text.trim() === "", heading, apart });
    apart = false;
  };
  const visit = (block: Block): void => {
    switch (block.kind) {
      case "heading":
      case "paragraph": {
        const text = textOf(block.inline);
        add(block.lines, text, lineHeight(text, columns), true, block.kind === "heading" ? text : null);
        break;
      }
      case "code":
        for (const [at, line] of block.text.split("\n").entries()) {
          add([block.lines[0] + at, block.lines[0] + at + 1], line, lineHeight(line, columns), at === 0);
        }
        break;
      case "row":
        add(block.lines, block.cells.map(textOf).join(" "), 1, block.head);
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
function pieceOf(lines: readonly string[], start: number, end: number): CodePiece | null {
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

function indentationOf(line: string): number {
  return line.length - line.trimStart().length;
}

function beginsParagraph(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  return at === 0 || LIST_ITEM.test(line) || (lines[at - 1]?.trim() === "" && line.trim() !== "");
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
