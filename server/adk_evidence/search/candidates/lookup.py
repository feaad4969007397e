"""Reads chunks and their vectors by their payload or their ids, without a search."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import ChunkPayload, Kind
from adk_evidence.search.stages import Encoded, Hit, Question
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


def passage_similarities(question: Question, encoded: Encoded, hits: Sequence[Hit]) -> dict[str, list[float]]:
    """The cosines of the question, as it was asked, with the passages of hits that have several, by point id.

    Hits whose passages have no vectors are left out, and those of a collection that cannot answer, which is a warning.
    """
    context, found = question.context, dict[str, list[float]]()
    for kind, asked in encoded.asked.dense.items() if encoded.asked is not None else ():
        points = [hit.point_id for hit in hits if hit.kind == kind and len(hit.payload.passage_lines) > 1]
        if not points or kind in context.failed.collections:
            continue
        try:
            rows = _vectors(question, kind, points)
        except CollectionUnavailableError as exc:
            context.without_collection(kind, exc)
            continue
        query = np.asarray(asked, dtype=np.float32)
        found |= {point: (held @ query).tolist() for point, held in rows.items() if held.ndim == 2}
    return found


def _vectors(question: Question, kind: Kind, points: Sequence[str]) -> dict[str, np.ndarray]:
    """The vectors of the passages of some chunks, of which the last read ones are kept."""
    store, kept = question.settings.store, question.index.passage_vectors
    name = store.dense_vector(kind)
    found = {point: held for point in points if (held := kept.peek(point)) is not None}
    missing = tuple(point for point in points if point not in found)
    if missing:
        records, _ = question.index.store.scroll(
            store.collection(kind),
            filter=Filter(must=(HasId(missing),)),
            limit=len(missing),
            with_payload=False,
            with_vectors=[name],
        )
        for record in records:
            found[record.id] = np.asarray(record.vectors.get(name, ()), dtype=np.float32)
    for point in found:
        kept.get(point, functools.partial(found.__getitem__, point))
    return found
