"""The dense vectors of a run: look them up in the cache, estimate the cost of the others, compute them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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
from adk_evidence.errors import CostCapError
from adk_evidence.models.chunk import KINDS, Kind
from adk_ingest.changes import Changes


@dataclass
class _Work:
    """What one model has to compute: texts by the cache keys of their vectors, or batches of a file's chunks."""

    embedder: DenseEmbedder
    known: dict[str, FloatMatrix]
    texts: dict[str, str] = field(default_factory=dict)
    contexts: list[ContextBatch] = field(default_factory=list)

    @property
    def missing(self) -> int:
        return len(self.texts) + sum(len(batch.own) for batch in self.contexts)

    def batches(self) -> Iterator[dict[str, FloatMatrix]]:
        """Vectors by their cache keys, as they are computed."""
        if isinstance(self.embedder, ContextualEmbedder):
            for positions, found in self.embedder.iter_embed_contexts(self.contexts):
                keys = [key for position in positions for key in self.contexts[position].keys]
                yield dict(zip(keys, (row for rows in found for row in rows), strict=True))
        else:
            keys = list(self.texts)
            for positions, vectors in self.embedder.iter_embed(list(self.texts.values())):
                yield {keys[position]: vector for position, vector in zip(positions, vectors, strict=True)}


class Vectors:
    """The dense vectors of some changes by their cache keys; looked up in the cache once, which may be slow or lost."""

    def __init__(self, dense: Pair[DenseEmbedder], cache: EmbeddingCache, changes: Sequence[Changes]) -> None:
        self._cache = cache
        self._of_kind: dict[Kind, _Work] = {}
        for kinds in [KINDS] if dense.shared else [(kind,) for kind in KINDS]:
            embedder = dense[kinds[0]]
            own = [change for change in changes if change.corpus.kind in kinds]
            inputs = {key: text for change in own for key, text in change.inputs.items()}
            # Files with the same text have the same batches.
            contexts = {tuple(batch.keys): batch for change in own for batch in change.contexts}
            wanted = [*inputs, *(key for keys in contexts for key in keys)]
            known = cache.get_many(embedder.model, embedder.dimension, wanted)
            texts = {key: text for key, text in inputs.items() if key not in known}
            left = [batch for keys, batch in contexts.items() if not all(key in known for key in keys)]
            self._of_kind |= dict.fromkeys(kinds, _Work(embedder, dict(known), texts, left))
        # Docs and code share one model's work, or each kind has its own.
        self._work = list({id(work): work for work in self._of_kind.values()}.values())
        self.cached = sum(len(work.known) for work in self._work)
        self.missing = sum(work.missing for work in self._work)

    def __getitem__(self, kind: Kind) -> dict[str, FloatMatrix]:
        return self._of_kind[kind].known

    def cost(self) -> Cost | None:
        """What computing the missing vectors takes; None where no service is paid."""
        costs = [
            work.embedder.estimate(work.contexts or list(work.texts.values()))
            for work in self._work
            if isinstance(work.embedder, PaidEmbedder)
        ]
        return sum(costs, Cost()) if costs else None

    def compute(self) -> Iterator[int]:
        """Compute the missing vectors and keep them in the cache; yields how many each batch gave."""
        for work in self._work:
            for found in work.batches() if work.missing else ():
                self._cache.put_many(work.embedder.model, work.embedder.dimension, found)
                work.known.update(found)
                yield len(found)


def refuse_above_the_cap(cost: Cost | None, embedders: Iterable[object], instead: str) -> None:
    """Fail before anything is spent if the run would cost too much; the lowest cap of the paid embedders counts.

    Args:
        cost: What the run would take; None where no service is paid.
        embedders: The embedders that the run asks.
        instead: An alternative to a higher cap, for the hint.

    Raises:
        CostCapError: The run would cost too much.
    """
    caps = [each.max_cost_usd for each in embedders if isinstance(each, PaidEmbedder)]
    if cost is not None and cost.usd > (cap := min(caps)):
        raise CostCapError(
            f"Embedding would cost about ${cost.usd:.2f}, more than the cap of ${cap:g}; nothing was spent.",
            f"Raise embedding.voyage.max_cost_usd, or {instead}.",
        )
