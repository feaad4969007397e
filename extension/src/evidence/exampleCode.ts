/** The code of a result, to paste: an example of a page or of a sample, with its imports first. */

import type { Candidate } from "../protocol/generated";

const FENCE = /^\s*(?:[>*+-]\s+)*(`{3,}|~{3,})\s*([\w+-]*)/;
const INCLUDE = /^\s*--8<-- "([^":]+)/;
/** A file that lines of a page include, as the server writes it below the lines. */
const INCLUDED = /^\[INCLUDED (.+)\]$/m;
const IMPORT = /^(?:from +\w[\w.]* +import +(?:\([^)]*\)|[^\n(]+)|import +[^\n]+)$/gm;

/** Whether a result has code to paste. */
export function hasCode(candidate: Candidate): boolean {
  return candidate.language !== "md" || linesFor(candidate).some((line) => FENCE.test(line));
}

/**
 * The code of a result for readers of Python, with the files that it includes.
 *
 * @param around The whole file of the result, whose imports are put before an example that needs them.
 * @param there What the code is pasted into: imports that stand there already are left out.
 */
export function codeOf(candidate: Candidate, around: string, there = ""): string {
  const { language, text, source_type } = candidate;
  const isPage = language === "md";
  const code = isPage ? codeIn(linesFor(candidate), candidate.attached) : dedent(text.split("\n")).join("\n");
  // The source of the ADK itself is no example: its imports are those of its own file.
  return source_type === "docs" ? withImports(code, isPage ? codeIn(around.split("\n"), "") : around, there) : code;
}

/** The lines of a page without those for readers of other languages. */
function linesFor({ text, lines, left_out }: Candidate): string[] {
  const start = lines?.start ?? 1;
  const isForOthers = (line: number) => left_out.some(({ lines: { start, end } }) => start <= line && line <= end);
  return text.split("\n").filter((_, index) => !isForOthers(start + index));
}

/** The Python of a page's blocks of code; all of its code where none is Python. */
function codeIn(lines: string[], attached: string): string {
  const blocks: { language: string; code: string }[] = [];
  let open: { fence: string; language: string; lines: string[] } | null = null;
  for (const line of lines) {
    const [, fence = "", language = ""] = FENCE.exec(line) ?? [];
    if (open === null) {
      open = fence === "" ? null : { fence, language: language.toLowerCase(), lines: [] };
    } else if (language === "" && fence.startsWith(open.fence)) {
      blocks.push({ language: open.language, code: included(dedent(open.lines), attached).join("\n") });
      open = null;
    } else {
      open.lines.push(line);
    }
  }
  const python = blocks.filter(({ language }) => language === "python" || language === "py");
  return (python.length > 0 ? python : blocks).map(({ code }) => code.trim()).join("\n\n");
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
