/** A result's text in an answer: quoted, as data in which nothing is markup. */

import type { Candidate } from "../protocol/generated";
import { plainDocs, plainLine } from "../text/mkdocs";
import { clip, fenced, markdownLine } from "../text/untrusted";

const MOST_LINES = 12;
const LONGEST_LINE = 300;
const FENCE = /^[ \t]*(`{3,}|~{3,})[ \t]*([a-z0-9+#.-]{0,30})/i;
const HEADING = /^#{1,6}[ \t]+/;
const LANGUAGE = /^[a-z0-9+#.-]{1,30}$/i;

/** The first lines that match: code in a fence, prose of docs as a block quote with its examples in fences. */
export function quoteOf(candidate: Candidate): string {
  const { passages } = candidate;
  const text = passages.length > 0 ? passages.map((passage) => passage.text).join("\n\n") : candidate.text;
  const isCode = candidate.source_type === "code";
  const all = isCode ? text.trimEnd().split(/\r?\n/) : plainDocs(text.trimEnd());
  const lines = all.slice(0, MOST_LINES).map((line) => clip(line, LONGEST_LINE));
  const cut = all.length > MOST_LINES ? ["\u2026"] : [];
  return isCode
    ? fenced([...lines, ...cut].join("\n"), LANGUAGE.test(candidate.language) ? candidate.language : "")
    : quotedDocs([...lines, ...cut]);
}

function quotedDocs(lines: readonly string[]): string {
  const blocks: string[] = [];
  let prose: string[] = [];
  let code: { mark: string; language: string; lines: string[] } | null = null;
  const endProse = () => {
    const quoted = prose.join("\n").trim();
    if (quoted !== "") {
      blocks.push(quoted.replaceAll(/^/gm, "> "));
    }
    prose = [];
  };
  for (const line of lines) {
    const [, mark = "", language = ""] = FENCE.exec(line) ?? [];
    if (code !== null) {
      // A line that goes on behind its mark closes nothing.
      if (mark.startsWith(code.mark) && line.trim() === mark) {
        blocks.push(fenced(code.lines.join("\n"), code.language));
        code = null;
      } else {
        code.lines.push(line);
      }
    } else if (mark !== "") {
      endProse();
      code = { mark, language, lines: [] };
    } else {
      // Two blanks keep the end of the line: points of a list stay apart.
      const shown = markdownLine(plainLine(line.replace(HEADING, "")));
      prose.push(shown === "" ? "" : `${shown}  `);
    }
  }
  endProse();
  if (code !== null) {
    blocks.push(fenced(code.lines.join("\n"), code.language));
  }
  return blocks.join("\n\n");
}
