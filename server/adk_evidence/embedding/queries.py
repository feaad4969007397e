"""Keeps the vectors of questions, for sessions in which the same ones come again."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from adk_evidence.embedding.base import DenseEmbedder, Pair
from adk_evidence.models.load import CacheUse
from adk_evidence.services.resilience import CacheAside

# Agents ask the same question of several indexes, and again with other filters. A vector takes some 20 kB.
KEPT_QUESTIONS = 512
# How a question was encoded.
_PLAIN, _ADAPTED = "plain", "adapted"


class Embedded(NamedTuple):
    """A question's vector, and how many milliseconds computing it took."""

    vector: list[float]
    milliseconds: float


class RememberedQueries:
    """A `DenseEmbedder` that does not compute a question's vector twice; it has all other attributes of `inner`."""

    def __init__(self, inner: DenseEmbedder, entries: int) -> None:
        self._inner = inner
        self._kept: CacheAside[Embedded] = CacheAside(entries)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def embed_query(self, text: str) -> list[float]:
        return self._remembered(_PLAIN, self._inner.embed_query, text)

    @property
    def embed_question(self) -> Callable[[str], list[float]]:
        """That of `inner`, kept apart from `embed_query`; an inner encoder without it raises AttributeError."""
        embed: Callable[[str], list[float]] = self._inner.embed_question  # type: ignore[attr-defined]
        return partial(self._remembered, _ADAPTED, embed)

    def _remembered(self, how: str, embed: Callable[[str], list[float]], text: str) -> list[float]:
        def compute() -> Embedded:
            begin = time.perf_counter()
            vector = embed(text)
            return Embedded(vector, (time.perf_counter() - begin) * 1000)

        return self._kept.get((how, text), compute).vector

    def kept(self, text: str) -> dict[str, Embedded]:
        """What is kept of a question, by how it was encoded; nothing is computed."""
        found = ((how, self._kept.peek((how, text))) for how in (_PLAIN, _ADAPTED))
        return {how: vector for how, vector in found if vector is not None}

    def use(self, name: str) -> CacheUse:
        """See `CacheAside.use`."""
        return self._kept.use(name)


def remembered(pair: Pair[Any], entries: int) -> Pair[Any]:
    """The same encoders, each of which keeps its questions; a shared encoder stays shared, and 0 entries keep none."""
    if not entries or isinstance(pair.doc, RememberedQueries):
        return pair
    doc = RememberedQueries(pair.doc, entries)
    return Pair(doc, doc if pair.shared else RememberedQueries(pair.code, entries))
