"""Reads chunks and their vectors by their payload or their ids, without a search."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import numpy as np

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.index.opened import PointVectors
from adk_evidence.models.chunk import ChunkPayload, Kind
from adk_evidence.search.stages import Encoded, Hit, Question
from adk_evidence.store.base import Condition, Filter, HasId, Record, scroll_all


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
            held = point_vectors(question, kind, points)
        except CollectionUnavailableError as exc:
            context.without_collection(kind, exc)
            continue
        query = np.asarray(asked, dtype=np.float32)
        found |= {point: (one.dense @ query).tolist() for point, one in held.items() if one.dense.ndim == 2}
    return found


def point_vectors(question: Question, kind: Kind, points: Iterable[str]) -> dict[str, PointVectors]:
    """What some points are found by, in the order of their ids; what was read last is kept.

    Feedback, the measures of support and excerpts ask for mostly the same points.

    Raises:
        CollectionUnavailableError: The collection cannot answer.
    """
    store, kept = question.settings.store, question.index.point_vectors
    found = {point: kept.peek(point) for point in sorted(points)}
    missing = tuple(point for point, held in found.items() if held is None)
    names = [store.dense_vector(kind), store.sparse_vector]
    records: Sequence[Record] = ()
    if missing:
        wanted, collection = Filter(must=(HasId(missing),)), store.collection(kind)
        scroll = question.index.store.scroll
        records, _ = scroll(collection, filter=wanted, limit=len(missing), with_payload=False, with_vectors=names)
    for record in records:
        dense, terms = (record.vectors.get(name) for name in names)
        sparse = terms if isinstance(terms, SparseVector) else SparseVector((), ())
        found[record.id] = PointVectors(
            np.asarray(() if dense is None else dense, dtype=np.float32),
            np.asarray(sparse.indices, dtype=np.int64),
            np.asarray(sparse.values, dtype=float),
        )
    vectors = {point: held for point, held in found.items() if held is not None}
    for point in vectors:
        kept.get(point, functools.partial(vectors.__getitem__, point))
    return vectors
