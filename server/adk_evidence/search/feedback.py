"""Pseudo-relevance feedback: the query moves towards what the first pass ranked best, and searches once more.

Rocchio's formula (1971) on both sides: the first results are taken as relevant. The mean of their dense vectors is
added to the query's, and their terms to the query's terms, as relevance models do (RM3, Abdul-Jaleel et al. 2004). It
helps where a question and its answer are worded differently, which short vectors of long chunks feel most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.search.hybrid import Hit, QueryVectors
from adk_evidence.search.retrieve import search
from adk_evidence.search.run import Run
from adk_evidence.settings import RetrievalSettings, StoreSettings
from adk_evidence.store.base import EvidenceStore, Filter, HasId, Record


def feed_back(run: Run, relevant: Sequence[Hit]) -> None:
    """Move the query towards relevant hits and search again; without their vectors, the first pass stays.

    The hits keep their similarity to the query as it was asked. A collection that fails only now keeps its hits.

    Raises:
        CollectionUnavailableError: A collection cannot answer in strict mode.
    """
    settings = run.settings
    try:
        moved = moved_query(
            run.vectors[0],
            relevant,
            run.index.store,
            settings.store,
            settings.retrieval,
            shared_space=run.models.dense.shared,
        )
    except CollectionUnavailableError as exc:
        if run.context.strict:
            raise
        run.context.warn("collection_unavailable", str(exc))
        return
    run.vectors[0] = moved
    similarity = {hit.point_id: hit.similarity for found in run.hits.values() for hit in found}
    again = search(run, run.hits)
    run.hits |= {kind: with_first_similarity(found, similarity) for kind, found in again.items()}


def moved_query(
    vectors: QueryVectors,
    relevant: Sequence[Hit],
    reader: EvidenceStore,
    store: StoreSettings,
    retrieval: RetrievalSettings,
    *,
    shared_space: bool,
) -> QueryVectors:
    """The query after feedback; a side that it did not have stays empty.

    Args:
        vectors: The query as it was encoded.
        relevant: Hits that are taken as relevant, of either kind.
        reader: Where their vectors are.
        store: Names of collections and vectors.
        retrieval: `feedback_weight` is the weight of the relevant mean against the query's own, which is 1 on either
            side; `feedback_terms` is how many of its heaviest terms are added.
        shared_space: Whether docs and code have one dense model. Where they have two, each kind's query moves
            towards the relevant hits of its own kind, and stays where there are none.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    records = {kind: _records(relevant, kind, reader, store) for kind in KINDS}
    found = {kind: _dense_vectors(records[kind], store.dense_vector(kind), own) for kind, own in vectors.dense.items()}
    everything = [vector for kind in found for vector in found[kind]]
    weight = retrieval.feedback_weight
    dense = {
        kind: _towards(own, everything if shared_space else found[kind], weight) for kind, own in vectors.dense.items()
    }
    terms = [
        vector
        for kind in KINDS
        for record in records[kind]
        if isinstance(vector := record.vectors.get(store.sparse_vector), SparseVector)
    ]
    sparse = _with_terms(vectors.sparse, terms, weight, retrieval.feedback_terms)
    return replace(vectors, dense=dense, sparse=sparse)


def _towards(own: Sequence[float], others: Sequence[Sequence[float]], weight: float) -> Sequence[float]:
    if not others:
        return own
    total = np.asarray(own) + weight * np.mean(others, axis=0)
    moved: list[float] = (total / (np.linalg.norm(total) or 1.0)).tolist()
    return moved


def _with_terms(own: SparseVector, others: Sequence[SparseVector], weight: float, limit: int) -> SparseVector:
    """The query with the heaviest terms of the others; together these weigh `weight` times what its own terms do."""
    if not own:
        return own
    shares: dict[int, float] = {}
    for other in others:
        # Each counts the same, however long it is.
        total = math.fsum(other.values) or 1.0
        for term, value in zip(other.indices, other.values, strict=True):
            shares[term] = shares.get(term, 0.0) + value / total
    heaviest = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:limit]
    mass = math.fsum(share for _, share in heaviest)
    scale = weight * math.fsum(own.values) / mass if mass else 0.0
    if not scale:
        return own
    moved = dict(zip(own.indices, own.values, strict=True))
    for term, share in heaviest:
        moved[term] = moved.get(term, 0.0) + scale * share
    terms = sorted(moved)
    return SparseVector(tuple(terms), tuple(moved[term] for term in terms))


def with_first_similarity(hits: Iterable[Hit], first: Mapping[str, float | None]) -> list[Hit]:
    """The hits with their similarity to the query as it was asked: to the moved one everything near is similar."""
    return [hit._replace(similarity=first.get(hit.point_id)) for hit in hits]


def _records(relevant: Sequence[Hit], kind: Kind, reader: EvidenceStore, store: StoreSettings) -> list[Record]:
    ids = tuple(sorted(hit.point_id for hit in relevant if hit.payload.kind == kind))
    if not ids:
        return []
    wanted = Filter(must=(HasId(ids),))
    return reader.scroll(store.collection(kind), filter=wanted, limit=len(ids), with_vectors=True)[0]


def _dense_vectors(records: Sequence[Record], name: str, own: Sequence[float]) -> list[Sequence[float]]:
    vectors = [record.vectors.get(name) for record in records]
    return [_nearest(vector, own) for vector in vectors if isinstance(vector, Sequence)]


def _nearest(vector: Sequence[float] | Sequence[Sequence[float]], own: Sequence[float]) -> Sequence[float]:
    """A chunk's vector; of several, the passage's that made it similar to the query."""
    several = [row for row in vector if isinstance(row, Sequence)]
    if not several:
        return cast("Sequence[float]", vector)
    return several[int(np.argmax(np.asarray(several) @ np.asarray(own)))]
