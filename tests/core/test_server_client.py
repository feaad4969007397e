"""A Qdrant server's bad days: what each one does to a question, an upload and a count, and how long it may take."""

from __future__ import annotations

import logging
import shutil
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from adk_evidence.errors import CollectionUnavailableError, EvidenceError, StoreError
from adk_evidence.services import qdrant as server_client
from adk_evidence.services.qdrant import (
    Patience,
    ServerConnection,
    ServerError,
    api_key,
    query_patience,
    sends_key_in_the_open,
    upload_patience,
)
from adk_evidence.services.resilience import CircuitBreaker, Clock
from adk_evidence.settings import load_settings
from adk_evidence.store import qdrant_server
from adk_evidence.store.base import CollectionSpec, Filter, Fusion, Match, NewPoint, Prefetch
from adk_evidence.store.qdrant_server import ServerIndexReader, ServerIndexWriter, ServerRecord
from tests.clocks import FakeTime
from tests.core.test_store_contract import STORE, axis, point, terms, uploading
from tests.standins.qdrant import QdrantStandIn, Strict

pytestmark = pytest.mark.slow

SPEC = CollectionSpec("docs", {"dense": 8}, {"lexical": True})
KEY = "secret-key-that-nobody-may-see"
# A try that gets no answer is the only thing here that takes real time.
TRY = 0.25
# Where there is an answer, a busy machine may take its time over it.
AMPLE = 20.0


def query_patience_of(seconds: float) -> Patience:
    return Patience(3, (0.02, 0.04), deadline_seconds=seconds, try_seconds=seconds)


def upload_patience_of(seconds: float) -> Patience:
    return Patience(6, (2.0, 4.0, 8.0, 16.0, 30.0), try_seconds=seconds)


QUERY = query_patience_of(TRY)
UPLOAD = upload_patience_of(TRY)
PATIENT = upload_patience_of(AMPLE)


class Waits(list[float]):
    """Stands in for sleeping: notes the waits, and tells what else happens meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.then: Callable[[float], None] = lambda elapsed: None

    def __call__(self, seconds: float) -> None:
        self.append(seconds)
        self.then(sum(self))


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    made = Waits()
    monkeypatch.setattr(server_client, "Clock", lambda sleep: Clock(sleep=made, jitter=lambda: 0.0))
    return made


@pytest.fixture(scope="module")
def shared() -> Iterator[QdrantStandIn]:
    with QdrantStandIn(key=KEY) as running:
        yield running


@pytest.fixture
def server(shared: QdrantStandIn) -> Iterator[QdrantStandIn]:
    shared.seen.clear()
    yield shared
    shared.heal()
    if shared._server is None:
        shared.up()


def connection(server: QdrantStandIn, patience: Patience = QUERY, key: str | None = KEY) -> ServerConnection:
    return ServerConnection(server.url, patience, key=key)


def writer(server: QdrantStandIn, folder: Path, *, patience: Patience = UPLOAD, **upload: int) -> ServerIndexWriter:
    return ServerIndexWriter(folder, [SPEC], connection(server, patience), STORE, uploading(**upload))


def fill(server: QdrantStandIn, folder: Path) -> Path:
    """A folder whose collection holds points 0 to 11."""
    with closing(writer(server, folder, patience=PATIENT)) as index:
        index.upsert("docs", [point(n) for n in range(12)])
        index.flush()
    server.seen.clear()
    return folder


@pytest.fixture(scope="module")
def folder(shared: QdrantStandIn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Points 0 to 11, which tests at most write again."""
    return fill(shared, tmp_path_factory.mktemp("filled"))


@pytest.fixture
def own(server: QdrantStandIn, tmp_path: Path) -> Path:
    """Points 0 to 11, for one test to change."""
    return fill(server, tmp_path)


# What goes wrong, and what becomes of a question, a count and an upload

REFUSED = "connection refused"
REPAIRABLE = {
    "429 with Retry-After": (429, {"headers": {"Retry-After": "1"}}, "limits the rate"),
    "429 with a date": (429, {"headers": {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}}, "limits the rate"),
    "429 of a proxy": (429, {"message": ""}, "limits the rate"),
    "500": (500, {}, "status 500"),
    "502": (502, {}, "status 502"),
    "503": (503, {}, "status 503"),
    "504": (504, {}, "status 504"),
    "reset mid-body": ("reset mid-body", {}, "broke off"),
    "garbage JSON": ("garbage", {}, "not Qdrant's"),
    "JSON of another shape": ("other shape", {}, "not Qdrant's"),
    "no answer": ("silence", {}, "did not answer within"),
}
# They take, or ask for, all the time that a question has, and leave none for another attempt.
USES_ALL_TIME = ("no answer", "429 with Retry-After")

Operation = Callable[..., object]


def seconds_for(fault: str) -> float:
    return TRY if fault in USES_ALL_TIME else AMPLE


def ask(server: QdrantStandIn, folder: Path, seconds: float = AMPLE) -> object:
    with closing(ServerIndexReader(folder, [SPEC], connection(server, query_patience_of(seconds)))) as reader:
        branches = [Prefetch("dense", axis(1), 5), Prefetch("lexical", terms(1), 5)]
        return len(reader.hybrid_query("docs", branches, Fusion(), limit=2).fused)


def count(server: QdrantStandIn, folder: Path, seconds: float = AMPLE) -> object:
    with closing(ServerIndexReader(folder, [SPEC], connection(server, query_patience_of(seconds)))) as reader:
        return reader.count("docs")


def upload(server: QdrantStandIn, folder: Path, seconds: float = AMPLE) -> object:
    patience = upload_patience_of(seconds)
    with closing(writer(server, folder / uuid4().hex, patience=patience, batch_points=4, parallel=2)) as index:
        index.upsert("docs", [point(n, text="again") for n in range(12)])
        return index.count("docs")


OPERATIONS: dict[str, tuple[Operation, str, object, type[EvidenceError]]] = {
    "question": (ask, r"points/query", 2, CollectionUnavailableError),
    "count": (count, r"points/count", 12, CollectionUnavailableError),
    "upload": (upload, r"PUT .*/points$", 12, StoreError),
}


@pytest.mark.parametrize(
    ("fault", "operation"),
    [
        *((fault, "count") for fault in REPAIRABLE if fault not in USES_ALL_TIME),
        ("missing score", "question"),
        ("503", "upload"),
        ("reset mid-body", "upload"),
        ("no answer", "upload"),
    ],
)
def test_what_goes_wrong_once_is_tried_again(
    server: QdrantStandIn, folder: Path, fault: str, operation: str, waits: Waits
) -> None:
    run, request, result, _ = OPERATIONS[operation]
    how, more, _ = REPAIRABLE.get(fault, (fault, {}, ""))
    with server.failing(request, how, times=1, **more):
        assert run(server, folder, seconds_for(fault)) == result
    assert len(waits) == 1


def test_an_outage_of_a_minute_costs_an_upload_nothing(server: QdrantStandIn, own: Path, waits: Waits) -> None:
    waits.then = lambda elapsed: server.up() if elapsed >= 59 else None
    with closing(writer(server, own, patience=PATIENT)) as index:
        index.count("docs")
        server.down()
        assert index.upsert("docs", [point(12)]) == 1
    assert waits == [2.0, 4.0, 8.0, 16.0, 30.0]


@pytest.mark.parametrize(
    ("fault", "operation"), [*((fault, "count") for fault in REPAIRABLE), ("503", "question"), ("503", "upload")]
)
def test_what_stays_wrong_ends_in_a_sentence_in_time(
    server: QdrantStandIn, folder: Path, fault: str, operation: str, waits: Waits
) -> None:
    run, request, _, error = OPERATIONS[operation]
    how, more, said = REPAIRABLE[fault]
    begin = time.monotonic()
    with server.failing(request, how, **more) as rule, pytest.raises(error, match=said) as failure:
        run(server, folder, seconds_for(fault))
    taken = time.monotonic() - begin
    message, hint = failure.value.message, failure.value.hint
    assert message.startswith("The collection docs cannot ")
    assert message.endswith(".") and "\n" not in message
    assert hint
    if operation == "upload":
        # Two batches at once, each of which gives up after six tries.
        assert 6 <= rule.hits <= 12
        assert taken < 6 * seconds_for(fault) + 2
    else:
        assert rule.hits <= 3
        assert sum(waits) <= seconds_for(fault)
        # These faults last for ever; opening a client takes a busy machine a second.
        assert taken < seconds_for(fault) + 5


def test_a_server_that_is_gone_cannot_be_reached(server: QdrantStandIn, folder: Path) -> None:
    server.down()
    with pytest.raises(CollectionUnavailableError, match="cannot be reached") as failure:
        count(server, folder)
    assert "Check that it runs" in failure.value.hint


def test_vectors_of_another_length_are_not_tried_again(
    server: QdrantStandIn, folder: Path, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ServerRecord.read(folder) or pytest.fail()
    monkeypatch.setitem(server.collections[record.collections["docs"]].dense["dense"], "size", 4)
    with pytest.raises(CollectionUnavailableError, match="Vector dimension error"):
        ask(server, folder)
    assert waits == []


def test_an_expired_key_is_not_tried_again(
    server: QdrantStandIn, folder: Path, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "key", "another")
    with pytest.raises(StoreError, match="refuses the API key") as failure:
        count(server, folder)
    assert "ADK_EVIDENCE_QDRANT_API_KEY" in failure.value.hint
    assert waits == []


def test_a_missing_key_is_called_missing(server: QdrantStandIn) -> None:
    with (
        connection(server, key=None) as unkeyed,
        pytest.raises(ServerError, match="refuses the API key, and none is set"),
    ):
        assert unkeyed.version() == (1, 19, 0), "a server says without a key what it is"
        unkeyed.call(lambda client: client.get_collections())


def test_an_upload_that_is_broken_off_can_be_run_again(server: QdrantStandIn, own: Path) -> None:
    points = [point(n) for n in range(12, 40)]
    with (
        closing(writer(server, own, batch_points=5, parallel=3)) as index,
        server.failing(r"PUT .*/points$", 400, times=1),
    ):
        with pytest.raises(StoreError, match="status 400"):
            index.upsert("docs", points)
        assert index.upsert("docs", points) == 28
        assert index.count("docs") == 40


def test_an_interrupted_upload_does_not_wait_for_the_server(server: QdrantStandIn, folder: Path, waits: Waits) -> None:
    index = writer(server, folder / uuid4().hex, batch_points=1)

    def points() -> Iterator[NewPoint]:
        yield point(1)
        raise KeyboardInterrupt

    waits.then = lambda elapsed: pytest.fail("it waits") if index._connection._stopped.is_set() else None
    with closing(index), server.failing(r"PUT .*/points$", "silence") as rule, pytest.raises(KeyboardInterrupt):
        index.upsert("docs", points())
    assert rule.hits <= 2


def test_nothing_is_written_after_an_upload_gave_up(server: QdrantStandIn, own: Path) -> None:
    with closing(writer(server, own, batch_points=1, parallel=4)) as index:
        with server.failing(r"PUT .*/points$", 400, times=1), pytest.raises(StoreError):
            index.upsert("docs", [point(n) for n in range(12, 40)])
        before = len(server.seen)
        threading.Event().wait(0.05)
        assert len(server.seen) == before


def test_a_retry_after_is_waited_for_where_it_is_near(server: QdrantStandIn, folder: Path, waits: Waits) -> None:
    with (
        closing(writer(server, folder / uuid4().hex)) as index,
        server.failing(r"PUT .*/points$", 429, times=2, headers={"Retry-After": "7"}),
    ):
        index.upsert("docs", [point(2)])
    assert waits == [7.0, 7.0]
    waits.clear()
    with (
        closing(writer(server, folder / uuid4().hex)) as index,
        server.failing(r"PUT .*/points$", 429, headers={"Retry-After": "86400"}) as rule,
        pytest.raises(StoreError, match="limits the rate"),
    ):
        index.upsert("docs", [point(2)])
    assert waits == [] and rule.hits == 1


def test_a_batch_goes_out_once_where_nothing_fails(server: QdrantStandIn, tmp_path: Path) -> None:
    with closing(writer(server, tmp_path, batch_points=10, parallel=3)) as index:
        assert index.upsert("docs", (point(n) for n in range(95))) == 95
        assert index.count("docs") == 95
    batches = [len(seen.body["points"]) for seen in server.seen if seen.line.endswith("/points")]
    assert sorted(batches) == [5] + [10] * 9


def test_without_waiting_for_each_batch_the_end_waits(server: QdrantStandIn, tmp_path: Path) -> None:
    with closing(writer(server, tmp_path, wait=False)) as index:
        index.upsert("docs", [point(1)])
        index.flush()
    [upsert] = [seen for seen in server.seen if seen.method == "PUT" and seen.path.endswith("/points")]
    last = [seen for seen in server.seen if seen.path.endswith("/points/delete")][-1]
    assert (upsert.query["wait"], last.query["wait"]) == (["false"], ["true"])


@pytest.mark.parametrize("waits_for_each", [False, True])
def test_a_flush_returns_when_every_shard_has_applied_what_the_server_took(
    server: QdrantStandIn, tmp_path: Path, waits_for_each: bool
) -> None:
    store = STORE.model_copy(update={"shard_number": 3})
    upload = uploading(batch_points=10, wait=waits_for_each)
    with closing(ServerIndexWriter(tmp_path, [SPEC], connection(server, PATIENT), store, upload)) as index:
        # Where the client waits, the server may give up waiting first.
        server.slow_writes = 3 if waits_for_each else 0
        index.upsert("docs", [point(n) for n in range(30)])
        assert index.count("docs") < 30, "some of it is not applied yet"
        index.flush()
        assert index.count("docs") == 30
        server.seen.clear()
        index.flush()
        assert server.seen == [], "there is nothing to wait for"


def test_a_write_that_is_not_applied_in_time_is_an_error(server: QdrantStandIn, tmp_path: Path, waits: Waits) -> None:
    with closing(writer(server, tmp_path)) as index:
        server.slow_writes = 7
        index.upsert("docs", [point(12)])
        with pytest.raises(StoreError, match=r"docs cannot be written: .* has not applied yet what was written"):
            index.flush()
    assert len(waits) == 5


# Requests that are too large


def large(number: int, size: int) -> NewPoint:
    """A point that makes about so many bytes of a request."""
    return point(number, text="é" * (size // 2), path=f"docs/{number}.md")


def sizes(server: QdrantStandIn) -> list[tuple[int, int]]:
    """Points and bytes of the upserts that came in."""
    return [(len(seen.body["points"]), seen.bytes) for seen in server.seen if seen.line.endswith("/points")]


def test_a_request_is_bounded_in_points_and_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = 100_000
    monkeypatch.setattr(qdrant_server, "_REQUEST_BYTES", bound)
    with QdrantStandIn(request_bytes=bound) as server:
        with closing(writer(server, tmp_path / "a", patience=PATIENT, batch_points=10, parallel=2)) as index:
            index.upsert("docs", [large(n, 30_000 if n < 12 else 100) for n in range(40)])
            assert index.count("docs") == 40
        sent = sizes(server)
        # A copy of the generation is bounded, too.
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        server.seen.clear()
        with closing(writer(server, tmp_path / "b", patience=PATIENT, batch_points=10, parallel=2)) as copy:
            copy.delete("docs", Filter(must=(Match("path", ("docs/39.md",)),)))
            assert copy.count("docs") == 39
    for points, size in [*sent, *sizes(server)]:
        assert points <= 10 and size <= bound
    assert max(points for points, _ in sent) == 10 and max(size for _, size in sent) > bound * 0.9, "both are used"


@pytest.mark.parametrize("proxied", [False, True])
def test_a_batch_that_is_refused_for_its_size_is_sent_in_halves(tmp_path: Path, waits: Waits, proxied: bool) -> None:
    with QdrantStandIn(request_bytes=50_000, proxied=proxied) as server:
        with closing(writer(server, tmp_path, patience=PATIENT, batch_points=16)) as index:
            assert index.upsert("docs", [large(n, 10_000) for n in range(64)]) == 64
            assert index.count("docs") == 64
        # 16 points, then 8 twice, of at most two batches that were made by then; those after them are small enough.
        assert 0 < server.refused <= 6
    assert waits == []


def test_one_point_that_a_server_does_not_take_is_named(tmp_path: Path) -> None:
    with QdrantStandIn(request_bytes=50_000) as server:
        with (
            closing(writer(server, tmp_path, patience=PATIENT)) as index,
            pytest.raises(StoreError, match=r"one chunk of docs/3\.md makes a request of 0\.1 MB") as failure,
        ):
            index.upsert("docs", [large(n, 100_000 if n == 3 else 100) for n in range(8)])
        assert "max_request_size_mb" in failure.value.hint


@pytest.mark.parametrize("strict", [Strict(write_rate_limit=5), Strict(upsert_max_batchsize=5)])
def test_more_points_than_a_server_ever_takes_at_once_are_sent_in_halves(
    tmp_path: Path, waits: Waits, strict: Strict
) -> None:
    with (
        QdrantStandIn(strict=strict) as server,
        closing(writer(server, tmp_path, patience=PATIENT, batch_points=16)) as index,
    ):
        assert index.upsert("docs", [point(n) for n in range(64)]) == 64
        assert index.count("docs") == 64
    upserts = [len(seen.body["points"]) for seen in server.seen if seen.line.endswith("/points")]
    # At most two batches were made by the first refusal, and each was halved; those after them are small enough.
    refused = [points for points in upserts if points > 5]
    assert refused[:3] == [16, 8, 8] and len(refused) <= 6 and len(upserts) > 64 // 5
    assert waits == []


def test_one_point_that_is_limited_without_a_time_is_waited_for(
    server: QdrantStandIn, tmp_path: Path, waits: Waits
) -> None:
    with (
        closing(writer(server, tmp_path, patience=PATIENT)) as index,
        server.failing(r"PUT .*/points$", 429, times=3, message="Rate limit exceeded"),
    ):
        assert index.upsert("docs", [point(12), point(13)]) == 2
    # The pair is halved at once; its first point is waited for.
    assert len(waits) == 2


def test_a_creation_whose_answer_is_lost_is_not_a_failure(server: QdrantStandIn, tmp_path: Path) -> None:
    with server.failing(r"PUT /collections/[^/]+$", "reset mid-body", times=1) as rule:
        writer(server, tmp_path).close()
    assert rule.hits == 1
    assert count(server, tmp_path) == 0


def test_a_collection_that_was_deleted_on_the_server_is_unavailable(server: QdrantStandIn, own: Path) -> None:
    for name in (ServerRecord.read(own) or pytest.fail()).collections.values():
        server.drop(name)
    with pytest.raises(CollectionUnavailableError, match="does not hold the collection docs") as failure:
        ask(server, own)
    assert "adk-ingest all" in failure.value.hint


def test_what_is_no_qdrant_is_said_to_be_none(server: QdrantStandIn) -> None:
    with (
        connection(server) as link,
        server.failing("GET /$", "garbage"),
        pytest.raises(ServerError, match="not Qdrant's") as failure,
    ):
        link.version()
    assert "store.url" in failure.value.hint


def test_what_the_client_raises_by_accident_is_named(server: QdrantStandIn) -> None:
    with (
        connection(server) as link,
        pytest.raises(ServerError, match="its client failed with ZeroDivisionError: "),
    ):
        link.call(lambda client: 1 // 0)


# The circuit breaker


@pytest.fixture
def broken(server: QdrantStandIn, folder: Path) -> Iterator[tuple[ServerIndexReader, FakeTime]]:
    """A reader whose breaker three failures have opened."""
    time = FakeTime()
    breaker = CircuitBreaker("The Qdrant server", time.clock)
    link = ServerConnection(server.url, QUERY, key=KEY, breaker=breaker)
    with closing(ServerIndexReader(folder, [SPEC], link)) as reader:
        with server.failing("points/count", 503):
            for _ in range(3):
                with pytest.raises(CollectionUnavailableError, match="status 503"):
                    reader.count("docs")
        server.seen.clear()
        yield reader, time


def test_a_server_that_failed_three_questions_is_not_asked_for_a_while(
    server: QdrantStandIn, broken: tuple[ServerIndexReader, FakeTime]
) -> None:
    reader, time = broken
    with pytest.raises(CollectionUnavailableError, match="not asked for a while") as failure:
        reader.count("docs")
    assert server.seen == [] and "in 30 s" in failure.value.hint
    time.clock.sleep(31)
    assert reader.count("docs") == 12


# Strict mode


def test_a_strict_server_is_asked_nothing_that_it_refuses(tmp_path: Path) -> None:
    strict = Strict(
        max_query_limit=256, search_max_hnsw_ef=256, upsert_max_batchsize=64, search_max_batchsize=8,
        condition_max_size=256,
    )  # fmt: skip
    with QdrantStandIn(strict=strict) as server:
        with closing(writer(server, tmp_path, batch_points=64)) as index:
            index.upsert("docs", [point(n, path=f"{n}.md") for n in range(300)])
            index.delete("docs", Filter(must=(Match("path", tuple(f"{n}.md" for n in range(0, 600, 2))),)))
            assert index.count("docs") == 150
            assert len(index.scroll("docs", limit=256)[0]) == 150
            ids = [record.id for record in index.scroll("docs", limit=180)[0]]
            assert len(index.score_points("docs", ids, {"dense": axis(1)})["dense"]) == 150
        with (
            closing(ServerIndexReader(tmp_path, [SPEC], connection(server))) as reader,
            pytest.raises(CollectionUnavailableError, match='Index required but not found for "flavour"'),
        ):
            reader.count("docs", Filter(must=(Match("flavour", ("sweet",)),)))


# The key


@pytest.mark.parametrize("fault", ["503", "garbage JSON", "no answer", REFUSED, "expired"])
def test_the_key_is_in_no_error_and_no_log(
    server: QdrantStandIn, folder: Path, fault: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    if fault == REFUSED:
        server.down()
    elif fault == "expired":
        monkeypatch.setattr(server, "key", "another")
    else:
        how, more, _ = REPAIRABLE[fault]
        server.fail("points/count", how, **more)
    with pytest.raises(StoreError) as failure:
        count(server, folder, seconds_for(fault))
    shown = "".join(traceback.format_exception(failure.value)) + repr(failure.value) + caplog.text
    assert "Traceback" in shown
    assert KEY not in shown


def test_a_server_that_repeats_the_key_does_not_bring_it_into_the_open(server: QdrantStandIn) -> None:
    link = connection(server)
    assert KEY not in link._clean(f"bad key {KEY}\nsecond line") == "bad key *** second line"


def test_the_key_comes_from_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in server_client.KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert api_key() is None
    monkeypatch.setenv("QDRANT_API_KEY", "second")
    assert api_key() == "second"
    monkeypatch.setenv("ADK_EVIDENCE_QDRANT_API_KEY", " first ")
    assert api_key() == "first"


@pytest.mark.parametrize(
    ("url", "open_"),
    [("http://qdrant.example:6333", True), ("http://localhost:6333", False), ("https://qdrant.example:6333", False)],
)
def test_a_key_over_plain_http_is_noticed(url: str, open_: bool) -> None:
    assert sends_key_in_the_open(url) == open_


# Settings


def test_patience_is_that_of_the_settings() -> None:
    store = {"kind": "server", "url": "http://localhost:6333", "timeout_seconds": 8}
    settings = load_settings({"store": store, "ingestion": {"qdrant_upload": {"max_retries": 2}}})
    assert (query_patience(settings).attempts, query_patience(settings).deadline_seconds) == (3, 8)
    assert (upload_patience(settings).attempts, upload_patience(settings).try_seconds) == (3, 60)


def test_points_without_their_payload_are_no_points(server: QdrantStandIn, folder: Path) -> None:
    with closing(writer(server, folder / uuid4().hex)) as index, pytest.raises(StoreError, match="cannot be written"):
        index.upsert("docs", [NewPoint(point(1).id, {}, {"text": "\ud800"})])
