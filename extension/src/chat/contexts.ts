import type { Candidate } from "../protocol/generated";
import { promptLine } from "../text/untrusted";

const HEADER = /^\[CTX (\d+)\] (.+)$/;
const FENCE = /^`{3,}/;
// The form in which the server writes a citation that is not one plain word.
const CODE_SPAN = /^(`+) ?(.+?) ?\1$/;

/**
 * The candidates that are in a prompt of the server, by the numbers of their marks. The server leaves out what does not
 * fit. Marks inside of quoted texts are ignored.
 */
export function contextsOf(prompt: string, candidates: readonly Candidate[]): Map<number, Candidate> {
  const waiting = [...candidates];
  const found = new Map<number, Candidate>();
  for (const line of outsideFences(prompt)) {
    const [, number, citation = ""] = HEADER.exec(line) ?? [];
    // Sections of a page may have one citation; the prompt keeps their order.
    const at = waiting.findIndex((candidate) => promptLine(candidate.citation) === citation.replace(CODE_SPAN, "$2"));
    const [candidate] = at < 0 ? [] : waiting.splice(at, 1);
    if (number !== undefined && candidate !== undefined) {
      found.set(Number(number), candidate);
    }
  }
  return found;
}

function* outsideFences(text: string): Generator<string> {
  let fence: string | null = null;
  for (const line of text.split("\n")) {
    if (fence !== null) {
      fence = line === fence ? null : fence;
    } else {
      fence = FENCE.exec(line)?.[0] ?? null;
      if (fence === null) {
        yield line;
      }
    }
  }
}
