"""Readers and a writer in processes of their own, and processes that die at the worst moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from adk_evidence import files
from adk_evidence.store import generations
from adk_evidence.store.base import CollectionSpec, Filter, Fusion, Match, NewPoint, Prefetch
from adk_evidence.store.generations import GenerationStore, LeasedGeneration
from adk_evidence.store.manifest import CollectionEntry, IndexManifest

PROCESSES = multiprocessing.get_context("spawn")
PATIENCE_SECONDS = 120
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
# Windows has no signals: the number is the exit code there.
KILLED = KILL if os.name == "nt" else -KILL
DIM = 8
POINTS = 24
DOCS = CollectionSpec("docs", {"dense": DIM}, {})


# What the processes do


def die() -> None:
    """End this process as the operating system does when it is out of memory."""
    os.kill(os.getpid(), KILL)


def die_if(asked: bool) -> None:
    if asked:
        die()


def points(number: int, die_at: str | None = None) -> Iterator[NewPoint]:
    for place in range(POINTS):
        die_if(die_at == "upsert" and place == POINTS // 2)
        vector = [1.0 if at == place % DIM else 0.1 for at in range(DIM)]
        yield NewPoint(str(uuid.UUID(int=place + 1)), {"dense": vector}, {"path": f"{place}.md", "made_by": number})


def build(index: Path, number: int, *, die_at: str | None = None) -> str:
    """Build and publish a generation whose points all say `number`; returns its id."""
    from adk_evidence.store.qdrant_edge import EdgeIndexWriter

    store = GenerationStore(index)
    with store.begin(f"run-{number}", store.current()) as building:
        die_if(die_at == "copied")
        with closing(EdgeIndexWriter(building.folder, [DOCS], batch_points=5)) as writer:
            # As an incremental run does: what a file gave before goes first.
            writer.delete("docs", Filter(must=(Match("path", ("0.md", "1.md")),)))
            writer.upsert("docs", points(number, die_at))
            die_if(die_at == "unflushed")
        die_if(die_at == "closed")
        if die_at == "manifest":
            generations.sync_tree = lambda _: die()
        if die_at == "renamed":
            GenerationStore._point = lambda *_: die()  # type: ignore[method-assign]
        if die_at == "pointer":
            files.rename = lambda source, target: die_if(target.name == "CURRENT") or source.replace(target)
        manifest = IndexManifest(
            generation=building.id,
            created_at="2026-01-01T00:00:00Z",
            run_id=f"run-{number}",
            fingerprint={"dense_model": "axes"},
            dense="complete",
            collections={"docs": CollectionEntry(dense=DOCS.dense, sparse=DOCS.sparse, points=POINTS)},
            corpora={},
        )
        return store.publish(building, manifest).id


def makers(lease: LeasedGeneration) -> set[int]:
    """The runs that made what one query finds; more than one would be a torn index."""
    from adk_evidence.store.qdrant_edge import EdgeIndexReader

    with closing(EdgeIndexReader(lease.folder, lease.manifest.specs(), lease.manifest.counts())) as reader:
        return answer(reader)


def answer(reader: Any) -> set[int]:
    found = reader.hybrid_query("docs", [Prefetch("dense", [1.0] * DIM, POINTS)], Fusion(), limit=POINTS)
    assert len(found.fused) == POINTS
    return {hit.payload["made_by"] for hit in found.fused}


def read_until(index: Path, last: int, started: Any, results: Any) -> None:
    """Query without a pause and switch to what is published, until generation `last` answers."""
    from adk_evidence.store.qdrant_edge import EdgeIndexReader

    store = GenerationStore(index)
    seen: list[int] = []
    answers = 0
    try:
        while last not in seen:
            with (
                store.open_current() as lease,
                closing(EdgeIndexReader(lease.folder, lease.manifest.specs(), lease.manifest.counts())) as reader,
            ):
                while True:
                    [made_by] = answer(reader)
                    answers += 1
                    if answers == 1:
                        started.release()
                    if made_by not in seen:
                        seen.append(made_by)
                    if made_by == last or store.current_id() != lease.id:
                        break
        results.put((seen, answers))
    except BaseException as exc:
        started.release()
        results.put((repr(exc), answers))
        raise


def write_many(index: Path, numbers: list[int]) -> None:
    for number in numbers:
        build(index, number)
        GenerationStore(index).collect_garbage(1)


def hold_lease(index: Path, ready: Any, parked: Any) -> None:
    lease = GenerationStore(index).open_current()
    ready.set()
    parked.wait(PATIENCE_SECONDS)
    lease.release()


# The tests


def start(target: Any, *arguments: Any, **options: Any) -> BaseProcess:
    process = PROCESSES.Process(target=target, args=arguments, kwargs=options, daemon=True)
    process.start()
    return process


def killed(process: BaseProcess) -> None:
    process.kill()
    process.join(PATIENCE_SECONDS)
    assert process.exitcode not in (None, 0)


def current_makers(index: Path) -> set[int]:
    with GenerationStore(index).open_current() as lease:
        return makers(lease)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    build(path, 1)
    return path


def test_two_readers_answer_while_a_third_process_builds_and_publishes(index: Path) -> None:
    started, results = PROCESSES.Semaphore(0), PROCESSES.Queue()
    readers = [start(read_until, index, 4, started, results) for _ in range(2)]
    for _ in readers:
        assert started.acquire(timeout=PATIENCE_SECONDS)
    writer = start(write_many, index, [2, 3, 4])
    outcomes = [results.get(timeout=PATIENCE_SECONDS) for _ in readers]
    for process in [*readers, writer]:
        process.join(PATIENCE_SECONDS)
        assert process.exitcode == 0, outcomes
    for seen, answers in outcomes:
        assert seen[0] == 1, outcomes
        assert seen == sorted(seen), "no reader went back"
        assert seen[-1] == 4
        assert answers > len(seen)
    GenerationStore(index).collect_garbage(1)
    assert len(list((index / "generations").iterdir())) == 1


@pytest.mark.parametrize("die_at", ["copied", "upsert", "unflushed", "closed", "manifest", "renamed", "pointer"])
def test_a_writer_that_dies_harms_no_reader_and_the_next_run_succeeds(index: Path, die_at: str) -> None:
    store = GenerationStore(index)
    with store.open_current() as lease:
        writer = start(build, index, 2, die_at=die_at)
        writer.join(PATIENCE_SECONDS)
        assert writer.exitcode == KILLED
        assert store.current_id() == lease.id
        assert makers(lease) == {1}
        assert current_makers(index) == {1}
        build(index, 3)
        assert store.current_id() != lease.id
        assert makers(lease) == {1}
    assert current_makers(index) == {3}
    store.collect_garbage(1)
    assert [path.name for path in (index / "generations").iterdir()] == [store.current_id()]
    assert not list((index / "building").glob("*"))
    assert not list((index / "trash").glob("*"))


def test_a_dead_readers_lease_is_reaped_and_a_live_ones_is_not(index: Path) -> None:
    store = GenerationStore(index)
    held = store.current_id()
    ready, parked = PROCESSES.Event(), PROCESSES.Event()
    reader = start(hold_lease, index, ready, parked)
    assert ready.wait(PATIENCE_SECONDS)
    build(index, 2)
    assert store.collect_garbage(1) == []
    killed(reader)
    assert store.collect_garbage(1) == [held]
    assert not list((index / "leases").glob("*.*.lock"))
