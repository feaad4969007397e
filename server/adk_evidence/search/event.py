"""The event of one retrieval for the local log: enough to reproduce a miss, and no text of the index (SPEC 5)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from adk_evidence.errors import EvidenceError
from adk_evidence.models.chunk import SOURCE_TYPES, sha256_text
from adk_evidence.models.pack import EvidencePack, round_score
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.models.warning import Warning
from adk_evidence.search.rerankers.base import instruction
from adk_evidence.search.stages import Question, Ranking

if TYPE_CHECKING:
    from adk_evidence.search.context import Context
    from adk_evidence.settings import Settings

MAX_LOGGED_HITS = 200


def retrieval_event(
    question: Question,
    ranking: Ranking | None = None,
    pack: EvidencePack | None = None,
    failure: EvidenceError | None = None,
) -> dict[str, Any]:
    """What was asked, how it was searched and what was found, as far as the request came before a `failure`."""
    settings, request, context, index = question.settings, question.request, question.context, question.index
    retrieval = settings.retrieval
    plan = ranking.plan if ranking else question.plan()
    quality = pack.quality if pack else ranking.quality if ranking else None
    wrapped = instruction(question.query, request.task_mode)
    limits, merged = (ranking.candidates.limits, ranking.candidates.merged) if ranking else ({}, ())
    final = ranking.final if ranking else ()
    # What the request names need not have been in the pool.
    pool = [hit for hit in ranking.ranked if hit.pool_rank] if ranking else []
    return {
        **_event(context, settings, index.manifest.generation, request, question.query_id, pack, failure),
        "symbols": list(request.symbols) if context.question_logged else None,
        "own_names": list(request.own_names) if context.question_logged else None,
        "wordings": list(plan.wordings) if context.question_logged else None,
        "max_results": question.size,
        "collections_queried": plan.collections_queried,
        "qdrant_request_params": {
            "branches": retrieval.branches,
            "prefetch_limits": plan.prefetch_limits,
            "fusion": plan.hybrid_fusion,
            "rrf_k": retrieval.rrf_k if retrieval.fusion == "rrf" else None,
            "hnsw_ef": retrieval.hnsw_ef,
            "exact": retrieval.exact,
            "limits": {settings.store.collection(kind): limit for kind, limit in limits.items()},
            "filters": request.filters.model_dump(mode="json", exclude_defaults=True),
        },
        "qdrant_result_ids": [
            {"candidate_id": hit.payload.candidate_id, "score": hit.fused_score} for hit in merged[:MAX_LOGGED_HITS]
        ],
        "rerank_model": plan.rerank_model,
        "rerank_instruction_hash": hashlib.sha256(wrapped.encode()).hexdigest()[:16],
        "rerank_batching": {"pool_size": retrieval.pool_size, "documents": len(pool)},
        "final_top_k": [
            {
                "candidate_id": hit.payload.candidate_id,
                "rerank_score": None if hit.rerank_score is None else round_score(hit.rerank_score),
            }
            for hit in final
        ],
        "coverage": {f"{name}_in_top_k": sum(hit.kind == kind for hit in final) for kind, name in SOURCE_TYPES.items()},
        "quality": quality.level if quality and not failure else None,
        "warnings": _loggable(context.warnings, context.question_logged),
        "timings_ms": context.rounded_timings(),
    }


def shared_event(
    context: Context,
    settings: Settings,
    generation: str,
    request: EvidenceRequest,
    query_id: str,
    origin: Mapping[str, Any],
    *,
    pack: EvidencePack | None = None,
    failure: EvidenceError | None = None,
) -> dict[str, Any]:
    """The event of a request that another one has answered; `origin` names that one, whose own event has the rest."""
    event = _event(context, settings, generation, request, query_id, pack, failure)
    return {**event, "answered_from": dict(origin)}


def _event(
    context: Context,
    settings: Settings,
    generation: str,
    request: EvidenceRequest,
    query_id: str,
    pack: EvidencePack | None,
    failure: EvidenceError | None,
) -> dict[str, Any]:
    """What every event says."""
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "event": "retrieval",
        "query_id": query_id,
        "pack_id": pack.pack_id if pack else None,
        "query_text": request.query if context.question_logged else None,
        "query_sha256": sha256_text(request.query),
        "task_mode": request.task_mode,
        "strict": settings.retrieval.strict if request.strict is None else request.strict,
        "time_budget_ms": request.time_budget_ms or settings.pack.time_budget_ms,
        "profile": settings.profile,
        "generation": generation,
        "quality": pack.quality.level if pack else None,
        "error": failure.code if failure else None,
        "warnings": _loggable(pack.warnings if pack else (), context.question_logged),
    }


def _loggable(warnings: Iterable[Warning], question_logged: bool) -> list[str]:
    # A warning may quote the question.
    return [str(warning) if question_logged else warning.code for warning in warnings]
