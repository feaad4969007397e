"""Reads chunks and their vectors by their payload or their ids, without a search."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import KINDS, ChunkPayload, Kind
from adk_evidence.search.stages import Encoded, Hit, Question
from adk_evidence.services.resilience import CacheAside
from adk_evidence.store.base import Condition, Filter, HasId, scroll_all


def read_hits(question: Question, kind: Kind, *conditions: Condition) -> list[Hit]:
    """All chunks of a kind that the request searches and that pass the conditions, by file and line.

    The conditions bound how many these are: the store's order, which is that of hashes, says nothing of which count.

    Raises:
        CollectionUnavailableError: The collection cannot answer.
    """
    collection = question.settings.store.collection(kind)
    within = question.scope.filters[kind]
    wanted = Filter(must=(*within.must, *conditions), should=within.should, must_not=within.must_not)
    hits = [
        Hit(
            point_id=record.id,
            collection=collection,
            payload=ChunkPayload.model_validate(record.payload),
            fused_rank=0,
            fused_score=0.0,
            branches=(),
            similarity=None,
        )
        for record in scroll_all(question.index.store, collection, filter=wanted)
    ]
    return sorted(hits, key=lambda hit: (hit.payload.path, hit.payload.start_line, hit.point_id))


def similarities(
    question: Question,
    asked: Sequence[float] | None,
    kind: Kind,
    vector: str,
    points: Sequence[str],
    kept: CacheAside[np.ndarray] | None = None,
) -> dict[str, list[float]]:
    """The cosines of a question with the vectors of some chunks, by point id.

    Chunks without such vectors are left out. Nothing is found where the question has no vector, or where the collection
    cannot answer, which becomes a warning.

    Args:
        question: What is asked.
        asked: Its vector.
        kind: The kind of all the chunks.
        vector: The name of a vector of which a chunk has several.
        points: The chunks.
        kept: The vectors that need not be read again, by point id.
    """
    context = question.context
    if asked is None or not points or kind in context.failed.collections:
        return {}
    try:
        rows = _vectors(question, kind, vector, points, kept)
    except CollectionUnavailableError as exc:
        context.without_collection(kind, exc)
        return {}
    query = np.asarray(asked, dtype=np.float32)
    return {point: (held @ query).tolist() for point, held in rows.items() if held.ndim == 2}


def passage_similarities(question: Question, encoded: Encoded, hits: Sequence[Hit]) -> dict[str, list[float]]:
    """The cosines of the question, as it was asked, with the passages of hits that have several, by point id."""
    found: dict[str, list[float]] = {}
    dense = encoded.asked.dense if encoded.asked is not None else {}
    for kind in KINDS:
        points = [hit.point_id for hit in hits if hit.kind == kind and len(hit.payload.passage_lines) > 1]
        if points:
            vector = question.settings.store.dense_vector(kind)
            found |= similarities(question, dense.get(kind), kind, vector, points, question.index.passage_vectors)
    return found


def _vectors(
    question: Question, kind: Kind, vector: str, points: Sequence[str], kept: CacheAside[np.ndarray] | None
) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    if kept is not None:
        found = {point: held for point in points if (held := kept.peek(point)) is not None}
    missing = tuple(point for point in points if point not in found)
    if missing:
        records, _ = question.index.store.scroll(
            question.settings.store.collection(kind),
            filter=Filter(must=(HasId(missing),)),
            limit=len(missing),
            with_payload=False,
            with_vectors=[vector],
        )
        for record in records:
            found[record.id] = np.asarray(record.vectors.get(vector, ()), dtype=np.float32)
    if kept is not None:
        for point in found:
            kept.get(point, functools.partial(found.__getitem__, point))
    return found
