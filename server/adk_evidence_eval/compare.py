"""Two runs over the same questions: paired differences with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.score import Scores


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
    metrics = dict.fromkeys(name for row in first.values() for name in row)
    compared = []
    for metric in metrics:
        pairs = [
            (row[metric], second[name][metric])
            for name, row in first.items()
            if metric in row and metric in second.get(name, {})
        ]
        if not pairs:
            continue
        differences = [after - before for before, after in pairs]
        compared.append(
            Comparison(
                metric=metric,
                questions=len(pairs),
                first=math.fsum(before for before, _ in pairs) / len(pairs),
                second=math.fsum(after for _, after in pairs) / len(pairs),
                difference=mean_interval(differences),
                gained=sum(difference > 0 for difference in differences),
                lost=sum(difference < 0 for difference in differences),
            )
        )
    return compared
