"""The event of one retrieval, for the local log (SPEC 5)."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.outcome import Outcome
from adk_evidence.search.rerank.base import instruction

MAX_LOGGED_HITS = 200


def retrieval_event(pack: EvidencePack, outcome: Outcome, request: EvidenceRequest) -> dict[str, Any]:
    """What was asked, how it was searched and what was found, without texts of the index."""
    plan = outcome.plan
    wrapped = instruction(outcome.query, request.task_mode)
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "event": "retrieval",
        "query_id": pack.query_id,
        "pack_id": pack.pack_id,
        "query_text": pack.query,
        "task_mode": pack.task_mode,
        "generation": pack.index.generation if pack.index else None,
        "collections_queried": plan.collections_queried,
        "qdrant_request_params": {
            "prefetch_limits": plan.prefetch_limits,
            "fusion": plan.hybrid_fusion,
            "rrf_k": plan.rrf_k,
            "hnsw_ef": plan.qdrant_search_params["hnsw_ef"],
            "exact": plan.qdrant_search_params["exact"],
            "limits": plan.final_limits,
            "sub_queries": len(plan.sub_queries),
            "filters": plan.filters,
        },
        "qdrant_result_ids": [
            {"candidate_id": hit.payload.candidate_id, "score": hit.fused_score}
            for hit in outcome.merged[:MAX_LOGGED_HITS]
        ],
        "rerank_model": outcome.rerank_model,
        "rerank_instruction_hash": hashlib.sha256(wrapped.encode()).hexdigest()[:16],
        "rerank_batching": {
            "documents": len(outcome.ranked),
            "batches": len({item.features.get("batch") for item in outcome.ranked}) if outcome.rerank_model else 0,
        },
        "final_top_k": [
            {"candidate_id": item.candidate_id, "rerank_score": item.rerank_score, "verified": item.verification.state}
            for item in pack.candidates
        ],
        "coverage": pack.coverage.model_dump(),
        "quality": pack.quality.level,
        "warnings": pack.warnings,
        "timings_ms": pack.debug["timings_ms"],
    }
