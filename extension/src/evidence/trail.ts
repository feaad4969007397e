import type { Candidate } from "../protocol/generated";

/** Where a candidate is from: its symbol, or the trail of headings that leads to it. */
export function trailOf(candidate: Candidate): string[] {
  const { source_type, symbol, headings, title, path } = candidate;
  const named = source_type === "code" && symbol !== null;
  return headings.length > 0 && !named ? headings : [symbol ?? title ?? path];
}
