"""Scores of a run against graded spans: a result hits a target when their lines overlap by half of the shorter.

Metrics are those of SPEC 5 section 13.2, taken over spans instead of documents: recall and reciprocal rank of
Voorhees (TREC QA), nDCG of Järvelin and Kekäläinen (2002) with gain `2^grade - 1`. A target counts once, for the
first result that hits it; a result that hits several counts the sum of their gains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from adk_evidence.errors import InvalidRequestError
from adk_evidence.evaluation.lines import Row, read_rows

MIN_OVERLAP = 0.5


class Target(BaseModel):
    """A graded span; lines are 1-based and inclusive."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    corpus: str
    path: str
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)
    grade: int = Field(default=1, ge=1)


class Result(BaseModel):
    """One line of evidence in a run."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    corpus: str
    path: str
    start_line: int
    end_line: int
    text_tokens: int = 0


def hits(result: Result, target: Target) -> bool:
    """Whether a result covers a target."""
    if (result.corpus, result.path) != (target.corpus, target.path):
        return False
    shared = min(result.end_line, target.end_line) - max(result.start_line, target.start_line) + 1
    shorter = min(result.end_line - result.start_line, target.end_line - target.start_line) + 1
    return shared >= MIN_OVERLAP * shorter


def score_query(results: Sequence[Result], targets: Sequence[Target]) -> dict[str, float]:
    """Metrics of one question; `targets` is not empty."""
    first: dict[int, int] = {}
    for rank, result in enumerate(results):
        for number, target in enumerate(targets):
            if number not in first and hits(result, target):
                first[number] = rank
    gains: dict[int, float] = {}
    for number, rank in first.items():
        gains[rank] = gains.get(rank, 0.0) + 2.0 ** targets[number].grade - 1
    ideal = sorted((2.0**target.grade - 1 for target in targets), reverse=True)[:12]
    best = sum(gain / math.log2(place + 2) for place, gain in enumerate(ideal))
    reached = sum(gain / math.log2(rank + 2) for rank, gain in gains.items() if rank < 12)
    scores = {"ndcg@12": min(1.0, reached / best)}
    early = [rank for rank in first.values() if rank < 12]
    scores["mrr@12"] = 1 / (min(early) + 1) if early else 0.0
    for k in (5, 12, 20, 50):
        scores[f"recall@{k}"] = sum(rank < k for rank in first.values()) / len(targets)
    for budget in (2000, 4000, 8000):
        depth = _depth_within(results, budget)
        scores[f"recall@{budget // 1000}k"] = sum(rank < depth for rank in first.values()) / len(targets)
    for corpus in ("adk_docs", "adk_python"):
        mine = [number for number, target in enumerate(targets) if target.corpus == corpus]
        if mine:
            scores[f"{corpus}:recall@12"] = sum(first.get(number, 99) < 12 for number in mine) / len(mine)
    return scores


def _depth_within(results: Sequence[Result], budget: int) -> int:
    spent = 0
    for depth, result in enumerate(results):
        spent += result.text_tokens
        if spent > budget:
            return depth
    return len(results)


def score_run(run: Mapping[str, Sequence[Result]], golden: Mapping[str, Sequence[Target]]) -> dict[str, float]:
    """Means over all questions with targets; a question that the run lacks counts zero."""
    rows = [score_query(run.get(name, ()), targets) for name, targets in golden.items() if targets]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _mean([row[name] for row in rows if name in row]) for name in names}


class _Expected(Row):
    expected: tuple[Target, ...] = ()


class _Answer(Row):
    results: tuple[Result, ...]


def read_golden(path: Path) -> dict[str, Sequence[Target]]:
    """Targets by question id.

    Raises:
        InvalidRequestError: The file cannot be read, a line is no question, or no question has a target.
    """
    hint = 'Each line is {"id": "...", "expected": [{"corpus", "path", "start_line", "end_line", "grade"}]}.'
    golden: dict[str, Sequence[Target]] = {row.id: row.expected for row in read_rows(path, _Expected, hint).values()}
    if not any(golden.values()):
        raise InvalidRequestError(f"No question of {path} says what is expected.", hint)
    return golden


def read_run(path: Path) -> dict[str, Sequence[Result]]:
    """Results by question id.

    Raises:
        InvalidRequestError: The file cannot be read, or a line is no answer.
    """
    hint = "Write the run with `adk-evidence eval run`."
    return {row.id: row.results for row in read_rows(path, _Answer, hint).values()}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
