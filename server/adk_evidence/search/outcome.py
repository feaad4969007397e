"""What one retrieval found, before its citations are checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from adk_evidence.models.pack import Quality, RetrievalPlan
from adk_evidence.search.hybrid import Hit, QueryVectors
from adk_evidence.search.query import Query
from adk_evidence.search.support import Support


@dataclass
class Outcome:
    """Everything that one retrieval found, best first; the pack shows `final`, and `asked` is the question."""

    query: Query
    asked: QueryVectors
    final: list[Hit]
    ranked: list[Hit]
    merged: list[Hit]
    plan: RetrievalPlan
    warnings: list[str]
    quality: Quality
    support: Support
    timings_ms: dict[str, float] = field(default_factory=dict)
    rerank_model: str | None = None

    def order(self) -> list[Hit]:
        """All hits: the final results, then the reranked rest, then the merged pool that was not reranked."""
        unique: dict[str, Hit] = {}
        for hit in (*self.final, *self.ranked, *self.merged):
            unique.setdefault(hit.payload.candidate_id, hit)
        return list(unique.values())
