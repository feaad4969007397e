"""Lets a bounded number of requests run at a time and a bounded number wait for their turn; refuses the rest.

A request that waits holds no thread of a server: event loops wait with `Admission.run`, other callers wait in their own
threads with `Admission.turn`.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from adk_evidence.errors import EvidenceError, RequestCancelledError
from adk_evidence.models.load import AdmissionUse
from adk_evidence.services.eventloop import POLL_SECONDS, Cancelled

T = TypeVar("T")

# One request runs for each core, within these: some wait for disks and services while others compute.
LEAST_RUNNING = 4
MOST_RUNNING = 64
# What a request is taken to last where a newcomer is told when to come back.
_REQUEST_SECONDS = 1.0

_waited: ContextVar[float] = ContextVar("waited", default=0.0)


class BusyError(EvidenceError):
    """Too many requests wait already; `retry_after` is in how many seconds the caller should come back."""

    code = "busy"

    def __init__(self, running: int, waiting: int, retry_after: int) -> None:
        super().__init__(
            f"ADK Evidence is busy: {running} requests run and {waiting} wait for their turn.",
            f"Ask again in {retry_after} s.",
        )
        self.retry_after = retry_after


class WaitedTooLongError(EvidenceError):
    """The time budget of a request was spent before its turn came."""

    code = "waited_too_long"

    def __init__(self, waited_ms: float, budget_ms: int) -> None:
        super().__init__(
            f"The request waited {waited_ms:.0f} ms for its turn, longer than its time budget of {budget_ms} ms.",
            "Ask again when fewer requests run, or allow more time.",
        )


@dataclass(frozen=True)
class Limits:
    """How many requests run at a time, and how many wait for their turn."""

    running: int = field(default_factory=lambda: min(max(LEAST_RUNNING, os.cpu_count() or 1), MOST_RUNNING))
    waiting: int = 1000


def waited_ms() -> float:
    """Milliseconds that the request which this thread answers has waited for its turn; they count for its budget."""
    return _waited.get()


class _Turn:
    """The place of one request, from its arrival until its work has ended."""

    def __init__(self, now: float) -> None:
        self.arrived = now
        self.granted: Future[None] = Future()
        # Nobody but the admission ends the future: waiting for it in an event loop would cancel it with the waiter.
        self.granted.set_running_or_notify_cancel()


class Admission:
    """Grants turns in the order in which requests arrive. Safe between threads.

    Args:
        limits: How many may run and wait.
        clock: Seconds that only grow.
    """

    def __init__(self, limits: Limits | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits or Limits()
        self._clock = clock
        self._lock = threading.Lock()
        self._queue: OrderedDict[_Turn, None] = OrderedDict()
        self._running: set[_Turn] = set()
        self._answered = self._refused = 0
        self._threads = ThreadPoolExecutor(MOST_RUNNING, "adk-evidence-request")
        self._working: dict[Future[Any], threading.Event] = {}

    @contextmanager
    def turn(self, cancelled: Cancelled | None = None, budget_ms: int | None = None) -> Iterator[None]:
        """Wait in this thread until the caller may work, and keep the turn until the block ends.

        Args:
            cancelled: Whether the caller has gone; asked ten times a second.
            budget_ms: How long the caller is willing to wait.

        Raises:
            BusyError: Too many requests wait already.
            WaitedTooLongError: The budget was spent first.
            RequestCancelledError: The caller has gone.
        """
        turn = self._enter()
        try:
            while not turn.granted.done():
                left = self._left(turn, budget_ms)
                wait((turn.granted,), min(left, POLL_SECONDS))
                if cancelled is not None and cancelled():
                    raise RequestCancelledError("The request was cancelled.")
            with self._began(turn):
                yield
        finally:
            self._leave(turn)

    async def run(self, work: Callable[[Cancelled], T], budget_ms: int | None = None) -> T:
        """Wait for a turn without a thread, do the work in a thread, and return its result; fails as `turn` does.

        The work gets a function that says whether to stop. When the task that waits here is cancelled, its request
        leaves the queue at once; work that has begun is told, and keeps its turn until it has ended.
        """
        turn = self._enter()
        try:
            if not turn.granted.done():
                left = self._left(turn, budget_ms)
                # Waiting for a wrapped future must not cancel the future itself.
                await asyncio.wait((asyncio.wrap_future(turn.granted),), timeout=None if math.isinf(left) else left)
                if not turn.granted.done():
                    self._left(turn, budget_ms)
                    raise WaitedTooLongError((self._clock() - turn.arrived) * 1000, budget_ms or 0)
            unwanted = threading.Event()
            working = self._threads.submit(self._work, turn, work, unwanted.is_set)
        except BaseException:
            self._leave(turn)
            raise
        self._working[working] = unwanted
        working.add_done_callback(lambda done: self._working.pop(done, None))
        # Work that is not begun when the pool ends is cancelled there.
        working.add_done_callback(lambda done: self._leave(turn))
        try:
            return await asyncio.wrap_future(working)
        except asyncio.CancelledError:
            unwanted.set()
            raise

    def use(self) -> AdmissionUse:
        """How many requests run, wait, were answered and were refused."""
        with self._lock:
            return AdmissionUse(
                running=len(self._running),
                waiting=len(self._queue),
                most_running=self.limits.running,
                most_waiting=self.limits.waiting,
                answered=self._answered,
                refused=self._refused,
            )

    def ask_to_stop(self) -> None:
        """Tell all work of `run` that nobody wants it, and let none begin."""
        for unwanted in dict(self._working).values():
            unwanted.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def wait_for_end(self, seconds: float) -> None:
        """Wait a little for the end of all work of `run`."""
        wait(dict(self._working), timeout=seconds)

    def _work(self, turn: _Turn, work: Callable[[Cancelled], T], cancelled: Cancelled) -> T:
        try:
            with self._began(turn):
                return work(cancelled)
        finally:
            self._leave(turn)

    @contextmanager
    def _began(self, turn: _Turn) -> Iterator[None]:
        token = _waited.set((self._clock() - turn.arrived) * 1000)
        try:
            yield
        finally:
            _waited.reset(token)

    def _left(self, turn: _Turn, budget_ms: int | None) -> float:
        """Seconds that a turn may still wait; raises where there are none."""
        if not budget_ms:
            return math.inf
        waited = (self._clock() - turn.arrived) * 1000
        if waited >= budget_ms:
            raise WaitedTooLongError(waited, budget_ms)
        return (budget_ms - waited) / 1000

    def _enter(self) -> _Turn:
        turn = _Turn(self._clock())
        with self._lock:
            if len(self._running) < self.limits.running and not self._queue:
                self._running.add(turn)
                turn.granted.set_result(None)
            elif len(self._queue) < self.limits.waiting:
                self._queue[turn] = None
            else:
                self._refused += 1
                raise BusyError(len(self._running), len(self._queue), self._retry_after())
        return turn

    def _retry_after(self) -> int:
        """Seconds until half of those that wait now have had their turn; a newcomer then finds room for sure."""
        ahead = max(1, len(self._queue) // 2)
        return max(1, math.ceil(ahead * _REQUEST_SECONDS / self.limits.running))

    def _leave(self, turn: _Turn) -> None:
        """Give the turn, or the place in the queue, back; a second call changes nothing."""
        granted: list[_Turn] = []
        with self._lock:
            if turn in self._running:
                self._running.remove(turn)
                self._answered += 1
            else:
                self._queue.pop(turn, None)
            while self._queue and len(self._running) < self.limits.running:
                after, _ = self._queue.popitem(last=False)
                self._running.add(after)
                granted.append(after)
        # Outside of the lock, as this wakes the waiting thread or event loop.
        for after in granted:
            after.granted.set_result(None)
