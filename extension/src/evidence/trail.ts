import type { Candidate } from "../protocol/generated";

/** Where a candidate is from: its symbol, or the trail of headings that leads to it. */
export function trailOf(candidate: Candidate): string[] {
  if (candidate.source_type === "code") {
    return [candidate.symbol ?? candidate.path];
  }
  return candidate.headings.length > 0 ? candidate.headings : [candidate.title ?? candidate.path];
}
