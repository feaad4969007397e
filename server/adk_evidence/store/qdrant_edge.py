"""The embedded store: Qdrant Edge, with one shard folder for each collection.

Importing this module loads the engine's native library, so other modules import it only where they open a store. The
engine holds the interpreter's lock during every call, which makes a shard safe to use from several threads. Its
behaviour was measured with qdrant-edge-py 0.9.0; comments say where it is surprising.
"""

from __future__ import annotations

import functools
import itertools
import json
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import UUID

import qdrant_edge as edge

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError, EvidenceError, StoreError
from adk_evidence.files import copy_tree, unshare
from adk_evidence.store.base import (
    KEYWORD_FIELDS,
    REBUILD,
    CheckedVector,
    CollectionSpec,
    EvidenceStore,
    Filter,
    FilterTypes,
    IndexWriter,
    NewPoint,
    Prefetch,
    Record,
    SearchParams,
    Wanted,
    checked_id,
    checked_point,
    checked_vector,
    stored,
    unanswered,
    unwritten,
)
from adk_evidence.store.mapped import give_back_heap, leave_pages_to_system

# In kilobytes of vectors: so high that no graph is ever built. Exact search costs 6-12 ms at 20,000 points
# and loses nothing under filters, where the graph's recall falls to 0.6.
_NO_GRAPH = 10**9
# Points that pass a filter. Fewer of them are scored one by one; for more, the inverted index is searched, which takes
# a third of the time for the hundred terms of a query after feedback and the sixty candidates of a collection.
_SPARSE_SCAN_POINTS = 16
# Of a collection. The engine shares out the segments of a collection, and ours have one each: more threads, eight by
# default, only wait by giving way to each other, 1,400 times a question.
_SEARCH_THREADS = 1
# A point maps 10 KB of files at 384 dimensions; looking for what can be given back takes 40 ms.
_MAPPED_POINTS = 8_192
_CONFIG_FILE = "edge_config.json"
# The field of a payload that has the fields which nothing but a reader of the point needs, as JSON.
_PACKED = "_packed"
_APART = frozenset((*KEYWORD_FIELDS, "ref"))
_REASON_CHARS = 200
T = TypeVar("T")


class _EdgeStore(EvidenceStore):
    """What reader and writer share."""

    concurrent = False
    _filters = FilterTypes(
        filter=edge.Filter,
        any_of=lambda key, values: edge.FieldCondition(_filtered(key), match=edge.MatchAny(values)),
        has_id=lambda ids: edge.HasIdCondition(set(ids)),
        has_vector=edge.HasVectorCondition,
    )

    def _shard(self, collection: str) -> edge.EdgeShard:
        raise NotImplementedError

    def _ask(self, collection: str, action: Callable[[edge.EdgeShard], T]) -> T:
        shard = self._shard(collection)
        with _engine(collection):
            return action(shard)

    def _search(
        self, spec: CollectionSpec, branches: Sequence[Prefetch], params: SearchParams | None, *, full: bool = False
    ) -> list[dict[str, float]]:
        accuracy = edge.SearchParams(hnsw_ef=params.hnsw_ef, exact=params.exact) if params else None
        requests = [
            edge.QueryRequest(
                limit=branch.limit,
                query=edge.Query.Nearest(_native(checked_vector(spec, branch.using, branch.query)), using=branch.using),
                filter=self._filters.translate(branch.filter),
                params=edge.SearchParams(exact=True) if full else accuracy,
            )
            for branch in branches
        ]
        answers: Any = self._ask(spec.name, lambda shard: shard.query_batch(edge.QueryBatchRequest(requests)))
        # Every id is a UUID; see `checked_id`.
        return [{_text(point.id.int): point.score for point in points} for points in answers]

    def _count(self, collection: str, conditions: Any) -> int:
        return self._ask(collection, lambda shard: shard.count(edge.CountRequest(exact=True, filter=conditions)))

    def _scroll(
        self, collection: str, conditions: Any, limit: int, start: UUID | None, wanted: Wanted
    ) -> tuple[list[Record], object]:
        fields = [*wanted[0], _PACKED] if isinstance(wanted[0], list) else wanted[0]
        request = edge.ScrollRequest(
            offset=start, limit=limit, filter=conditions, with_payload=fields, with_vector=wanted[1]
        )

        def page(shard: edge.EdgeShard) -> tuple[list[Record], object]:
            records, following = shard.scroll(request)
            return [_unpacked(record, wanted[0]) for record in records], following

        return self._ask(collection, page)

    def _retrieve(self, collection: str, ids: list[UUID]) -> list[Record]:
        wanted = cast("list[edge.PointId]", ids)
        # The stub calls the last two optional; they are not.
        return self._ask(collection, lambda shard: [_unpacked(found) for found in shard.retrieve(wanted, True, False)])


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
        super().__init__(specs)
        self._folder = folder
        self._counts = counts or {}
        self._lock = threading.Lock()
        self._shards: dict[str, edge.EdgeShard] = {}
        self._failures: dict[str, CollectionUnavailableError] = {}
        self._copies: list[tempfile.TemporaryDirectory[str]] = []
        self._closed = False

    def close(self) -> None:
        with self._lock:
            self._closed = True
            _close(self._shards)
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
        if not _is_there(folder):
            raise CollectionUnavailableError(f"The index has lost its collection {collection}.", REBUILD)
        try:
            with _engine(collection):
                shard = edge.EdgeShard.load(str(folder), _config(self._spec(collection)))
        except CollectionUnavailableError:
            shard = self._open_copy(folder, self._spec(collection))
        # The engine silently treats truncated id files as an empty shard.
        with _engine(collection):
            found = shard.count(edge.CountRequest(exact=True))
        expected = self._counts.get(collection, found)
        if found == expected:
            return shard
        shard.close()
        raise CollectionUnavailableError(
            f"The collection {collection} is damaged: it holds {found} of {expected} chunks.", REBUILD
        )

    def _open_copy(self, folder: Path, spec: CollectionSpec) -> edge.EdgeShard:
        copy = tempfile.TemporaryDirectory(prefix="adk-evidence-", ignore_cleanup_errors=True)
        try:
            with _engine(folder.name):
                copy_tree(folder, Path(copy.name))
                shard = edge.EdgeShard.load(copy.name, _config(spec))
        except CollectionUnavailableError:
            copy.cleanup()
            raise
        self._copies.append(copy)
        return shard


class EdgeIndexWriter(_EdgeStore, IndexWriter):
    """Writes shards into a folder that nobody reads yet. Points are durable after `flush`; `close` flushes.

    A collection that is there already is opened by its first change: most changes are of docs or of code alone. Before
    that, it gets files of its own where it still has those of a published generation.

    Args:
        folder: Empty or missing, or with the files of a closed generation, whose points stay.
        specs: The collections; a missing one is created, with its payload indexes.
        batch_points: Number of points in one write.
        mapped_points: After so many points, the pages written so far leave the memory of this process.

    Raises:
        StoreError: A collection cannot be created; a change raises it where a collection was created with other
            vectors.
    """

    def __init__(
        self,
        folder: Path,
        specs: Sequence[CollectionSpec],
        *,
        batch_points: int = 256,
        mapped_points: int = _MAPPED_POINTS,
    ) -> None:
        super().__init__(specs)
        self._folder = folder
        self._batch_points = batch_points
        self._mapped_points = mapped_points
        self._since_given_back = 0
        self._closed = False
        self._shards: dict[str, edge.EdgeShard] = {}
        # Collections that changed since their last flush: each flush waits for the disk some hundred times.
        self._unflushed: set[str] = set()
        try:
            for spec in specs:
                if not _is_there(_collection_folder(folder, spec.name)):
                    self._shard(spec.name)
        except BaseException:
            _close(self._shards)
            raise

    def upsert(self, collection: str, points: Iterable[NewPoint]) -> int:
        spec = self._spec(collection)
        # Opened also where no point follows.
        self._shard(collection)
        written, remaining = 0, iter(points)
        while batch := list(itertools.islice(remaining, self._batch_points)):
            with _engine(collection, unwritten):
                operation = edge.UpdateOperation.upsert_points([_point(spec, point) for point in batch])
            self._update(collection, operation)
            written += len(batch)
            self._since_given_back += len(batch)
            if self._since_given_back >= self._mapped_points:
                self._since_given_back = 0
                # Points that are written are hardly read again before the end.
                leave_pages_to_system(self._folder)
        return written

    def delete(self, collection: str, filter: Filter) -> None:
        conditions = self._filters.translate(filter) or edge.Filter()
        with _engine(collection, unwritten):
            operation = edge.UpdateOperation.delete_points_by_filter(conditions)
        self._update(collection, operation)

    def set_payload(self, collection: str, filter: Filter, fields: Mapping[str, Any]) -> None:
        """Set fields that stand for themselves: those of filters, and `ref`."""
        if others := fields.keys() - _APART:
            raise ValueError(f"these fields are written with their points alone: {sorted(others)}")
        conditions = self._filters.translate(filter) or edge.Filter()
        # 50 microseconds a point, most of them for reading and writing the whole payload.
        with _engine(collection, unwritten):
            operation = edge.UpdateOperation.set_payload_by_filter(conditions, dict(fields))
        self._update(collection, operation)

    def flush(self) -> None:
        for collection in sorted(self._unflushed):
            with _engine(collection, unwritten):
                self._shards[collection].flush()
            self._unflushed.discard(collection)

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._closed = True
            _close(self._shards)

    def _shard(self, collection: str) -> edge.EdgeShard:
        spec = self._spec(collection)
        if self._closed:
            raise StoreError("The index was closed.")
        if collection not in self._shards:
            folder = _collection_folder(self._folder, collection)
            try:
                # The engine changes files in place, of which a published generation must not notice anything.
                unshare(folder)
            except OSError as exc:
                raise StoreError.of_disk(f"The collection {collection} cannot be written", exc) from exc
            with _engine(collection, unwritten):
                self._shards[collection] = _open_for_writing(folder, spec)
            # A new one was created, or got its payload indexes.
            self._unflushed.add(collection)
        return self._shards[collection]

    def _update(self, collection: str, operation: edge.UpdateOperation) -> None:
        shard = self._shard(collection)
        self._unflushed.add(collection)
        with _engine(collection, unwritten):
            shard.update(operation)


def _close(shards: dict[str, edge.EdgeShard]) -> None:
    for shard in shards.values():
        with suppress(Exception):
            shard.close()
    if shards:
        shards.clear()
        give_back_heap()


def _collection_folder(folder: Path, collection: str) -> Path:
    if collection in ("", "..") or Path(collection).name != collection:
        raise StoreError(f"The collection name {collection!r} cannot name a folder.", "Change `store` in the settings.")
    return folder / collection


def _is_there(folder: Path) -> bool:
    """Whether a collection was created in a folder."""
    return (folder / _CONFIG_FILE).is_file()


def _config(spec: CollectionSpec) -> edge.EdgeConfig:
    """The configuration of a collection."""
    nearest = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)
    return edge.EdgeConfig(
        vectors={
            name: edge.EdgeVectorParams(
                size=size,
                distance=edge.Distance.Cosine,
                multivector_config=nearest if name in spec.multi else None,
                # Half the bytes on the disk and a third less time for a search; cosines differ in the fifth digit.
                datatype=edge.VectorStorageDatatype.Float16,
                # Each opening would read all vectors, and holes as zeros: 75 ms and 150 MB of memory at 6,600 points.
                memory=edge.Memory.Cold,
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
        max_search_threads=_SEARCH_THREADS,
        # With a write-ahead log, only one process at a time could open the folder, even for reading.
        wal_enabled=False,
    )


def _open_for_writing(folder: Path, spec: CollectionSpec) -> edge.EdgeShard:
    open_shard = edge.EdgeShard.load if _is_there(folder) else edge.EdgeShard.create
    shard = open_shard(str(folder), _config(spec))
    # Before the points: filters on a field without an index take half a second.
    indexed = shard.info().payload_schema
    for field in KEYWORD_FIELDS:
        if field not in indexed:
            shard.update(edge.UpdateOperation.create_field_index(field, edge.KeywordIndexParams()))
    return shard


@contextmanager
def _engine(collection: str, failure: Callable[[str, str], StoreError] = unanswered) -> Iterator[None]:
    """Turn the engine's failures into a collection that cannot answer, or cannot be written."""
    try:
        yield
    except EvidenceError:
        raise
    except BaseException as exc:
        # The engine raises bare `Exception`s, and on damaged files Rust panics, which derive from `BaseException`.
        if not isinstance(exc, Exception) and type(exc).__name__ != "PanicException":
            raise
        reason = str(exc).removeprefix("Service runtime error: ").partition("\n")[0][:_REASON_CHARS]
        raise failure(collection, reason.rstrip(".")) from exc


# A request has about 1,000 points, and the same points come again.
@functools.lru_cache(maxsize=1 << 15)
def _text(number: int) -> str:
    return str(UUID(int=number))


def _point(spec: CollectionSpec, point: NewPoint) -> edge.Point:
    vectors = {name: _native(value) for name, value in checked_point(spec, point).items()}
    return edge.Point(checked_id(point.id), vectors, _packed(point.payload))


def _filtered(field: str) -> str:
    """A field that filters may name. In the others, the engine would find nothing."""
    if field not in _APART:
        raise ValueError(f"filters name KEYWORD_FIELDS, not {field}")
    return field


def _packed(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A payload as it is stored: fields that the engine must know apart, all others in one text.

    The engine takes 5 microseconds for each field: more than a third of all time for a point of forty.
    """
    apart = {name: value for name, value in payload.items() if name in _APART and value not in (None, [], ())}
    others = {name: value for name, value in payload.items() if name not in apart}
    apart[_PACKED] = json.dumps(others, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return apart


def _unpacked(point: Any, wanted: bool | list[str] = True) -> Record:
    """A point as it was written, with the wanted fields of its payload."""
    record = stored(point)
    packed = record.payload.get(_PACKED)
    if packed is None:
        return record
    payload = {**json.loads(packed), **record.payload}
    del payload[_PACKED]
    if isinstance(wanted, list):
        payload = {name: payload[name] for name in wanted if name in payload}
    return replace(record, payload=payload)


def _native(checked: CheckedVector) -> edge.NamedVector:
    if isinstance(checked, SparseVector):
        return edge.SparseVector(list(checked.indices), list(checked.values))
    return checked
