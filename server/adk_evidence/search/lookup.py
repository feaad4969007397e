"""Reads chunks by their payload or their ids, as hits that no search returned."""

from __future__ import annotations

from adk_evidence.models.chunk import ChunkPayload, Kind
from adk_evidence.search.run import Hit, Run
from adk_evidence.store.base import Condition, Filter

# How many chunks of one collection are read to find what a request names.
MAX_READ = 400


def read_hits(run: Run, kind: Kind, *conditions: Condition) -> list[Hit]:
    """The chunks of a kind that the request searches and that pass the conditions, by file and line.

    Raises:
        CollectionUnavailableError: The collection cannot answer.
    """
    collection = run.settings.store.collection(kind)
    within = run.scope.filters[kind]
    records, _ = run.index.store.scroll(
        collection,
        filter=Filter(must=(*within.must, *conditions), should=within.should, must_not=within.must_not),
        limit=MAX_READ,
    )
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
        for record in records
    ]
    return sorted(hits, key=lambda hit: (hit.payload.path, hit.payload.start_line, hit.point_id))
