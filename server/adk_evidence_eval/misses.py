"""What the search misses, and why: in approximate search, in the index, in the branches, in fusion or in the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.search.run import Hit, Run
from adk_evidence.search.session import EvidenceService
from adk_evidence_eval.golden import GoldenQuestion, Question, Target
from adk_evidence_eval.run import Result, ask, result_of
from adk_evidence_eval.score import CUT, counted, hits_of

# Everything that the dense branch returns survives to the outcome.
DENSE_ALONE = {
    "retrieval.branches": ["dense"],
    "retrieval.expansion": "never",
    "rerank.provider": "none",
    "pack.min_docs": 0,
    "pack.min_code": 0,
    "retrieval.final_limit_per_collection": 10_000,
}

# How deep the branches are searched for a missed target.
PROBE_DEPTH = 500
# A second service with these settings shows how far down each branch a target stands.
PROBE = {
    "retrieval.dense_prefetch_limit": PROBE_DEPTH,
    "retrieval.sparse_prefetch_limit": PROBE_DEPTH,
    "retrieval.asked_prefetch_limit": PROBE_DEPTH,
    "retrieval.final_limit_per_collection": 10 * PROBE_DEPTH,
    "retrieval.expanded_limit_per_collection": 10 * PROBE_DEPTH,
    "retrieval.expansion": "never",
    "rerank.provider": "none",
}

Fate = Literal["found", "not_chunked", "no_branch", "lost_in_fusion", "lost_in_rerank"]
FATES: tuple[Fate, ...] = get_args(Fate)
# From corpus and path to the spans of the file's indexed chunks.
ChunksOf = Callable[[str, str], Sequence[Result]]


@dataclass(frozen=True)
class AnnMisses:
    """One question: of the nearest chunks by a full scan, how many the configured search did not return."""

    question: str
    kind: Kind
    exact: int
    missed: int


def ann_misses(configured: EvidenceService, exact: EvidenceService, questions: Sequence[Question]) -> list[AnnMisses]:
    """Compare the dense branch as configured with a full scan (SPEC 5 section 13.4).

    `configured` is a service with `DENSE_ALONE`; `exact` has `retrieval.exact`, too.
    """
    found = []
    for question in questions:
        near, nearest = ask(configured, question), ask(exact, question)
        for kind in KINDS:
            truth = _points(nearest, kind)
            found.append(AnnMisses(question.id, kind, len(truth), len(truth - _points(near, kind))))
    return found


def _points(outcome: Run, kind: Kind) -> set[str]:
    return {hit.point_id for hit in outcome.merged if hit.payload.kind == kind}


@dataclass(frozen=True)
class TargetFate:
    """What became of one target.

    Ranks are from 1, None where the target was not reached: `branches` by branch down to `PROBE_DEPTH`, `pool` before
    the reranker, `final` in the end. `found`: within the first 12. `no_branch`: in no branch within its limit.
    `lost_in_fusion`: in a branch, but not in the pool. `lost_in_rerank`: in the pool, but not ordered to the top;
    where `pool` is within the first 12, the reranker or the quota for docs and code pushed the target out.
    """

    question: str
    category: str
    target: Target
    fate: Fate
    branches: Mapping[str, int]
    pool: int | None
    final: int | None


def explain_misses(
    service: EvidenceService, probe: EvidenceService, questions: Sequence[GoldenQuestion], chunks_of: ChunksOf
) -> list[TargetFate]:
    """Follow every target through the pipeline; `probe` is like `service`, but with `PROBE` on top."""
    fates = []
    for question in questions:
        if question.expected:
            outcome, deep = ask(service, question), ask(probe, question)
            fates += [_follow(question, target, outcome, deep, chunks_of) for target in question.expected]
    return fates


def count_fates(fates: Sequence[TargetFate]) -> dict[Fate, int]:
    counts = Counter(fate.fate for fate in fates)
    return {fate: counts[fate] for fate in FATES}


def demoted(fates: Sequence[TargetFate]) -> int:
    """How many targets stood within the first 12 before the reranker and do not any more."""
    return sum(fate.fate == "lost_in_rerank" and (fate.pool or CUT + 1) <= CUT for fate in fates)


def _follow(question: GoldenQuestion, target: Target, outcome: Run, deep: Run, chunks_of: ChunksOf) -> TargetFate:
    hits = hits_of(question)

    def rank(found: Sequence[Hit]) -> int | None:
        results = counted([result_of(hit.payload) for hit in found], question.source)
        return next((rank for rank, result in enumerate(results, 1) if hits(result, target)), None)

    final = rank(outcome.order())
    pool = rank(sorted(outcome.ranked, key=lambda item: item.pool_rank))
    branches: dict[str, int] = {}
    for hit in deep.merged:
        if hits(result_of(hit.payload), target):
            for place in hit.branches:
                branches[place.branch] = min(place.rank, branches.get(place.branch, place.rank))
    limits = outcome.plan.prefetch_limits
    fate: Fate
    if final is not None and final <= CUT:
        fate = "found"
    elif pool is not None:
        fate = "lost_in_rerank"
    # The plan does not list the limit of the branch for names; that branch was searched within its own limit.
    elif any(place <= limits.get(branch, place) for branch, place in branches.items()):
        fate = "lost_in_fusion"
    else:
        chunked = any(hits(chunk, target) for chunk in chunks_of(target.corpus, target.path))
        fate = "no_branch" if chunked else "not_chunked"
    return TargetFate(
        question=question.id,
        category=question.category,
        target=target,
        fate=fate,
        branches=dict(sorted(branches.items())),
        pool=pool,
        final=final,
    )
