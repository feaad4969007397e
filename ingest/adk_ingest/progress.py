"""How ingestion tells what it does; the CLI shows it as a bar, as lines or as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

REPORT_SECONDS = 0.25


class Progress(Protocol):
    """Receives the steps of a run. Calls come from one thread, in order."""

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """A stage begins; `total` is its number of units where it is known."""

    def advance(self, count: int = 1) -> None:
        """Units of the current stage are done."""

    def note(self, message: str) -> None:
        """Something a person should know, one sentence."""


class Silent:
    """Shows nothing."""

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Ignored."""

    def advance(self, count: int = 1) -> None:
        """Ignored."""

    def note(self, message: str) -> None:
        """Ignored."""


class Reported:
    """Hands progress on as numbers that only grow, for callers that know no stages.

    Args:
        report: Gets what is done so far over all stages, None for a total, and where the stage is.
        clock: Seconds; units are reported at most every `REPORT_SECONDS` of it.
    """

    def __init__(
        self, report: Callable[[float, float | None, str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._report = report
        self._clock = clock
        self._done = 0
        self._stage = ""
        self._stage_total: int | None = None
        self._unit = ""
        self._stage_done = 0
        self._reported_at = clock()

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """A stage begins, which counts as one step."""
        self._stage, self._stage_total, self._unit, self._stage_done = name, total, unit, 0
        self._done += 1
        self._tell()

    def advance(self, count: int = 1) -> None:
        """Units of the stage are done."""
        self._stage_done += count
        self._done += count
        if self._clock() - self._reported_at >= REPORT_SECONDS:
            self._tell()

    def note(self, message: str) -> None:
        """Something that a person should know."""
        self._done += 1
        self._report(float(self._done), None, message)

    def _tell(self) -> None:
        self._reported_at = self._clock()
        counts = (
            "" if self._stage_total is None else f" {self._stage_done} of {self._stage_total} {self._unit}".rstrip()
        )
        self._report(float(self._done), None, f"{self._stage}{counts}")
