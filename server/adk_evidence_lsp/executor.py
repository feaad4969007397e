"""Runs work in the server's own threads, so that the reading of messages never waits for work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from adk_evidence.admission import Admission, Limits
from adk_evidence.services.eventloop import Cancelled

# What work is: a question; a look-up, which takes milliseconds; or the server's own care of itself.
Lane = Literal["question", "lookup", "care"]
LOOKUPS = Limits(running=2, waiting=1000)
CARE = Limits(running=2, waiting=100)
# How long the end of the server waits for work that should stop.
STOP_SECONDS = 2.0

_Result = TypeVar("_Result")


class Executor:
    """Runs work off the event loop, and lets the work know when nobody wants its result any more.

    Each kind of work has separate threads and a queue of its own: hovers do not wait behind questions, and the status
    can be told while many questions wait.
    """

    def __init__(self) -> None:
        self.questions = Admission()
        self._lanes: dict[Lane, Admission] = {
            "question": self.questions,
            "lookup": Admission(LOOKUPS),
            "care": Admission(CARE),
        }
        self._latest: dict[str, asyncio.Task[Any]] = {}

    async def run(
        self,
        work: Callable[[Cancelled], _Result],
        *,
        lane: Lane = "question",
        key: str | None = None,
        budget_ms: int | None = None,
    ) -> _Result:
        """Run work in a thread when its turn comes, and wait for it.

        Args:
            work: Gets a function that says whether to stop, which the work asks between stages.
            lane: Which queue the work waits in.
            key: Cancels the task that waits for earlier work with the same key.
            budget_ms: How long the client is willing to wait for the turn.

        Raises:
            BusyError: Too much work of this kind waits already.
            WaitedTooLongError: The budget was spent first.
            CancelledError: The task that waits was cancelled; the work learns of it at once and ends by itself.
        """
        task = asyncio.current_task()
        if key is not None and task is not None:
            if (before := self._latest.get(key)) is not None:
                before.cancel()
            self._latest[key] = task
        try:
            return await self._lanes[lane].run(work, budget_ms)
        finally:
            if key is not None and self._latest.get(key) is task:
                del self._latest[key]

    def stop(self) -> None:
        """Ask all work to stop, and wait a little for it."""
        for admission in self._lanes.values():
            admission.ask_to_stop()
        end = time.monotonic() + STOP_SECONDS
        for admission in self._lanes.values():
            admission.wait_for_end(max(0.0, end - time.monotonic()))
