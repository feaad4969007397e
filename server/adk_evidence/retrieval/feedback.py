"""Pseudo-relevance feedback: the query moves towards what the first pass ranked best, and searches once more.

Rocchio's formula (1971) on dense vectors: the first results are taken as relevant, and the mean of their vectors is
added to the query's. It helps where a question and its answer are worded differently, which short vectors of long
chunks feel most.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from adk_evidence.models.chunk import Kind
from adk_evidence.retrieval.hybrid import Hit, QueryVectors
from adk_evidence.settings import StoreSettings
from adk_evidence.store.base import EvidenceStore, Filter, HasId


def moved_query(
    vectors: QueryVectors,
    relevant: Sequence[Hit],
    reader: EvidenceStore,
    store: StoreSettings,
    weight: float,
    *,
    shared_space: bool,
) -> QueryVectors:
    """The query after feedback; the sparse side stays as it is.

    Args:
        vectors: The query as it was encoded.
        relevant: Hits that are taken as relevant, of either kind.
        reader: Where their vectors are.
        store: Names of collections and vectors.
        weight: Length of the relevant mean, added to a query of length 1.
        shared_space: Whether docs and code have one dense model. Where they have two, each kind's query moves
            towards the relevant hits of its own kind, and stays where there are none.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    found = {kind: _dense_vectors(relevant, kind, own, reader, store) for kind, own in vectors.dense.items()}
    everything = [vector for kind in found for vector in found[kind]]
    dense = {
        kind: _towards(own, everything if shared_space else found[kind], weight) for kind, own in vectors.dense.items()
    }
    return replace(vectors, dense=dense)


def _towards(own: Sequence[float], others: Sequence[Sequence[float]], weight: float) -> Sequence[float]:
    if not others:
        return own
    mean = [math.fsum(column) / len(others) for column in zip(*others, strict=True)]
    total = [value + weight * other for value, other in zip(own, mean, strict=True)]
    length = math.sqrt(math.fsum(value * value for value in total)) or 1.0
    return [value / length for value in total]


def with_first_similarity(hits: Iterable[Hit], first: Mapping[str, float | None]) -> list[Hit]:
    """The hits with their similarity to the query as it was asked: to the moved one everything near is similar."""
    return [replace(hit, similarity=first.get(hit.point_id)) for hit in hits]


def _dense_vectors(
    relevant: Sequence[Hit], kind: Kind, own: Sequence[float], reader: EvidenceStore, store: StoreSettings
) -> list[Sequence[float]]:
    ids = tuple(sorted(hit.point_id for hit in relevant if hit.payload.kind == kind))
    if not ids:
        return []
    wanted = Filter(must=(HasId(ids),))
    records, _ = reader.scroll(store.collection(kind), filter=wanted, limit=len(ids), with_vectors=True)
    vectors = [record.vectors.get(store.dense_vector(kind)) for record in records]
    return [_nearest(vector, own) for vector in vectors if isinstance(vector, Sequence)]


def _nearest(vector: Sequence[float] | Sequence[Sequence[float]], own: Sequence[float]) -> Sequence[float]:
    """A chunk's vector; of several, the passage's that made it similar to the query."""
    several = [row for row in vector if isinstance(row, Sequence)]
    if not several:
        return cast("Sequence[float]", vector)
    return max(several, key=lambda row: math.fsum(map(operator.mul, row, own)))
