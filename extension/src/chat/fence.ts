/** Texts that are no words of ours, for a model: as the server's `render/sanitize.py` has them. */

// Controls, lone surrogates, other line ends, formats (bidirectional overrides, tags) and selectors that nobody sees.
const HIDDEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]|[\u{e0100}-\u{e01ef}]/gu;

/** The text with hidden characters shown as `<U+001B>`. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(
      HIDDEN,
      (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`,
    );
}

/** The text as one line. */
export function oneLine(text: string): string {
  return visible(text.trim().replaceAll(/\s+/g, " "));
}

/** A Markdown fence around a text that the text itself cannot close. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${visible(text)}\n${fence}`;
}
