"""Runs the work of a request off the event loop, and carries its progress to the client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from anyio import to_thread

from adk_evidence_mcp.tools import Call

# How often a client hears of progress; reports in between are dropped.
REPORT_SECONDS = 0.1

_T = TypeVar("_T")


class Report(Protocol):
    """Sends progress to the client, if it asked for it."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Send what is done, the total if it is known, and a sentence."""


async def in_thread(work: Callable[[Call], _T], report: Report) -> _T:
    """Do work in a thread. When the request is cancelled, the call says so, and nobody waits for the work."""
    unwanted = threading.Event()
    progress = _Progress(report)
    call = Call(unwanted.is_set, progress.tell)
    working = asyncio.ensure_future(to_thread.run_sync(work, call, abandon_on_cancel=True))
    try:
        while not working.done():
            await asyncio.wait((working,), timeout=REPORT_SECONDS)
            await progress.send()
        return working.result()
    finally:
        unwanted.set()
        working.cancel()


class _Progress:
    """The last progress: set by the threads of the work, sent by the event loop."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._latest: tuple[float, float | None, str] | None = None
        self._sent = float("-inf")

    def tell(self, done: float, total: float | None, message: str) -> None:
        self._latest = (done, total, message)

    async def send(self) -> None:
        if self._latest is not None and self._latest[0] > self._sent:
            done, total, message = self._latest
            self._sent = done
            await self._report(done, total, message)
