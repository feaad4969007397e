"""Says of every expected span that was missed where it was lost: in the index, the branches, fusion or the order.

python -m tests.quality.misses --golden config/golden/adk.jsonl
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from adk_evidence.index.opened import CurrentIndex
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.search.session import EvidenceService
from adk_evidence.search.stages import Hit, Ranking
from adk_evidence.settings import Settings
from adk_evidence.store.base import Filter, Match, scroll_all
from adk_evidence_console import Home, Profile, settings_from
from adk_evidence_eval.cli import Golden, open_bench, read_set
from adk_evidence_eval.golden import GoldenQuestion, Target, is_docs
from adk_evidence_eval.run import Result, ask, result_of
from adk_evidence_eval.score import CUT, hits_of
from adk_evidence_eval.views import place_of
from tests.quality.tool import tool

# How deep the branches are searched for a missed target.
PROBE_DEPTH = 500
# A second service with these settings shows how far down each branch a target stands.
PROBE = {
    "retrieval.dense_prefetch_limit": PROBE_DEPTH,
    "retrieval.sparse_prefetch_limit": PROBE_DEPTH,
    "retrieval.final_limit_per_collection": 10 * PROBE_DEPTH,
    "retrieval.expansion": "never",
    "rerank.provider": "none",
}

# From corpus and path to the spans of the file's indexed chunks.
ChunksOf = Callable[[str, str], Sequence[Result]]


def explain_misses(
    service: EvidenceService, probe: EvidenceService, questions: Sequence[GoldenQuestion], chunks_of: ChunksOf
) -> list[dict[str, Any]]:
    """Follow every target through the pipeline; `probe` is like `service`, but with `PROBE` on top."""
    fates = []
    for question in questions:
        if question.expected:
            outcome, deep = ask(service, question), ask(probe, question)
            fates += [_follow(question, target, outcome, deep, chunks_of) for target in question.expected]
    return fates


def _follow(
    question: GoldenQuestion, target: Target, outcome: Ranking, deep: Ranking, chunks_of: ChunksOf
) -> dict[str, Any]:
    """What became of one target.

    Ranks are from 1, None where the target was not reached: `branches` by branch down to `PROBE_DEPTH`, `pool` before
    the reranker, `final` in the end. `found`: within the first 12. `no_branch`: in no branch within its limit.
    `lost_in_fusion`: in a branch, but not in the pool. `lost_in_rerank`: in the pool, but not ordered to the top;
    where `pool` is within the first 12, the reranker or the quota for docs and code pushed the target out.
    """
    hits = hits_of(question)

    def rank(found: Sequence[Hit]) -> int | None:
        results = enumerate(map(result_of, (hit.payload for hit in found)), 1)
        return next((rank for rank, result in results if hits(result, target)), None)

    final = rank(outcome.order())
    pool = rank(sorted(outcome.ranked, key=lambda item: item.pool_rank))
    branches: dict[str, int] = {}
    for hit in deep.candidates.merged:
        if hits(result_of(hit.payload), target):
            for place in hit.branches:
                branches[place.branch] = min(place.rank, branches.get(place.branch, place.rank))
    limits = outcome.plan.prefetch_limits
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
    about = {"question": question.id, "category": question.category, "grade": target.grade, "target": place_of(target)}
    return {**about, "fate": fate, "branches": dict(sorted(branches.items())), "pool": pool, "final": final}


@contextmanager
def indexed_chunks(settings: Settings) -> Iterator[Callable[[str, str], Sequence[Result]]]:
    """A function from corpus and path to the spans of the file's indexed chunks.

    Raises:
        StoreError: There is no index, or it does not match the settings.
    """
    with closing(CurrentIndex(settings)) as current, current.pin() as index:

        @functools.cache
        def chunks_of(corpus: str, path: str) -> Sequence[Result]:
            collection = settings.store.collection("doc" if is_docs(corpus) else "code")
            records = scroll_all(index.store, collection, filter=Filter(must=(Match("path", (path,)),)))
            return [result_of(ChunkPayload.model_validate(record.payload)) for record in records]

        yield chunks_of


def misses(golden: Golden = None, profile: Profile = None, home: Home = None) -> None:
    """Say of every expected span that was missed where it was lost, and how many met each fate, in lines of JSON."""
    questions = list(read_set(golden).values())
    with (
        closing(open_bench(profile, home)) as bench,
        closing(bench.service({})) as service,
        closing(bench.service(PROBE)) as probe,
        indexed_chunks(settings_from(profile, home)) as chunks_of,
    ):
        fates = explain_misses(service, probe, questions, chunks_of)
    for fate in fates:
        if fate["fate"] != "found":
            print(json.dumps(fate))
    print(json.dumps(Counter(fate["fate"] for fate in fates)))


app = tool(misses)

if __name__ == "__main__":
    app()
