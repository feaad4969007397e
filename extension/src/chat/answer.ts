import type { ChatResponseStream, Location } from "vscode";
import { trailOf } from "../evidence/trail";
import type { Candidate } from "../protocol/generated";
import { markdownLine } from "../text/untrusted";
import { MarkScanner, type Part } from "./marks";
import { quoteOf } from "./quote";

/** A candidate in an answer. */
export interface Citation {
  candidate: Candidate;
  /** Where a click leads; null if the lines cannot be read any more. */
  location: Location | null;
}

// The editor makes a link of an anchor's title without escaping it.
const UNSAFE = /[^\p{L}\p{N} ._/:+-]/gu;
const LONGEST = 80;

/** The part of the editor's response that writes an answer. */
export type AnswerStream = Pick<ChatResponseStream, "markdown" | "anchor">;

/** What was written. */
export interface Written {
  /** Whether more than white space was written. */
  some: boolean;
  /** The numbers of the citations in it. */
  cited: ReadonlySet<number>;
}

/** Writes an answer as it arrives, with links to the cited lines in place of marks. Unknown marks stay as they are. */
export class AnswerWriter {
  private readonly scanner = new MarkScanner();
  private readonly cited = new Set<number>();
  private some = false;
  private last = "";

  constructor(
    private readonly citations: ReadonlyMap<number, Citation>,
    private readonly stream: AnswerStream,
  ) {}

  write(piece: string): void {
    this.scanner.push(piece).forEach(this.writePart);
  }

  /** Writes the text that was held back. */
  end(): Written {
    this.scanner.end().forEach(this.writePart);
    return { some: this.some, cited: this.cited };
  }

  private readonly writePart = (part: Part): void => {
    this.some ||= part.text.trim() !== "";
    if (part.kind === "text") {
      this.stream.markdown(part.text);
    } else {
      // A link after an exclamation mark would be an image.
      if (this.last === "!") {
        this.stream.markdown(" ");
      }
      part.numbers.forEach(this.writeMark);
    }
    this.last = part.text.at(-1) ?? "";
  };

  private readonly writeMark = (number: number, index: number): void => {
    if (index > 0) {
      this.stream.markdown(" ");
    }
    const citation = this.citations.get(number);
    if (citation === undefined) {
      // Escaped: with an address behind it, it would be a link that looks like a citation.
      this.stream.markdown(`\\[CTX ${number}\\]`);
      return;
    }
    this.cited.add(number);
    writeCitation(citation, this.stream);
  };
}

/** Writes a citation: a link where there is something to open. */
export function writeCitation({ candidate, location }: Citation, stream: AnswerStream): void {
  const title = titleOf(candidate);
  if (location === null) {
    stream.markdown(markdownLine(title));
  } else {
    stream.anchor(location, title);
  }
}

/**
 * Lists citations with what they are about, best first: what is left to show where no model writes.
 *
 * @param quoted How many of them are shown with their text.
 */
export function listCitations(citations: Iterable<Citation>, stream: AnswerStream, quoted = 0): void {
  stream.markdown("\n\n");
  for (const [index, citation] of [...citations].entries()) {
    stream.markdown("- ");
    writeCitation(citation, stream);
    stream.markdown(` ${markdownLine(trailOf(citation.candidate).join(" \u203a "))}\n`);
    if (index < quoted) {
      // Indented, the quote belongs to its point of the list.
      stream.markdown(`\n${quoteOf(citation.candidate).replaceAll(/^(?=.)/gm, "  ")}\n\n`);
    }
  }
  stream.markdown("\n");
}

/** A citation as people write it: the file's name and the lines. */
export function titleOf({ path, lines }: Candidate): string {
  const name = (path.split("/").at(-1) ?? path).replaceAll(UNSAFE, "").slice(-LONGEST) || "source";
  return lines === null ? name : `${name}:${lines.start}-${lines.end}`;
}
