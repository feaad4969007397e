"""What each part of the pipeline adds, from plain BM25 to the settings as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adk_evidence.search.rerank.base import Reranker
from adk_evidence.search.rerank.local import LocalReranker, Weights
from adk_evidence.search.run import Hit, Run
from adk_evidence_eval.run import Order
from adk_evidence_eval.variants import Variant

# No second passes, no quota for docs and code: only what is searched and how it is ordered.
_BARE: Mapping[str, Any] = {
    "rerank.provider": "none",
    "retrieval.expansion": "never",
    "retrieval.feedback_passages": 0,
    "pack.min_docs": 0,
    "pack.min_code": 0,
}


def by_raw_score(outcome: Run) -> list[Hit]:
    """All hits in the order of the only branch's scores, as a single index of docs and code would give them.

    The pipeline itself joins the two collections by rank.
    """
    return sorted(outcome.merged, key=lambda hit: -hit.branches[0].score)


def _bare(
    name: str, *branches: str, order: Order = Run.order, reranker: Reranker | None = None, **changes: Any
) -> Variant:
    """A variant of the bare settings; in `changes` a double underscore stands for a dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    return Variant(name, {**_BARE, "retrieval.branches": branches, **changed}, order, reranker)


def _hybrid(name: str, fusion: str, *more: str, **changes: Any) -> Variant:
    return _bare(name, "dense", "sparse", *more, retrieval__fusion=fusion, **changes)


def _reranked(name: str, fusion: str, *more: str, **changes: Any) -> Variant:
    return _hybrid(name, fusion, *more, rerank__provider="local", **changes)


# As many as the default profile takes.
_FEEDBACK = {"retrieval__feedback_passages": 3}
_QUOTA = {"pack__min_docs": 3, "pack__min_code": 3}

# The first one is what the others are compared with. Each idea stands alone on the fused order and after the reranker.
VARIANTS: tuple[Variant, ...] = (
    _bare("BM25", "sparse", order=by_raw_score),
    _bare("dense", "dense", order=by_raw_score),
    _bare("BM25, docs and code by rank", "sparse"),
    _bare("dense, docs and code by rank", "dense"),
    _hybrid("RRF", "rrf"),
    _hybrid("DBSF", "dbsf"),
    _hybrid("RRF + definitions", "rrf", "symbol"),
    _hybrid("RRF + feedback", "rrf", **_FEEDBACK),
    _hybrid("RRF + sub-queries", "rrf", retrieval__expansion="always"),
    _reranked("RRF + rerank", "rrf"),
    _reranked("DBSF + rerank", "dbsf"),
    _reranked("RRF + rerank, Python not first", "rrf", reranker=LocalReranker(Weights(other_language=0.0))),
    _reranked("RRF + rerank, definitions not first", "rrf", reranker=LocalReranker(Weights(definition=0.0))),
    _reranked("RRF + rerank + definitions", "rrf", "symbol"),
    _reranked("RRF + rerank, whole chunks not counted", "rrf", reranker=LocalReranker(Weights(mean=0.0))),
    _reranked("RRF + rerank, code not linked to docs", "rrf", reranker=LocalReranker(Weights(linked=0.0))),
    _reranked("RRF + rerank + feedback without terms", "rrf", retrieval__feedback_terms=0, **_FEEDBACK),
    _reranked("RRF + rerank + feedback", "rrf", **_FEEDBACK),
    _reranked("RRF + rerank + sub-queries", "rrf", retrieval__expansion="always"),
    _reranked("RRF + rerank + docs and code quota", "rrf", **_QUOTA),
    Variant("as configured"),
)
