"""Why a target was missed: not chunked, in no branch, lost in fusion, or lost in the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from adk_evidence.search.run import Hit, Run
from adk_evidence.search.session import EvidenceService
from adk_evidence_eval.golden import GoldenQuestion, Span, Target
from adk_evidence_eval.run import Result, result_of
from adk_evidence_eval.score import CUT
from adk_evidence_eval.spans import counted, hits

# How deep the branches are searched for a missed target.
PROBE_DEPTH = 500

Fate = Literal["found", "not_chunked", "no_branch", "lost_in_fusion", "lost_in_rerank"]
FATES: tuple[Fate, ...] = get_args(Fate)
ChunksOf = Callable[[str, str], Sequence[Result]]

# A second service with these settings shows how far down each branch a target stands.
PROBE = {
    "retrieval.dense_prefetch_limit": PROBE_DEPTH,
    "retrieval.sparse_prefetch_limit": PROBE_DEPTH,
    "retrieval.final_limit_per_collection": 10 * PROBE_DEPTH,
    "retrieval.expanded_limit_per_collection": 10 * PROBE_DEPTH,
    "retrieval.expansion": "never",
    "rerank.provider": "none",
}


@dataclass(frozen=True)
class TargetFate:
    """What became of one target.

    Ranks are from 1, None where it was not reached: `branches` by branch down to `PROBE_DEPTH`, `pool` before the
    reranker, `final` in the end. `found`: within the first 12. `no_branch`: in no branch within its limit.
    `lost_in_fusion`: in a branch, but not in the pool. `lost_in_rerank`: in the pool, but not ordered to the top;
    where `pool` is within the first 12, the reranker or the quota for docs and code pushed it out.
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
    """Follow every target through the pipeline.

    Args:
        service: As configured.
        probe: The same with `PROBE` on top.
        questions: With their targets.
        chunks_of: The spans of the indexed chunks of a file, by corpus and path.
    """
    fates = []
    for question in questions:
        if not question.expected:
            continue
        outcome, deep = service.rank(question.request()), probe.rank(question.request())
        fates += [_follow(question, target, outcome, deep, chunks_of) for target in question.expected]
    return fates


def count_fates(fates: Sequence[TargetFate]) -> dict[Fate, int]:
    """How many targets met each fate."""
    counts = Counter(fate.fate for fate in fates)
    return {fate: counts[fate] for fate in FATES}


def demoted(fates: Sequence[TargetFate]) -> int:
    """How many targets stood within the first 12 before the reranker and do not any more."""
    return sum(fate.fate == "lost_in_rerank" and (fate.pool or CUT + 1) <= CUT for fate in fates)


def _follow(question: GoldenQuestion, target: Target, outcome: Run, deep: Run, chunks_of: ChunksOf) -> TargetFate:
    final = _rank(outcome.order(), target, question.source)
    in_pool = [*sorted(outcome.ranked, key=lambda item: item.pool_rank)]
    pool = _rank(in_pool, target, question.source)
    branches: dict[str, int] = {}
    for hit in deep.merged:
        if hits(result_of(hit), target):
            for place in hit.branches:
                branches[place.branch] = min(place.rank, branches.get(place.branch, place.rank))
    return TargetFate(
        question=question.id,
        category=question.category,
        target=target,
        fate=_fate(target, outcome, branches, pool, final, chunks_of),
        branches=dict(sorted(branches.items())),
        pool=pool,
        final=final,
    )


def _fate(
    target: Target,
    outcome: Run,
    branches: Mapping[str, int],
    pool: int | None,
    final: int | None,
    chunks_of: ChunksOf,
) -> Fate:
    if final is not None and final <= CUT:
        return "found"
    if pool is not None:
        return "lost_in_rerank"
    limits = outcome.plan.prefetch_limits
    # The plan does not list the limit of the branch for names; that branch was searched within its own limit.
    if any(rank <= limits.get(branch, rank) for branch, rank in branches.items()):
        return "lost_in_fusion"
    chunked = any(hits(chunk, target) for chunk in chunks_of(target.corpus, target.path))
    return "no_branch" if chunked else "not_chunked"


def _rank(found: Sequence[Hit], target: Target, source: Span | None) -> int | None:
    results = counted([result_of(hit) for hit in found], source)
    return next((rank for rank, result in enumerate(results, 1) if hits(result, target)), None)
