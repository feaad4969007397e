"""What approximate search misses: the dense branch as configured against a full scan (SPEC 5 section 13.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.search.run import Run
from adk_evidence.search.session import EvidenceService
from adk_evidence_eval.lines import Question


@dataclass(frozen=True)
class AnnMisses:
    """One question: of the nearest chunks by a full scan, how many the configured search did not return."""

    question: str
    kind: Kind
    exact: int
    missed: int


def ann_misses(configured: EvidenceService, exact: EvidenceService, questions: Sequence[Question]) -> list[AnnMisses]:
    """Compare two services that differ in `retrieval.exact` alone; see `DENSE_ALONE`."""
    found = []
    for question in questions:
        near, nearest = configured.rank(question.request()), exact.rank(question.request())
        for kind in KINDS:
            truth = _points(nearest, kind)
            missed = len(truth - _points(near, kind))
            found.append(AnnMisses(question.id, kind, len(truth), missed))
    return found


# Everything that the dense branch returns survives to the outcome.
DENSE_ALONE = {
    "retrieval.branches": ["dense"],
    "retrieval.expansion": "never",
    "rerank.provider": "none",
    "pack.min_docs": 0,
    "pack.min_code": 0,
    "retrieval.final_limit_per_collection": 10_000,
}


def _points(outcome: Run, kind: Kind) -> set[str]:
    return {hit.point_id for hit in outcome.merged if hit.payload.kind == kind}
