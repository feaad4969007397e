import type { Candidate } from "../protocol/generated";

/** How many headings of a trail are shown; the page stands below them. */
const LEVELS = 2;

/** Where a candidate is from: its symbol, or the last headings of the trail that leads to it. */
export function trailOf(candidate: Candidate): string[] {
  const { source_type, symbol, headings, title, path } = candidate;
  const named = source_type === "code" && symbol !== null;
  return headings.length > 0 && !named ? headings.slice(-LEVELS) : [symbol ?? title ?? path];
}
