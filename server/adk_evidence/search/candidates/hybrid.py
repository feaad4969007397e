"""Hybrid search: every collection with its branches, fused by the store (SPEC 5 section 7)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.index.opened import Index
from adk_evidence.index.payloads import HeldPayloads
from adk_evidence.models.chunk import Kind
from adk_evidence.search.stages import ASKED_PREFETCH_LIMIT, BranchPlace, Encoded, Hit, QueryVectors, Question
from adk_evidence.settings import RetrievalSettings, Settings
from adk_evidence.store.base import Filter, Fusion, Match, Prefetch, SearchParams

# Few definitions share a name; a longer branch would be another ranking of everything.
SYMBOL_PREFETCH_LIMIT = 10
# Not the limit of `asked`, which adds a few to what the other branches find.
_LIMITS = (
    "dense_prefetch_limit",
    "sparse_prefetch_limit",
    "final_limit_per_collection",
    "pool_size",
)


def wide_enough(settings: RetrievalSettings, results: int) -> RetrievalSettings:
    """The settings, with limits that do not cut off what a request for so many results asks for."""
    short = {name: results for name in _LIMITS if getattr(settings, name) < results}
    return settings.model_copy(update=short) if short else settings


def search(question: Question, encoded: Encoded, limits: Mapping[Kind, int]) -> dict[Kind, list[Hit]]:
    """The hits of each kind that has a limit. A collection that cannot answer is a warning, and is not in the result.

    Raises:
        CollectionUnavailableError: None of the request's collections can answer.
    """

    def hits(kind: Kind) -> list[Hit]:
        return search_collection(
            question.index,
            question.settings,
            kind,
            encoded.queries,
            limit=limits[kind],
            filter=question.scope.filters[kind],
            names=[name for query in (question.query, *question.query.wordings) for name in query.names],
            # Names, code and pasted errors are rather like the texts themselves than like questions.
            asked=question.query.kind == "question",
        )

    context, failed = question.context, question.context.failed.collections

    calls: dict[Kind, Callable[[], list[Hit]]] = {}
    for kind in [kind for kind in limits if kind not in failed]:
        # Both collections side by side, where the store can: an engine inside this process that holds the
        # interpreter's lock only makes threads wait for each other (47 against 40 ms a request).
        if question.index.store.concurrent:
            calls[kind] = context.submit(question.models.threads, hits, kind).result
        else:
            calls[kind] = functools.partial(hits, kind)
    found: dict[Kind, list[Hit]] = {}
    for kind, call in calls.items():
        try:
            found[kind] = call()
        except CollectionUnavailableError as exc:
            context.without_collection(kind, exc)
    if failed.keys() >= set(question.kinds):
        raise failed[question.kinds[0]]
    return found


def search_collection(
    index: Index,
    settings: Settings,
    kind: Kind,
    queries: Sequence[QueryVectors],
    *,
    limit: int,
    filter: Filter,
    names: Sequence[str] = (),
    asked: bool = False,
) -> list[Hit]:
    """Search the collection of a kind with every branch of the queries; the fused hits, best first.

    Args:
        index: The index.
        settings: Say which branches there are, and how deep each is searched.
        kind: Whose collection is searched.
        queries: The encoded query, and its encoded sub-queries.
        limit: The most hits.
        filter: What may be found.
        names: The names that the query mentions.
        asked: Whether the questions that were written for chunks are searched, too.
    """
    retrieval = settings.retrieval
    collection = settings.store.collection(kind)
    if asked:
        entry = index.manifest.collections.get(collection)
        asked = entry is not None and settings.store.questions_vector(kind) in entry.dense
    branches = _branches(queries, kind, settings, names, asked=asked)
    if not branches:
        return []
    held = HeldPayloads(index.payloads[kind])
    result = index.store.hybrid_query(
        collection,
        list(branches.values()),
        Fusion(retrieval.fusion, retrieval.rrf_k),
        limit=limit,
        filter=filter,
        params=SearchParams(hnsw_ef=retrieval.hnsw_ef, exact=retrieval.exact),
        held=held,
    )
    places: dict[str, list[BranchPlace]] = {hit.id: [] for hit in result.fused}
    for name, hits in zip(branches, result.branches, strict=True):
        for rank, hit in enumerate(hits, 1):
            if hit.id in places:
                places[hit.id].append(BranchPlace(name, rank, hit.score))
    return [
        Hit(
            point_id=hit.id,
            collection=collection,
            payload=held.of(hit),
            fused_rank=rank,
            fused_score=hit.score,
            branches=tuple(places[hit.id]),
            # A sub-query's similarity does not count: its template is close to everything in the corpora.
            similarity=next((place.score for place in places[hit.id] if place.branch == "dense"), None),
        )
        for rank, hit in enumerate(result.fused, 1)
    ]


def _branches(
    queries: Sequence[QueryVectors], kind: Kind, settings: Settings, names: Sequence[str], *, asked: bool
) -> dict[str, Prefetch]:
    """The branches of a query and its sub-queries: `dense`, `sparse`, `dense#1`, `sparse#1`, ..., `symbol` and `asked`.

    In the branch `symbol`, only the definitions of the names that the query mentions compete: texts that use a name
    often outweigh the text that defines the name. The branch `asked` finds chunks by the questions that were written
    for them, where a text says in other words what the user asks.
    """
    retrieval, store = settings.retrieval, settings.store
    branches: dict[str, Prefetch] = {}
    for number, vectors in enumerate(queries):
        suffix = f"#{number}" if number else ""
        if kind in vectors.dense:
            dense = Prefetch(store.dense_vector(kind), vectors.dense[kind], retrieval.dense_prefetch_limit)
            branches[f"dense{suffix}"] = dense
        if vectors.sparse:
            sparse = Prefetch(store.sparse_vector, vectors.sparse, retrieval.sparse_prefetch_limit)
            branches[f"sparse{suffix}"] = sparse
    if "symbol" in retrieval.branches and names and kind == "code" and branches:
        first = next(iter(branches.values()))
        defined = Filter(must=(Match("names", tuple(names)),))
        branches["symbol"] = Prefetch(first.using, first.query, SYMBOL_PREFETCH_LIMIT, defined)
    if "asked" in retrieval.branches and asked and kind in queries[0].dense:
        questions = store.questions_vector(kind)
        branches["asked"] = Prefetch(questions, queries[0].dense[kind], ASKED_PREFETCH_LIMIT)
    return branches
