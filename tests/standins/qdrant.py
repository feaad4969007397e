"""A Qdrant server for tests: the REST wire format and its errors over loopback, in front of Qdrant Edge.

It speaks what qdrant-client 1.20 sends for collections, aliases, payload indexes, points and queries. What a test
arranges to go wrong (`fail`, `down`) goes wrong for the requests that it names; everything else is answered.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import qdrant_edge as edge

from tests.standins.qdrant_definition import Exchange, note

Json = dict[str, Any]
POLL_SECONDS = 0.01
# What a server takes in one request unless it is told otherwise.
REQUEST_BYTES = 32 * 1024 * 1024
# Health checks ask it without a key.
OPEN_PATH = "/"

Fault = Literal["reset mid-body", "silence", "garbage", "other shape", "missing score"]


class ApiError(Exception):
    """An answer that is not 2xx."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


def wrong_input(message: str) -> ApiError:
    return ApiError(400, f"Wrong input: {message}")


@dataclass
class Rule:
    """What goes wrong, for which requests, and how often."""

    request: re.Pattern[str]
    fault: Fault | ApiError
    times: float
    hits: int = 0


@dataclass(frozen=True)
class Seen:
    """A request that came in."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: Any
    bytes: int = 0

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Strict:
    """A strict mode that every collection is in; None: no bound."""

    max_query_limit: int | None = None
    search_max_hnsw_ef: int | None = None
    upsert_max_batchsize: int | None = None
    search_max_batchsize: int | None = None
    condition_max_size: int | None = None
    write_rate_limit: int | None = None


@dataclass
class Collection:
    """One collection: its shard, how it was created and which payload fields are indexed."""

    config: Json
    folder: Path
    shard: edge.EdgeShard
    indexes: dict[str, Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    operations: Iterator[int] = field(default_factory=itertools.count)
    # Operations that were taken and not applied yet, each with the shards that it concerns.
    waiting: list[tuple[set[int], Any]] = field(default_factory=list)

    @property
    def shards(self) -> int:
        return self.config.get("shard_number") or 1

    def shard_of(self, point: Any) -> int:
        return int(point) % self.shards

    def apply(self, shards: set[int], operations: Sequence[tuple[set[int], Any]], *, now: bool) -> None:
        """Take operations, and apply them where the client waits for it.

        Each shard applies its operations in their order, so that those before are applied, too. No other comes to be
        applied by itself: whoever does not wait cannot count on it.
        """
        self.waiting += operations
        if not now:
            return
        due = [operation for concerned, operation in self.waiting if concerned & shards]
        self.waiting = [each for each in self.waiting if not each[0] & shards]
        for operation in due:
            self.shard.update(operation)

    @property
    def dense(self) -> dict[str, Json]:
        return self.config.get("vectors") or {}

    @property
    def sparse(self) -> dict[str, Json]:
        return self.config.get("sparse_vectors") or {}


class QdrantStandIn:
    """A server on a free port of loopback. A context manager.

    Args:
        key: The API key that requests must carry; None: any request is served.
        version: What the server says it is.
        strict: Bounds of strict mode, in which filters need an index; None: no strict mode.
        request_bytes: The largest body that is taken.
        proxied: Whether a proxy before the server refuses larger ones, and not the server itself.
    """

    def __init__(
        self,
        *,
        key: str | None = None,
        version: str = "1.19.0",
        strict: Strict | None = None,
        request_bytes: int = REQUEST_BYTES,
        proxied: bool = False,
    ) -> None:
        self.key = key
        self.version = version
        self.strict = strict
        self.request_bytes = request_bytes
        self.proxied = proxied
        # How many of the coming writes take longer than the server waits for them.
        self.slow_writes = 0
        # How many alias actions each of the coming requests carries out before it fails; at the end: all.
        self.alias_actions: Iterator[int] = iter(())
        # How many requests were too large.
        self.refused = 0
        self.seen: list[Seen] = []
        self.collections: dict[str, Collection] = {}
        self.aliases: dict[str, str] = {}
        self._root = Path(tempfile.mkdtemp(prefix="qdrant-stand-in-"))
        self._rules: list[Rule] = []
        self._lock = threading.RLock()
        self._ending = threading.Event()
        self._folders = itertools.count()
        self._port = 0
        self._server: ThreadingHTTPServer | None = None
        self.up()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def up(self) -> None:
        """Listen; after `down`, on the port of before."""
        stand_in = self

        class Handler(_Handler):
            owner = stand_in

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def down(self) -> None:
        """Refuse connections; what was stored stays."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def close(self) -> None:
        """Stop for good."""
        self._ending.set()
        self.down()
        for collection in self.collections.values():
            collection.shard.close()
        shutil.rmtree(self._root, ignore_errors=True)

    def __enter__(self) -> QdrantStandIn:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def fail(
        self,
        request: str,
        fault: Fault | int,
        *,
        times: float = float("inf"),
        headers: dict[str, str] | None = None,
        message: str | None = None,
    ) -> Rule:
        """Let requests go wrong whose `METHOD /path` matches a pattern.

        A number is the status of an answer that the request gets instead, with a message of the server, or, where that
        is empty, without a body, as a proxy gives it. All other faults happen to the answer, after the request was
        carried out: what the client cannot know.
        """
        said = f"Service internal error: {fault}" if message is None else message
        made = ApiError(fault, said, headers) if isinstance(fault, int) else fault
        rule = Rule(re.compile(request), made, times)
        self._rules.append(rule)
        return rule

    @contextmanager
    def failing(self, request: str, fault: Fault | int, **how: Any) -> Iterator[Rule]:
        """`fail` for the length of a block."""
        rule = self.fail(request, fault, **how)
        try:
            yield rule
        finally:
            self._rules.remove(rule)

    def heal(self) -> None:
        """Nothing goes wrong any more."""
        self._rules.clear()

    def lines(self) -> list[str]:
        """The requests so far, as `METHOD /path`."""
        return [request.line for request in self.seen]

    # Called by handlers

    def rule_for(self, line: str) -> Rule | None:
        with self._lock:
            for rule in self._rules:
                if rule.hits < rule.times and rule.request.search(line):
                    rule.hits += 1
                    return rule
        return None

    def wait(self, seconds: float) -> bool:
        """Whether the stand-in ends."""
        return self._ending.wait(seconds)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        """The result of a request.

        Raises:
            ApiError: The answer is another one.
        """
        for verb, pattern, action in _ROUTES:
            found = pattern.fullmatch(path)
            if found and verb == method:
                return action(self, *map(unquote, found.groups()), query=query, body=body)
        raise ApiError(404, "Not found")

    # The service

    def root(self, **_: Any) -> Json:
        return {"title": "qdrant - vector search engine", "version": self.version, "commit": "0" * 40}

    def list_collections(self, **_: Any) -> Json:
        return {"collections": [{"name": name} for name in sorted(self.collections)]}

    def list_aliases(self, **_: Any) -> Json:
        return {
            "aliases": [{"alias_name": alias, "collection_name": name} for alias, name in sorted(self.aliases.items())]
        }

    def create(self, name: str, *, body: Json, **_: Any) -> bool:
        # One of several that create it at the same time does, as a cluster decides by consensus.
        with self._lock:
            return self._create(name, body)

    def _create(self, name: str, body: Json) -> bool:
        if name in self.collections:
            raise ApiError(409, f"Wrong input: Collection `{name}` already exists!")
        folder = self._root / str(next(self._folders))
        folder.mkdir()
        config = edge.EdgeConfig(
            vectors={
                vector: edge.EdgeVectorParams(
                    size=params["size"],
                    distance=getattr(edge.Distance, params["distance"]),
                    multivector_config=_multivector(params.get("multivector_config")),
                )
                for vector, params in (body.get("vectors") or {}).items()
            },
            sparse_vectors={
                vector: edge.EdgeSparseVectorParams(
                    modifier=edge.Modifier.Idf if (params or {}).get("modifier") == "idf" else None
                )
                for vector, params in (body.get("sparse_vectors") or {}).items()
            },
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=10**9),
            wal_enabled=False,
        )
        self.collections[name] = Collection(body, folder, edge.EdgeShard.create(str(folder), config))
        return True

    def drop(self, name: str, **_: Any) -> bool:
        with self._lock:
            collection = self.collections.pop(name, None)
            self.aliases = {alias: target for alias, target in self.aliases.items() if target != name}
        if collection is None:
            return False
        with collection.lock:
            collection.shard.close()
        shutil.rmtree(collection.folder, ignore_errors=True)
        return True

    def describe(self, name: str, **_: Any) -> Json:
        collection = self._collection(name)
        with collection.lock:
            points = collection.shard.count(edge.CountRequest(exact=True))
        params = {
            "vectors": collection.dense,
            "sparse_vectors": {vector: value or {} for vector, value in collection.sparse.items()},
            "shard_number": collection.config.get("shard_number") or 1,
            "replication_factor": collection.config.get("replication_factor") or 1,
            "write_consistency_factor": collection.config.get("write_consistency_factor") or 1,
            "on_disk_payload": collection.config.get("on_disk_payload", True),
        }
        return {
            "status": "green",
            "optimizer_status": "ok",
            "indexed_vectors_count": 0,
            "points_count": points,
            "segments_count": 1,
            "config": {
                "params": params,
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
                "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
                "quantization_config": collection.config.get("quantization_config"),
            },
            "payload_schema": {key: {"data_type": "keyword", "points": 0} for key in collection.indexes},
        }

    def index(self, name: str, *, query: dict[str, list[str]], body: Json, **_: Any) -> Json:
        collection = self._collection(name)
        schema = body.get("field_schema")
        params = schema if isinstance(schema, dict) else {"type": schema}
        with collection.lock:
            collection.indexes[body["field_name"]] = params
        return self._applied(collection, query)

    def change_aliases(self, *, body: Json, **_: Any) -> bool:
        # One after another, as a server does it: those before one that fails stay done.
        with self._lock:
            reach = next(self.alias_actions, None)
            for number, action in enumerate(body["actions"]):
                if number == reach:
                    raise ApiError(500, "Service internal error: the disk is full")
                if "delete_alias" in action:
                    self.aliases.pop(action["delete_alias"]["alias_name"], None)
                else:
                    alias, target = (action["create_alias"][key] for key in ("alias_name", "collection_name"))
                    if target not in self.collections:
                        raise _no_collection(target)
                    self.aliases[alias] = target
        return True

    def upsert(self, name: str, *, query: dict[str, list[str]], body: Json, **_: Any) -> Json:
        collection = self._collection(name)
        points = body["points"]
        if self.strict and self.strict.upsert_max_batchsize and len(points) > self.strict.upsert_max_batchsize:
            raise _strict(f'Limit exceeded {len(points)} > {self.strict.upsert_max_batchsize} for "upsert limit"')
        if self.strict and self.strict.write_rate_limit and len(points) > self.strict.write_rate_limit:
            # Without a Retry-After: to wait would not help.
            raise ApiError(
                429,
                "Rate limiting exceeded: Write rate limit exceeded, request larger than rate limiter capacity, "
                "please try to split your request",
            )
        by_shard: dict[int, list[edge.Point]] = {}
        for point in points:
            point_id = UUID(point["id"])
            made = edge.Point(point_id, self._vectors(collection, point["vector"]), point.get("payload") or {})
            by_shard.setdefault(collection.shard_of(point_id), []).append(made)
        written = [({shard}, edge.UpdateOperation.upsert_points(made)) for shard, made in by_shard.items()]
        return self._update(collection, query, set(by_shard), written)

    def set_payload(self, name: str, *, query: dict[str, list[str]], body: Json, **_: Any) -> Json:
        collection = self._collection(name)
        shards = set(range(collection.shards))
        conditions = self._filter(collection, body["filter"])
        operation = edge.UpdateOperation.set_payload_by_filter(conditions, body["payload"], None)
        return self._update(collection, query, shards, [(shards, operation)])

    def delete(self, name: str, *, query: dict[str, list[str]], body: Json, **_: Any) -> Json:
        collection = self._collection(name)
        shards = set(range(collection.shards))
        operation = edge.UpdateOperation.delete_points_by_filter(self._filter(collection, body["filter"]))
        return self._update(collection, query, shards, [(shards, operation)])

    def _update(
        self,
        collection: Collection,
        query: dict[str, list[str]],
        shards: set[int],
        operations: Sequence[tuple[set[int], Any]],
    ) -> Json:
        waited = query.get("wait", ["false"]) == ["true"]
        with self._lock:
            slow = waited and self.slow_writes > 0
            self.slow_writes -= slow
        with collection.lock:
            collection.apply(shards, operations, now=waited and not slow)
        done = self._applied(collection, query)
        return {**done, "status": "wait_timeout"} if slow else done

    def retrieve(self, name: str, *, body: Json, **_: Any) -> list[Json]:
        collection = self._collection(name)
        ids: list[edge.PointId] = [UUID(point) for point in body["ids"]]
        with_payload, with_vectors = body.get("with_payload", True), body.get("with_vector", False)
        with collection.lock:
            found = collection.shard.retrieve(ids, with_payload, with_vectors)
        return [_record(record) for record in reversed(found)]

    def count(self, name: str, *, body: Json, **_: Any) -> Json:
        collection = self._collection(name)
        request = edge.CountRequest(exact=body.get("exact", True), filter=self._filter(collection, body.get("filter")))
        with collection.lock:
            return {"count": collection.shard.count(request)}

    def scroll(self, name: str, *, body: Json, **_: Any) -> Json:
        collection = self._collection(name)
        offset = body.get("offset")
        request = edge.ScrollRequest(
            offset=None if offset is None else UUID(offset),
            limit=self._limit(body.get("limit", 10)),
            filter=self._filter(collection, body.get("filter")),
            with_payload=body.get("with_payload", True),
            with_vector=body.get("with_vector", False),
        )
        with collection.lock:
            records, following = collection.shard.scroll(request)
        points = [_record(record) for record in records]
        return {"points": points, "next_page_offset": None if following is None else str(following)}

    def query_batch(self, name: str, *, body: Json, **_: Any) -> list[Json]:
        collection = self._collection(name)
        searches = body["searches"]
        if self.strict and self.strict.search_max_batchsize and len(searches) > self.strict.search_max_batchsize:
            raise _strict(f"Search batch size exceeded {len(searches)} > {self.strict.search_max_batchsize}")
        requests = [self._query_request(collection, search) for search in searches]
        with collection.lock:
            answers = collection.shard.query_batch(edge.QueryBatchRequest(requests))
        return [{"points": [_scored(point) for point in points]} for points in answers]

    # Wire format to engine

    def _collection(self, name: str) -> Collection:
        with self._lock:
            try:
                return self.collections[self.aliases.get(name, name)]
            except KeyError:
                raise _no_collection(name) from None

    def _applied(self, collection: Collection, query: dict[str, list[str]]) -> Json:
        waited = query.get("wait", ["false"]) == ["true"]
        return {"operation_id": next(collection.operations), "status": "completed" if waited else "acknowledged"}

    def _limit(self, limit: int) -> int:
        if self.strict and self.strict.max_query_limit and limit > self.strict.max_query_limit:
            raise _strict(f'Limit exceeded {limit} > {self.strict.max_query_limit} for "limit"')
        return limit

    def _query_request(self, collection: Collection, search: Json) -> edge.QueryRequest:
        return edge.QueryRequest(
            limit=self._limit(search.get("limit", 10)),
            query=self._query(collection, search.get("query"), search.get("using")),
            filter=self._filter(collection, search.get("filter")),
            params=self._params(search.get("params")),
            with_payload=search.get("with_payload") or False,
            with_vector=search.get("with_vector") or False,
        )

    def _query(self, collection: Collection, query: Any, using: str | None) -> Any:
        if isinstance(query, dict) and "nearest" in query:
            query = query["nearest"]
        name = using or ""
        return edge.Query.Nearest(self._vector(collection, name, query), using=name)

    def _params(self, params: Json | None) -> edge.SearchParams | None:
        if params is None:
            return None
        ef = params.get("hnsw_ef")
        if self.strict and params.get("exact"):
            raise _strict("Exact search is not allowed")
        if self.strict and self.strict.search_max_hnsw_ef and ef and ef > self.strict.search_max_hnsw_ef:
            raise _strict(f'Limit exceeded {ef} > {self.strict.search_max_hnsw_ef} for "hnsw_ef"')
        return edge.SearchParams(hnsw_ef=ef, exact=params.get("exact") or False)

    def _vectors(self, collection: Collection, vectors: Json) -> Any:
        return {name: self._vector(collection, name, value) for name, value in vectors.items()}

    def _vector(self, collection: Collection, name: str, value: Any) -> Any:
        if name not in collection.dense and name not in collection.sparse:
            raise wrong_input(f"Not existing vector name error: {name}")
        if isinstance(value, dict):
            if len(set(value["indices"])) != len(value["indices"]) or len(value["indices"]) != len(value["values"]):
                raise ApiError(422, "Validation error in JSON body: [vector.indices: must be unique]")
            return edge.SparseVector(value["indices"], value["values"])
        params = collection.dense.get(name, {})
        size = params.get("size")
        several = bool(value) and isinstance(value[0], list)
        if several and not params.get("multivector_config"):
            raise wrong_input("Conversion between multi and regular vectors failed")
        for row in value if several else [value]:
            if len(row) != size:
                raise wrong_input(f"Vector dimension error: expected dim: {size}, got {len(row)}")
        return value

    def _filter(self, collection: Collection, filter: Json | None) -> Any:
        if filter is None:
            return None
        parts = {
            part: [self._condition(collection, each) for each in _listed(filter.get(part))] or None
            for part in ("must", "should", "must_not")
        }
        return edge.Filter(**parts)

    def _condition(self, collection: Collection, condition: Json) -> Any:
        if "has_id" in condition:
            return edge.HasIdCondition({UUID(point) for point in condition["has_id"]})
        if "has_vector" in condition:
            return edge.HasVectorCondition(condition["has_vector"])
        if "key" not in condition:
            return self._filter(collection, condition)
        key, match = condition["key"], condition["match"]
        if self.strict and key not in collection.indexes:
            raise _strict(f'Index required but not found for "{key}" of one of the following types: [keyword]')
        largest = self.strict.condition_max_size if self.strict else None
        if largest is not None and len(match.get("any", ())) > largest:
            raise _strict(f"condition size limit exceeded, {len(match['any'])} > {largest}")
        return edge.FieldCondition(key, match=edge.MatchAny(match["any"]))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _multivector(params: Json | None) -> edge.MultiVectorConfig | None:
    if params is None:
        return None
    return edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)


def _strict(message: str) -> ApiError:
    return ApiError(400, f"Bad request: {message}. Help: Adjust the strict mode or the request.")


def _no_collection(name: str) -> ApiError:
    return ApiError(404, f"Not found: Collection `{name}` doesn't exist!")


def _record(record: Any) -> Json:
    found: Json = {"id": str(record.id), "payload": record.payload or {}}
    if record.vector is not None:
        found["vector"] = {name: _shown_vector(vector) for name, vector in record.vector.items()}
    return found


def _scored(point: Any) -> Json:
    return {"id": str(point.id), "version": point.version, "score": point.score}


def _shown_vector(vector: Any) -> Any:
    if isinstance(vector, edge.SparseVector):
        return {"indices": vector.indices, "values": vector.values}
    return vector


_COLLECTION = r"/collections/([^/]+)"
_ROUTES: Sequence[tuple[str, re.Pattern[str], Callable[..., Any]]] = [
    (verb, re.compile(pattern), action)
    for verb, pattern, action in (
        ("GET", r"/", QdrantStandIn.root),
        ("GET", r"/collections", QdrantStandIn.list_collections),
        ("GET", r"/aliases", QdrantStandIn.list_aliases),
        ("POST", r"/collections/aliases", QdrantStandIn.change_aliases),
        ("PUT", _COLLECTION, QdrantStandIn.create),
        ("GET", _COLLECTION, QdrantStandIn.describe),
        ("DELETE", _COLLECTION, QdrantStandIn.drop),
        ("PUT", _COLLECTION + "/index", QdrantStandIn.index),
        ("PUT", _COLLECTION + "/points", QdrantStandIn.upsert),
        ("POST", _COLLECTION + "/points", QdrantStandIn.retrieve),
        ("POST", _COLLECTION + "/points/delete", QdrantStandIn.delete),
        ("POST", _COLLECTION + "/points/payload", QdrantStandIn.set_payload),
        ("POST", _COLLECTION + "/points/count", QdrantStandIn.count),
        ("POST", _COLLECTION + "/points/scroll", QdrantStandIn.scroll),
        ("POST", _COLLECTION + "/points/query/batch", QdrantStandIn.query_batch),
    )
]


class _Handler(BaseHTTPRequestHandler):
    owner: QdrantStandIn
    # The request until its answer is noted; None where it is none that could be compared.
    exchange: Exchange | None = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, BrokenPipeError):
            # The client gave up, which is what some tests are about.
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    do_PUT = do_POST = do_DELETE = do_PATCH = do_GET  # noqa: N815

    def _serve(self) -> None:
        begin = time.perf_counter()
        url = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = parse_qs(url.query)
        self.exchange = Exchange(self.command, url.path, query, raw, self.headers.get("Content-Type") or "")
        keyed = self.owner.key is None or url.path == OPEN_PATH or self.headers.get("api-key") == self.owner.key
        if not keyed:
            given = self.headers.get("api-key") is not None
            said = "Invalid API key or JWT" if given else "Must provide an API key or an Authorization bearer token"
            self._send(401, said.encode(), "text/plain")
            return
        if len(raw) > self.owner.request_bytes:
            self._refuse_size(len(raw))
            return
        body = json.loads(raw) if raw else None
        seen = Seen(self.command, url.path, query, body, len(raw))
        self.owner.seen.append(seen)
        rule = self.owner.rule_for(seen.line)
        if rule is not None and isinstance(rule.fault, ApiError):
            self._send_error(rule.fault, begin)
            return
        try:
            result = self.owner.answer(self.command, url.path, query, body)
        except ApiError as exc:
            self._send_error(exc, begin)
            return
        except Exception as exc:
            self._send_error(ApiError(500, f"Service internal error: {exc}"), begin)
            return
        enveloped = {"result": result, "status": "ok", "time": time.perf_counter() - begin}
        answer = result if url.path == "/" else enveloped
        if rule is None:
            self._send_json(200, answer)
        else:
            data = json.dumps(answer).encode()
            # Broken on purpose: it is compared as it would have been.
            self._note(200, data)
            self._break(str(rule.fault), data)

    def _break(self, fault: str, data: bytes) -> None:
        match fault:
            case "garbage":
                self._send(200, b"<html><body>Down for maintenance</body></html>", "text/html")
            case "other shape":
                self._send(200, b'{"result": "fine", "status": "ok", "time": 0.0}', "application/json")
            case "missing score":
                self._send(200, re.sub(rb', "score": [^,}]+', b"", data, count=1), "application/json")
            case "silence":
                while not self._client_gone() and not self.owner.wait(POLL_SECONDS):
                    pass
                self.close_connection = True
            case "reset mid-body":
                self._head(200, len(data), "application/json")
                self.wfile.write(data[: len(data) // 2])
                # Closing with a linger of zero sends a reset.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.shutdown(socket.SHUT_RD)
                self.close_connection = True

    def _client_gone(self) -> bool:
        self.connection.setblocking(False)
        try:
            return self.connection.recv(1) == b""
        except BlockingIOError:
            return False
        finally:
            self.connection.setblocking(True)

    def _refuse_size(self, size: int) -> None:
        self.owner.refused += 1
        if self.owner.proxied:
            self._send(413, b"<html><body>413 Request Entity Too Large</body></html>", "text/html")
            return
        said = f"JSON payload ({size} bytes) is larger than allowed (limit: {self.owner.request_bytes} bytes)."
        self._send_json(400, {"status": {"error": f"Payload error: {said}"}, "time": 0.0})

    def _send_error(self, error: ApiError, begin: float) -> None:
        if not error.message:
            self._send(error.status, b"", "text/plain", error.headers)
            return
        body = {"status": {"error": error.message}, "time": time.perf_counter() - begin}
        self._send_json(error.status, body, error.headers)

    def _send_json(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(body).encode(), "application/json", headers)

    def _note(self, status: int = 0, answer: bytes = b"") -> None:
        if self.exchange:
            note(replace(self.exchange, status=status, answer=answer))
        self.exchange = None

    def _send(self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        if kind == "application/json":
            self._note(status, data)
        else:
            # Not in the definition: refused keys, and what proxies say.
            self._note()
        self._head(status, len(data), kind, headers)
        self.wfile.write(data)

    def _head(self, status: int, length: int, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
