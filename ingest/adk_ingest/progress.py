"""The steps of an ingestion for whoever watches; the CLI shows them as a bar, as lines or as JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Self

# The stages of a first ingestion and of ranking its symbols afterwards, with the seconds that each took on two cores.
_STAGES = (
    ("discover", 10.0),
    ("chunk", 16.0),
    ("upsert", 11.0),
    ("verify", 1.0),
    ("publish", 1.0),
    ("targets", 16.0),
    ("embed", 305.0),
    ("upsert", 13.0),
    ("verify", 1.0),
    ("publish", 1.0),
)
_SYMBOL_STAGES = (("targets", 1.0), ("embed", 30.0))
# Units a second, for stages that say how many there are.
_RATES = {"chunk": 120.0, "embed": 85.0, "upsert": 900.0}
# How long a stage is measured before the time that is left is told: the first units may wait for a model.
MEASURED_SECONDS = 10.0


class Progress:
    """Receives the steps of a run, from one thread and in order, and shows nothing; the base of the views that do.

    A view is a context manager, so that a live display always ends. `interval` is the number of seconds after which
    `show` says how far a stage is.
    """

    interval = math.inf
    name = unit = ""
    total: int | None = None
    done = 0
    begun = _shown = 0.0
    # The units of the first report of the stage, and its time.
    _since: tuple[int, float] | None = None
    # Called when an index answers, with whether it has vectors.
    answering: Callable[[bool], None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Finish the display."""

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """A stage begins; `total` is its number of units where it is known."""
        self.name, self.total, self.unit, self.done = name, total, unit, 0
        self.begun = self._shown = time.monotonic()
        self._since = None

    def advance(self, count: int = 1) -> None:
        """Units of the current stage are done."""
        self.done += count
        now = time.monotonic()
        self._since = self._since or (self.done, now)
        if now - self._shown >= self.interval:
            self._shown = now
            self.show()

    def note(self, message: str) -> None:
        """A sentence that a person should read."""

    def published(self, *, vectors: bool) -> None:
        """An index answers from now on, by keywords alone where it has no vectors."""
        if self.answering is not None:
            self.answering(vectors)

    @property
    def left(self) -> str:
        """How long the stage still takes, `about 4 min 20 s left`; "" while that is not known."""
        each = _seconds_each(self._since, self.done, time.monotonic())
        if self.total is None or each is None:
            return ""
        minutes, rest = divmod(round((self.total - self.done) * each), 60)
        return f"about {f'{minutes} min ' if minutes else ''}{rest} s left"

    def show(self) -> None:
        """Say how much of the stage is done."""


class Overall:
    """The share of an ingestion that is done, from 0 to 1, weighted by the time of the stages. It never decreases.

    Most of a first ingestion is the computing of vectors, while an update computes few: as soon as a stage gives its
    number of units, they decide its weight, and a stage that was left out weighs nothing.
    """

    def __init__(self, *, symbols: bool, clock: Callable[[], float] = time.monotonic) -> None:
        stages = (*_STAGES, *(_SYMBOL_STAGES if symbols else ()))
        self.share = 0.0
        self._names = [name for name, _ in stages]
        self._seconds = [seconds for _, seconds in stages]
        self._at = -1
        self._total: int | None = None
        self._done = 0
        self._clock = clock
        # The first report of the stage and its time: a stage may have to load a model before.
        self._since: tuple[int, float] | None = None
        # How many times as long this machine takes as the one whose seconds are written above, once that is known.
        self._pace: float | None = None

    def stage(self, name: str, total: int | None = None) -> None:
        self._total, self._since = total, None
        if name in self._names[self._at + 1 :]:
            before, self._at = self._at, self._names.index(name, self._at + 1)
            self._seconds[before + 1 : self._at] = [0.0] * (self._at - before - 1)
            if total is not None and name in _RATES:
                self._seconds[self._at] = total / _RATES[name]
        self.reach(0)

    def reach(self, done: int) -> None:
        """So many units of the stage are done."""
        self._done = done
        if self._at >= 0:
            passed = sum(self._seconds[: self._at]) + self._seconds[self._at] * self._part
            self.share = max(self.share, passed / sum(self._seconds))
            self._measure()

    @property
    def seconds_left(self) -> int | None:
        """How long the rest takes at the speed of the vectors so far; None while that is not known."""
        if self._pace is None:
            return None
        left: float = self._seconds[self._at] * (1 - self._part) + sum(self._seconds[self._at + 1 :])
        return round(self._pace * left)

    @property
    def _part(self) -> float:
        return min(1.0, self._done / self._total) if self._total else 0.0

    def _measure(self) -> None:
        """Learn the pace of this machine from the computing of vectors: nothing else takes as long."""
        if self._names[self._at] != "embed" or not self._total or not self._done:
            return
        now = self._clock()
        self._since = self._since or (self._done, now)
        each = _seconds_each(self._since, self._done, now)
        if each is not None:
            self._pace = each * _RATES["embed"]


def _seconds_each(since: tuple[int, float] | None, done: int, now: float) -> float | None:
    """How long a unit takes; None until that was measured long enough `since` the first report of the stage."""
    if since is None:
        return None
    units, seconds = done - since[0], now - since[1]
    return seconds / units if units > 0 and seconds >= MEASURED_SECONDS else None


class Reported(Progress):
    """Reports progress as numbers that only grow, for callers that do not know stages.

    Args:
        report: Gets the units done in all stages, None for a total, and a sentence; a stage and a note count as a unit.
    """

    interval = 0.25

    def __init__(self, report: Callable[[float, float | None, str], None]) -> None:
        self._report = report
        self._all = 0

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        super().stage(name, total, unit)
        self._all += 1
        self.show()

    def advance(self, count: int = 1) -> None:
        self._all += count
        super().advance(count)

    def note(self, message: str) -> None:
        self._all += 1
        self._report(float(self._all), None, message)

    def show(self) -> None:
        counts = "" if self.total is None else f" {self.done} of {self.total} {self.unit}".rstrip()
        self._report(float(self._all), None, f"{self.name}{counts}")
