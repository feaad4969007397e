"""A candidate after reranking, before it becomes part of a pack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adk_evidence.models.chunk import Kind
from adk_evidence.search.hybrid import Hit


@dataclass(frozen=True)
class Ranked:
    """A hit with its place in the pool and its rerank score (None where no reranker answered)."""

    hit: Hit
    pool_rank: int
    rerank_score: float | None
    features: Mapping[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """`doc` or `code`."""
        return self.hit.payload.kind
