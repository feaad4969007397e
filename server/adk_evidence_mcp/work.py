"""Runs the work of a request off the event loop, and carries its progress to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from adk_evidence.admission import Admission
from adk_evidence.index.indexer import Progress
from adk_evidence.services.eventloop import Cancelled

# How often a client hears of progress; reports in between are dropped.
REPORT_SECONDS = 0.1

_T = TypeVar("_T")
# Sends what is done, the total if it is known, and a sentence to the client, if it asked for that.
Report = Callable[[float, float | None, str | None], Awaitable[None]]


@dataclass(frozen=True)
class Call:
    """One call of a client: whether the answer is still wanted, and where to report progress.

    `progress` may be called from any thread. The protocol wants progress to grow: a sentence without growth does not
    reach the client.
    """

    cancelled: Cancelled
    progress: Progress


async def in_thread(
    work: Callable[[Call], _T], report: Report, admission: Admission, budget_ms: int | None = None
) -> _T:
    """Do work in a thread when its turn comes; fails as `Admission.run` does.

    When the request is cancelled, the call says so, and nobody waits for the work.
    """
    latest: tuple[float, float | None, str] = (float("-inf"), None, "")
    sent = latest[0]

    def tell(done: float, total: float | None, message: str) -> None:
        nonlocal latest
        latest = (done, total, message)

    working = asyncio.ensure_future(admission.run(lambda cancelled: work(Call(cancelled, tell)), budget_ms))
    try:
        while not working.done():
            await asyncio.wait((working,), timeout=REPORT_SECONDS)
            done, total, message = latest
            if done > sent:
                sent = done
                await report(done, total, message)
        return working.result()
    finally:
        working.cancel()
