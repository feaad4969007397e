"""From ranked candidates to the Evidence Pack's (SPEC 5 section 10)."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Literal

from adk_evidence.citations.format import code_citation, docs_citation
from adk_evidence.embedding.bm25 import load_stopwords
from adk_evidence.identifiers import query_lexical_text
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import BranchRank, Candidate, LineSpan, Quality, Verification, Why, round_score
from adk_evidence.retrieval.candidates import Ranked
from adk_evidence.retrieval.gates import has_lines
from adk_evidence.retrieval.names import NO_NAMES, NamesFound
from adk_evidence.retrieval.query import Query

MAX_MATCHED_TERMS = 12
_WORD = re.compile(r"\w+")


def build_candidate(
    rank: int, item: Ranked, final_pool_rank: int, query: Query, verification: Verification
) -> Candidate:
    """One entry of the pack.

    Args:
        rank: Place among the final results, from 1.
        item: The ranked hit.
        final_pool_rank: Its place in the reranked pool, from 1.
        query: What was asked, for the matched terms.
        verification: What checking its citation gave.
    """
    payload = item.hit.payload
    return Candidate(
        rank=rank,
        rerank_score=None if item.rerank_score is None else round_score(item.rerank_score),
        collection=item.hit.collection,
        source_type=payload.source_type,
        origin=payload.origin,
        repo=payload.repo,
        ref=payload.commit,
        path_or_url=payload.uri if payload.kind == "doc" and payload.uri else payload.path,
        path=payload.path,
        chunk_id=payload.chunk_id,
        candidate_id=payload.candidate_id,
        text=payload.text,
        text_tokens=payload.text_tokens,
        symbol=payload.symbol,
        headings=payload.headings,
        title=payload.title,
        language=payload.lang,
        lines=LineSpan(start=payload.start_line, end=payload.end_line) if has_lines(payload) else None,
        citation=citation_of(payload),
        citation_confidence=_confidence(payload, verification),
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


def assess_quality(
    items: Sequence[Ranked],
    *,
    dense_used: bool,
    names: NamesFound = NO_NAMES,
    relevant_similarity: float | None = None,
    gaps: Sequence[str] = (),
    subject: str = "the ADK",
) -> Quality:
    """How far the results can be relied on, by what the branches agree on.

    A result is strong when the dense side finds it close, or when both sides found it on their own. Where nothing is
    close to the question as it was asked, and it names nothing that is indexed, the results are only the nearest.

    Args:
        items: The final results.
        dense_used: Whether the dense side took part at all.
        names: The names of the question and whether the index has them.
        relevant_similarity: Similarity from which a result is close; None where none is known for the model.
        gaps: What did not take part, each a clause; an answer with a gap is not of high quality.
        subject: What the index is about.
    """
    quality = _quality(items, dense_used, names, relevant_similarity, subject)
    if not gaps or not items:
        return quality
    level = "mixed" if quality.level == "high" else quality.level
    return Quality(level=level, note=f"{quality.note.rstrip('.')}; {'; '.join(gaps)}.")


def _quality(
    items: Sequence[Ranked], dense_used: bool, names: NamesFound, relevant_similarity: float | None, subject: str
) -> Quality:
    if not items:
        return Quality(level="none", note="No relevant evidence was found in the index.")
    found = f"Found {len(items)} result{'s' if len(items) > 1 else ''}"
    if not dense_used:
        note = f"{found} by keywords only; the semantic side was not available."
        return Quality(level="keyword_only", note=note)
    closest = max((item.hit.similarity or 0.0 for item in items), default=0.0)
    if relevant_similarity is not None and closest < relevant_similarity and not names.known:
        note = f"Nothing in the index is close to the question, which may not be about {subject}; the nearest is shown."
        return Quality(level="none", note=note)
    strong = sum(_strong(item, relevant_similarity) for item in items)
    if names.unknown:
        return Quality(level="mixed", note=f"{found}, but not all names of the question are in the index.")
    if strong * 3 >= len(items) * 2:
        return Quality(level="high", note=f"{found}, {strong} of them strong.")
    note = f"{found}, {strong} of them strong; the others may be less relevant."
    return Quality(level="mixed", note=note)


def _strong(item: Ranked, relevant_similarity: float | None) -> bool:
    branches = {place.branch for place in item.hit.branches}
    similarity = item.hit.similarity
    similar = similarity is not None and relevant_similarity is not None and similarity >= relevant_similarity
    return similar or branches >= {"dense", "sparse"}


def _confidence(payload: ChunkPayload, verification: Verification) -> Literal["high", "medium", "low"]:
    if verification.state in ("gone", "changed"):
        return "low"
    if not has_lines(payload) or verification.state == "unverified":
        return "medium"
    return "high"


def _why(item: Ranked, final_pool_rank: int, query: Query) -> Why:
    hit = item.hit
    branches = tuple(
        BranchRank(branch=place.branch, rank=place.rank, score=round_score(place.score)) for place in hit.branches
    )
    return Why(
        branches=branches,
        matched_terms=matched_terms(query, hit.payload.text[hit.payload.body_start :]),
        fused_rank=hit.fused_rank,
        fused_score=round_score(hit.fused_score),
        pool_rank=item.pool_rank,
        rerank_score=None if item.rerank_score is None else round_score(item.rerank_score),
        rerank_moved=None if item.rerank_score is None else item.pool_rank - final_pool_rank,
        features={name: round_score(value) for name, value in item.features.items()},
    )
