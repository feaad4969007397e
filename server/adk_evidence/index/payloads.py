"""Payloads of an index's points, read and validated once while they are in use."""

from __future__ import annotations

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.services.resilience import CacheAside
from adk_evidence.store import base


class HeldPayloads:
    """The payloads that one search need not read again.

    Once `in` was true for a payload, the payload stays at hand, whatever other threads read meanwhile.

    Args:
        kept: The payloads of one collection of one generation, which never changes, by point id.
    """

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
        """The payload of a hit; only a hit whose payload is held may come without a payload.

        Raises:
            ValidationError: The stored payload is not a chunk's.
        """
        return self._kept.get(hit.id, lambda: self._promised.get(hit.id) or ChunkPayload.model_validate(hit.payload))
