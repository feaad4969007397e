/** What the participant writes itself. Strings are rendered as Markdown that may run nothing and holds no HTML. */

import { plain } from "../evidence/plainText";

const PUNCTUATION = /[!-/:-@[-`{-~]/g;

/** A text as one line of Markdown without any markup of its own. */
export function escaped(text: string): string {
  return plain(text).replace(PUNCTUATION, "\\$&");
}
