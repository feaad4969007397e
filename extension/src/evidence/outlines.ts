/** The outlines of a pack: what else its pages and classes hold, and where else its files match. */

import type { Candidate, EvidenceResult, Outline, OutlinePart } from "../protocol/generated";

/** The citation of a part alone. */
export function citationOf({ citation }: Outline, { lines }: OutlinePart): string {
  return `${citation}#L${lines.start}-L${lines.end}`;
}

/** Each outline with the first candidate that is of its page, class or file. */
export function outlinesByCandidate(
  outlines: readonly Outline[],
  candidates: readonly Candidate[],
): Map<Candidate, Outline> {
  const found = new Map<Candidate, Outline>();
  for (const outline of outlines) {
    const first = candidates.find(({ rank }) => outline.ranks.includes(rank));
    if (first !== undefined) {
      found.set(first, outline);
    }
  }
  return found;
}

/** Whether an outline of the pack, a part of one, or a call of a pasted error has this citation. */
export function isOutlined(citation: string, { outlines, places, errors }: EvidenceResult): boolean {
  return (
    [...outlines, ...places].some(
      (outline) =>
        outline.citation === citation || outline.parts.some((part) => citationOf(outline, part) === citation),
    ) || errors.some(({ frames }) => frames.some((frame) => frame.citation === citation))
  );
}
