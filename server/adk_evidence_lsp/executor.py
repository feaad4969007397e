"""Where the work is done: threads of the server's own, so that the reading of messages never waits for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from adk_evidence.services.eventloop import Cancelled

EVIDENCE_THREADS = 4
QUICK_THREADS = 2
# How long the end of the server waits for work that was told to stop.
STOP_SECONDS = 2.0

_Result = TypeVar("_Result")


class Executor:
    """Runs work off the event loop, and tells it when nobody wants it any more.

    Hovers and look-ups have threads of their own: they do not queue behind questions.
    """

    def __init__(self) -> None:
        self._evidence = ThreadPoolExecutor(EVIDENCE_THREADS, "adk-evidence-request")
        self._quick = ThreadPoolExecutor(QUICK_THREADS, "adk-evidence-lookup")
        self._running: dict[Future[Any], threading.Event] = {}

    async def run(self, work: Callable[[Cancelled], _Result], *, quick: bool = False) -> _Result:
        """Run work in a thread and wait for it.

        Args:
            work: Gets a function that says whether to stop, to be asked between stages.
            quick: Whether it takes milliseconds.

        Raises:
            CancelledError: The task that waits was cancelled; the work is told at once and ends on its own.
        """
        unwanted = threading.Event()
        future = (self._quick if quick else self._evidence).submit(work, unwanted.is_set)
        self._running[future] = unwanted
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            unwanted.set()
            raise
        finally:
            if future.done():
                self._running.pop(future, None)
            else:
                future.add_done_callback(lambda done: self._running.pop(done, None))

    def stop(self) -> None:
        """Tell all work to stop, and wait a little for it."""
        for unwanted in list(self._running.values()):
            unwanted.set()
        running = list(self._running)
        for pool in (self._evidence, self._quick):
            pool.shutdown(wait=False, cancel_futures=True)
        wait(running, timeout=STOP_SECONDS)


class Superseding:
    """One task a key: the task that runs under it is cancelled when another one begins."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    @contextmanager
    def alone(self, key: str | None) -> Iterator[None]:
        """Make the current task the only one under a key; None is no key."""
        task = asyncio.current_task()
        if key is None or task is None:
            yield
            return
        before = self._tasks.get(key)
        if before is not None:
            before.cancel()
        self._tasks[key] = task
        try:
            yield
        finally:
            if self._tasks.get(key) is task:
                del self._tasks[key]
