"""From ranked candidates to the Evidence Pack's (SPEC 5 section 10)."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Literal

from adk_evidence.embedding.bm25 import load_stopwords
from adk_evidence.identifiers import query_lexical_text
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.citation import code_citation, docs_citation
from adk_evidence.models.pack import BranchRank, Candidate, LineSpan, Quality, Verification, Why, round_score
from adk_evidence.search.candidates import Ranked
from adk_evidence.search.gates import has_lines
from adk_evidence.search.names import NO_NAMES, NamesFound
from adk_evidence.search.query import Query
from adk_evidence.search.support import Support
from adk_evidence.settings import SupportSettings

MAX_MATCHED_TERMS = 12
MAX_NAMED_WORDS = 3
# Where no scale is known: the share of the question's words that the results of a good answer hold.
COVERED = 0.8
_WORD = re.compile(r"\w+")


def build_candidate(
    rank: int,
    item: Ranked,
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


def assess_quality(
    items: Sequence[Ranked],
    *,
    dense_used: bool,
    names: NamesFound = NO_NAMES,
    support: Support | None = None,
    needed: SupportSettings | None = None,
    relevant_similarity: float | None = None,
    gaps: Sequence[str] = (),
    subject: str = "the ADK",
) -> Quality:
    """How far the results can be relied on.

    Where nothing is close to the question as it was asked, and it names nothing that is indexed, the results are only
    the nearest. Of high quality is an answer whose results together support the question.

    Args:
        items: The final results.
        dense_used: Whether the dense side took part at all.
        names: The names of the question and whether the index has them.
        support: How far the results support the question.
        needed: What an answer of high quality needs. None where no scale is known for the model: then the results
            must hold most words of the question, and both sides must have found most results.
        relevant_similarity: Similarity from which a result is close; None where none is known for the model.
        gaps: What did not take part, each a clause; an answer with a gap is not of high quality.
        subject: What the index is about.
    """
    quality = _quality(items, dense_used, names, support, needed, relevant_similarity, subject)
    return lowered(quality, gaps) if items else quality


def lowered(quality: Quality, gaps: Sequence[str]) -> Quality:
    """The quality of an answer that has gaps: their clauses join its note, and it is not high."""
    if not gaps:
        return quality
    level = "mixed" if quality.level == "high" else quality.level
    return Quality(level=level, note=f"{quality.note.rstrip('.')}; {'; '.join(gaps)}.")


def _quality(
    items: Sequence[Ranked],
    dense_used: bool,
    names: NamesFound,
    support: Support | None,
    needed: SupportSettings | None,
    relevant_similarity: float | None,
    subject: str,
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
    if names.unknown:
        return Quality(level="mixed", note=f"{found}, but not all names of the question are in the index.")
    absent = _absent(support.absent) if support is not None else ""
    if support is None or support.score is None or needed is None:
        agreed = sum({place.branch for place in item.hit.branches} >= {"dense", "sparse"} for item in items)
        covered = support is not None and support.measures.coverage >= COVERED
        if covered and agreed * 3 >= len(items) * 2:
            return Quality(level="high", note=f"{found}, {agreed} of them by keywords and by meaning{absent}.")
        return Quality(level="mixed", note=f"{found}, which may not answer the question{absent}.")
    strong = sum(support.by_result.get(item.hit.point_id, 0.0) >= needed.high for item in items)
    if support.score >= needed.high and closest >= needed.nearest:
        strength = f"{strong} of them strong" if strong else "which support the question only together"
        return Quality(level="high", note=f"{found}, {strength}{absent}.")
    strength = f"{strong} of them strong; the others may be less relevant" if strong else "none of them strong"
    return Quality(level="mixed", note=f"{found}, {strength}{absent}.")


def _absent(words: Sequence[str]) -> str:
    """A clause on the words that stand nowhere in the index."""
    if not words:
        return ""
    named = [f"\u201c{word}\u201d" for word in words[:MAX_NAMED_WORDS]]
    if more := len(words) - len(named):
        named.append(f"{more} more word{'s' if more > 1 else ''}")
    return f"; {' and '.join(named)} {'stands' if len(words) == 1 else 'stand'} nowhere in the index"


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
