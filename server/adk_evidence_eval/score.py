"""Scores of a run against graded spans (SPEC 5 section 13.2), computed by ir-measures.

Retrieval metrics know judged documents, not spans of lines. So each target is a judged id that the first result
hitting it carries; any other result is an unjudged id of its own. A result that carries several targets stands for
them all, best grade first, as if it had been cut at their borders. Cutoffs of recall and budgets of tokens count
results, so that recall does not depend on that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from adk_evidence_eval.extra import eval_library
from adk_evidence_eval.golden import GoldenQuestion, Target
from adk_evidence_eval.run import Answer, Result
from adk_evidence_eval.spans import counted, first_hits

CUT = 12
RECALL_CUTS = (5, 12, 20, 50)
TOKEN_BUDGETS = (2000, 4000, 8000)
# What coverage asks of docs and of code each (SPEC 5 section 10).
MIN_EACH = 3
CORPORA = ("adk_docs", "adk_python")
# What is also measured in the order before the reranker.
POOL_PREFIX = "pool:"

Scores = dict[str, float]
Qrels = dict[str, dict[str, int]]


@dataclass(frozen=True)
class _Ranking:
    results: Sequence[Result]
    targets: Sequence[Target]

    @cached_property
    def carried(self) -> list[list[int]]:
        """The targets that each result carries, best grade first."""
        places: list[list[int]] = [[] for _ in self.results]
        for number, rank in first_hits(self.results, self.targets).items():
            places[rank].append(number)
        return [sorted(place, key=lambda number: -self.targets[number].grade) for place in places]

    def ids(self, depth: int) -> list[str]:
        """The first results as ids of judged and unjudged documents."""
        found: list[str] = []
        for rank, place in enumerate(self.carried[:depth]):
            found += [_id(number) for number in place] or [f"result {rank}"]
        return found

    def depth_within(self, budget: int) -> int:
        """How many results fit into a budget of tokens."""
        spent = 0
        for depth, result in enumerate(self.results):
            spent += result.text_tokens
            if spent > budget:
                return depth
        return len(self.results)


def require_metrics() -> None:
    """Fail before any question is asked if the library is missing.

    Raises:
        EvaluationMissingError: ir-measures is not installed.
    """
    _library()


def score_run(run: Mapping[str, Answer], golden: Mapping[str, GoldenQuestion]) -> dict[str, Scores]:
    """Every metric of every question with targets; a question that the run lacks counts zero.

    Names: `ndcg@12` (gain 2^grade - 1), `mrr@12`, `recall@K`, `recall@Nk` within N thousand tokens,
    `CORPUS:recall@12` where the corpus has targets, `docs@12` and `code@12` (how many of the first 12 are of each
    kind), `coverage@12` (whether at least 3 of the first 12 are of each), `latency_ms`, and with the prefix `pool:`
    some of them before the reranker. What a run does not carry is left out.

    Raises:
        EvaluationMissingError: ir-measures is not installed.
    """
    asked = {name: question.expected for name, question in golden.items() if question.expected}
    scores: dict[str, Scores] = {name: {} for name in asked}
    found = {name: counted(run[name].results, golden[name].source) if name in run else () for name in asked}
    _score_order(scores, "", found, asked, RECALL_CUTS)
    for corpus in CORPORA:
        part = {name: [t for t in targets if t.corpus == corpus] for name, targets in asked.items()}
        part = {name: targets for name, targets in part.items() if targets}
        rankings = {name: _Ranking(found[name], targets) for name, targets in part.items()}
        _recall(scores, f"{corpus}:recall@{CUT}", rankings, dict.fromkeys(rankings, CUT))
    pools = {name: run[name].pool for name in asked if name in run}
    known = {name: counted(pool, golden[name].source) for name, pool in pools.items() if pool is not None}
    if len(known) == len(asked):
        _score_order(scores, POOL_PREFIX, known, asked, (CUT, 20, 50))
    for name in asked:
        answer = run.get(name)
        docs = sum(result.corpus == "adk_docs" for result in found[name][:CUT])
        code = len(found[name][:CUT]) - docs
        covered = float(min(docs, code) >= MIN_EACH)
        scores[name] |= {f"docs@{CUT}": docs, f"code@{CUT}": code, f"coverage@{CUT}": covered}
        if answer is not None and answer.latency_ms is not None:
            scores[name]["latency_ms"] = answer.latency_ms
    return scores


def mean_scores(scores: Mapping[str, Scores]) -> Scores:
    """Means over the questions that have the metric; of the latency, p50 and p95."""
    means: Scores = {}
    for name in dict.fromkeys(name for row in scores.values() for name in row):
        values = [row[name] for row in scores.values() if name in row]
        if name == "latency_ms":
            means |= {"latency_p50_ms": _percentile(values, 50), "latency_p95_ms": _percentile(values, 95)}
        else:
            means[name] = math.fsum(values) / len(values)
    return means


def by_category(scores: Mapping[str, Scores], golden: Mapping[str, GoldenQuestion]) -> dict[str, dict[str, Scores]]:
    """The questions' scores by their categories, in the order of the names."""
    groups: dict[str, dict[str, Scores]] = {}
    for name, row in scores.items():
        groups.setdefault(golden[name].category or "(none)", {})[name] = row
    return dict(sorted(groups.items()))


def _score_order(
    scores: dict[str, Scores],
    prefix: str,
    found: Mapping[str, Sequence[Result]],
    asked: Mapping[str, Sequence[Target]],
    cuts: Sequence[int],
) -> None:
    measures = _library()
    rankings = {name: _Ranking(found[name], targets) for name, targets in asked.items()}
    everything = {name: ranking.ids(len(ranking.results)) for name, ranking in rankings.items()}
    _measure(scores, f"{prefix}ndcg@{CUT}", measures.nDCG @ CUT, everything, _qrels(asked))
    _measure(scores, f"{prefix}mrr@{CUT}", measures.RR @ CUT, everything, _qrels(asked))
    for cut in cuts:
        _recall(scores, f"{prefix}recall@{cut}", rankings, dict.fromkeys(rankings, cut))
    for budget in TOKEN_BUDGETS:
        depths = {name: ranking.depth_within(budget) for name, ranking in rankings.items()}
        _recall(scores, f"{prefix}recall@{budget // 1000}k", rankings, depths)


def _recall(scores: dict[str, Scores], name: str, rankings: Mapping[str, _Ranking], depths: Mapping[str, int]) -> None:
    ids = {question: ranking.ids(depths[question]) for question, ranking in rankings.items()}
    qrels = _qrels({question: ranking.targets for question, ranking in rankings.items()})
    _measure(scores, name, _library().SetR, ids, qrels)


def _measure(
    scores: dict[str, Scores],
    name: str,
    measure: Any,
    ids: Mapping[str, Sequence[str]],
    qrels: Qrels,
) -> None:
    # trec_eval orders by score; ranks from below make its order ours.
    ranked = {q: {doc: float(len(docs) - place) for place, doc in enumerate(docs)} for q, docs in ids.items()}
    for found in _library().iter_calc([measure], qrels, ranked):
        scores[found.query_id][name] = float(found.value)


def _qrels(asked: Mapping[str, Sequence[Target]]) -> Qrels:
    return {
        name: {_id(number): 2**target.grade - 1 for number, target in enumerate(targets)}
        for name, targets in asked.items()
    }


def _id(target: int) -> str:
    return f"target {target}"


def _percentile(values: Sequence[float], percent: int) -> float:
    import numpy as np

    return float(np.percentile(values, percent))


def _library() -> ModuleType:
    # ir-measures is maintained at Glasgow, computes with trec_eval and has wheels for every platform of ours; ranx
    # would bring numba and pandas.
    return eval_library("ir_measures", "ir-measures")
