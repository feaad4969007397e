/**
 * Scores as parts of a bar. The support is on a fixed scale; for the other scores only order and spacing within one
 * pack mean anything.
 */

import type { Candidate, EvidenceResult } from "../../protocol/generated";

export interface Bar {
  /** 0 to 1. */
  part: number;
  value: number;
}

export interface BranchBar extends Bar {
  branch: string;
  rank: number;
}

export interface Scores {
  rerank: Bar | null;
  fused: Bar | null;
  branches: BranchBar[];
}

/** Makes each candidate's bars, relative to the best of the pack. */
export function scoresOf(pack: EvidenceResult): (candidate: Candidate) => Scores {
  const rerank = scale(pack.candidates.map((candidate) => candidate.rerank_score));
  const fused = scale(pack.candidates.map((candidate) => candidate.why.fused_score));
  const found = new Map<string, number[]>();
  for (const candidate of pack.candidates) {
    for (const { branch, score } of candidate.why.branches) {
      const key = keyOf(candidate, branch);
      found.set(key, [...(found.get(key) ?? []), score]);
    }
  }
  const branches = new Map([...found].map(([key, scores]) => [key, scale(scores)]));
  return (candidate) => ({
    rerank: candidate.rerank_score === null ? null : rerank(candidate.rerank_score),
    fused: candidate.why.fused_score === null ? null : fused(candidate.why.fused_score),
    branches: candidate.why.branches.map(({ branch, rank, score }) => ({
      branch,
      rank,
      ...(branches.get(keyOf(candidate, branch)) ?? rerank)(score),
    })),
  });
}

/** How far a text alone supports the question, 0 to 1; null where no scale is known, or the server is an older one. */
export function supportOf(candidate: Partial<Pick<Candidate, "support">>): number | null {
  const { support } = candidate;
  return typeof support === "number" ? Math.min(1, Math.max(0, support)) : null;
}

/** Scores of one branch compare within their collection only. */
function keyOf(candidate: Candidate, branch: string): string {
  return `${candidate.collection}\u0000${branch}`;
}

function scale(values: readonly (number | null)[]): (value: number) => Bar {
  const known = values.filter((value) => value !== null);
  const low = Math.min(0, ...known);
  const span = Math.max(0, ...known) - low;
  return (value) => ({ value, part: span === 0 ? 0 : Math.min(1, Math.max(0, (value - low) / span)) });
}
