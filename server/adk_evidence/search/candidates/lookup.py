"""Reads chunks and their vectors by their payload or their ids, without a search."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import KINDS, ChunkPayload, Kind
from adk_evidence.search.run import Hit, Run
from adk_evidence.services.resilience import CacheAside
from adk_evidence.store.base import Condition, Filter, HasId, scroll_all


def read_hits(run: Run, kind: Kind, *conditions: Condition) -> list[Hit]:
    """All chunks of a kind that the request searches and that pass the conditions, by file and line.

    The conditions bound how many these are: the store's order, which is that of hashes, says nothing of which count.

    Raises:
        CollectionUnavailableError: The collection cannot answer.
    """
    collection = run.settings.store.collection(kind)
    within = run.scope.filters[kind]
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
        for record in scroll_all(run.index.store, collection, filter=wanted)
    ]
    return sorted(hits, key=lambda hit: (hit.payload.path, hit.payload.start_line, hit.point_id))


def similarities(
    run: Run,
    kind: Kind,
    vector: str,
    points: Sequence[str],
    kept: CacheAside[np.ndarray] | None = None,
    asked: Sequence[float] | None = None,
) -> dict[str, list[float]]:
    """The cosines of the question, as it was encoded first, with the vectors of some chunks, by point id.

    Chunks without such vectors are left out. Nothing is found where the question has no vector, or where the collection
    cannot answer, which becomes a warning.

    Args:
        run: A request that is encoded.
        kind: The kind of all the chunks.
        vector: The name of a vector of which a chunk has several.
        points: The chunks.
        kept: The vectors that need not be read again, by point id.
        asked: Another vector of the question.
    """
    if asked is None and run.asked is not None:
        asked = run.asked.dense.get(kind)
    if asked is None or not points or kind in run.collections_failed:
        return {}
    try:
        rows = _vectors(run, kind, vector, points, kept)
    except CollectionUnavailableError as exc:
        run.without_collection(kind, exc)
        return {}
    query = np.asarray(asked, dtype=np.float32)
    return {point: (held @ query).tolist() for point, held in rows.items() if held.ndim == 2}


def passage_similarities(run: Run, hits: Sequence[Hit]) -> dict[str, list[float]]:
    """The cosines of the question with the passages of hits, by point id; of hits that have several passages."""
    found: dict[str, list[float]] = {}
    for kind in KINDS:
        points = [hit.point_id for hit in hits if hit.kind == kind and len(hit.payload.passage_lines) > 1]
        if points:
            vector = run.settings.store.dense_vector(kind)
            found |= similarities(run, kind, vector, points, run.index.passage_vectors)
    return found


def _vectors(
    run: Run, kind: Kind, vector: str, points: Sequence[str], kept: CacheAside[np.ndarray] | None
) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    if kept is not None:
        found = {point: held for point in points if (held := kept.peek(point)) is not None}
    missing = tuple(point for point in points if point not in found)
    if missing:
        records, _ = run.index.store.scroll(
            run.settings.store.collection(kind),
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
