/** Hidden characters: controls, bidirectional overrides, invisible joiners, lone surrogates, variation selectors. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}]|[\u{e0100}-\u{e01ef}]/gu;
const LONGEST = 400;

/**
 * A text from a corpus or a server as one line for the editor's own messages and lists, which make links of
 * `[text](command:…)` and icons of `$(name)`.
 */
export function plain(text: string): string {
  const line = text
    .replace(/\s+/gu, " ")
    .trim()
    .replace(HIDDEN, "\ufffd")
    .replace(/\]\(/g, "] (")
    .replace(/\$\(/g, "$ (");
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
