"""Whether `quality` tells the questions that the corpora cannot answer from those that they can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from adk_evidence.evaluation.golden import GoldenQuestion
from adk_evidence.evaluation.run import Answer
from adk_evidence.models.pack import QualityLevel

LEVELS: tuple[QualityLevel, ...] = get_args(QualityLevel)


@dataclass(frozen=True)
class Abstention:
    """What happens to a caller who takes `level`, and whatever is worse, for a refusal.

    `refusal_recall` is the share of unanswerable questions that are refused, `false_refusals` that of answerable
    ones; None where there are no such questions.
    """

    level: QualityLevel
    refusal_recall: float | None
    false_refusals: float | None


def abstention(run: Mapping[str, Answer], golden: Mapping[str, GoldenQuestion]) -> list[Abstention]:
    """One row for each level but the best, from worst to best; empty where the run does not carry `quality`."""
    places = {
        name: LEVELS.index(answer.quality)
        for name, answer in run.items()
        if name in golden and answer.quality is not None
    }
    if not places:
        return []
    answerable = [place for name, place in places.items() if golden[name].answerable]
    unanswerable = [place for name, place in places.items() if not golden[name].answerable]
    return [
        Abstention(level, _share(unanswerable, at_most), _share(answerable, at_most))
        for at_most, level in enumerate(LEVELS[:-1])
    ]


def _share(places: list[int], at_most: int) -> float | None:
    return sum(place <= at_most for place in places) / len(places) if places else None
