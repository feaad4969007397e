"""Pseudo-relevance feedback: the query moves towards what the first pass ranked best, and searches once more.

Rocchio's formula (1971) on dense vectors: the first results are taken as relevant, and the mean of their vectors is
added to the query's. It helps where a question and its answer are worded differently, which short vectors of long
chunks feel most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from adk_evidence.models.chunk import Kind
from adk_evidence.retrieval.hybrid import Hit, QueryVectors
from adk_evidence.settings import StoreSettings
from adk_evidence.store.base import EvidenceStore, Filter, HasId


def moved_query(
    vectors: QueryVectors, relevant: Sequence[Hit], reader: EvidenceStore, store: StoreSettings, weight: float
) -> QueryVectors:
    """The query after feedback; the sparse side stays as it is.

    Args:
        vectors: The query as it was encoded.
        relevant: Hits that are taken as relevant, of either kind: docs and code share one dense space.
        reader: Where their vectors are.
        store: Names of collections and vectors.
        weight: Length of the relevant mean, added to a query of length 1.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    if vectors.dense is None or not relevant:
        return vectors
    found = [vector for kind in ("doc", "code") for vector in _dense_vectors(relevant, kind, reader, store)]
    if not found:
        return vectors
    mean = [math.fsum(column) / len(found) for column in zip(*found, strict=True)]
    total = [own + weight * other for own, other in zip(vectors.dense, mean, strict=True)]
    length = math.sqrt(math.fsum(value * value for value in total)) or 1.0
    return replace(vectors, dense=[value / length for value in total])


def with_first_similarity(hits: Iterable[Hit], first: Mapping[str, float | None]) -> list[Hit]:
    """The hits with their similarity to the query as it was asked: to the moved one everything near is similar."""
    return [replace(hit, similarity=first.get(hit.point_id)) for hit in hits]


def _dense_vectors(
    relevant: Sequence[Hit], kind: Kind, reader: EvidenceStore, store: StoreSettings
) -> list[Sequence[float]]:
    ids = tuple(sorted(hit.point_id for hit in relevant if hit.payload.kind == kind))
    if not ids:
        return []
    wanted = Filter(must=(HasId(ids),))
    records, _ = reader.scroll(store.collection(kind), filter=wanted, limit=len(ids), with_vectors=True)
    vectors = [record.vectors.get(store.dense_vector(kind)) for record in records]
    return [vector for vector in vectors if isinstance(vector, Sequence)]
