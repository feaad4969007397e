"""How far one request has come: its warnings, its stages' times, its time budget and whether anybody still waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adk_evidence.errors import EvidenceError
from adk_evidence.services.eventloop import cancellable

Cancelled = Callable[[], bool]


class RequestCancelledError(EvidenceError):
    """The caller no longer wants the answer."""

    code = "cancelled"


class Progress:
    """One request's.

    Args:
        strict: Whether a part that fails ends the request, instead of a warning.
        budget_ms: Soft time budget, from now on; None or 0: none.
        cancelled: Says whether the caller has gone.
    """

    def __init__(self, *, strict: bool, budget_ms: int | None = None, cancelled: Cancelled | None = None) -> None:
        self.strict = strict
        self.timings_ms: dict[str, float] = {}
        self._cancelled = cancelled
        self._deadline = time.monotonic() + budget_ms / 1000 if budget_ms else None
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> list[str]:
        """Every warning once, in the order in which they came."""
        return list(self._warnings)

    def warn(self, code: str, sentence: str) -> None:
        """Add a warning."""
        self._warnings.setdefault(f"{code}: {sentence}")

    def may_spend(self, what: str) -> bool:
        """Whether the soft time budget allows an optional stage; a skipped one is a warning."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return True
        self.warn("time_budget", f"the time budget was spent before {what}.")
        return False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage, which does not begin for a caller that has gone; its calls of services end soon after.

        Raises:
            RequestCancelledError: The caller has gone.
        """
        if self._cancelled is not None and self._cancelled():
            raise RequestCancelledError("The request was cancelled.")
        begin = time.perf_counter()
        try:
            with cancellable(self._cancelled):
                yield
        finally:
            self.timings_ms[name] = self.timings_ms.get(name, 0.0) + (time.perf_counter() - begin) * 1000
