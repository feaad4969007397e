"""The server store: a Qdrant server or cloud cluster, with separate collections for each generation of the index.

The folder of a generation holds no points but `server.json`, which names the collections on the server. So a published
index never changes under its readers: a run fills new collections, publishing moves the aliases that have the names
from the settings, and collections of generations that are no longer kept are dropped (`server_index.py`).
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from qdrant_client import models
from qdrant_client.http.exceptions import ResponseHandlingException

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError, IndexMismatchError, StoreError
from adk_evidence.files import write_atomic
from adk_evidence.services.qdrant import NotAppliedError, ServerConnection, ServerError
from adk_evidence.settings import StoreSettings, UploadSettings
from adk_evidence.store.base import (
    KEYWORD_FIELDS,
    REBUILD,
    CheckedVector,
    CollectionSpec,
    EvidenceStore,
    Filter,
    FilterTypes,
    IndexWriter,
    Match,
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

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

RECORD = "server.json"
# No older server was tried.
OLDEST_SERVER = (1, 16)
# A strict server limits how many values one condition may have.
_VALUES_A_CONDITION = 256
_NIL = str(uuid.UUID(int=0))
# In bytes of JSON: half of what a server accepts in one request by default.
_REQUEST_BYTES = 16 * 1024 * 1024
_FILTERS = FilterTypes(
    filter=models.Filter,
    any_of=lambda key, values: models.FieldCondition(key=key, match=models.MatchAny(any=values)),
    has_id=lambda ids: models.HasIdCondition(has_id=list(map(str, ids))),
    has_vector=lambda name: models.HasVectorCondition(has_vector=name),
)
T = TypeVar("T")


class ServerRecord(BaseModel):
    """The collections of a generation on the server, by their names in the settings."""

    collections: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> ServerRecord | None:
        """The record in a folder, or None where there is none.

        Raises:
            StoreError: It cannot be read.
        """
        try:
            return cls.model_validate_json((folder / RECORD).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as exc:
            raise StoreError(f"The record of index generation {folder.name} cannot be read.", REBUILD) from exc

    def write(self, folder: Path) -> None:
        """Put the record into a folder.

        Raises:
            StoreError: The folder cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomic(folder / RECORD, self.model_dump_json(indent=1).encode())
        except OSError as exc:
            raise StoreError(f"The folder {folder} cannot be written: {exc.strerror or exc}.") from exc


class _ServerStore(EvidenceStore):
    """What reader and writer share."""

    concurrent = True
    _filters = _FILTERS

    def __init__(
        self,
        specs: Sequence[CollectionSpec],
        connection: ServerConnection,
        own_names: Mapping[str, str],
        *,
        quantized: bool,
    ) -> None:
        super().__init__(specs)
        self._connection = connection
        self._own_names = own_names
        self._quantized = quantized

    def _ask(self, collection: str, action: Callable[[QdrantClient, str], T]) -> T:
        own_name = self._own_names[collection]
        with _server(collection):
            return self._connection.call(lambda client: action(client, own_name))

    def _search(
        self, spec: CollectionSpec, branches: Sequence[Prefetch], params: SearchParams | None, *, full: bool = False
    ) -> list[dict[str, float]]:
        accuracy = self._accuracy(params, full)
        requests = [
            models.QueryRequest(
                query=cast("Any", _wire(checked_vector(spec, branch.using, branch.query))),
                using=branch.using,
                filter=_FILTERS.translate(branch.filter),
                params=accuracy,
                limit=branch.limit,
                with_payload=False,
            )
            for branch in branches
        ]

        def ask(client: QdrantClient, name: str) -> list[models.QueryResponse]:
            answers = client.query_batch_points(name, requests)
            if len(answers) != len(requests):
                raise ResponseHandlingException(ValueError("an answer is missing"))
            return answers

        answers = self._ask(spec.name, ask)
        return [{str(found.id): found.score for found in each.points} for each in answers]

    def _accuracy(self, params: SearchParams | None, full: bool) -> models.SearchParams | None:
        if params is None and not self._quantized:
            return None
        # Full accuracy is not `exact`, which strict servers refuse: so few points are scored one by one anyway.
        originals = {"ignore": True} if full else {"rescore": True}
        return models.SearchParams(
            hnsw_ef=params.hnsw_ef if params else None,
            exact=(params.exact or None) if params else None,
            quantization=models.QuantizationSearchParams(**originals) if self._quantized else None,
        )

    def _count(self, collection: str, conditions: Any) -> int:
        return self._ask(collection, lambda client, name: client.count(name, count_filter=conditions, exact=True).count)

    def _scroll(
        self, collection: str, conditions: Any, limit: int, start: uuid.UUID | None, wanted: Wanted
    ) -> tuple[list[Record], object]:
        offset = None if start is None else str(start)
        records, following = self._ask(
            collection,
            lambda client, name: client.scroll(
                name,
                scroll_filter=conditions,
                limit=limit,
                offset=offset,
                with_payload=wanted[0],
                with_vectors=wanted[1],
            ),
        )
        return [stored(record) for record in records], following

    def _retrieve(self, collection: str, ids: list[uuid.UUID]) -> list[Record]:
        wanted = [str(point) for point in ids]
        found = self._ask(collection, lambda client, name: client.retrieve(name, wanted, with_payload=True))
        by_id = {str(record.id): record for record in found}
        return [stored(by_id[point]) for point in wanted if point in by_id]


class ServerIndexReader(_ServerStore):
    """Reads the collections of a published generation. The first query is the first request to the server.

    Args:
        folder: The generation's folder.
        specs: Its collections.
        connection: The server; the reader closes it.
        quantized: Whether the collections hold quantised copies.

    Raises:
        IndexMismatchError: The generation is not on a server.
    """

    def __init__(
        self, folder: Path, specs: Sequence[CollectionSpec], connection: ServerConnection, *, quantized: bool = False
    ) -> None:
        record = ServerRecord.read(folder)
        if record is None:
            raise IndexMismatchError(
                f"The index generation {folder.name} is not on a Qdrant server.",
                "Run `adk-ingest all` to put it there, or change `store.kind`.",
            )
        super().__init__(specs, connection, record.collections, quantized=quantized)

    def _spec(self, collection: str) -> CollectionSpec:
        spec = super()._spec(collection)
        if collection not in self._own_names:
            raise CollectionUnavailableError(f"The index has lost its collection {collection}.", REBUILD)
        return spec

    def close(self) -> None:
        self._connection.close()


class ServerIndexWriter(_ServerStore, IndexWriter):
    """Fills collections that nobody reads yet. All points are applied when `flush` returns.

    A folder that was copied from another generation starts with the points of that generation. The first write or query
    copies them from the collections of that generation, except those that were deleted before.

    Args:
        folder: Empty or missing, or a copy of a closed generation.
        specs: The collections; each is created anew, with its payload indexes.
        connection: The server; the writer closes it.
        store: How collections are created; None leaves a choice to the server.
        upload: How points are written.
        register: Gets the names of collections before they are created, so that they can be dropped if this
            process dies.

    Raises:
        StoreError: A collection cannot be created.
    """

    def __init__(
        self,
        folder: Path,
        specs: Sequence[CollectionSpec],
        connection: ServerConnection,
        store: StoreSettings,
        upload: UploadSettings,
        register: Callable[[Iterable[str]], None] = lambda names: None,
    ) -> None:
        self._upload = upload
        # The limits of a request; they shrink when the server refuses a request for its size.
        self._most_points, self._most_bytes = upload.batch_points, _REQUEST_BYTES
        # Collections with writes that the server has accepted but not yet confirmed as applied.
        self._unapplied: set[str] = set()
        before = ServerRecord.read(folder)
        earlier = before.collections if before else {}
        suffix = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
        names = {spec.name: f"{spec.name}-{suffix}" for spec in specs}
        super().__init__(specs, connection, names, quantized=store.quantization != "none")
        # Collections whose points must still be copied, with the filters of what was deleted meanwhile.
        self._to_copy = {name: (earlier[name], list[Filter]()) for name in names if name in earlier}
        self._pool = ThreadPoolExecutor(upload.parallel, thread_name_prefix="adk-evidence-upload")
        self._closed = False
        try:
            register(names.values())
            ServerRecord(collections=names).write(folder)
            for spec in specs:
                with _server(spec.name, unwritten):
                    _create(connection, names[spec.name], spec, store)
        except BaseException:
            self.close()
            raise

    def upsert(self, collection: str, points: Iterable[NewPoint]) -> int:
        """Write points in batches, several at a time; a batch that the server calls too large is sent in halves.

        If a batch fails for good, the method waits for the others, so that nothing is written after it has returned.
        """
        spec = self._spec(collection)
        self._copy(collection)
        written = 0
        running: deque[Future[int]] = deque()
        try:
            for batch in self._batches(_point(spec, point) for point in points):
                if len(running) == self._upload.parallel:
                    written += running.popleft().result()
                running.append(self._pool.submit(self._write, collection, batch))
            while running:
                written += running.popleft().result()
        except BaseException as exc:
            if not isinstance(exc, Exception):
                # An interrupt does not wait for an absent server.
                self._connection.stop()
            raise
        finally:
            for future in running:
                future.cancel()
            wait(running)
        return written

    def delete(self, collection: str, filter: Filter) -> None:
        self._spec(collection)
        self._require_open()
        if collection in self._to_copy:
            self._to_copy[collection][1].append(filter)
            return
        for part in _in_parts(filter):
            self._delete(collection, models.FilterSelector(filter=_FILTERS.translate(part) or models.Filter()))

    def set_payload(self, collection: str, filter: Filter, fields: Mapping[str, Any]) -> None:
        self._spec(collection)
        self._copy(collection)
        selector = models.FilterSelector(filter=_FILTERS.translate(filter) or models.Filter())
        with _server(collection, unwritten):
            done = self._call(
                collection,
                lambda client, name: client.set_payload(name, dict(fields), selector, wait=self._upload.wait),
            )
        self._note(collection, done)

    def flush(self) -> None:
        for collection in self._specs:
            self._copy(collection)
            if collection in self._unapplied:
                with _server(collection, unwritten):
                    self._call(collection, _wait_until_applied)
                self._unapplied.discard(collection)

    def close(self) -> None:
        """Close the connections. Points that were not flushed may be missing: nothing is sent after a failure."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)
        self._connection.close()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("The index was closed.")

    def _ask(self, collection: str, action: Callable[[QdrantClient, str], T]) -> T:
        self._copy(collection)
        return super()._ask(collection, action)

    def _call(self, collection: str, action: Callable[[QdrantClient, str], T], *, divisible: bool = False) -> T:
        name = self._own_names[collection]
        return self._connection.call(lambda client: action(client, name), divisible=divisible)

    def _batches(self, points: Iterable[models.PointStruct]) -> Iterator[list[models.PointStruct]]:
        """Split points into requests; a point that exceeds the limit of a request is sent alone."""
        batch: list[models.PointStruct] = []
        size = 0
        for point in points:
            added = _sent_bytes(point)
            if batch and (len(batch) >= self._most_points or size + added > self._most_bytes):
                yield batch
                batch, size = [], 0
            batch.append(point)
            size += added
        if batch:
            yield batch

    def _write(self, collection: str, points: list[models.PointStruct]) -> int:
        with _server(collection, unwritten):
            try:
                done = self._call(
                    collection,
                    lambda client, name: client.upsert(name, points, wait=self._upload.wait),
                    divisible=len(points) > 1,
                )
            except ServerError as exc:
                if len(points) == 1 and exc.too_many == "bytes":
                    raise _too_large(collection, points[0], exc) from exc
                if len(points) == 1 or exc.too_many is None:
                    raise
                if exc.too_many == "bytes":
                    self._most_bytes = min(self._most_bytes, sum(map(_sent_bytes, points)) // 2)
                else:
                    self._most_points = min(self._most_points, len(points) // 2)
            else:
                self._note(collection, done)
                return len(points)
        half = len(points) // 2
        return self._write(collection, points[:half]) + self._write(collection, points[half:])

    def _delete(self, collection: str, selector: models.FilterSelector) -> None:
        with _server(collection, unwritten):
            done = self._call(collection, lambda client, name: client.delete(name, selector, wait=self._upload.wait))
        self._note(collection, done)

    def _note(self, collection: str, done: models.UpdateResult) -> None:
        """Remember what `flush` must wait for. A server may leave even a waiting write unapplied."""
        if done.status != models.UpdateStatus.COMPLETED:
            self._unapplied.add(collection)

    def _copy(self, collection: str) -> None:
        """Copy the points of the generation that this one started from; a second call does nothing."""
        self._require_open()
        source, deleted = self._to_copy.get(collection, ("", []))
        if not source:
            return
        gone = tuple(part for filter in deleted for part in _in_parts(filter))
        conditions = None if Filter() in gone else models.Filter(must_not=_FILTERS.conditions(gone))
        if conditions is not None:
            for records in self._pages(collection, source, conditions):
                for batch in self._batches(map(_same_point, records)):
                    self._write(collection, batch)
        del self._to_copy[collection]

    def _pages(self, collection: str, source: str, conditions: models.Filter) -> Iterator[list[models.Record]]:
        size = self._upload.batch_points
        offset: Any = None

        def page(client: QdrantClient) -> tuple[list[models.Record], Any]:
            return client.scroll(
                source, scroll_filter=conditions, limit=size, offset=offset, with_payload=True, with_vectors=True
            )

        while True:
            with _server(collection):
                records, offset = self._connection.call(page)
            if records:
                yield records
            if offset is None:
                return


def _create(connection: ServerConnection, name: str, spec: CollectionSpec, store: StoreSettings) -> None:
    scalar = models.ScalarQuantization(
        scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
    )
    nearest = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    try:
        connection.call(
            lambda client: client.create_collection(
                name,
                vectors_config={
                    vector: models.VectorParams(
                        size=size,
                        distance=models.Distance.COSINE,
                        multivector_config=nearest if vector in spec.multi else None,
                        on_disk=store.vectors_on_disk or None,
                    )
                    for vector, size in spec.dense.items()
                },
                sparse_vectors_config={
                    vector: models.SparseVectorParams(modifier=models.Modifier.IDF if idf else None)
                    for vector, idf in spec.sparse.items()
                },
                shard_number=store.shard_number,
                replication_factor=store.replication_factor,
                write_consistency_factor=store.write_consistency_factor,
                on_disk_payload=True,
                quantization_config=scalar if store.quantization == "scalar" else None,
            )
        )
    except ServerError as exc:
        # An earlier attempt created the collection, and its answer was lost.
        if exc.status != 409 and "already exists" not in exc.reason:
            raise
    # Before the points come: strict servers refuse filters on a field without an index, others filter slowly.
    for field in KEYWORD_FIELDS:
        _create_index(connection, name, field)


def _create_index(connection: ServerConnection, name: str, field: str) -> None:
    keyword = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
    connection.call(lambda client: client.create_payload_index(name, field, field_schema=keyword, wait=True))


@contextmanager
def _server(collection: str, failure: Callable[[str, str, str], StoreError] = unanswered) -> Iterator[None]:
    """Turn failures of the server into a collection that cannot answer, or cannot be written."""
    try:
        yield
    except ServerError as exc:
        if exc.status == 404 and failure is unanswered:
            message = f"The Qdrant server does not hold the collection {collection} of this index."
            raise CollectionUnavailableError(message, REBUILD) from exc
        raise failure(collection, exc.reason, exc.hint) from exc


def _point(spec: CollectionSpec, point: NewPoint) -> models.PointStruct:
    vectors = {name: _wire(value) for name, value in checked_point(spec, point).items()}
    return models.PointStruct(id=str(checked_id(point.id)), vector=cast("Any", vectors), payload=dict(point.payload))


def _same_point(record: models.Record) -> models.PointStruct:
    return models.PointStruct(id=record.id, vector=cast("Any", record.vector or {}), payload=record.payload)


def _sent_bytes(point: models.PointStruct) -> int:
    """How many bytes a point adds to a request, including the comma after it.

    Raises:
        StoreError: The payload is not JSON.
    """
    try:
        return len(point.model_dump_json(by_alias=True, exclude_unset=True, exclude_none=True).encode()) + 1
    except ValueError as exc:
        reason = " ".join(str(exc).split())
        raise StoreError(f"The point {point.id} cannot be written: its payload is not JSON ({reason}).") from exc


def _too_large(collection: str, point: models.PointStruct, refusal: ServerError) -> StoreError:
    """The error for a point that the server refuses even when it is sent alone."""
    payload = point.payload or {}
    return unwritten(
        collection,
        f"one chunk of {payload.get('path', point.id)} makes a request of {_sent_bytes(point) / 1e6:.1f} MB, and "
        f"{refusal.reason}",
        "Raise `service.max_request_size_mb` of the server, or the limit of the proxy before it, or exclude that file.",
    )


def _wait_until_applied(client: QdrantClient, name: str) -> None:
    """Wait until a collection has applied all writes so far.

    Each shard applies writes in order. This write deletes nothing; because it has a filter, it reaches every shard.
    """
    nothing = models.Filter(must=[models.HasIdCondition(has_id=[_NIL])])
    done = client.delete(name, models.FilterSelector(filter=nothing), wait=True)
    if done.status != models.UpdateStatus.COMPLETED:
        raise NotAppliedError


def _wire(checked: CheckedVector) -> list[float] | list[list[float]] | models.SparseVector:
    if isinstance(checked, SparseVector):
        return models.SparseVector(indices=list(checked.indices), values=list(checked.values))
    return checked


def _in_parts(filter: Filter) -> list[Filter]:
    """Filters that together pass what one filter passes, each with a bounded list of values."""
    for place, condition in enumerate(filter.must):
        if isinstance(condition, Match) and len(condition.any_of) > _VALUES_A_CONDITION:
            rest = (*filter.must[:place], *filter.must[place + 1 :])
            return [
                Filter((Match(condition.key, values), *rest), filter.should, filter.must_not)
                for start in range(0, len(condition.any_of), _VALUES_A_CONDITION)
                if (values := condition.any_of[start : start + _VALUES_A_CONDITION])
            ]
    return [filter]
