"""The dense vectors of a run: look them up in the cache, estimate the cost of the others, compute them."""

from __future__ import annotations

import itertools
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
from adk_evidence.models.chunk import KINDS, ChunkRecord, Kind
from adk_ingest.publishing.changes import Changes

# So many texts are in memory while they are embedded; models sort them by length.
TEXTS_AT_A_TIME = 16_384


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

    def of(self, records: Sequence[ChunkRecord]) -> Mapping[str, FloatMatrix]:
        """The vectors of some records by their keys, and all others."""
        return self.known

    def _batches(self) -> Iterator[dict[str, FloatMatrix]]:
        if self._contexts:
            for positions, parts in cast("ContextualEmbedder", self.embedder).iter_embed_contexts(self._contexts):
                own = [key for position in positions for key in self._contexts[position].keys]
                yield dict(zip(own, (row for rows in parts for row in rows), strict=True))
        else:
            yield from _embedded(self.embedder, self._texts)


class Passages:
    """The vectors of the records of some changes, where the model embeds each text alone.

    Neither texts nor vectors are held: texts are read from the records when they are embedded, and vectors from the
    cache when points are written.

    Args:
        embedder: The model.
        cache: Keeps the vectors; those that it cannot keep stay in memory.
        changes: Where the records are.
    """

    def __init__(self, embedder: DenseEmbedder, cache: EmbeddingCache, changes: Sequence[Changes]) -> None:
        self.embedder = embedder
        self._cache = cache
        self._changes = changes
        # A text that stands in many files is embedded once.
        wanted = dict.fromkeys(key for change in changes for keys in change.dense_keys.values() for key in keys)
        self._missing = wanted.keys() - cache.present(embedder.model, embedder.dimension, [*wanted])
        self._unkept: dict[str, FloatMatrix] = {}
        self.missing = len(self._missing)
        self.cached = len(wanted) - self.missing

    def cost(self) -> Cost | None:
        """What computing the missing vectors takes; None where the model costs nothing."""
        if not isinstance(self.embedder, PaidEmbedder):
            return None
        texts = (text for _, text in self._missing_texts())
        slices = iter(lambda: list(itertools.islice(texts, TEXTS_AT_A_TIME)), [])
        return sum(map(self.embedder.estimate, slices), Cost())

    def compute(self) -> Iterator[int]:
        """Compute the missing vectors and keep them in the cache; yields how many each batch gave."""
        missing = self._missing_texts()
        while texts := dict(itertools.islice(missing, TEXTS_AT_A_TIME)):
            for found in self._computed(texts):
                yield len(found)

    def of(self, records: Sequence[ChunkRecord]) -> Mapping[str, FloatMatrix]:
        """The vectors of some records by their keys; what the cache has lost meanwhile is computed again."""
        wanted = dict(pair for record in records for pair in _texts_of(record))
        found = {key: self._unkept[key] for key in wanted if key in self._unkept}
        sought = [key for key in wanted if key not in found]
        found |= self._cache.get_many(self.embedder.model, self.embedder.dimension, sought)
        if lost := {key: text for key, text in wanted.items() if key not in found}:
            for batch in self._computed(lost):
                found |= batch
        return found

    def _missing_texts(self) -> Iterator[tuple[str, str]]:
        """Each text whose vector is missing, once, with the key of the vector."""
        left = set(self._missing)
        for change in self._changes if left else ():
            for batch in change.records.batches():
                for key, text in (pair for record, _ in batch for pair in _texts_of(record)):
                    if key in left:
                        left.remove(key)
                        yield key, text

    def _computed(self, texts: Mapping[str, str]) -> Iterator[dict[str, FloatMatrix]]:
        for found in _embedded(self.embedder, texts):
            if not self._cache.put_many(self.embedder.model, self.embedder.dimension, found):
                self._unkept |= found
            yield found


class QuickPassages:
    """The vectors of the records of some changes, where computing a vector is as quick as finding one.

    They are computed when points are written, so that neither the memory nor the cache holds them.

    Args:
        embedder: The model.
        changes: Where the records are.
    """

    cached = 0

    def __init__(self, embedder: DenseEmbedder, changes: Sequence[Changes]) -> None:
        self.embedder = embedder
        self.missing = len({key for change in changes for keys in change.dense_keys.values() for key in keys})

    def cost(self) -> None:
        """A quick model costs nothing."""

    def compute(self) -> Iterator[int]:
        """Count the vectors, whose time is that of writing."""
        yield self.missing

    def of(self, records: Sequence[ChunkRecord]) -> Mapping[str, FloatMatrix]:
        """The vectors of some records by their keys."""
        texts = dict(pair for record in records for pair in _texts_of(record))
        return {key: vector for batch in _embedded(self.embedder, texts) for key, vector in batch.items()}


# The vectors of one model.
_OfModel = Work | Passages | QuickPassages


def _embedded(embedder: DenseEmbedder, texts: Mapping[str, str]) -> Iterator[dict[str, FloatMatrix]]:
    """The vectors of texts, by the texts' keys, batch by batch."""
    keys = list(texts)
    for positions, vectors in embedder.iter_embed(list(texts.values())):
        yield {keys[position]: vector for position, vector in zip(positions, vectors, strict=True)}


def _texts_of(record: ChunkRecord) -> Iterator[tuple[str, str]]:
    yield from zip(record.dense_keys, record.dense_texts, strict=True)
    yield from zip(record.question_keys, record.questions, strict=True)


class Vectors:
    """The dense vectors of some changes. The cache is asked once what it has of them, which may be slow or lost."""

    def __init__(self, dense: Pair[DenseEmbedder], cache: EmbeddingCache, changes: Sequence[Changes]) -> None:
        self._of_kind: dict[Kind, _OfModel] = {}
        self._work: list[_OfModel] = []
        # Docs and code share one model's work or have one each.
        for kinds in [KINDS] if dense.shared else [(kind,) for kind in KINDS]:
            own = [change for change in changes if change.corpus.kind in kinds]
            model = dense[kinds[0]]
            work: _OfModel
            if isinstance(model, ContextualEmbedder):
                work = Work(model, cache, {}, (batch for change in own for batch in change.contexts))
            elif isinstance(model, QuickEmbedder):
                work = QuickPassages(model, own)
            else:
                work = Passages(model, cache, own)
            self._work.append(work)
            self._of_kind |= dict.fromkeys(kinds, work)
        self.cached = sum(work.cached for work in self._work)
        self.missing = sum(work.missing for work in self._work)

    def of(self, kind: Kind, records: Sequence[ChunkRecord]) -> Mapping[str, FloatMatrix]:
        """The vectors of some records of a kind by their keys, among others perhaps."""
        return self._of_kind[kind].of(records)

    def cost(self) -> Cost | None:
        """What computing the missing vectors takes; None where no service is paid."""
        costs = [cost for work in self._work if (cost := work.cost()) is not None]
        return sum(costs, Cost()) if costs else None

    def compute(self) -> Iterator[int]:
        """Compute the missing vectors and keep them in the cache; yields how many each batch gave."""
        for work in self._work:
            yield from work.compute()
