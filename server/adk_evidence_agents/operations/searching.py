"""`search_code` and `search_docs`: the hybrid search of one index or several.

Results of several indexes are merged by reciprocal rank fusion of two orders: the place that the hybrid search gave a
result in its own index, and its place by similarity to the question among the results of all. Hybrid scores of two
indexes are not comparable, while similarities are, as all indexes share one model; so each index's own order counts,
and an index that has nothing on the question does not get its best results to the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adk_evidence.citations.verify import verify
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import KINDS, SourceType
from adk_evidence.models.pack import Quality, round_score
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest
from adk_evidence.search.hybrid import Hit
from adk_evidence.search.pack import citation_of
from adk_evidence.search.query import normalise
from adk_evidence_agents.operations.advice import on_age, on_breadth, on_filters
from adk_evidence_agents.operations.embedding import check_embedding
from adk_evidence_agents.operations.filters import count_searched, evidence_filters
from adk_evidence_agents.operations.places import metadata_of, surroundings
from adk_evidence_agents.operations.requests import MAX_RESULTS, SearchParameters
from adk_evidence_agents.operations.responses import SearchResult
from adk_evidence_agents.operations.run import QueryTimer, Run, kept
from adk_evidence_agents.session import Opened

RRF_K = 60


@dataclass(frozen=True)
class Found:
    """A result of one index: its place in the hybrid order, and its similarity to the question (0 to 1)."""

    name: str
    opened: Opened
    hit: Hit
    place: int
    score: float | None


@dataclass(frozen=True)
class Answered:
    """What one index answered, best first."""

    name: str
    found: tuple[Found, ...]
    quality: Quality
    has_guides: bool


def search(run: Run, parameters: SearchParameters, sources: tuple[SourceType, ...]) -> tuple[SearchResult, ...]:
    """The results of a search, best first.

    Raises:
        EvidenceError: No index can answer.
    """
    asked = parameters.filters
    answers = search_indexes(
        run,
        run.names(parameters.collection_name),
        EvidenceRequest(
            query=parameters.query,
            max_results_final=parameters.top_k if parameters.score_threshold is None else MAX_RESULTS,
            filters=evidence_filters(asked, sources),
        ),
    )
    found = merged([answer.found for answer in answers])
    near = [item for item in found if _near(run, item, parameters.score_threshold)]
    if found and not near:
        best = max(item.score or 0.0 for item in found)
        run.notes.advise(f"The closest result has the score {best:.2f}; lower score_threshold or leave it out.")
    results = tuple(_result(item, parameters.context_lines) for item in near[: parameters.top_k])
    on_filters(run, asked)
    on_breadth(run, parameters.query, asked)
    on_age(run, [(item.collection_name, item.verification) for item in results])
    if sources == ("docs",):
        _on_missing_docs(run, answers)
    return results


def _on_missing_docs(run: Run, answers: Sequence[Answered]) -> None:
    for answer in answers:
        if not answer.has_guides:
            run.notes.advise(f"No documentation is indexed in {answer.name}; index its docs for better results.")


def search_indexes(run: Run, names: tuple[str, ...], request: EvidenceRequest) -> list[Answered]:
    """Ask each index.

    Raises:
        EvidenceError: The only index cannot answer, or none of several can.
    """
    text = normalise(request.query).text
    timer = QueryTimer(run, text)
    answers = run.ask_each(names, lambda name, opened: _ask(run, name, opened, request, text))
    timer.done()
    return answers


def merged(results: Sequence[Sequence[Found]]) -> list[Found]:
    """The results of each index in one order; see the module's docstring."""
    if len(results) == 1:
        return list(results[0])
    everything = [item for found in results for item in found]
    nearest = sorted(everything, key=lambda item: (-(item.score or 0.0), item.place, item.name))
    fused = {id(item): 1 / (RRF_K + item.place) + 1 / (RRF_K + near) for near, item in enumerate(nearest, 1)}
    return sorted(nearest, key=lambda item: -fused[id(item)])


def similarities(index: Index, opened: Opened, text: str, hits: Sequence[Hit]) -> dict[str, float]:
    """Cosine similarity between a question whose vector is kept and each hit, 0 where it is negative, by point id."""
    store = opened.settings.store
    pair = opened.service.dense
    scores: dict[str, float] = {}
    for kind in KINDS:
        embedded = kept(pair[kind], text)
        ids = [hit.point_id for hit in hits if hit.payload.kind == kind]
        if embedded is None or not ids:
            continue
        using = store.dense_vector(kind)
        found = index.store.score_points(store.collection(kind), ids, {using: embedded.vector})
        scores |= {point: clipped(score) for point, score in found[using].items()}
    return scores


def clipped(score: float) -> float:
    """A cosine similarity as responses carry it: 0 to 1."""
    return round_score(min(1.0, max(0.0, score)))


def _ask(run: Run, name: str, opened: Opened, request: EvidenceRequest, text: str) -> Answered:
    with opened.service.pin() as index:
        check_embedding(run.config, index.manifest.fingerprint, name)
        outcome = opened.service.rank(request, run.cancelled)
        hits = outcome.final
        scores = similarities(index, opened, text, hits)
        run.vectors_searched += _searched(index, opened, request.filters, outcome.plan.excluded_origins)
        run.notes.take_warnings(outcome.warnings)
        found = tuple(Found(name, opened, hit, place, scores.get(hit.point_id)) for place, hit in enumerate(hits, 1))
        return Answered(name, found, outcome.quality, index.has_guides)


def _searched(index: Index, opened: Opened, filters: EvidenceFilters, excluded: Sequence[str]) -> int:
    store = opened.settings.store
    return sum(count_searched(index, store.collection(kind), kind, filters, excluded) for kind in filters.kinds)


def _near(run: Run, item: Found, threshold: float | None) -> bool:
    if threshold is None:
        return True
    if item.score is None:
        run.notes.note(
            "embedding_error", "score_threshold was not applied to results that have no similarity.", "warning"
        )
        return True
    return item.score >= threshold


def _result(item: Found, context_lines: int) -> SearchResult:
    payload = item.hit.payload
    with item.opened.service.pin() as index:
        verification = verify(payload, index.source_of(payload))
        around = surroundings(index, payload, verification, context_lines)
    return SearchResult(
        id=item.hit.point_id,
        score=item.score,
        content=payload.body,
        metadata=metadata_of(payload),
        context=around,
        collection_name=item.name,
        citation=citation_of(payload),
        verification=verification,
    )
