"""From the final hits to the Evidence Pack, with checked citations (SPEC 5 section 10)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Literal

from adk_evidence.citations.anchor import Corpus
from adk_evidence.citations.verify import verify
from adk_evidence.embedding.bm25 import load_stopwords
from adk_evidence.embedding.factory import voyage_usage
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.citation import citation_of
from adk_evidence.models.pack import (
    BranchRank,
    Candidate,
    Coverage,
    EvidencePack,
    LeftOut,
    LineSpan,
    Verification,
    Why,
    round_score,
)
from adk_evidence.readers.python import string_lines
from adk_evidence.render import wording
from adk_evidence.search.candidates.tasks import task_of
from adk_evidence.search.pack.availability import availability_at, lack_of
from adk_evidence.search.pack.ceiling import add_little, shells
from adk_evidence.search.pack.construction import class_signatures, class_takers
from adk_evidence.search.pack.drift import with_drift
from adk_evidence.search.pack.errors import tell_error
from adk_evidence.search.pack.mentioned import mentioned_symbols
from adk_evidence.search.pack.outlines import make_outlines, make_places
from adk_evidence.search.pack.passages import KEPT_CHUNKS, Excerpt, choose_passages
from adk_evidence.search.pack.words import QuestionWords, tokens_of
from adk_evidence.search.ranking.quality import lost_since, lowered
from adk_evidence.search.stages import Hit, Ranking
from adk_evidence.targets.imports import PublicImports
from adk_evidence.text.identifiers import query_lexical_text

MAX_MATCHED_TERMS = 12
# Why the quality of an answer falls when its first citation does not hold, by the state of that citation.
UNSOUND: Mapping[str, str] = {
    "gone": "the text that the first result cites is gone",
    "changed": "the text that the first result cites has changed",
}


def assemble(ranking: Ranking, imports: PublicImports | None = None) -> EvidencePack:
    """The pack of a ranking, each citation checked against its source.

    `imports` has the public import paths of the indexed code, where they are known.
    """
    question, final = ranking.question, ranking.final
    context, index = question.context, question.index
    failed = set(context.failed.collections)
    with context.stage("verify"):
        # What may cost more is left to whoever opens or checks a citation.
        corpora = {name: Corpus(reader, only_follow=True) for name, reader in index.sources.items()}
        checked = [_checked(ranking, rank, hit, corpora) for rank, hit in enumerate(final, 1)]
    with context.stage("passages"):
        sought = QuestionWords.of(question, ranking.support)
        excerpts = choose_passages(question, ranking.candidates.encoded, sought, final)
        candidates = shown_candidates(ranking, checked, excerpts, imports)
    with context.stage("drift"):
        candidates = with_drift(question, final, candidates, corpora)
    with context.stage("error"):
        candidates, errors = tell_error(ranking, candidates, corpora)
    with context.stage("outlines"):
        shown = {hit.point_id for hit, one in zip(final, candidates, strict=True) if not one.adds_little}
        outlines = make_outlines(question, final, sought, shown)
        places = make_places(question, ranking.ranked, final)
    pack = EvidencePack(
        pack_id="",
        query_id=question.query_id,
        status="success" if candidates else "no_results",
        query=question.request.query,
        task_mode=question.request.task_mode,
        profile=question.settings.profile,
        index=index.info,
        adk=question.scope.adk,
        quality=lowered(ranking.quality, [*_gaps(candidates), *lost_since(question, failed)]),
        retrieval_plan=ranking.plan,
        candidates=candidates,
        coverage=Coverage.of(candidates),
        warnings=tuple(context.warnings),
        outlines=outlines,
        places=places,
        mentioned=mentioned_symbols(question, final),
        errors=errors,
        debug={
            "timings_ms": context.rounded_timings(),
            "qdrant": {
                "store": question.settings.store.kind,
                "merged": len(ranking.candidates.merged),
                "reranked": len(ranking.ranked),
            },
            "voyage": voyage_usage(*question.models.dense.each, question.models.reranker),
        },
    )
    return pack.with_id()


def _gaps(candidates: Sequence[Candidate]) -> list[str]:
    """Why the first result answers less than its match promises, in clauses."""
    if not candidates:
        return []
    first = candidates[0]
    gaps = [UNSOUND[first.verification.state]] if first.verification.state in UNSOUND else []
    return [*gaps, lack] if (lack := lack_of(first)) else gaps


def shown_candidates(
    ranking: Ranking,
    candidates: Sequence[Candidate],
    excerpts: Mapping[str, Excerpt],
    imports: PublicImports | None = None,
) -> tuple[Candidate, ...]:
    """The candidates with what is shown of each."""
    question, final = ranking.question, ranking.final
    ranks = {hit.point_id: rank for rank, hit in enumerate(final, 1)}
    also_at: dict[int, list[str]] = {}
    for hit, candidate in zip(final, candidates, strict=True):
        same = excerpts[hit.point_id].same_as
        if same is not None:
            also_at.setdefault(ranks[same], []).append(candidate.citation)
    little = add_little(final, ranking.support.by_result, ranking.candidates.tasks)
    little |= shells(final, question.query.names, excerpts)
    made: list[Candidate] = []
    search = question.targets()
    signatures = class_signatures(search, question.query.names, final, excerpts) if search else {}
    takers = class_takers(search, final, excerpts) if search else {}
    for hit, candidate in zip(final, candidates, strict=True):
        found = excerpts[hit.point_id]
        shown = {
            "passages": found.passages,
            "parts": found.parts,
            "attached_shown": found.attached,
            "best": found.best,
            "shown_tokens": found.tokens,
            "same_as": None if found.same_as is None else ranks[found.same_as],
            "also_at": tuple(also_at.get(candidate.rank, ())),
            "import_statement": imports.statement(hit.payload) if imports else None,
            "signature": signatures.get(hit.point_id),
            "taken_by": takers.get(hit.point_id, ()),
            "adds_little": hit.point_id in little,
            "availability": availability_at(question.scope, hit.payload, _told_line(found, hit.payload)),
        }
        made.append(candidate.model_copy(update={**shown, "needs": _needs(imports, hit, candidate, made)}))
    return tuple(made)


def _told_line(excerpt: Excerpt, payload: ChunkPayload) -> int:
    """The line of a result that matches best, else the first line that is shown."""
    if excerpt.best is not None:
        return excerpt.best.start
    return excerpt.passages[0].lines.start if excerpt.passages else payload.start_line


def _needs(imports: PublicImports | None, hit: Hit, candidate: Candidate, earlier: Sequence[Candidate]) -> str | None:
    """What the code of a page needs, where neither the page's lines nor earlier candidates say so."""
    if imports is None or hit.payload.kind != "doc":
        return None
    needs = imports.needs(f"{candidate.text}\n{candidate.attached}")
    told = any(needs == one.needs or needs in (one.import_statement or "") for one in earlier)
    return needs if needs and not told else None


def _checked(ranking: Ranking, rank: int, hit: Hit, corpora: Mapping[str, Corpus]) -> Candidate:
    corpus = corpora.get(hit.payload.source_name)
    verification = verify(hit.payload, ranking.question.index.source_of(hit.payload), corpus)
    if not hit.payload.has_lines:
        ranking.question.context.warn(wording.line_spans_unavailable(hit.payload.path))
    return make_candidate(ranking, rank, hit, verification)


def make_candidate(ranking: Ranking, rank: int, hit: Hit, verification: Verification) -> Candidate:
    """An entry of the pack, the final result at `rank` (from 1)."""
    payload = hit.payload
    score = None if hit.rerank_score is None else round_score(hit.rerank_score)
    support = ranking.support.by_result.get(hit.point_id)
    task, role = task_of(payload, ranking.candidates.tasks) or (None, None)
    why = Why(
        branches=tuple(BranchRank(branch=found.branch, rank=found.rank) for found in hit.branches),
        matched_terms=matched_terms(ranking.question.query.text, payload.searched_text[payload.body_start :]),
        similarity=None if hit.similarity is None else round_score(hit.similarity),
        pool_rank=hit.pool_rank or None,
        role=hit.named.role if hit.named else None,
        named=wording.named_label(hit.named) if hit.named else None,
        ranking_place=ranking.places[hit.point_id],
        task=task,
        task_role=role,
        moved_up=hit.moved_up,
    )
    return Candidate(
        rank=rank,
        rerank_score=score,
        collection=hit.collection,
        source_type=payload.source_type,
        origin=payload.origin,
        repo=payload.repo,
        ref=payload.commit,
        path_or_url=payload.uri if payload.kind == "doc" and payload.uri else payload.path,
        path=payload.path,
        chunk_id=payload.chunk_id,
        candidate_id=payload.candidate_id,
        text=payload.body,
        inside_string=string_lines(payload.body) if payload.lang == "py" else 0,
        context=payload.context,
        attached=payload.attached,
        text_tokens=payload.text_tokens,
        symbol=payload.symbol,
        headings=payload.headings,
        title=payload.title,
        language=payload.lang,
        for_language=payload.for_language,
        lines=LineSpan(start=payload.start_line, end=payload.end_line) if payload.has_lines else None,
        left_out=LeftOut.each(payload.left_out),
        citation=citation_of(payload),
        citation_confidence=_confidence(payload, verification),
        support=None if support is None else round_score(support),
        verification=verification,
        why=why,
    )


def _confidence(payload: ChunkPayload, verification: Verification) -> Literal["high", "medium", "low"]:
    if verification.state in ("gone", "changed"):
        return "low"
    if not payload.has_lines or verification.state == "unverified":
        return "medium"
    return "high"


def matched_terms(question: str, text: str) -> tuple[str, ...]:
    """The question's words that stand in a text, in the question's order, stop words left out."""
    words = _words(text)
    return tuple(term for term in _terms(question) if f"\n{term}\n" in words)[:MAX_MATCHED_TERMS]


@functools.lru_cache(maxsize=KEPT_CHUNKS)
def _words(text: str) -> str:
    """The different words of a text in small letters, each between two line ends."""
    return "\n".join(["", *tokens_of(text.casefold()), ""])


# Called for every candidate of an answer.
@functools.lru_cache(maxsize=64)
def _terms(question: str) -> tuple[str, ...]:
    dull = load_stopwords()
    terms = tokens_of(query_lexical_text(question).casefold())
    return tuple(term for term in terms if len(term) > 1 and term not in dull)
