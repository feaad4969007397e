/**
 * Text that is not trusted, from corpora, servers, settings and users, made safe for where it is shown: the editor's
 * messages, Markdown, the panel's page, a model's prompt. Hidden characters are shown and never obeyed.
 */

// Controls but tab and line feed, formats (bidirectional overrides, zero-width characters, tags), lone surrogates,
// private use, line and paragraph separators.
const INVISIBLE = String.raw`(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]`;
// Letters, marks and selectors without a width. An emoji's own selector (U+FE0F) is as harmless as it is common.
const WIDTHLESS = String.raw`[\u115f\u1160\u3164\uffa0]|[\u034f\u17b4\u17b5\u180b-\u180f]|[\u{e0100}-\u{e01ef}]`;
const HIDDEN = new RegExp(`${INVISIBLE}|${WIDTHLESS}`, "gu");
const HIDDEN_RUN = new RegExp(`(?:${INVISIBLE}|${WIDTHLESS})+`, "gu");
/** Emoji and several scripts need these two; in a prompt they stay. */
const JOINERS = ["\u200c", "\u200d"];

const LONGEST_MESSAGE = 400;
const NAMES_SHOWN = 3;
const DESCRIBED = 64;
const NAMES: Record<number, string> = { 0: "NUL", 7: "BEL", 8: "BS", 13: "CR", 27: "ESC", 127: "DEL" };

/** The text's start, with an ellipsis if it goes on; no character is cut in two. */
export function clip(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}\u2026`;
}

// For the editor

/** One line for the editor's messages and lists, which make links of `[text](command:…)` and icons of `$(name)`. */
export function messageLine(text: string): string {
  const line = text
    .replace(/\s+/gu, " ")
    .trim()
    .replace(HIDDEN, "\ufffd")
    .replace(/\]\(/g, "] (")
    .replace(/\$\(/g, "$ (");
  return clip(line, LONGEST_MESSAGE - 1);
}

/** A text as one line of Markdown in which nothing is markup. */
export function markdownLine(text: string): string {
  return messageLine(text).replace(/[!-/:-@[-`{-~]/g, "\\$&");
}

/** Markdown's code span of a text, whatever backticks the text has. */
export function codeSpan(text: string): string {
  const fence = "`".repeat(longestRun(text) + 1);
  const padding = fence.length > 1 ? " " : "";
  return `${fence}${padding}${text.replaceAll(/\s+/g, " ")}${padding}${fence}`;
}

// For the panel's page

export type Piece =
  | { kind: "text"; text: string }
  /** A run of hidden characters: what to show for the run, and a description of it. */
  | { kind: "hidden"; label: string; description: string };

/** Splits a text into what may be shown as it is and what must be named. Line ends become line feeds. */
export function splitHidden(text: string): Piece[] {
  const unix = text.replaceAll("\r\n", "\n");
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of unix.matchAll(HIDDEN_RUN)) {
    if (match.index > end) {
      pieces.push({ kind: "text", text: unix.slice(end, match.index) });
    }
    pieces.push(named(match[0]));
    end = match.index + match[0].length;
  }
  if (end < unix.length) {
    pieces.push({ kind: "text", text: unix.slice(end) });
  }
  return pieces;
}

/** One line with hidden characters named, for attributes and announcements. */
export function namedLine(text: string, longest = 200): string {
  return splitHidden(clip(text, longest))
    .map((piece) => (piece.kind === "text" ? piece.text : `[${piece.label}]`))
    .join("")
    .replaceAll(/\s+/g, " ");
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** HTML's form of a text, also inside an attribute between double quotes. */
export function htmlText(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

// For a model: as the server's `render/sanitize.py`

/** The text with hidden characters shown as `<U+001B>`. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN, (character) => (JOINERS.includes(character) ? character : `<${codePoint(character)}>`));
}

/** The text as one line. */
export function promptLine(text: string): string {
  return visible(text.trim().replaceAll(/\s+/g, " "));
}

/** A Markdown fence around a text that the text itself cannot close. */
export function fenced(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${visible(text)}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function named(run: string): Piece {
  const characters = [...run];
  const names = characters.slice(0, NAMES_SHOWN).map(nameOf);
  const same = new Set(characters).size === 1;
  const label = same ? (names[0] ?? "") : names.join(" ");
  const more = characters.length > (same ? 1 : NAMES_SHOWN);
  return {
    kind: "hidden",
    label: more ? `${label} \u00d7${characters.length}` : label,
    description: characters.slice(0, DESCRIBED).map(nameOf).join(" "),
  };
}

function nameOf(character: string): string {
  return NAMES[character.codePointAt(0) ?? 0] ?? codePoint(character);
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
