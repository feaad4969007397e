"""Compares the dense branch as configured with a full scan: what does approximate search miss (SPEC 5 section 13.4)?

python -m tests.quality.exact
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.search.session import EvidenceService
from adk_evidence.search.stages import Ranking
from adk_evidence_console import Home, Profile
from adk_evidence_eval.cli import AsJson, Golden, open_bench, read_set
from adk_evidence_eval.golden import Question
from adk_evidence_eval.run import ask
from adk_evidence_eval.views import View, new_table, show
from tests.quality.tool import tool

# Everything that the dense branch returns survives to the outcome.
DENSE_ALONE = {
    "retrieval.branches": ["dense"],
    "retrieval.expansion": "never",
    "rerank.provider": "none",
    "pack.min_docs": 0,
    "pack.min_code": 0,
    "retrieval.final_limit_per_collection": 10_000,
}


@dataclass(frozen=True)
class AnnMisses:
    """One question: of the nearest chunks by a full scan, how many the configured search did not return."""

    question: str
    kind: Kind
    exact: int
    missed: int


def ann_misses(configured: EvidenceService, exact: EvidenceService, questions: Sequence[Question]) -> list[AnnMisses]:
    """Compare the dense branch as configured with a full scan.

    `configured` is a service with `DENSE_ALONE`; `exact` has `retrieval.exact`, too.
    """
    found = []
    for question in questions:
        near, nearest = ask(configured, question), ask(exact, question)
        for kind in KINDS:
            truth = _points(nearest, kind)
            found.append(AnnMisses(question.id, kind, len(truth), len(truth - _points(near, kind))))
    return found


def _points(outcome: Ranking, kind: Kind) -> set[str]:
    return {hit.point_id for hit in outcome.candidates.merged if hit.payload.kind == kind}


def ann_misses_view(misses: Sequence[AnnMisses]) -> View:
    """How many of the exactly nearest chunks approximate search did not return, by collection."""
    table = new_table("kind", "questions", "nearest chunks", "missed", "recall")
    for kind in dict.fromkeys(miss.kind for miss in misses):
        mine = [miss for miss in misses if miss.kind == kind]
        nearest, missed = sum(miss.exact for miss in mine), sum(miss.missed for miss in mine)
        recall = f"{1 - missed / nearest:.4f}" if nearest else "-"
        table.add_row(kind, str(len(mine)), str(nearest), str(missed), recall)
    worst = sorted((miss for miss in misses if miss.missed), key=lambda miss: -miss.missed)
    lines = [f"{miss.question}: {miss.missed} of {miss.exact} {miss.kind} chunks missed" for miss in worst]
    return {"questions": [*map(asdict, misses)]}, [table, *lines]


def exact(golden: Golden = None, as_json: AsJson = False, profile: Profile = None, home: Home = None) -> None:
    """Compare the dense branch as configured with a full scan."""
    questions = list(read_set(golden).values())
    with (
        closing(open_bench(profile, home)) as bench,
        closing(bench.service(DENSE_ALONE)) as configured,
        closing(bench.service({**DENSE_ALONE, "retrieval.exact": True})) as full,
    ):
        show(ann_misses_view(ann_misses(configured, full, questions)), as_json=as_json)


app = tool(exact)

if __name__ == "__main__":
    app()
