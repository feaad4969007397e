"""What one retrieval found, before its citations are checked."""

from __future__ import annotations

from dataclasses import dataclass

from adk_evidence.models.pack import Quality, RetrievalPlan
from adk_evidence.search.hybrid import Hit, QueryVectors
from adk_evidence.search.query import Query
from adk_evidence.search.run import Run
from adk_evidence.search.support import Support


@dataclass(frozen=True)
class Outcome:
    """What one retrieval found, best first: the pack shows `final`. `asked` is the question as it was encoded."""

    query: Query
    asked: QueryVectors
    final: list[Hit]
    ranked: list[Hit]
    merged: list[Hit]
    plan: RetrievalPlan
    warnings: list[str]
    quality: Quality
    support: Support
    timings_ms: dict[str, float]

    def order(self) -> list[Hit]:
        """All hits: the final results, then the reranked rest, then the merged pool that was not reranked."""
        unique: dict[str, Hit] = {}
        for hit in (*self.final, *self.ranked, *self.merged):
            unique.setdefault(hit.payload.candidate_id, hit)
        return list(unique.values())


def plan_of(run: Run) -> RetrievalPlan:
    """What was asked of the store."""
    settings, scope = run.settings, run.scope
    retrieval = settings.retrieval
    feedback: dict[str, float] | None = None
    if retrieval.feedback_passages:
        feedback = {
            "passages": retrieval.feedback_passages,
            "weight": retrieval.feedback_weight,
            "terms": retrieval.feedback_terms,
        }
    return RetrievalPlan(
        collections_queried=tuple(settings.store.collection(kind) for kind in scope.kinds),
        hybrid_fusion=retrieval.fusion,
        rrf_k=retrieval.rrf_k if retrieval.fusion == "rrf" else None,
        prefetch_limits={"dense": retrieval.dense_prefetch_limit, "sparse": retrieval.sparse_prefetch_limit},
        final_limits={settings.store.collection(kind): limit for kind, limit in run.limits.items()},
        qdrant_search_params={"hnsw_ef": retrieval.hnsw_ef, "exact": retrieval.exact},
        sub_queries=run.sub_queries,
        feedback=feedback,
        rerank_model=run.rerank_model,
        filters=run.request.filters.model_dump(mode="json", exclude_defaults=True),
        excluded_origins=scope.excluded_origins,
        versions=scope.version_plan(settings.store),
    )
