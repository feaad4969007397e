"""The steps of an ingestion for whoever watches; the CLI shows them as a bar, as lines or as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

REPORT_SECONDS = 0.25

# The stages of a first ingestion and of ranking its symbols afterwards, with the seconds that each took on two cores.
_STAGES = (
    ("discover", 10.0),
    ("chunk", 16.0),
    ("upsert", 11.0),
    ("verify", 1.0),
    ("publish", 1.0),
    ("embed", 305.0),
    ("upsert", 13.0),
    ("verify", 1.0),
    ("publish", 1.0),
)
_SYMBOL_STAGES = (("targets", 16.0), ("embed", 30.0))
# Units a second, for stages that say how many there are.
_RATES = {"chunk": 120.0, "embed": 85.0, "upsert": 900.0}


class Progress(Protocol):
    """Receives the steps of a run. Calls come from one thread, in order."""

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """A stage begins; `total` is its number of units where it is known."""

    def advance(self, count: int = 1) -> None:
        """Units of the current stage are done."""

    def note(self, message: str) -> None:
        """Something a person should know, one sentence."""


class Silent:
    """Shows nothing. The base of what does: a context manager, so that a live display is always put down."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the display."""

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Ignored."""

    def advance(self, count: int = 1) -> None:
        """Ignored."""

    def note(self, message: str) -> None:
        """Ignored."""


class Overall:
    """The share of an ingestion that is done, weighted by the time that the stages take. It never decreases.

    Most of a first ingestion is the computing of vectors, while an update computes few: a stage weighs as its units
    do, as soon as it says how many there are, and one that was left out weighs nothing.

    Args:
        symbols: Whether the symbols are ranked afterwards.
    """

    def __init__(self, *, symbols: bool) -> None:
        stages = (*_STAGES, *(_SYMBOL_STAGES if symbols else ()))
        self._names = [name for name, _ in stages]
        self._seconds = [seconds for _, seconds in stages]
        self._at = -1
        self._total: int | None = None
        self._share = 0.0

    @property
    def share(self) -> float:
        """What is done, from 0 to 1."""
        return self._share

    def stage(self, name: str, total: int | None = None) -> None:
        """A stage begins, with so many units."""
        later = [place for place, known in enumerate(self._names) if known == name and place > self._at]
        self._total = total
        if later:
            for left_out in range(self._at + 1, later[0]):
                self._seconds[left_out] = 0.0
            self._at = later[0]
            if total is not None and name in _RATES:
                self._seconds[self._at] = total / _RATES[name]
        self._reach(0)

    def reach(self, done: int) -> None:
        """So many units of the stage are done."""
        self._reach(min(1.0, done / self._total) if self._total else 0.0)

    def _reach(self, part: float) -> None:
        before = sum(self._seconds[: self._at]) if self._at > 0 else 0.0
        current = self._seconds[self._at] * part if self._at >= 0 else 0.0
        self._share = max(self._share, (before + current) / sum(self._seconds))


class Reported:
    """Reports progress as numbers that only grow, for callers that do not know stages.

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
