"""Hybrid retrieval from one collection: dense and sparse prefetch, fused by the store (SPEC 5 section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from adk_evidence.embedding.base import SparseVector
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import ChunkPayload, Kind
from adk_evidence.settings import RetrievalSettings, Settings, StoreSettings
from adk_evidence.store.base import Filter, Fusion, Match, Prefetch, SearchParams

# Few definitions share a name; more would be another ranking of everything.
SYMBOL_PREFETCH_LIMIT = 10


def wide_enough(settings: RetrievalSettings, results: int) -> RetrievalSettings:
    """The settings, with limits that do not cut off what a request for so many results asks for."""
    limits = (
        "dense_prefetch_limit",
        "sparse_prefetch_limit",
        "final_limit_per_collection",
        "expanded_limit_per_collection",
        "pool_size",
    )
    short = {name: results for name in limits if getattr(settings, name) < results}
    return settings.model_copy(update=short) if short else settings


@dataclass(frozen=True)
class QueryVectors:
    """One query text, encoded. `dense` goes by the kind of chunk; a kind without it is searched by keywords alone."""

    text: str
    dense: Mapping[Kind, Sequence[float]]
    sparse: SparseVector


class BranchPlace(NamedTuple):
    """Where one branch placed a hit."""

    branch: str
    rank: int
    score: float


class Hit(NamedTuple):
    """A chunk that one collection returned, and its place among the hits of all collections once they are ranked.

    `similarity` is None where the dense branch did not return the chunk, `rerank_score` where no reranker answered.
    """

    point_id: str
    collection: str
    payload: ChunkPayload
    fused_rank: int
    fused_score: float
    branches: tuple[BranchPlace, ...]
    similarity: float | None
    pool_rank: int = 0
    rerank_score: float | None = None
    features: Mapping[str, float] = MappingProxyType({})

    @property
    def kind(self) -> Kind:
        """`doc` or `code`."""
        return self.payload.kind


def prefetches(
    queries: Sequence[QueryVectors],
    kind: Kind,
    settings: RetrievalSettings,
    store: StoreSettings,
    names: Sequence[str] = (),
) -> list[tuple[str, Prefetch]]:
    """The named branches of a query and its sub-queries: `dense`, `sparse`, `dense#1`, `sparse#1`, ...

    Names that the query mentions get a branch of their own, `symbol`, in which only their definitions compete: texts
    that use a name often outweigh the one that defines it.
    """
    branches: list[tuple[str, Prefetch]] = []
    for number, vectors in enumerate(queries):
        suffix = f"#{number}" if number else ""
        if kind in vectors.dense:
            dense = Prefetch(store.dense_vector(kind), vectors.dense[kind], settings.dense_prefetch_limit)
            branches.append((f"dense{suffix}", dense))
        if vectors.sparse:
            sparse = Prefetch(store.sparse_vector, vectors.sparse, settings.sparse_prefetch_limit)
            branches.append((f"sparse{suffix}", sparse))
    if "symbol" in settings.branches and names and kind == "code" and branches:
        _, first = branches[0]
        defined = Filter(must=(Match("names", tuple(names)),))
        branches.append(("symbol", Prefetch(first.using, first.query, SYMBOL_PREFETCH_LIMIT, defined)))
    return branches


def search_collection(
    index: Index,
    settings: Settings,
    kind: Kind,
    queries: Sequence[QueryVectors],
    *,
    limit: int,
    filter: Filter,
    names: Sequence[str] = (),
) -> list[Hit]:
    """Search the collection of a kind with every branch and return the fused hits, best first.

    Raises:
        CollectionUnavailableError: The collection cannot answer.
    """
    retrieval = settings.retrieval
    named = prefetches(queries, kind, retrieval, settings.store, names)
    if not named:
        return []
    collection = settings.store.collection(kind)
    held = index.payloads(kind).held()
    result = index.store.hybrid_query(
        collection,
        [branch for _, branch in named],
        Fusion(retrieval.fusion, retrieval.rrf_k),
        limit=limit,
        filter=filter,
        params=SearchParams(hnsw_ef=retrieval.hnsw_ef, exact=retrieval.exact),
        held=held,
    )
    places: dict[str, list[BranchPlace]] = {hit.id: [] for hit in result.fused}
    for (name, _), hits in zip(named, result.branches, strict=True):
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
            # Not a sub-query's: its template is close to everything in the corpora.
            similarity=next((place.score for place in places[hit.id] if place.branch == "dense"), None),
        )
        for rank, hit in enumerate(result.fused, 1)
    ]
