"""Keeps the vectors of questions, for sessions in which the same ones come again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adk_evidence.embedding.base import DenseEmbedder, FloatMatrix, Pair
from adk_evidence.services.resilience import CacheAside


@dataclass(frozen=True)
class Embedded:
    """A question's vector, and how many milliseconds it took to compute."""

    vector: list[float]
    milliseconds: float


class RememberedQueries:
    """A dense embedder that does not compute a question's vector twice. Safe between threads if `inner` is.

    Args:
        inner: Computes; what it can do besides is reached through this one.
        entries: Number of questions that are kept.
    """

    def __init__(self, inner: DenseEmbedder, entries: int) -> None:
        self._inner = inner
        self._kept: CacheAside[Embedded] = CacheAside(entries)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._inner.model

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._inner.dimension

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        """Encode chunks; see `DenseEmbedder.embed_documents`."""
        return self._inner.embed_documents(texts)

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


def remembered(pair: Pair[DenseEmbedder], entries: int) -> Pair[DenseEmbedder]:
    """The same encoders, each keeping its questions; one that serves both kinds stays one."""
    if pair.shared:
        return Pair.of(RememberedQueries(pair.doc, entries))
    return Pair(RememberedQueries(pair.doc, entries), RememberedQueries(pair.code, entries))
