/** Characters that act instead of showing: they are named, so that no text can hide, reorder or fake anything. */

export type Piece =
  | { kind: "text"; text: string }
  /** A run of control characters: what to show for it, and what to tell of it. */
  | { kind: "controls"; label: string; description: string };

// Controls (but tab and line feed), formats (bidi, zero-width, tags), lone surrogates, private use, line and paragraph
// separators.
const INVISIBLE = String.raw`(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]`;
// Letters, marks and selectors that take no room. An emoji's own selector (U+FE0F) is as harmless as it is common.
const WIDTHLESS = String.raw`[\u115f\u1160\u3164\uffa0]|[\u034f\u17b4\u17b5\u180b-\u180f]|[\u{e0100}-\u{e01ef}]`;
const ACTING = new RegExp(`(?:${INVISIBLE}|${WIDTHLESS})+`, "gu");
const NAMES_SHOWN = 3;

const NAMES: Record<number, string> = {
  0: "NUL",
  7: "BEL",
  8: "BS",
  13: "CR",
  27: "ESC",
  127: "DEL",
};

/** Splits a text into what may be shown as it is and what must be named. Line ends become line feeds. */
export function splitControls(text: string): Piece[] {
  const unix = text.replaceAll("\r\n", "\n");
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of unix.matchAll(ACTING)) {
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

/** The text on one line with control characters named, for attributes and announcements. */
export function plain(text: string, longest = 200): string {
  const cut = clip(text, longest);
  return splitControls(cut)
    .map((piece) => (piece.kind === "text" ? piece.text : `[${piece.label}]`))
    .join("")
    .replaceAll(/\s+/g, " ");
}

/** The text's start, with an ellipsis if it goes on; no character is cut in two. */
export function clip(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}\u2026`;
}

function named(run: string): Piece {
  const characters = [...run.slice(0, 64)];
  const names = characters.slice(0, NAMES_SHOWN).map(nameOf);
  const label = new Set(characters).size === 1 && run.length > 1 ? (names[0] ?? "") : names.join(" ");
  const more = label.includes(" ") || run.length === 1 ? characters.length > NAMES_SHOWN : true;
  return {
    kind: "controls",
    label: more ? `${label} \u00d7${run.length}` : label,
    description: characters.map(nameOf).join(" "),
  };
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
