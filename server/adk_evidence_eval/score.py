"""Scores of a run against graded spans (SPEC 5 section 13.2), computed by ir-measures.

Retrieval metrics know judged documents, not spans of lines. So each target is a judged id that the first result
hitting it carries; every other result is an unjudged id. A result that carries several targets stands for
them all, best grade first, as if it had been cut at their borders. Cutoffs of recall and budgets of tokens count
results, so that recall does not depend on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.extra import metrics_library
from adk_evidence_eval.golden import GoldenQuestion, QuestionKind, Span, Target, is_docs
from adk_evidence_eval.run import Answer, Prompted, Result

CUT = 12
RECALL_CUTS = (5, 12, 20, 50)
FIRST_CUTS = (1, 3)
TOKEN_BUDGETS = (2000, 4000, 8000)
MIN_OVERLAP = 0.5
# Targets of this grade on are what an answer needs.
SHOWN_GRADE = 2
# What coverage asks of docs and of code each (SPEC 5 section 10).
MIN_EACH = 3
CORPORA = ("adk_docs", "adk_python")
# What is also measured in the order before the reranker.
POOL_PREFIX = "pool:"
# What is measured over the targets that answer directly.
DIRECT_PREFIX = "direct:"
DIRECT_GRADE = 2
# What tables show of a set of each kind; the first one is what variants are compared by.
TABLE_METRICS: Mapping[QuestionKind, tuple[str, ...]] = {
    "question": ("ndcg@12", "mrr@12", "recall@12", "recall@50", "lines@8k", "tokens@8k"),
    "everyday": ("first@1", "first@3", "tokens@8k"),
    "traceback": ("recall@5", "recall@12", "mrr@12", "lines@8k", "tokens@8k"),
    "selection": (
        *(f"{DIRECT_PREFIX}recall@5", f"{DIRECT_PREFIX}recall@12"),
        *("recall@5", "recall@12", "lines@8k", "tokens@8k"),
    ),
}

# What is measured in milliseconds, and summed up as percentiles instead of means.
TIMES = ("latency_ms", "cpu_ms")
PERCENTILES = (50, 95)
LATENCIES, CPU_TIMES = ("latency_p50_ms", "latency_p95_ms"), ("cpu_p50_ms", "cpu_p95_ms")

Scores = dict[str, float]


def set_kind(golden: Mapping[str, GoldenQuestion]) -> QuestionKind:
    """The kind of all questions of a golden set; a set of several kinds is one of questions."""
    kinds = {question.kind for question in golden.values()}
    return kinds.pop() if len(kinds) == 1 else "question"


def hits(result: Result, target: Target) -> bool:
    """Whether a result covers a target: their lines overlap by half of the shorter of the two."""
    if (result.corpus, result.path) != (target.corpus, target.path):
        return False
    shared = min(result.end_line, target.end_line) - max(result.start_line, target.start_line) + 1
    shorter = min(result.end_line - result.start_line, target.end_line - target.start_line) + 1
    return shared >= MIN_OVERLAP * shorter


def touches(result: Result, target: Span) -> bool:
    """Whether a result has a line of a target."""
    same = (result.corpus, result.path) == (target.corpus, target.path)
    return same and result.start_line <= target.end_line and target.start_line <= result.end_line


def hits_of(question: GoldenQuestion) -> Callable[[Result, Target], bool]:
    """What counts as a hit for a question: any line of what a traceback expects, else as `hits` says.

    One piece of a long function shows where an error comes from.
    """
    return touches if question.kind == "traceback" else hits


@dataclass(frozen=True)
class _Ranking:
    results: Sequence[Result]
    targets: Sequence[Target]
    hit: Callable[[Result, Target], bool] = hits

    @cached_property
    def carried(self) -> list[list[int]]:
        """The targets that each result is the first to hit, best grade first."""
        places: list[list[int]] = [[] for _ in self.results]
        for number in sorted(range(len(self.targets)), key=lambda number: -self.targets[number].grade):
            first = (rank for rank, result in enumerate(self.results) if self.hit(result, self.targets[number]))
            if (rank := next(first, None)) is not None:
                places[rank].append(number)
        return places

    def ids(self, depth: int | None = None) -> list[str]:
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


Rankings = Mapping[str, _Ranking]


def score_run(run: Mapping[str, Answer], golden: Mapping[str, GoldenQuestion]) -> dict[str, Scores]:
    """Every metric of every question with targets; a question that the run lacks counts zero.

    Names: `ndcg@12` (gain 2^grade - 1), `mrr@12`, `recall@K`, `recall@Nk` within N thousand tokens of whole texts,
    `lines@8k` (the share of the needed lines that a prompt of 8,000 tokens shows), `tokens@8k` (of that prompt),
    `CORPUS:recall@12` where the corpus has targets, `direct:recall@K` of the targets that answer directly, `tokens@12`
    (of the whole texts of the first 12 results), `docs@12` and `code@12` (how many of the first 12 are of each kind),
    `coverage@12` (whether at least 3 of the first 12 are of each), `latency_ms`, `cpu_ms`, and with the prefix `pool:`
    some of them before the reranker. Everyday questions have `first@1` and `first@3` (whether a result of the wanted
    places is among the first) in place of what goes by spans. What a run does not carry is left out.

    Raises:
        EvaluationMissingError: ir-measures is not installed.
    """
    asked = {name: question for name, question in golden.items() if question.is_judged}
    scores: dict[str, Scores] = {name: {} for name in asked}
    found = {name: run[name].results if name in run else () for name in asked}
    rankings = _rankings(asked, found)
    _score_order(scores, "", rankings, RECALL_CUTS)
    for corpus in CORPORA:
        part = _rankings(asked, found, partial(_is_of, corpus))
        _recall(scores, f"{corpus}:recall@{CUT}", part, dict.fromkeys(part, CUT))
    direct = _rankings(asked, found, lambda target: target.grade >= DIRECT_GRADE)
    for cut in (5, CUT):
        _recall(scores, f"{DIRECT_PREFIX}recall@{cut}", direct, dict.fromkeys(direct, cut))
    pools = {name: run[name].pool for name in asked if name in run}
    known = {name: pool for name, pool in pools.items() if pool is not None}
    if len(known) == len(asked):
        _score_order(scores, POOL_PREFIX, _rankings(asked, known), (CUT, 20, 50))
    for name, row in scores.items():
        docs = sum(is_docs(result.corpus) for result in found[name][:CUT])
        code = len(found[name][:CUT]) - docs
        row |= {f"first@{cut}": value for cut in FIRST_CUTS for value in _leads(asked[name].first, found[name][:cut])}
        row[f"tokens@{CUT}"] = float(sum(result.text_tokens for result in found[name][:CUT]))
        row |= {f"docs@{CUT}": docs, f"code@{CUT}": code, f"coverage@{CUT}": float(min(docs, code) >= MIN_EACH)}
        answer = run.get(name)
        if answer is not None:
            row |= {time: value for time in TIMES if (value := getattr(answer, time)) is not None}
            row |= _score_prompt(answer.prompt, asked[name].expected) if answer.prompt else {}
    return scores


def _leads(wanted: Sequence[str], results: Sequence[Result]) -> list[float]:
    """Whether a result is of one of the wanted files or folders; nothing where none is wanted."""
    inside = tuple(place for place in wanted if place.endswith("/"))
    return [float(any(one.path in wanted or one.path.startswith(inside) for one in results))] if wanted else []


def _score_prompt(prompt: Prompted, targets: Sequence[Target]) -> Scores:
    """The tokens of a prompt, and the share of the lines of the best graded targets that the prompt shows."""
    wanted = _lines(target for target in targets if target.grade >= SHOWN_GRADE)
    shown = {"lines@8k": len(wanted & _lines(prompt.lines)) / len(wanted)} if wanted else {}
    return shown | {"tokens@8k": float(prompt.tokens)}


def _lines(spans: Iterable[Span]) -> set[tuple[str, str, int]]:
    return {(one.corpus, one.path, n) for one in spans for n in range(one.start_line, one.end_line + 1)}


def _is_of(corpus: str, target: Target) -> bool:
    return target.corpus == corpus


def _rankings(
    asked: Mapping[str, GoldenQuestion],
    found: Mapping[str, Sequence[Result]],
    wanted: Callable[[Target], bool] = lambda target: True,
) -> Rankings:
    """The rankings of the questions that have wanted targets."""
    parts = {name: [target for target in one.expected if wanted(target)] for name, one in asked.items()}
    return {name: _Ranking(found[name], targets, hits_of(asked[name])) for name, targets in parts.items() if targets}


def _score_order(scores: dict[str, Scores], prefix: str, rankings: Rankings, cuts: Sequence[int]) -> None:
    measures = metrics_library()
    everything = {name: ranking.ids() for name, ranking in rankings.items()}
    _measure(scores, f"{prefix}ndcg@{CUT}", measures.nDCG @ CUT, everything, rankings)
    _measure(scores, f"{prefix}mrr@{CUT}", measures.RR @ CUT, everything, rankings)
    for cut in cuts:
        _recall(scores, f"{prefix}recall@{cut}", rankings, dict.fromkeys(rankings, cut))
    for budget in TOKEN_BUDGETS:
        depths = {name: ranking.depth_within(budget) for name, ranking in rankings.items()}
        _recall(scores, f"{prefix}recall@{budget // 1000}k", rankings, depths)


def _recall(scores: dict[str, Scores], name: str, rankings: Rankings, depths: Mapping[str, int]) -> None:
    ids = {question: ranking.ids(depths[question]) for question, ranking in rankings.items()}
    _measure(scores, name, metrics_library().SetR, ids, rankings)


def _measure(
    scores: dict[str, Scores], name: str, measure: Any, ids: Mapping[str, Sequence[str]], rankings: Rankings
) -> None:
    gains = {
        question: {_id(number): 2**target.grade - 1 for number, target in enumerate(ranking.targets)}
        for question, ranking in rankings.items()
    }
    # trec_eval orders by score; ranks counted from below keep our order.
    ranked = {q: {doc: float(len(docs) - place) for place, doc in enumerate(docs)} for q, docs in ids.items()}
    for found in metrics_library().iter_calc([measure], gains, ranked):
        scores[found.query_id][name] = float(found.value)


def _id(target: int) -> str:
    return f"target {target}"


def mean_scores(scores: Mapping[str, Scores]) -> Scores:
    """Means over the questions that have the metric; of times, p50 and p95."""
    import numpy as np

    means: Scores = {}
    for name in dict.fromkeys(name for row in scores.values() for name in row):
        values = [row[name] for row in scores.values() if name in row]
        if name in TIMES:
            kind = name.removesuffix("_ms")
            means |= {f"{kind}_p{percent}_ms": float(np.percentile(values, percent)) for percent in PERCENTILES}
        else:
            means[name] = math.fsum(values) / len(values)
    return means


def formatted(metric: str, value: float | None) -> str:
    """A value as tables show it: shares with three decimals, tokens and milliseconds as whole numbers."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if metric.startswith(("latency", "cpu", "tokens")) else f"{value:.3f}"


def by_category(scores: Mapping[str, Scores], golden: Mapping[str, GoldenQuestion]) -> dict[str, dict[str, Scores]]:
    """The questions' scores by their categories, in the order of the names."""
    groups: dict[str, dict[str, Scores]] = {}
    for name, row in scores.items():
        groups.setdefault(golden[name].category or "(none)", {})[name] = row
    return dict(sorted(groups.items()))


@dataclass(frozen=True)
class Comparison:
    """One metric of two runs; `difference` is second minus first, with how many questions gained and lost."""

    metric: str
    questions: int
    first: float
    second: float
    difference: Interval
    gained: int
    lost: int


def compare_scores(first: Mapping[str, Scores], second: Mapping[str, Scores]) -> list[Comparison]:
    """Compare every metric over the questions that both runs have it for."""
    compared = []
    for metric in dict.fromkeys(name for row in first.values() for name in row):
        both = [name for name, row in first.items() if metric in row and metric in second.get(name, {})]
        if not both:
            continue
        before, after = ([run[name][metric] for name in both] for run in (first, second))
        differences = [new - old for old, new in zip(before, after, strict=True)]
        compared.append(
            Comparison(
                metric=metric,
                questions=len(both),
                first=math.fsum(before) / len(both),
                second=math.fsum(after) / len(both),
                difference=mean_interval(differences),
                gained=sum(difference > 0 for difference in differences),
                lost=sum(difference < 0 for difference in differences),
            )
        )
    return compared
