"""Keeps the vectors of questions, for sessions in which the same ones come again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from adk_evidence.embedding.base import DenseEmbedder, Pair
from adk_evidence.services.resilience import CacheAside


@dataclass(frozen=True)
class Embedded:
    """A question's vector, and how many milliseconds it took to compute."""

    vector: list[float]
    milliseconds: float


class RememberedQueries:
    """A `DenseEmbedder` that does not compute a question's vector twice. Safe between threads if `inner` is.

    Args:
        inner: Computes the vectors; all its other attributes are reached through this object.
        entries: Number of questions that are kept.
    """

    def __init__(self, inner: DenseEmbedder, entries: int) -> None:
        self._inner = inner
        self._kept: CacheAside[Embedded] = CacheAside(entries)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def embed_query(self, text: str) -> list[float]:
        """Encode one query, or give the vector that is kept."""
        return self._kept.get(text, lambda: self._compute(text)).vector

    def kept(self, text: str) -> Embedded | None:
        """What is kept of a question; nothing is computed."""
        return self._kept.peek(text)

    def _compute(self, text: str) -> Embedded:
        begin = time.perf_counter()
        vector = self._inner.embed_query(text)
        return Embedded(vector, (time.perf_counter() - begin) * 1000)


def remembered(pair: Pair[Any], entries: int) -> Pair[Any]:
    """The same encoders, each of which keeps its questions; a shared encoder stays shared."""
    doc = RememberedQueries(pair.doc, entries)
    return Pair(doc, doc if pair.shared else RememberedQueries(pair.code, entries))
