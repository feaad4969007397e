/** The words of a string that goes over several lines of Python, such as a docstring, which read badly as code. */

import { indentationOf } from "../../text/mkdocs";
import { TOKENS } from "../../text/python";
import { type CodePiece, countLines, pieceOf, SIGNATURE_ENDS } from "./excerpt";

/** A string that is a statement by itself. */
const ALONE = /^\s*[bfru]{0,2}(?:"""|''')/i;
const ENDS = /\s*(?:"""|''').*$/;

/**
 * A piece of Python that begins inside a string or at a docstring, in parts: the signature or the field that the string
 * belongs to, the string's words, and the code behind it. Any other piece as it is.
 *
 * @param text The text that the piece is of.
 * @param inside How many first lines of the text are of a string that begins before it.
 */
export function wordsApart(text: string, piece: CodePiece, inside: number): CodePiece[] {
  const lines = text.split("\n");
  const last = countLines(piece.text);
  // What stands before code gives it its colours; a string of which the beginning is not there would do so wrongly.
  const codeFrom = (first: number) => {
    const from = Math.min(inside, first);
    return pieceOf(lines.slice(from), first - from, last - from);
  };
  const string = stringAround(lines, piece.skip, inside);
  const end = Math.min(last, (string?.end ?? 0) + 1);
  const words = pieceOf(lines, piece.skip, end);
  if (string === null || words === null) {
    return [inside > 0 ? (codeFrom(piece.skip) ?? piece) : piece];
  }
  const said = words.text.split("\n").slice(words.skip).join("\n").replace(ENDS, "");
  const own = string.start === piece.skip ? said.replace(ALONE, "").replace(/^\n+/, "") : said;
  // So reStructuredText marks code.
  const told = own.replaceAll(/``([^`\n]+)``/g, "`$1`");
  const head = headOf(lines, string.start);
  const code = codeFrom(end);
  return [
    ...(head === null ? [] : [{ text: head.trim(), skip: 0 }]),
    ...(told.trim() === "" ? [] : [{ text: told, skip: 0, words: true }]),
    ...(code === null ? [] : [code]),
  ];
}

/** The first and the last line of the string that a line is inside of, or that begins with the line, alone and long. */
function stringAround(lines: string[], line: number, inside: number): { start: number | null; end: number } | null {
  if (line < inside) {
    return { start: null, end: inside - 1 };
  }
  let [at, start] = [0, inside];
  const code = lines.slice(inside).join("\n");
  for (const { 0: token, 1: quotes, index } of code.matchAll(TOKENS)) {
    start += countLines(code.slice(at, index)) - 1;
    at = index;
    const end = start + countLines(token) - 1;
    const begins = start === line && line > 0 && end > line && ALONE.test(lines[line] ?? "");
    if (quotes !== undefined && end >= line && (start < line || begins)) {
      return { start, end };
    }
    if (start >= line) {
      break;
    }
  }
  return null;
}

/** The whole signature, or the lines of the field, that a string belongs to; null where none is there. */
function headOf(lines: string[], start: number | null): string | null {
  const first = start === null ? undefined : lines[start];
  if (first === undefined || !ALONE.test(first)) {
    return first ?? null;
  }
  const above = lines.slice(0, start ?? 0).filter((line) => line.trim() !== "");
  const isBeside = indentationOf(above.at(-1) ?? "") === indentationOf(first);
  const most = indentationOf(first) - (isBeside ? 0 : 1);
  const at = above.findLastIndex((line) => indentationOf(line) <= most && !/^\s*[)\]]/.test(line));
  const head = at < 0 ? [] : above.slice(at);
  const end = isBeside ? head.length : head.findIndex((line) => SIGNATURE_ENDS.test(line)) + 1;
  return pieceOf(head, 0, end)?.text ?? null;
}
