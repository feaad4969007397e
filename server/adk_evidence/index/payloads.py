"""Payloads of an index's points, read and validated once while they are in use."""

from __future__ import annotations

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.services.resilience import CacheAside
from adk_evidence.store import base

# Of one collection: some 13 MB. A request finds 60 points in each, and most of them again in its second pass.
KEPT_PAYLOADS = 2048


class Payloads:
    """The payloads of one collection of one generation, which never changes. Safe between threads.

    Args:
        entries: How many are kept, those that were used last.
    """

    def __init__(self, entries: int = KEPT_PAYLOADS) -> None:
        self._kept: CacheAside[ChunkPayload] = CacheAside(entries)

    def held(self) -> HeldPayloads:
        """What one search need not read again."""
        return HeldPayloads(self._kept)


class HeldPayloads:
    """The ids whose payloads are kept. What it says it holds it does not lose, whatever other threads read."""

    def __init__(self, kept: CacheAside[ChunkPayload]) -> None:
        self._kept = kept
        self._promised: dict[str, ChunkPayload] = {}

    def __contains__(self, point: object) -> bool:
        payload = self._kept.peek(point)
        if payload is None:
            return False
        self._promised[str(point)] = payload
        return True

    def of(self, hit: base.Hit) -> ChunkPayload:
        """The payload of a hit, which comes without one only where it is held.

        Raises:
            ValidationError: The stored payload is not a chunk's.
        """
        return self._kept.get(hit.id, lambda: self._promised.get(hit.id) or ChunkPayload.model_validate(hit.payload))
