/** Finds the marks `[CTX n]` in a model's answer while it arrives, in pieces that may end anywhere. */

export type Part =
  /** Markdown of the answer as it came. */
  | { kind: "text"; text: string }
  /** A mark, with the numbers that it names. */
  | { kind: "mark"; text: string; numbers: number[] };

interface Fence {
  character: string;
  length: number;
}

/** What the next part is; null as long as more of the answer must be known. */
type Taken = { length: number; numbers?: number[] } | null;

// `[CTX 1]`, and what models make of it: `[CTX 1, CTX 2]`, `[CTX 1; 2]`.
const MARK = /^\[CTX ?\d{1,3}(?: ?[,;] ?(?:CTX ?)?\d{1,3})*\]/;
const BEGUN_MARK = /^\[(?:C(?:T(?:X[ \d,;CTX]*)?)?)?$/;
const LONGEST_MARK = 80;
const LONGEST_SPAN = 1000;

const LINE_HEAD = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*/;
const BEGUN_LINE = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?:[-*+]|\d{1,9}[.)]?|`{1,2}|~{1,2})?$/;
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;
const FENCE_END = /^[ \t>]*(`{3,}|~{3,})[ \t\r]*$/;
const BEGUN_FENCE_END = /^[ \t>]*(?:`*|~*)[ \t\r]*$/;
const SPECIAL = /[\n`[\\]/;
const PUNCTUATION = /^[!-/:-@[-`{-~]$/;

/** Text that looks like a mark inside of code stays code. The parts, joined, are the answer. */
export class MarkScanner {
  private held = "";
  private fence: Fence | null = null;
  private atLineStart = true;

  /** The parts that are certain with this piece of the answer. */
  push(piece: string): Part[] {
    this.held += piece;
    return this.scan(false);
  }

  /** The rest, when the answer has ended. */
  end(): Part[] {
    return this.scan(true);
  }

  private scan(final: boolean): Part[] {
    const parts: Part[] = [];
    while (this.held !== "") {
      const taken = this.take(final);
      if (taken === null) {
        break;
      }
      add(parts, this.held.slice(0, taken.length), taken.numbers);
      this.held = this.held.slice(taken.length);
    }
    return parts;
  }

  private take(final: boolean): Taken {
    if (!this.atLineStart) {
      return this.fence === null ? this.takeInline(final) : this.takeToLineEnd();
    }
    return this.fence === null ? this.takeLineHead(final) : this.takeFenceLine(this.fence, final);
  }

  private takeLineHead(final: boolean): Taken {
    const { line, whole } = this.firstLine(final);
    if (!whole && BEGUN_LINE.test(line)) {
      return null;
    }
    const head = LINE_HEAD.exec(line)?.[0].length ?? 0;
    const rest = line.slice(head);
    if (!/^(?:`{3}|~{3})/.test(rest)) {
      this.atLineStart = false;
      return { length: head };
    }
    if (!whole) {
      return null;
    }
    const opened = FENCE.exec(rest)?.[0];
    this.fence = opened === undefined ? null : { character: opened.charAt(0), length: opened.length };
    this.atLineStart = false;
    return { length: this.fence === null ? head : line.length };
  }

  private takeFenceLine(fence: Fence, final: boolean): Taken {
    const { line, whole } = this.firstLine(final);
    if (!whole && BEGUN_FENCE_END.test(line)) {
      return null;
    }
    this.atLineStart = false;
    const end = FENCE_END.exec(line)?.[1];
    if (end?.startsWith(fence.character) && end.length >= fence.length) {
      this.fence = null;
      return { length: line.length };
    }
    return { length: 0 };
  }

  private takeToLineEnd(): Taken {
    const end = this.held.indexOf("\n");
    this.atLineStart = end >= 0;
    return { length: end < 0 ? this.held.length : end + 1 };
  }

  private takeInline(final: boolean): Taken {
    const next = this.held.search(SPECIAL);
    if (next !== 0) {
      return { length: next < 0 ? this.held.length : next };
    }
    switch (this.held.charAt(0)) {
      case "\n":
        this.atLineStart = true;
        return { length: 1 };
      case "\\":
        return this.takeEscape(final);
      case "`":
        return this.takeCode(final);
      default:
        return this.takeBracket(final);
    }
  }

  private takeEscape(final: boolean): Taken {
    if (this.held.length === 1 && !final) {
      return null;
    }
    return { length: PUNCTUATION.test(this.held.charAt(1)) ? 2 : 1 };
  }

  /** A span of code ends in its line; backticks that nothing closes are text. */
  private takeCode(final: boolean): Taken {
    const { line, whole } = this.firstLine(final, LONGEST_SPAN);
    const [opening, ...runs] = [...line.matchAll(/`+/g)];
    const length = opening?.[0].length ?? 0;
    const closing = runs.find(([run]) => run.length === length);
    const end = closing === undefined ? length : closing.index + length;
    // A run at the end of what is known may go on.
    const certain = closing !== undefined && end < line.length;
    return certain || whole ? { length: end } : null;
  }

  private takeBracket(final: boolean): Taken {
    const { line, whole } = this.firstLine(final, LONGEST_MARK);
    const mark = MARK.exec(line)?.[0];
    if (mark !== undefined) {
      return { length: mark.length, numbers: (mark.match(/\d+/g) ?? []).map(Number) };
    }
    return !whole && BEGUN_MARK.test(line) ? null : { length: 1 };
  }

  /** What is known of the line without its end, and whether that is all that counts of it. */
  private firstLine(final: boolean, longest = Number.POSITIVE_INFINITY): { line: string; whole: boolean } {
    const end = this.held.indexOf("\n");
    const known = end < 0 ? this.held : this.held.slice(0, end);
    return { line: known.slice(0, longest), whole: final || end >= 0 || known.length >= longest };
  }
}

function add(parts: Part[], text: string, numbers: number[] | undefined): void {
  const last = parts.at(-1);
  if (numbers !== undefined) {
    parts.push({ kind: "mark", text, numbers });
  } else if (last?.kind === "text") {
    last.text += text;
  } else if (text !== "") {
    parts.push({ kind: "text", text });
  }
}
