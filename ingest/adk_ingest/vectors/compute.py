"""The dense vectors of a run: look them up in the cache, estimate the cost of the others, compute them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import cast

from adk_evidence.embedding.base import (
    ContextBatch,
    ContextualEmbedder,
    Cost,
    DenseEmbedder,
    FloatMatrix,
    PaidEmbedder,
    Pair,
)
from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.models.chunk import KINDS, ChunkRecord, Kind
from adk_ingest.publishing.changes import Changes

# So many texts are in memory while they are embedded; models sort them by length.
TEXTS_AT_A_TIME = 16_384


class Work:
    """The vectors of one model.

    Neither texts nor vectors are held: texts are read when they are embedded, and vectors come from the cache when they
    are needed. Where computing a vector is as quick as finding one, it is computed only then, and not kept.

    Args:
        embedder: The model.
        cache: Keeps the vectors; those that it cannot keep stay in memory.
        wanted: The cache keys of all vectors.
        texts: Gives all texts with the keys of their vectors, again and again.
        contexts: Chunks of a file that the model embeds together, if it does.
    """

    def __init__(
        self,
        embedder: DenseEmbedder,
        cache: EmbeddingCache,
        wanted: Iterable[str],
        texts: Callable[[], Iterable[tuple[str, str]]],
        contexts: Iterable[ContextBatch] = (),
    ) -> None:
        self.embedder = embedder
        self._cache = None if hasattr(embedder, "is_quick") else cache
        self._texts = texts
        # A text that stands in many files is embedded once.
        keys = dict.fromkeys(wanted)
        present = cache.present(embedder.model, embedder.dimension, [*keys]) if self._cache is not None else frozenset()
        self._missing = keys.keys() - present
        # Files with the same text have the same batches.
        self._contexts = list({tuple(batch.keys): batch for batch in contexts}.values())
        self._missing.update(key for batch in self._with(self._missing) for key in batch.keys)
        self._unkept: dict[str, FloatMatrix] = {}
        self.missing = len(self._missing)
        self.cached = len(keys) - self.missing

    def cost(self) -> Cost | None:
        """What computing the missing vectors takes; None where the model costs nothing."""
        if not isinstance(self.embedder, PaidEmbedder):
            return None
        if self._contexts:
            return self.embedder.estimate(self._with(self._missing))
        texts = (text for _, text in self._missing_texts())
        slices = iter(lambda: list(itertools.islice(texts, TEXTS_AT_A_TIME)), [])
        return sum(map(self.embedder.estimate, slices), Cost())

    def compute(self) -> Iterator[int]:
        """Compute the missing vectors and keep them in the cache; yields how many each batch gave."""
        if self._cache is None:
            # Their time is that of writing.
            yield self.missing
        elif self.missing:
            yield from map(len, self._computed(self._missing_texts()))

    def of(self, texts: Mapping[str, str]) -> Mapping[str, FloatMatrix]:
        """The vectors of some texts by their keys; what the cache has lost meanwhile is computed again."""
        found = {key: self._unkept[key] for key in texts if key in self._unkept}
        if self._cache is not None:
            sought = [key for key in texts if key not in found]
            found |= self._cache.get_many(self.embedder.model, self.embedder.dimension, sought)
        for computed in self._computed((key, text) for key, text in texts.items() if key not in found):
            found |= computed
        return found

    def _missing_texts(self) -> Iterator[tuple[str, str]]:
        """Each text whose vector is missing, once, with the key of the vector."""
        left = set(self._missing)
        for key, text in self._texts() if left else ():
            if key in left:
                left.remove(key)
                yield key, text

    def _with(self, keys: Set[str]) -> list[ContextBatch]:
        """The contexts that give some of these vectors."""
        return [batch for batch in self._contexts if not keys.isdisjoint(batch.keys)]

    def _computed(self, texts: Iterable[tuple[str, str]]) -> Iterator[dict[str, FloatMatrix]]:
        """The vectors of texts by the texts' keys, batch by batch; each batch is kept before the next begins."""
        left = iter(texts)
        # What is embedded together is not torn apart.
        while some := dict(itertools.islice(left, None if self._contexts else TEXTS_AT_A_TIME)):
            for found in self._embedded(some):
                cache, model = self._cache, self.embedder
                if cache is not None and not cache.put_many(model.model, model.dimension, found):
                    self._unkept |= found
                yield found

    def _embedded(self, texts: Mapping[str, str]) -> Iterator[dict[str, FloatMatrix]]:
        if self._contexts:
            batches = self._with(texts.keys())
            for positions, parts in cast("ContextualEmbedder", self.embedder).iter_embed_contexts(batches):
                own = [key for position in positions for key in batches[position].keys]
                yield dict(zip(own, (row for rows in parts for row in rows), strict=True))
        else:
            keys = list(texts)
            for positions, vectors in self.embedder.iter_embed(list(texts.values())):
                yield {keys[position]: vector for position, vector in zip(positions, vectors, strict=True)}


class Vectors:
    """The dense vectors of some changes. The cache is asked once what it has of them, which may be slow or lost."""

    def __init__(self, dense: Pair[DenseEmbedder], cache: EmbeddingCache, changes: Sequence[Changes]) -> None:
        self._of_kind: dict[Kind, Work] = {}
        self._work: list[Work] = []
        # Docs and code share one model's work or have one each.
        for kinds in [KINDS] if dense.shared else [(kind,) for kind in KINDS]:
            own = [change for change in changes if change.corpus.kind in kinds]
            work = Work(
                dense[kinds[0]],
                cache,
                (key for change in own for keys in change.dense_keys.values() for key in keys),
                partial(_texts_of_changes, own),
                (batch for change in own for batch in change.contexts),
            )
            self._work.append(work)
            self._of_kind |= dict.fromkeys(kinds, work)
        self.cached = sum(work.cached for work in self._work)
        self.missing = sum(work.missing for work in self._work)

    def of(self, kind: Kind, records: Sequence[ChunkRecord]) -> Mapping[str, FloatMatrix]:
        """The vectors of some records of a kind by their keys."""
        return self._of_kind[kind].of(dict(pair for record in records for pair in _texts_of(record)))

    def cost(self) -> Cost | None:
        """What computing the missing vectors takes; None where no service is paid."""
        costs = [cost for work in self._work if (cost := work.cost()) is not None]
        return sum(costs, Cost()) if costs else None

    def compute(self) -> Iterator[int]:
        """Compute the missing vectors and keep them in the cache; yields how many each batch gave."""
        for work in self._work:
            yield from work.compute()


def _texts_of_changes(changes: Sequence[Changes]) -> Iterator[tuple[str, str]]:
    for change in changes:
        for batch in change.records.batches():
            for record, _ in batch:
                yield from _texts_of(record)


def _texts_of(record: ChunkRecord) -> Iterator[tuple[str, str]]:
    yield from zip(record.dense_keys, record.dense_texts, strict=True)
    yield from zip(record.question_keys, record.questions, strict=True)
