/** Finds a question's words in a text. */

const MOST_TERMS = 24;
const LONGEST_TERM = 80;

/** A pattern for the matched terms, null for none. Short terms count only as whole words. */
export function termPattern(terms: readonly string[]): RegExp | null {
  const usable = terms.filter((term) => term.trim().length > 1 && term.length <= LONGEST_TERM).slice(0, MOST_TERMS);
  if (usable.length === 0) {
    return null;
  }
  const longestFirst = usable.toSorted((one, other) => other.length - one.length);
  return new RegExp(longestFirst.map(patternOf).join("|"), "giu");
}

/** Cuts a text into parts that match and parts that do not, in turn. */
export function splitTerms(text: string, pattern: RegExp | null): { text: string; matched: boolean }[] {
  if (pattern === null) {
    return [{ text, matched: false }];
  }
  const parts: { text: string; matched: boolean }[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) {
      parts.push({ text: text.slice(end, match.index), matched: false });
    }
    parts.push({ text: match[0], matched: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) {
    parts.push({ text: text.slice(end), matched: false });
  }
  return parts;
}

function patternOf(term: string): string {
  const literal = term.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return term.length > 2 ? literal : `(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`;
}
