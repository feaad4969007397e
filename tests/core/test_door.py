"""Equal requests that come together, and answers that are given again, on a small real index."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adk_evidence.errors import ModelError, RequestCancelledError
from adk_evidence.models.load import CacheUse
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search import door
from adk_evidence.search.door import Door
from adk_evidence.search.session import EvidenceService
from tests.answers import told
from tests.clocks import FakeTime
from tests.corpora import CODE, DOCS, HashEmbedder, Workplace, shared_sparse, write_code, write_docs

pytestmark = pytest.mark.slow

QUESTION = "how do I retry when a tool throws?"
RETRY_PAGE = "docs/tools/retry.md"


class Held(HashEmbedder):
    """Counts questions; one with HOLD waits until it is let go, one with FAIL then fails, as does one with NOMODEL."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        if "HOLD" in text:
            self.begun.release()
            assert self.go.wait(30)
        if "FAIL" in text:
            raise RuntimeError("the embedder broke")
        if "NOMODEL" in text:
            raise ModelError("The model cannot be had.", "Fetch it.")
        return super().embed_query(text)


@pytest.fixture
def place(workplace: Workplace) -> Workplace:
    workplace.ingest()
    return workplace


@contextmanager
def opened(place: Workplace, dense: Held | None = None, **load: Any) -> Iterator[EvidenceService]:
    # A small index is always weak: without sub-queries, a question is encoded once.
    settings = place.settings_with({"load": load, "retrieval": {"expansion": "never"}})
    service = EvidenceService(settings, dense=dense or Held(), sparse=shared_sparse())
    try:
        yield service
    finally:
        service.close()


def request(query: str = QUESTION, **values: Any) -> EvidenceRequest:
    return EvidenceRequest(query=query, **values)


def answers(service: EvidenceService) -> CacheUse:
    return service.caches()[0]


def origin(pack: EvidencePack) -> dict[str, Any]:
    return pack.debug.get("answered_from", {})


def plain(pack: EvidencePack) -> dict[str, Any]:
    return pack.model_dump(exclude={"query_id", "debug"})


def events(place: Workplace) -> list[dict[str, Any]]:
    log = place.settings.paths.event_log
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [json.loads(line) for line in lines]


class Crowd:
    """Equal requests in threads of their own, of which the first one computes and waits."""

    def __init__(self, service: EvidenceService, dense: Held, threads: ThreadPoolExecutor) -> None:
        self.service, self.dense, self.threads = service, dense, threads

    def begin(self, query: str, cancelled: Callable[[], bool] | None = None) -> Future[EvidencePack]:
        first = self.threads.submit(self.service.ask, request(query), cancelled)
        assert self.dense.begun.acquire(timeout=30)
        return first

    def join(self, query: str, cancelled: Callable[[], bool] | None = None) -> Future[EvidencePack]:
        """A request that has joined the computation when this returns."""
        asked, joined = threading.Event(), threading.Event()

        def watched() -> bool:
            # The computation and the waiting request both ask a request that has joined.
            joined.set()
            return cancelled() if cancelled is not None else False

        def ask() -> EvidencePack:
            asked.set()
            return self.service.ask(request(query), watched)

        future = self.threads.submit(ask)
        assert asked.wait(30) and joined.wait(30)
        return future


@pytest.fixture
def crowd(indexed: Workplace) -> Iterator[Crowd]:
    dense = Held()
    with opened(indexed, dense) as service, ThreadPoolExecutor(8) as threads:
        yield Crowd(service, dense, threads)
        dense.go.set()


def test_equal_requests_that_run_at_the_same_time_are_computed_once(crowd: Crowd, indexed: Workplace) -> None:
    known = len(events(indexed))
    packs = [crowd.begin("HOLD a retry"), *(crowd.join("HOLD a retry") for _ in range(4))]
    crowd.dense.go.set()
    found = [pack.result() for pack in packs]
    assert len([text for text in crowd.dense.asked if "HOLD" in text]) == 1
    assert crowd.service.door.shared == 4
    assert found[0].candidates and all(plain(pack) == plain(found[0]) for pack in found)
    # What belongs to a request alone is its own.
    assert len({pack.query_id for pack in found}) == 5
    assert [origin(pack) for pack in found] == [{}, *[{"equal_request": found[0].query_id}] * 4]
    logged = events(indexed)[known:]
    assert {event["query_id"] for event in logged} == {pack.query_id for pack in found}
    assert {event["pack_id"] for event in logged} == {found[0].pack_id}
    assert [event.get("answered_from") for event in logged].count(None) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"query": "HOLD another retry"},
        {"strict": True},
        {"filters": {"source_types": ("code",)}},
    ],
)
def test_requests_that_differ_are_computed_each(crowd: Crowd, other: dict[str, Any]) -> None:
    first = crowd.begin("HOLD a retry")
    asked = EvidenceRequest.model_validate({"query": "HOLD a retry", **other})
    second = crowd.threads.submit(crowd.service.ask, asked)
    assert crowd.dense.begun.acquire(timeout=30)
    crowd.dense.go.set()
    assert not origin(first.result()) and not origin(second.result())


def test_whoever_goes_does_not_end_it_for_the_others(crowd: Crowd) -> None:
    gone = threading.Event()
    first = crowd.begin("HOLD a retry", gone.is_set)
    second, third = crowd.join("HOLD a retry"), crowd.join("HOLD a retry", gone.is_set)
    gone.set()
    with pytest.raises(RequestCancelledError):
        third.result(30)
    crowd.dense.go.set()
    with pytest.raises(RequestCancelledError):
        first.result(30)
    assert second.result(30).candidates


def test_a_computation_ends_when_all_have_gone_and_the_next_request_is_computed_anew(crowd: Crowd) -> None:
    gone = threading.Event()
    futures = [crowd.begin("HOLD a retry", gone.is_set), crowd.join("HOLD a retry", gone.is_set)]
    gone.set()
    crowd.dense.go.set()
    for future in futures:
        with pytest.raises(RequestCancelledError):
            future.result(30)
    assert answers(crowd.service).entries == 0
    assert crowd.service.ask(request("HOLD a retry")).candidates


@pytest.mark.parametrize(("query", "failure"), [("HOLD FAIL", RuntimeError), ("HOLD NOMODEL", ModelError)])
def test_a_failure_reaches_all(indexed: Workplace, query: str, failure: type[Exception]) -> None:
    dense = Held()
    known = len(events(indexed))
    with opened(indexed, dense) as service, ThreadPoolExecutor(3) as threads:
        asked = request(query, strict=True)
        first = threads.submit(service.ask, asked)
        assert dense.begun.acquire(timeout=30)
        joined = threading.Event()
        second = threads.submit(service.ask, asked, lambda: joined.set() or False)  # type: ignore[func-returns-value]
        assert joined.wait(30)
        dense.go.set()
        for future in (first, second):
            with pytest.raises(failure):
                future.result(30)
    assert len(dense.asked) == 1
    # An expected failure is an event of each request.
    logged = [event["error"] for event in events(indexed)[known:]]
    assert logged == ([ModelError.code] * 2 if failure is ModelError else [])


def test_an_answer_is_given_again_and_says_so(indexed: Workplace) -> None:
    dense = Held()
    with opened(indexed, dense) as service:
        known = len(events(indexed))
        first, second = service.ask(request()), service.ask(request())
        assert len(dense.asked) == 1
        assert plain(second) == plain(first) and second.candidates
        assert second.query_id != first.query_id and not origin(first)
        assert origin(second)["cache"] == first.query_id and origin(second)["age_seconds"] >= 0
        assert second.pack_id == second.with_id().pack_id
        logged = events(indexed)[known:]
        assert [event["query_id"] for event in logged] == [first.query_id, second.query_id]
        assert logged[1]["answered_from"]["cache"] == first.query_id
        use = answers(service)
        assert (use.name, use.entries, use.hits, use.misses, use.hit_rate) == ("answers", 1, 1, 1, 0.5)


def test_an_answer_is_kept_no_longer_than_the_settings_say(indexed: Workplace) -> None:
    time = FakeTime()
    with opened(indexed, cache_ttl_seconds=60) as service:
        service.door = Door(service.settings.load, time.clock.now)
        service.ask(request())
        time.clock.sleep(59)
        assert origin(service.ask(request()))["age_seconds"] == 59
        time.clock.sleep(1)
        assert not origin(service.ask(request()))
    with opened(indexed, cache_ttl_seconds=0) as service:
        assert [origin(service.ask(request())) for _ in range(2)] == [{}, {}]
        assert answers(service).entries == 0


def test_kept_answers_take_no_more_bytes_than_there_is_room(
    indexed: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(indexed) as service:
        size = len(service.ask(request()).model_dump_json())
    monkeypatch.setattr(door, "MAX_BYTES", 3 * size)
    with opened(indexed) as service:
        for number in range(6):
            service.ask(request(f"{QUESTION} ({number})"))
        assert 0 < answers(service).entries < 3
        # The newest ones are kept.
        assert origin(service.ask(request(f"{QUESTION} (5)"))) and not origin(service.ask(request(f"{QUESTION} (0)")))
    monkeypatch.setattr(door, "MAX_BYTES", 1)
    with opened(indexed) as service:
        assert [origin(service.ask(request())) for _ in range(2)] == [{}, {}]


@pytest.mark.parametrize("after", ["written again", "changed", "removed"])
def test_a_cited_file_that_changes_is_checked_again(place: Workplace, after: str) -> None:
    page = place.docs / RETRY_PAGE
    with opened(place) as service:
        first = service.ask(request())
        cited = next(one for one in first.candidates if one.path == RETRY_PAGE)
        assert cited.verification.state == "exact" and origin(service.ask(request()))
        if after == "written again":
            os.utime(page, ns=(1, 1))
        elif after == "changed":
            page.write_text(page.read_text().replace("throws", "fails").replace("RetryPlugin", "Again"))
        else:
            page.unlink()
        second = service.ask(request())
        assert not origin(second)
        states = {one.verification.state for one in second.candidates if one.path == RETRY_PAGE}
        assert states - {"exact"} == {"written again": set(), "changed": {"changed"}, "removed": {"gone"}}[after]
        # Where a text that is gone may be depends on more than single files.
        assert bool(origin(service.ask(request()))) is (after != "removed")


def test_a_new_generation_is_asked_anew(place: Workplace) -> None:
    with opened(place) as service:
        first = service.ask(request())
        write_docs(place.docs, {**DOCS, "docs/more.md": "# More\n\nA tool that throws is retried here, too.\n"})
        place.ingest()
        second = service.ask(request())
        assert not origin(second)
        assert first.index and second.index and first.index.generation != second.index.generation
        # The answers of the generation before take no room any more.
        assert answers(service).entries == 1


def test_an_answer_that_lacks_a_part_is_not_kept(indexed: Workplace) -> None:
    with opened(indexed) as service:
        packs = [service.ask(request("NOMODEL retry")) for _ in range(2)]
        assert [told(pack)[0].partition(":")[0] for pack in packs] == ["dense_unavailable"] * 2
        assert [origin(pack) for pack in packs] == [{}, {}]


def test_indexes_that_stand_beside_each_other_keep_their_answers_apart(indexed: Workplace, tmp_path: Path) -> None:
    other = Workplace(tmp_path)
    write_code(other.code, {**CODE, "src/google/adk/again.py": '"""Retry when a tool throws."""\n'})
    other.ingest()
    with opened(indexed) as service:
        beside = service.beside(other.settings)
        try:
            first, second = service.ask(request()), beside.ask(request())
            assert not origin(second) and second.pack_id != first.pack_id
            assert origin(beside.ask(request()))["cache"] == second.query_id
            assert answers(service) == answers(beside) and answers(service).entries == 2
        finally:
            beside.close()
