"""Runs work in the server's own threads, so that the reading of messages never waits for work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from adk_evidence.services.eventloop import Cancelled

EVIDENCE_THREADS = 4
QUICK_THREADS = 2
# How long the end of the server waits for work that should stop.
STOP_SECONDS = 2.0

_Result = TypeVar("_Result")


class Executor:
    """Runs work off the event loop, and lets the work know when nobody wants its result any more.

    Hovers and look-ups have separate threads: they do not queue behind questions.
    """

    def __init__(self) -> None:
        self._evidence = ThreadPoolExecutor(EVIDENCE_THREADS, "adk-evidence-request")
        self._quick = ThreadPoolExecutor(QUICK_THREADS, "adk-evidence-lookup")
        self._running: dict[Future[Any], threading.Event] = {}
        self._latest: dict[str, asyncio.Task[Any]] = {}

    async def run(
        self, work: Callable[[Cancelled], _Result], *, quick: bool = False, key: str | None = None
    ) -> _Result:
        """Run work in a thread and wait for it.

        Args:
            work: Gets a function that says whether to stop, which the work asks between stages.
            quick: Whether the work takes milliseconds.
            key: Cancels the task that waits for earlier work with the same key.

        Raises:
            CancelledError: The task that waits was cancelled; the work learns of it at once and ends by itself.
        """
        task = asyncio.current_task()
        if key is not None and task is not None:
            if (before := self._latest.get(key)) is not None:
                before.cancel()
            self._latest[key] = task
        unwanted = threading.Event()
        future = (self._quick if quick else self._evidence).submit(work, unwanted.is_set)
        self._running[future] = unwanted
        future.add_done_callback(lambda done: self._running.pop(done, None))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            unwanted.set()
            raise
        finally:
            if key is not None and self._latest.get(key) is task:
                del self._latest[key]

    def stop(self) -> None:
        """Ask all work to stop, and wait a little for it."""
        running = dict(self._running)
        for unwanted in running.values():
            unwanted.set()
        for pool in (self._evidence, self._quick):
            pool.shutdown(wait=False, cancel_futures=True)
        wait(running, timeout=STOP_SECONDS)
