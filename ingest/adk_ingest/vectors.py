"""The dense vectors of a run: look them up in the cache, estimate the cost of the others, compute them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from adk_evidence.embedding.base import (
    ContextBatch,
    ContextualEmbedder,
    Cost,
    DenseEmbedder,
    FloatMatrix,
    PaidEmbedder,
    Pair,
    QuickEmbedder,
)
from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.models.chunk import KINDS, Kind
from adk_ingest.changes import Changes


class Work:
    """The vectors of one model: `known` has those of the cache, and those that are computed.

    Args:
        embedder: The model.
        cache: Searched once for vectors that were computed before, unless computing them is as quick.
        texts: Texts by the cache keys of their vectors; the model embeds each alone.
        contexts: Chunks of a file that the model embeds together.
    """

    def __init__(
        self,
        embedder: DenseEmbedder,
        cache: EmbeddingCache,
        texts: Mapping[str, str],
        contexts: Iterable[ContextBatch] = (),
    ) -> None:
        self.embedder = embedder
        self._cache = None if isinstance(embedder, QuickEmbedder) else cache
        # Files with the same text have the same batches.
        batches = {tuple(batch.keys): batch for batch in contexts}
        wanted = [*texts, *(key for keys in batches for key in keys)]
        self.known: dict[str, FloatMatrix] = {}
        if self._cache is not None:
            self.known.update(self._cache.get_many(embedder.model, embedder.dimension, wanted))
        self._texts = {key: text for key, text in texts.items() if key not in self.known}
        self._contexts = [batch for keys, batch in batches.items() if not all(key in self.known for key in keys)]
        self.cached = len(self.known)
        self.missing = len(self._texts) + sum(len(batch.own) for batch in self._contexts)

    def cost(self) -> Cost | None:
        """What computing the missing vectors takes; None where the model costs nothing."""
        if not isinstance(self.embedder, PaidEmbedder):
            return None
        return self.embedder.estimate(self._contexts or list(self._texts.values()))

    def compute(self) -> Iterator[int]:
        """Compute the missing vectors and keep them; yields how many each batch gave."""
        for found in self._batches() if self.missing else ():
            if self._cache is not None:
                self._cache.put_many(self.embedder.model, self.embedder.dimension, found)
            self.known.update(found)
            yield len(found)

    def _batches(self) -> Iterator[dict[str, FloatMatrix]]:
        if self._contexts:
            for positions, parts in cast("ContextualEmbedder", self.embedder).iter_embed_contexts(self._contexts):
                own = [key for position in positions for key in self._contexts[position].keys]
                yield dict(zip(own, (row for rows in parts for row in rows), strict=True))
        else:
            keys = list(self._texts)
            for positions, vectors in self.embedder.iter_embed(list(self._texts.values())):
                yield {keys[position]: vector for position, vector in zip(positions, vectors, strict=True)}


class Vectors:
    """The dense vectors of some changes by their cache keys; looked up in the cache once, which may be slow or lost."""

    def __init__(self, dense: Pair[DenseEmbedder], cache: EmbeddingCache, changes: Sequence[Changes]) -> None:
        self._of_kind: dict[Kind, Work] = {}
        self._work: list[Work] = []
        # Docs and code share one model's work or have one each.
        for kinds in [KINDS] if dense.shared else [(kind,) for kind in KINDS]:
            own = [change for change in changes if change.corpus.kind in kinds]
            texts = {key: text for change in own for key, text in change.inputs.items()}
            work = Work(dense[kinds[0]], cache, texts, (batch for change in own for batch in change.contexts))
            self._work.append(work)
            self._of_kind |= dict.fromkeys(kinds, work)
        self.cached = sum(work.cached for work in self._work)
        self.missing = sum(work.missing for work in self._work)

    def __getitem__(self, kind: Kind) -> dict[str, FloatMatrix]:
        return self._of_kind[kind].known

    def cost(self) -> Cost | None:
        """What computing the missing vectors takes; None where no service is paid."""
        costs = [cost for work in self._work if (cost := work.cost()) is not None]
        return sum(costs, Cost()) if costs else None

    def compute(self) -> Iterator[int]:
        """Compute the missing vectors and keep them in the cache; yields how many each batch gave."""
        for work in self._work:
            yield from work.compute()
