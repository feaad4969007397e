"""What a process that answers many requests says of its load and of its caches."""

from __future__ import annotations

from pydantic import Field, computed_field

from adk_evidence.models.base import Frozen


class CacheUse(Frozen):
    """One cache of this process, since the process began or the index was opened."""

    name: str
    entries: int
    limit: str = Field(description="What the cache holds at most.")
    hits: int
    misses: int

    @computed_field(description="Share of the look-ups that found something; null before the first one.")  # type: ignore[prop-decorator]
    @property
    def hit_rate(self) -> float | None:
        asked = self.hits + self.misses
        return round(self.hits / asked, 4) if asked else None


class AdmissionUse(Frozen):
    """The requests of this process: how many run and wait now, and how many there were."""

    running: int
    waiting: int
    most_running: int
    most_waiting: int
    answered: int = Field(description="Requests that had their turn, whatever came of them.")
    refused: int = Field(description="Requests that were told to come back, as too many waited.")


class ProcessLoad(Frozen):
    """How far a process is used to capacity."""

    requests: AdmissionUse
    shared: int = Field(description="Answers that were taken from an equal request which ran at the same time.")
    caches: tuple[CacheUse, ...]
