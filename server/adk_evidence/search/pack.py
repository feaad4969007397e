"""From the final hits to the Evidence Pack, with checked citations (SPEC 5 section 10)."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Literal

from adk_evidence.citations.verify import verify
from adk_evidence.embedding.bm25 import load_stopwords
from adk_evidence.embedding.factory import voyage_usage
from adk_evidence.identifiers import query_lexical_text
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.citation import code_citation, docs_citation
from adk_evidence.models.pack import (
    BranchRank,
    Candidate,
    Coverage,
    EvidencePack,
    LineSpan,
    Verification,
    Why,
    round_score,
)
from adk_evidence.search.gates import has_lines
from adk_evidence.search.hybrid import Hit
from adk_evidence.search.outcome import Outcome
from adk_evidence.search.quality import lowered
from adk_evidence.search.query import Query
from adk_evidence.search.run import Run

MAX_MATCHED_TERMS = 12
_WORD = re.compile(r"\w+")
# What becomes of the quality of an answer whose first citation does not hold, by the citation's state.
UNSOUND: Mapping[str, str] = {
    "gone": "the text that the first result cites is gone",
    "changed": "the text that the first result cites has changed",
}


def assemble(run: Run, outcome: Outcome) -> EvidencePack:
    """The pack of a ranking, each citation checked against its source."""
    places = {id(hit): place for place, hit in enumerate(outcome.ranked, 1)}
    with run.context.stage("verify"):
        candidates = tuple(
            _candidate(run, rank, hit, places[id(hit)], outcome) for rank, hit in enumerate(outcome.final, 1)
        )
    docs = sum(hit.kind == "doc" for hit in outcome.final)
    first = candidates[0].verification.state if candidates else "exact"
    pack = EvidencePack(
        pack_id="",
        query_id=run.query_id,
        status="success" if candidates else "no_results",
        query=run.request.query,
        task_mode=run.request.task_mode,
        profile=run.settings.profile,
        index=run.index.info(),
        quality=lowered(outcome.quality, [UNSOUND[first]] if first in UNSOUND else []),
        retrieval_plan=outcome.plan,
        candidates=candidates,
        coverage=Coverage(docs_in_top_k=docs, code_in_top_k=len(candidates) - docs),
        warnings=tuple(run.context.warnings),
        debug={
            "timings_ms": run.context.rounded_timings(),
            "qdrant": {
                "store": run.settings.store.kind,
                "merged": len(outcome.merged),
                "reranked": len(outcome.ranked),
            },
            "voyage": voyage_usage(*run.models.dense.each, run.models.reranker),
        },
    )
    return pack.with_id()


def _candidate(run: Run, rank: int, hit: Hit, place: int, outcome: Outcome) -> Candidate:
    verification = verify(hit.payload, run.index.source_of(hit.payload))
    if not has_lines(hit.payload):
        run.context.warn("line_spans_unavailable", f"line spans unavailable for {hit.payload.path}.")
    return build_candidate(rank, hit, place, run.query, verification, outcome.support.by_result.get(hit.point_id))


def build_candidate(
    rank: int,
    item: Hit,
    final_pool_rank: int,
    query: Query,
    verification: Verification,
    support: float | None = None,
) -> Candidate:
    """One entry of the pack.

    Args:
        rank: Place among the final results, from 1.
        item: The ranked hit.
        final_pool_rank: Its place in the reranked pool, from 1.
        query: What was asked, for the matched terms.
        verification: What checking its citation gave.
        support: How far it alone supports the question, where a scale is known.
    """
    payload = item.payload
    return Candidate(
        rank=rank,
        rerank_score=None if item.rerank_score is None else round_score(item.rerank_score),
        collection=item.collection,
        source_type=payload.source_type,
        origin=payload.origin,
        repo=payload.repo,
        ref=payload.commit,
        path_or_url=payload.uri if payload.kind == "doc" and payload.uri else payload.path,
        path=payload.path,
        chunk_id=payload.chunk_id,
        candidate_id=payload.candidate_id,
        text=payload.body,
        context=payload.context,
        attached=payload.attached,
        text_tokens=payload.text_tokens,
        symbol=payload.symbol,
        headings=payload.headings,
        title=payload.title,
        language=payload.lang,
        lines=LineSpan(start=payload.start_line, end=payload.end_line) if has_lines(payload) else None,
        citation=citation_of(payload),
        citation_confidence=_confidence(payload, verification),
        support=None if support is None else round_score(support),
        verification=verification,
        why=_why(item, final_pool_rank, query),
    )


def citation_of(payload: ChunkPayload) -> str:
    """The citation string of SPEC 5 section 10.4; only what the payload knows goes into it."""
    if payload.kind == "doc" and payload.uri:
        return docs_citation(payload.repo, payload.commit, payload.uri)
    lines = (payload.start_line, payload.end_line) if has_lines(payload) else (None, None)
    return code_citation(payload.repo, payload.commit, payload.path, *lines)


def matched_terms(query: Query, text: str) -> tuple[str, ...]:
    """The query's words that stand in a text, in the query's order, stop words left out."""
    words = set(_WORD.findall(text.casefold()))
    return tuple(term for term in _terms(query.text) if term in words)[:MAX_MATCHED_TERMS]


# Asked for every candidate of an answer.
@functools.lru_cache(maxsize=64)
def _terms(question: str) -> tuple[str, ...]:
    dull = load_stopwords()
    terms = dict.fromkeys(_WORD.findall(query_lexical_text(question).casefold()))
    return tuple(term for term in terms if len(term) > 1 and term not in dull)


def _confidence(payload: ChunkPayload, verification: Verification) -> Literal["high", "medium", "low"]:
    if verification.state in ("gone", "changed"):
        return "low"
    if not has_lines(payload) or verification.state == "unverified":
        return "medium"
    return "high"


def _why(item: Hit, final_pool_rank: int, query: Query) -> Why:
    branches = tuple(
        BranchRank(branch=place.branch, rank=place.rank, score=round_score(place.score)) for place in item.branches
    )
    return Why(
        branches=branches,
        matched_terms=matched_terms(query, item.payload.text[item.payload.body_start :]),
        fused_rank=item.fused_rank,
        fused_score=round_score(item.fused_score),
        pool_rank=item.pool_rank,
        rerank_score=None if item.rerank_score is None else round_score(item.rerank_score),
        rerank_moved=None if item.rerank_score is None else item.pool_rank - final_pool_rank,
        features={name: round_score(value) for name, value in item.features.items()},
    )
