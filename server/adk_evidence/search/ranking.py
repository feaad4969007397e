"""From the hits of all collections to one ranking: merge, leave out what cannot be cited, rerank."""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence.errors import EvidenceError
from adk_evidence.models.chunk import KINDS
from adk_evidence.search import gates
from adk_evidence.search.hybrid import Hit
from adk_evidence.search.merge import dedup, merge_hits, pool
from adk_evidence.search.rerank.base import RerankDocument, Reranker
from adk_evidence.search.run import Run
from adk_evidence.store.base import Vector


def merge(run: Run) -> None:
    """Join the hits of all collections, without repeated evidence and without chunks that have no address to cite."""
    run.unique = dedup(merge_hits(run.hits.get("doc", []), run.hits.get("code", [])))
    run.merged = [
        hit for hit in run.unique if gates.provenance_complete(hit.payload, run.index.is_published(hit.payload))
    ]
    if left_out := len(run.unique) - len(run.merged):
        run.context.warn("provenance", f"{left_out} results without a stable address were left out.")


def rerank(run: Run, reranker: Reranker | None) -> None:
    """Order the pool of merged hits. A reranker that fails is a warning, and the search's own order stays.

    Raises:
        EvidenceError: The reranker cannot answer in strict mode.
    """
    candidates = pool(run.merged, run.settings.retrieval.pool_size)
    with run.context.stage("rerank"):
        run.ranked = _reranked(run, candidates, reranker)


def _reranked(run: Run, candidates: Sequence[Hit], reranker: Reranker | None) -> list[Hit]:
    placed = [hit._replace(pool_rank=place) for place, hit in enumerate(candidates, 1)]
    if reranker is None or not placed or run.rerank_failed:
        return placed
    try:
        scores = reranker.rerank(run.query, run.request.task_mode, _documents(run, placed))
    except EvidenceError as exc:
        if run.context.strict:
            raise
        run.context.warn("rerank_unavailable", str(exc))
        run.rerank_failed = True
        run.rerank_model = None
        return placed
    run.rerank_model = reranker.model
    scored = [
        hit._replace(rerank_score=score.score, features=score.features)
        for hit, score in zip(placed, scores, strict=True)
    ]
    return sorted(scored, key=lambda hit: (-(hit.rerank_score or 0.0), hit.pool_rank))


def _documents(run: Run, candidates: Sequence[Hit]) -> list[RerankDocument]:
    scores_of = _branch_scores(run, candidates)
    return [
        RerankDocument(hit.payload, hit.fused_rank, run.settings.rerank.body_tokens, scores_of[hit.point_id])
        for hit in candidates
    ]


def _branch_scores(run: Run, candidates: Sequence[Hit]) -> dict[str, dict[str, float]]:
    """Exact dense and sparse scores of every candidate, also of candidates that a branch did not return.

    `dense` is the similarity of a chunk's best passage; `mean` is the mean similarity of all its passages.
    """
    store, query = run.settings.store, run.vectors[0]
    # A branch has scored every hit that it returned.
    scores: dict[str, dict[str, float]] = {
        hit.point_id: {place.branch: place.score for place in hit.branches if place.branch in ("dense", "sparse")}
        for hit in candidates
    }
    for kind in KINDS:
        ids = [hit.point_id for hit in candidates if hit.kind == kind]
        queries: dict[str, Vector] = {}
        if kind in query.dense:
            for name in run.index.manifest.collections[store.collection(kind)].dense:
                queries[name] = query.dense[kind]
        if query.sparse:
            queries[store.sparse_vector] = query.sparse
        if not ids or not queries:
            continue
        branches = {store.sparse_vector: "sparse", store.mean_vector(kind): "mean"}
        known = {name: {point for point in ids if branches.get(name, "dense") in scores[point]} for name in queries}
        found = run.index.store.score_points(store.collection(kind), ids, queries, known)
        for name, by_id in found.items():
            for point, score in by_id.items():
                scores[point][branches.get(name, "dense")] = score
    return scores
