/** The code of a result, to paste: an example of a page or of a sample, with its imports first. */

import type { Candidate } from "../protocol/generated";
import { TOKENS } from "../text/python";

const FENCE = /^\s*(?:[>*+-]\s+)*(`{3,}|~{3,})\s*([\w+-]*)/;
const INCLUDE = /^\s*--8<-- "([^":]+)/;
/** A file that lines of a page include, as the server writes it below the lines. */
const INCLUDED = /^\[INCLUDED (.+)\]$/m;
/** What is no Python: a definition without its colon, a line of a shell, a bracket without its other one. */
const NO_PYTHON = /^[ \t]*(?:(?:async +)?(?:def|class)\b[^:\n]*$|>>>|[$%!]|pip |adk )|[()[\]{}]/m;
/** Where a page leaves something out that Python cannot: `f(a=1, ..., b=2)`. */
const ELISION = /<\.\.\.|,\s*\.\.\.\s*[,)]/g;
const BRACKETS = /\([^()[\]{}]*\)|\[[^()[\]{}]*\]|\{[^()[\]{}]*\}/g;
const DEEPEST_BRACKET = 20;
const IMPORT = /^(?:from +\w[\w.]* +import +(?:\([^)]*\)|[^\n(]+)|import +[^\n]+)$/gm;

/** Whether a result has code to copy. */
export function hasCode(candidate: Candidate): boolean {
  return candidate.language !== "md" || linesFor(candidate).some((line) => FENCE.test(line));
}

/** Whether a result has an example in Python that can stand in a program as it is. */
export function hasExample(candidate: Candidate): boolean {
  const { origin, language, attached } = candidate;
  return language === "md" ? blocksIn(linesFor(candidate), attached).python.some(isWhole) : origin === "sample";
}

/**
 * The code of a result for readers of Python, with the files that it includes; of a sample, the whole file.
 *
 * @param around The whole file of the result, whose imports are put before an example that needs them; empty if unknown.
 * @param there What the code is pasted into: imports that stand there already are left out.
 */
export function codeOf(candidate: Candidate, around: string, there = ""): string {
  const { language, text, origin, attached } = candidate;
  if (language === "md") {
    const { python, other } = blocksIn(linesFor(candidate), attached);
    const code = [python.filter(isWhole), python].find((some) => some.length > 0) ?? other;
    return withImports(code.join("\n\n"), blocksIn(around.split("\n"), "").python.join("\n"), there);
  }
  return origin === "sample" && around !== ""
    ? around.replaceAll(IMPORT, (one) => (importsIn(there).includes(one.trim()) ? "" : one)).trim()
    : dedent(text.split("\n")).join("\n");
}

/** The lines of a page without those for readers of other languages. */
function linesFor({ text, lines, left_out }: Candidate): string[] {
  const start = lines?.start ?? 1;
  const isForOthers = (line: number) => left_out.some(({ lines: { start, end } }) => start <= line && line <= end);
  return text.split("\n").filter((_, index) => !isForOthers(start + index));
}

/** The blocks of code of a page. */
function blocksIn(lines: string[], attached: string): { python: string[]; other: string[] } {
  const blocks = { python: [] as string[], other: [] as string[] };
  let open: { fence: string; language: string; lines: string[] } | null = null;
  for (const line of lines) {
    const [, fence = "", language = ""] = FENCE.exec(line) ?? [];
    if (open === null) {
      open = fence === "" ? null : { fence, language: language.toLowerCase(), lines: [] };
    } else if (language === "" && fence.startsWith(open.fence)) {
      const found = /^py(?:thon)?$/.test(open.language) ? blocks.python : blocks.other;
      found.push(included(dedent(open.lines), attached).join("\n").trim());
      open = null;
    } else {
      open.lines.push(line);
    }
  }
  return blocks;
}

/** Whether Python seems to be whole: its brackets close, and what ends with a colon has a body. */
function isWhole(code: string): boolean {
  const replaced = (token: string, long?: string) =>
    // A string that does not end counts as a bracket that does not close.
    long && !token.slice(3).endsWith(long) ? "(" : token.startsWith("#") ? "" : "_";
  let bare = `_\n${code}`.replaceAll(TOKENS, replaced).replaceAll("\\\n", "").replaceAll(ELISION, "(");
  for (let depth = 0; depth < DEEPEST_BRACKET; depth++) {
    bare = bare.replaceAll(BRACKETS, "_");
  }
  const lines = bare.split("\n").filter((line) => line.trim() !== "");
  const hasBody = (at: number) => (lines[at + 1] ?? "").search(/\S/) > (lines[at] ?? "").search(/\S/);
  return lines.length > 1 && !NO_PYTHON.test(bare) && lines.every((line, at) => /:\s*$/.test(line) === hasBody(at));
}

function included(lines: string[], attached: string): string[] {
  // Split by a pattern with a group, the list begins with what stands before the first match.
  const [, ...parts] = attached.split(new RegExp(INCLUDED, "gm"));
  const files = new Map(parts.flatMap((path, at) => (at % 2 === 0 ? [[path, (parts[at + 1] ?? "").trim()]] : [])));
  return lines.map((line) => files.get(INCLUDE.exec(line)?.[1] ?? "") ?? line);
}

function dedent(lines: string[]): string[] {
  const widths = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const least = widths.length > 0 ? Math.min(...widths) : 0;
  return lines.map((line) => line.slice(least));
}

/** Code with its imports first, and before them those of its file that bind a name which the code uses. */
function withImports(code: string, around: string, there: string): string {
  const own = importsIn(code);
  const body = code.replaceAll(IMPORT, "").replaceAll(/\n{3,}/g, "\n\n\n");
  const used = new Set(body.match(/\w+/g));
  const bound = new Set(own.flatMap(namesOf));
  const lacking = importsIn(around).filter((one) => namesOf(one).some((name) => used.has(name) && !bound.has(name)));
  const written = new Set(importsIn(there));
  const imports = [...lacking, ...own].filter((one) => !written.has(one));
  const first = imports.filter((one) => one.startsWith("from __future__"));
  return [...new Set([...first, ...imports])].join("\n").concat("\n\n", body.trim()).trim();
}

function importsIn(code: string): string[] {
  return [...code.matchAll(IMPORT)].map(([text]) => text.trim());
}

/** The names that an import binds. */
function namesOf(statement: string): string[] {
  const list = statement.replace(/^(?:from.*?)?import/s, "").replaceAll(/[()]|#.*$/gm, "");
  return list.split(",").map(
    (one) =>
      one
        .trim()
        .split(/\s+as\s+/)
        .at(-1)
        ?.split(".")[0] ?? "",
  );
}
