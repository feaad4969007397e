"""From the hits of all collections to one ranking: merge, leave out what cannot be cited, rerank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adk_evidence.errors import EvidenceError
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.models.request import TaskMode
from adk_evidence.search import gates
from adk_evidence.search.context import Context
from adk_evidence.search.hybrid import Hit, QueryVectors
from adk_evidence.search.merge import dedup, merge_hits, pool
from adk_evidence.search.query import Query
from adk_evidence.search.rerank.base import RerankDocument, Reranker
from adk_evidence.settings import Settings
from adk_evidence.store.base import Vector


class Ranker:
    """Ranks the hits of one request.

    `model` is the reranker that made the last ranking, None where it is the search's own order. A reranker that fails
    is a warning and is not asked again: `failed` says so.

    Args:
        index: Where the hits come from.
        settings: Size of the pool and what a reranker sees.
        query: The question.
        task_mode: What the answer is for.
        context: Gets the warnings and times the reranker.
    """

    def __init__(self, index: Index, settings: Settings, query: Query, task_mode: TaskMode, context: Context) -> None:
        self.model: str | None = None
        self.failed = False
        self._index = index
        self._settings = settings
        self._query = query
        self._task_mode = task_mode
        self._context = context

    def rank(
        self, vectors: QueryVectors, hits: Mapping[Kind, Sequence[Hit]], reranker: Reranker | None
    ) -> tuple[list[Hit], list[Hit]]:
        """The pool as the reranker orders it, and all hits merged.

        Raises:
            EvidenceError: The reranker cannot answer in strict mode.
        """
        merged = dedup(merge_hits(hits.get("doc", []), hits.get("code", [])))
        complete = [
            hit for hit in merged if gates.provenance_complete(hit.payload, self._index.is_published(hit.payload))
        ]
        if len(complete) < len(merged):
            left_out = len(merged) - len(complete)
            self._context.warn("provenance", f"{left_out} results without a stable address were left out.")
        candidates = pool(complete, self._settings.retrieval.pool_size)
        with self._context.stage("rerank"):
            return self._rerank(vectors, candidates, reranker), complete

    def _rerank(self, vectors: QueryVectors, candidates: list[Hit], reranker: Reranker | None) -> list[Hit]:
        if reranker is None or not candidates or self.failed:
            return _unranked(candidates)
        try:
            documents = self._documents(vectors, candidates)
            scores = reranker.rerank(self._query, self._task_mode, documents)
        except EvidenceError as exc:
            if self._context.strict:
                raise
            self._context.warn("rerank_unavailable", str(exc))
            # Waiting for its time-out once a request is enough.
            self.failed = True
            self.model = None
            return _unranked(candidates)
        self.model = reranker.model
        ranked = [
            hit._replace(pool_rank=place, rerank_score=score.score, features=score.features)
            for place, (hit, score) in enumerate(zip(candidates, scores, strict=True), 1)
        ]
        return sorted(ranked, key=lambda item: (-(item.rerank_score or 0.0), item.pool_rank))

    def _documents(self, vectors: QueryVectors, candidates: Sequence[Hit]) -> list[RerankDocument]:
        scores_of = self._branch_scores(vectors, candidates)
        return [
            RerankDocument(
                payload=hit.payload,
                fused_rank=hit.fused_rank,
                body_tokens=self._settings.rerank.body_tokens,
                scores=scores_of.get(hit.point_id, {}),
            )
            for hit in candidates
        ]

    def _branch_scores(self, vectors: QueryVectors, candidates: Sequence[Hit]) -> dict[str, dict[str, float]]:
        """Exact dense and sparse scores of every candidate, also where its branch did not return it.

        `dense` is the similarity of a chunk's best passage where it has several, and `mean` that of all of them.
        """
        store = self._settings.store
        # What a branch returned it has scored.
        scores: dict[str, dict[str, float]] = {
            hit.point_id: {place.branch: place.score for place in hit.branches if place.branch in ("dense", "sparse")}
            for hit in candidates
        }
        for kind in KINDS:
            ids = [hit.point_id for hit in candidates if hit.payload.kind == kind]
            queries: dict[str, Vector] = {}
            if kind in vectors.dense:
                for name in self._index.manifest.collections[store.collection(kind)].dense:
                    queries[name] = vectors.dense[kind]
            if vectors.sparse:
                queries[store.sparse_vector] = vectors.sparse
            if not ids or not queries:
                continue
            branches = {store.sparse_vector: "sparse", store.mean_vector(kind): "mean"}
            known = {name: {point for point in ids if branches.get(name, "dense") in scores[point]} for name in queries}
            found = self._index.store.score_points(store.collection(kind), ids, queries, known)
            for name, by_id in found.items():
                for point, score in by_id.items():
                    scores[point][branches.get(name, "dense")] = score
        return scores


def _unranked(candidates: Sequence[Hit]) -> list[Hit]:
    return [hit._replace(pool_rank=place) for place, hit in enumerate(candidates, 1)]
