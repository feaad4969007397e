"""What a process that answers many requests says of its load and of its caches."""

from __future__ import annotations

from pydantic import Field

from adk_evidence.models.base import Frozen


class CacheUse(Frozen):
    """One cache of this process, since the process began or the index was opened."""

    name: str
    entries: int
    limit: str = Field(description="What the cache holds at most.")
    hits: int
    misses: int

    hit_rate: float | None = Field(
        default=None, description="Share of the look-ups that found something; absent or null before the first one."
    )

    @classmethod
    def of(cls, name: str, *, entries: int, limit: str, hits: int, misses: int) -> CacheUse:
        """The use of a cache with its hit rate."""
        rate = round(hits / (hits + misses), 4) if hits + misses else None
        return cls(name=name, entries=entries, limit=limit, hits=hits, misses=misses, hit_rate=rate)


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
