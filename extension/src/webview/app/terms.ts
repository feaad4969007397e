/** The words of a question that say what it is about, and where they stand in a text. */

import stopWords from "../../../../config/stopwords.txt";

const MOST_TERMS = 40;
const LONGEST_WORD = 80;

const WORD = /[\p{L}\p{N}_]+/gu;
/** A word as people write names in code: with an underscore, a digit, or a capital letter inside. */
const NAME = /[\p{L}\p{N}]_|_[\p{L}\p{N}]|\p{L}\p{N}|\p{Ll}\p{Lu}/u;
/** Where a call of a traceback stands: the folders on the user's machine. */
const FRAME = /\bFile "[^"\n]*", line \d+/g;
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu;
/** A search needs these words, because Python does; to a reader of a passage they say nothing. */
const COMMON =
  "and or not is in if else for from with while as by on at into over between than then but out up all any no yes can via per self cls";

const STOP_WORDS: ReadonlySet<string> = new Set(
  `${stopWords.replaceAll(/^#.*$/gm, "")} ${COMMON}`.split(/\s+/).filter((word) => word !== ""),
);

export interface Terms {
  /** Names of the question, in small letters. */
  readonly names: ReadonlySet<string>;
  /** Stems of the question's other words. */
  readonly words: ReadonlySet<string>;
}

export const NO_TERMS: Terms = { names: new Set(), words: new Set() };

/** The terms of a question. */
export function termsOf(question: string): Terms {
  const names = new Set<string>();
  const words = new Set<string>();
  for (const [word] of question.replaceAll(FRAME, "").matchAll(WORD)) {
    if (word.length > LONGEST_WORD || names.size + words.size >= MOST_TERMS) {
      continue;
    }
    const small = word.toLowerCase();
    if (NAME.test(word)) {
      names.add(small);
    } else if (small.length > 2 && !STOP_WORDS.has(small)) {
      words.add(stem(small));
    }
  }
  return { names, words };
}

/** Cuts a text into parts that match and parts that do not, in turn. Only whole words and whole names match. */
export function splitTerms(text: string, terms: Terms): { text: string; matched: boolean }[] {
  if (terms.names.size + terms.words.size === 0) {
    return [{ text, matched: false }];
  }
  const parts: { text: string; matched: boolean }[] = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (word.length > LONGEST_WORD || !matches(word, terms)) {
      continue;
    }
    if (index > end) {
      parts.push({ text: text.slice(end, index), matched: false });
    }
    parts.push({ text: word, matched: true });
    end = index + word.length;
  }
  if (end < text.length) {
    parts.push({ text: text.slice(end), matched: false });
  }
  return parts;
}

/** A name also matches where at least half of its parts are words of the question: `max_retries` for "retry". */
function matches(word: string, { names, words }: Terms): boolean {
  const small = word.toLowerCase();
  if (!NAME.test(word)) {
    return names.has(small) || words.has(stem(small));
  }
  if (names.has(small)) {
    return true;
  }
  const parts = partsOfName(word);
  const found = parts.filter((part) => words.has(part)).length;
  return found > 0 && found * 2 >= parts.length;
}

/** The stems of a name's parts that say something. */
function partsOfName(name: string): string[] {
  return [...name.matchAll(PART)]
    .map(([part]) => part.toLowerCase())
    .filter((part) => part.length > 2 && !STOP_WORDS.has(part))
    .map(stem);
}

/** A word without its ending, alike for `retry`, `retries`, `retried` and `retrying`. */
function stem(word: string): string {
  const plain = word
    .replace(/(?:ies|ied)$/, "y")
    .replace(/(?<=.{3})(?:ing|ed)$/, "")
    .replace(/(?<=[^su])s$/, "")
    .replace(/([^aeiouls])\1$/, "$1");
  return plain.length > 3 ? plain.replace(/e$/, "") : plain;
}
