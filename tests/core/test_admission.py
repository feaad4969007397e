"""Turns of requests: how many run, who waits, who is refused, and what becomes of those that have gone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from adk_evidence.admission import Admission, BusyError, Limits, WaitedTooLongError, waited_ms
from adk_evidence.errors import RequestCancelledError
from adk_evidence.search.context import Context
from adk_evidence.services.eventloop import Cancelled
from tests.clocks import FakeTime


class Held:
    """Work that runs until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()
        self.told = threading.Event()

    def __call__(self, cancelled: Cancelled) -> str:
        self.begun.set()
        while not self.go.wait(0.005):
            if cancelled():
                self.told.set()
                break
        return "done"


@pytest.fixture
def held() -> Iterator[Held]:
    work = Held()
    yield work
    work.go.set()


async def begun(work: Held) -> None:
    assert await asyncio.to_thread(work.begun.wait, 30)


async def queued(admission: Admission, count: int) -> None:
    while admission.use().waiting != count:
        await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_no_more_run_at_a_time_than_the_limit_and_nobody_is_lost() -> None:
    admission = Admission(Limits(running=3, waiting=1000))
    lock, most, running = threading.Lock(), 0, 0

    def work(number: int) -> int:
        nonlocal most, running
        with lock:
            running += 1
            most = max(most, running)
        with lock:
            running -= 1
        return number

    found = await asyncio.gather(*(admission.run(lambda _, n=n: work(n)) for n in range(1000)))
    assert list(found) == list(range(1000))
    assert most <= 3
    use = admission.use()
    assert (use.running, use.waiting, use.answered, use.refused) == (0, 0, 1000, 0)


@pytest.mark.asyncio
async def test_turns_come_in_the_order_of_arrival(held: Held) -> None:
    admission = Admission(Limits(running=1, waiting=10))
    order: list[int] = []
    first = asyncio.create_task(admission.run(held))
    await begun(held)
    others = [asyncio.create_task(admission.run(lambda _, n=n: order.append(n))) for n in range(5)]
    await queued(admission, 5)
    held.go.set()
    await asyncio.gather(first, *others)
    assert order == list(range(5))


@pytest.mark.asyncio
async def test_who_finds_the_queue_full_is_told_when_to_come_back(held: Held) -> None:
    admission = Admission(Limits(running=1, waiting=1))
    first = asyncio.create_task(admission.run(held))
    await begun(held)
    second = asyncio.create_task(admission.run(lambda _: "second"))
    await queued(admission, 1)
    with pytest.raises(BusyError) as refused:
        await admission.run(lambda _: "third")
    error = refused.value
    assert error.code == "busy" and error.retry_after >= 1
    assert error.message == "ADK Evidence is busy: 1 requests run and 1 wait for their turn."
    assert error.hint == f"Ask again in {error.retry_after} s."
    held.go.set()
    assert (await first, await second) == ("done", "second")
    # Whoever comes back is answered.
    assert await admission.run(lambda _: "third") == "third"
    assert admission.use().refused == 1


def test_the_pause_grows_with_the_queue() -> None:
    admission = Admission(Limits(running=1, waiting=40))
    # Half of the queue, one second each.
    for _ in range(41):
        admission._enter()
    with pytest.raises(BusyError) as refused:
        admission._enter()
    assert refused.value.retry_after == 20


@pytest.mark.asyncio
async def test_a_cancelled_request_leaves_the_queue_at_once(held: Held) -> None:
    admission = Admission(Limits(running=1, waiting=1))
    first = asyncio.create_task(admission.run(held))
    await begun(held)
    ran: list[str] = []
    second = asyncio.create_task(admission.run(lambda _: ran.append("second")))
    await queued(admission, 1)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    # Nothing has ended yet, and there is room.
    assert admission.use().waiting == 0
    third = asyncio.create_task(admission.run(lambda _: ran.append("third")))
    await queued(admission, 1)
    held.go.set()
    await asyncio.gather(first, third)
    assert ran == ["third"]


@pytest.mark.asyncio
async def test_work_that_is_cancelled_is_told_and_keeps_its_turn_until_it_has_ended(held: Held) -> None:
    admission = Admission(Limits(running=1, waiting=1))
    first = asyncio.create_task(admission.run(held))
    await begun(held)
    assert admission.use().running == 1
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await asyncio.to_thread(held.told.wait, 30)
    assert await admission.run(lambda _: "next") == "next"
    assert admission.use().running == 0


@pytest.mark.asyncio
async def test_a_request_whose_budget_is_spent_in_the_queue_says_so_without_its_turn(held: Held) -> None:
    admission = Admission(Limits(running=1, waiting=5))
    first = asyncio.create_task(admission.run(held))
    await begun(held)
    with pytest.raises(WaitedTooLongError, match=r"longer than its time budget of 20 ms") as waited:
        await admission.run(lambda _: "late", budget_ms=20)
    assert waited.value.code == "waited_too_long" and waited.value.hint
    # Threads are told the same.
    with pytest.raises(WaitedTooLongError), ThreadPoolExecutor(1) as thread:
        await asyncio.wrap_future(thread.submit(lambda: admission.turn(budget_ms=20).__enter__()))
    assert admission.use().waiting == 0
    held.go.set()
    assert await first == "done"


def test_a_thread_that_waits_leaves_the_queue_when_its_caller_has_gone() -> None:
    admission = Admission(Limits(running=1, waiting=1))
    with admission.turn():
        with pytest.raises(RequestCancelledError), admission.turn(lambda: True):
            raise AssertionError("it had no turn")
        assert admission.use().waiting == 0
    with admission.turn():
        pass


def test_a_failure_gives_the_turn_back() -> None:
    admission = Admission(Limits(running=1, waiting=0))
    for _ in range(3):
        with pytest.raises(KeyError), admission.turn():
            raise KeyError
    with ExitStack() as stack:
        stack.enter_context(admission.turn())
        with pytest.raises(BusyError), admission.turn():
            pass


@pytest.mark.asyncio
async def test_what_was_waited_counts_for_the_time_budget(held: Held) -> None:
    time = FakeTime()
    admission = Admission(Limits(running=1, waiting=1), time.clock.now)

    def look(cancelled: Cancelled) -> tuple[float, bool, bool]:
        context = Context()
        short, long = (context.for_request(strict=False, budget_ms=budget) for budget in (700, 60_000))
        return waited_ms(), short.may_spend("feedback"), long.may_spend("feedback")

    first = asyncio.create_task(admission.run(held))
    await begun(held)
    second = asyncio.create_task(admission.run(look))
    await queued(admission, 1)
    time.clock.sleep(0.75)
    held.go.set()
    assert await second == (pytest.approx(750), False, True)
    await first
    assert waited_ms() == 0


def test_one_request_runs_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, running in ((None, 4), (1, 4), (6, 6), (500, 64)):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        assert Limits().running == running
