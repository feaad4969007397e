"""The embedded store: Qdrant Edge, with one shard folder for each collection.

Importing this module loads the engine's native library, so other modules import it only where they open a store. The
engine holds the interpreter's lock during every call, which makes a shard safe to use from several threads. Its
behaviour was measured with qdrant-edge-py 0.9.0; comments say where it is surprising.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from uuid import UUID

import qdrant_edge as edge

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError, EvidenceError, StoreError
from adk_evidence.files import copy_tree
from adk_evidence.store.base import (
    KEYWORD_FIELDS,
    REBUILD,
    CollectionSpec,
    Condition,
    EvidenceStore,
    Filter,
    HasId,
    HasVector,
    Hit,
    IndexWriter,
    Match,
    NewPoint,
    Prefetch,
    Record,
    SearchParams,
    in_order,
)
from adk_evidence.store.points import checked_id, checked_point, checked_vector, stored

# In kilobytes of vectors: so high that no graph is ever built. Exact search costs 6-12 ms at 20,000 points
# and loses nothing under filters, where the graph's recall falls to 0.6.
_NO_GRAPH = 10**9
# Points that pass a filter. Fewer of them are scored one by one; for more, the inverted index is searched, which takes
# a seventh of the time for the hundred terms of a query after feedback.
_SPARSE_SCAN_POINTS = 100
_CONFIG_FILE = "edge_config.json"
_REASON_CHARS = 200


class _EdgeStore(EvidenceStore):
    """What reader and writer share."""

    concurrent = False

    def __init__(self, folder: Path, specs: Sequence[CollectionSpec]) -> None:
        super().__init__(specs)
        self._folder = folder

    def _shard(self, collection: str) -> edge.EdgeShard:
        raise NotImplementedError

    def _search(
        self, collection: str, branches: Sequence[Prefetch], params: SearchParams | None, *, full: bool = False
    ) -> list[list[Hit]]:
        spec = self._spec(collection)
        accuracy = edge.SearchParams(hnsw_ef=params.hnsw_ef, exact=params.exact) if params else None
        requests = [
            edge.QueryRequest(
                limit=branch.limit,
                query=edge.Query.Nearest(_native(checked_vector(spec, branch.using, branch.query)), using=branch.using),
                filter=_filter(branch.filter),
                params=edge.SearchParams(exact=True) if full else accuracy,
            )
            for branch in branches
        ]
        shard = self._shard(collection)
        with _answering(collection):
            answers = shard.query_batch(edge.QueryBatchRequest(requests))
        return [in_order(Hit(_text(point.id), point.score) for point in points) for points in answers]

    def count(self, collection: str, filter: Filter | None = None) -> int:
        """Exact number of points that pass the filter."""
        self._spec(collection)
        request = edge.CountRequest(exact=True, filter=_filter(filter))
        shard = self._shard(collection)
        with _answering(collection):
            return shard.count(request)

    def scroll(
        self,
        collection: str,
        *,
        filter: Filter | None = None,
        limit: int = 256,
        offset: str | None = None,
        with_vectors: bool = False,
    ) -> tuple[list[Record], str | None]:
        """A page of points in the order of their ids, and the next page's offset or None."""
        self._spec(collection)
        request = edge.ScrollRequest(
            offset=None if offset is None else checked_id(offset),
            limit=limit,
            filter=_filter(filter),
            with_payload=True,
            with_vector=with_vectors,
        )
        shard = self._shard(collection)
        with _answering(collection):
            records, following = shard.scroll(request)
            return [stored(record) for record in records], None if following is None else str(following)

    def retrieve(self, collection: str, ids: Sequence[str]) -> list[Record]:
        """Points by id; missing ones are left out."""
        self._spec(collection)
        wanted: list[edge.PointId] = [checked_id(point) for point in ids]
        shard = self._shard(collection)
        with _answering(collection):
            # The stub calls the last two optional; they are not.
            return [stored(record) for record in shard.retrieve(wanted, True, False)]


class EdgeIndexReader(_EdgeStore):
    """Reads the closed shards of a published generation, beside any number of other processes.

    A collection is opened by its first query. A collection that cannot be opened in place, for instance because the
    folder is read-only, is read from a private copy, which `close` deletes.

    Args:
        folder: The generation's folder.
        specs: Its collections.
        counts: Number of points by collection; a shard with another number is damaged and does not answer.
    """

    def __init__(self, folder: Path, specs: Sequence[CollectionSpec], counts: Mapping[str, int] | None = None) -> None:
        super().__init__(folder, specs)
        self._counts = counts or {}
        self._lock = threading.Lock()
        self._shards: dict[str, edge.EdgeShard] = {}
        self._failures: dict[str, CollectionUnavailableError] = {}
        self._copies: list[tempfile.TemporaryDirectory[str]] = []
        self._closed = False

    def close(self) -> None:
        """Release the shards and delete private copies."""
        with self._lock:
            self._closed = True
            for shard in self._shards.values():
                with suppress(Exception):
                    shard.close()
            self._shards.clear()
            for copy in self._copies:
                copy.cleanup()
            self._copies.clear()

    def _shard(self, collection: str) -> edge.EdgeShard:
        with self._lock:
            if self._closed:
                raise StoreError("The index was closed.")
            if collection in self._failures:
                # A published folder does not change, so a second attempt would fail as the first did.
                failure = self._failures[collection]
                raise CollectionUnavailableError(failure.message, failure.hint)
            if collection not in self._shards:
                try:
                    self._shards[collection] = self._open(collection)
                except CollectionUnavailableError as exc:
                    self._failures[collection] = exc
                    raise
            return self._shards[collection]

    def _open(self, collection: str) -> edge.EdgeShard:
        folder = _collection_folder(self._folder, collection)
        if not (folder / _CONFIG_FILE).is_file():
            raise CollectionUnavailableError(f"The index has lost its collection {collection}.", REBUILD)
        try:
            with _answering(collection):
                shard = edge.EdgeShard.load(str(folder))
        except CollectionUnavailableError:
            shard = self._open_copy(folder)
        return self._checked(collection, shard)

    def _open_copy(self, folder: Path) -> edge.EdgeShard:
        copy = tempfile.TemporaryDirectory(prefix="adk-evidence-", ignore_cleanup_errors=True)
        try:
            with _answering(folder.name):
                copy_tree(folder, Path(copy.name))
                shard = edge.EdgeShard.load(copy.name)
        except CollectionUnavailableError:
            copy.cleanup()
            raise
        self._copies.append(copy)
        return shard

    def _checked(self, collection: str, shard: edge.EdgeShard) -> edge.EdgeShard:
        # The engine silently treats truncated id files as an empty shard.
        with _answering(collection):
            found = shard.count(edge.CountRequest(exact=True))
        expected = self._counts.get(collection, found)
        if found == expected:
            return shard
        shard.close()
        raise CollectionUnavailableError(
            f"The collection {collection} is damaged: it holds {found} of {expected} chunks.", REBUILD
        )


class EdgeIndexWriter(_EdgeStore, IndexWriter):
    """Writes shards into a folder that nobody reads yet. Points are durable after `flush`.

    Args:
        folder: Empty or missing, or a copy of a closed generation, whose points stay.
        specs: The collections; a missing one is created, with its payload indexes.
        batch_points: Number of points in one write.

    Raises:
        StoreError: A collection cannot be created, or was created with other vectors.
    """

    def __init__(self, folder: Path, specs: Sequence[CollectionSpec], *, batch_points: int = 256) -> None:
        super().__init__(folder, specs)
        self._batch_points = batch_points
        self._shards: dict[str, edge.EdgeShard] = {}
        try:
            for spec in specs:
                with _writing(spec.name):
                    self._shards[spec.name] = _open_for_writing(_collection_folder(folder, spec.name), spec)
        except BaseException:
            self._release()
            raise

    def upsert(self, collection: str, points: Iterable[NewPoint]) -> int:
        """Write points, replacing those with the same id; returns how many.

        Raises:
            StoreError: An id is no UUID, a vector has the wrong length, or a payload is not JSON in UTF-8.
        """
        spec, shard = self._spec(collection), self._shard(collection)
        written, remaining = 0, iter(points)
        while batch := list(itertools.islice(remaining, self._batch_points)):
            with _writing(collection):
                shard.update(edge.UpdateOperation.upsert_points([_point(spec, point) for point in batch]))
            written += len(batch)
        return written

    def delete(self, collection: str, filter: Filter) -> None:
        """Delete the points that pass the filter; every point passes an empty filter."""
        conditions = _filter(filter) or edge.Filter()
        shard = self._shard(collection)
        with _writing(collection):
            shard.update(edge.UpdateOperation.delete_points_by_filter(conditions))

    def flush(self) -> None:
        """Make everything written so far durable."""
        for collection, shard in self._shards.items():
            with _writing(collection):
                shard.flush()

    def close(self) -> None:
        """Flush and close the shards, so that the folder can be published."""
        try:
            self.flush()
        finally:
            self._release()

    def _shard(self, collection: str) -> edge.EdgeShard:
        self._spec(collection)
        try:
            return self._shards[collection]
        except KeyError:
            raise StoreError("The index was closed.") from None

    def _release(self) -> None:
        for shard in self._shards.values():
            with suppress(Exception):
                shard.close()
        self._shards.clear()


def _collection_folder(folder: Path, collection: str) -> Path:
    if collection in ("", "..") or Path(collection).name != collection:
        raise StoreError(f"The collection name {collection!r} cannot name a folder.", "Change `store` in the settings.")
    return folder / collection


def _open_for_writing(folder: Path, spec: CollectionSpec) -> edge.EdgeShard:
    nearest = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)
    config = edge.EdgeConfig(
        vectors={
            name: edge.EdgeVectorParams(
                size=size,
                distance=edge.Distance.Cosine,
                multivector_config=nearest if name in spec.multi else None,
            )
            for name, size in spec.dense.items()
        },
        sparse_vectors={
            name: edge.EdgeSparseVectorParams(
                modifier=edge.Modifier.Idf if idf else None, full_scan_threshold=_SPARSE_SCAN_POINTS
            )
            for name, idf in spec.sparse.items()
        },
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_NO_GRAPH),
        # With a write-ahead log, only one process at a time could open the folder, even for reading.
        wal_enabled=False,
    )
    exists = (folder / _CONFIG_FILE).is_file()
    open_shard = edge.EdgeShard.load if exists else edge.EdgeShard.create
    shard = open_shard(str(folder), config)
    # Before the points: filters on a field without an index take half a second.
    indexed = shard.info().payload_schema
    for field in KEYWORD_FIELDS:
        if field not in indexed:
            shard.update(edge.UpdateOperation.create_field_index(field, edge.KeywordIndexParams()))
    return shard


def _answering(collection: str) -> AbstractContextManager[None]:
    """Turn the engine's failures into a collection that cannot answer."""
    return _engine(CollectionUnavailableError, f"The collection {collection} cannot answer")


def _writing(collection: str) -> AbstractContextManager[None]:
    """Turn the engine's failures into an index that cannot be written."""
    return _engine(StoreError, f"The collection {collection} cannot be written")


@contextmanager
def _engine(error: type[StoreError], sentence: str) -> Iterator[None]:
    try:
        yield
    except EvidenceError:
        raise
    except BaseException as exc:
        # The engine raises bare `Exception`s, and on damaged files Rust panics, which derive from `BaseException`.
        if not isinstance(exc, Exception) and type(exc).__name__ != "PanicException":
            raise
        reason = str(exc).removeprefix("Service runtime error: ").partition("\n")[0][:_REASON_CHARS]
        raise error(f"{sentence}: {reason.rstrip('.')}.", REBUILD) from exc


def _text(point: edge.PointId) -> str:
    return _uuid_text(point.int) if isinstance(point, UUID) else str(point)


# A request has about 1,000 points, and the same points come again.
@functools.lru_cache(maxsize=1 << 15)
def _uuid_text(number: int) -> str:
    return str(UUID(int=number))


def _point(spec: CollectionSpec, point: NewPoint) -> edge.Point:
    vectors = {name: _native(value) for name, value in checked_point(spec, point).items()}
    return edge.Point(checked_id(point.id), vectors, dict(point.payload))


def _native(checked: list[float] | list[list[float]] | SparseVector) -> edge.NamedVector:
    if isinstance(checked, SparseVector):
        return edge.SparseVector(list(checked.indices), list(checked.values))
    return checked


def _filter(filter: Filter | None) -> edge.Filter | None:
    """The engine's filter; None where nothing is constrained."""
    if not filter:
        return None
    return edge.Filter(
        must=_conditions(filter.must),
        should=_conditions(filter.should),
        must_not=_conditions(filter.must_not),
    )


def _conditions(conditions: Sequence[Condition]) -> list[edge.ConditionType] | None:
    return [_condition(condition) for condition in conditions] or None


def _condition(condition: Condition) -> edge.ConditionType:
    match condition:
        case Match(key, any_of):
            return edge.FieldCondition(key, match=edge.MatchAny(list(any_of)))
        case HasId(ids):
            return edge.HasIdCondition({checked_id(point) for point in ids})
        case HasVector(name):
            return edge.HasVectorCondition(name)
        case Filter():
            return _filter(condition) or edge.Filter()
