"""Fusion of rankings by Qdrant's formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

# The range of a ranking's scores in standard deviations: three on either side of the mean.
RANGE = 6
# The constant of reciprocal ranks for the answers of several indexes; ranks are counted from 0.
OF_INDEXES_K = 61
# The middle of that range, for rankings whose scores are all the same.
_MIDDLE = 0.5

K = TypeVar("K", bound=Hashable)


def reciprocal_ranks(rankings: Iterable[Sequence[K]], k: int) -> dict[K, float]:
    """The sum of 1 / (k + rank) for each thing over the rankings that have it; ranks are counted from 0."""
    totals: defaultdict[K, float] = defaultdict(float)
    for ranking in rankings:
        for rank, thing in enumerate(ranking):
            totals[thing] += reciprocal(rank, k)
    return totals


def reciprocal(rank: int, k: int) -> float:
    """What a ranking adds for the thing at a rank, counted from 0."""
    return 1 / (k + rank)


def distributed_scores(rankings: Iterable[Sequence[tuple[K, float]]]) -> dict[K, float]:
    """The sum of scaled scores for each thing over the rankings that have it.

    Each ranking is scaled so that three standard deviations below its mean are 0 and three above are 1.
    """
    totals: defaultdict[K, float] = defaultdict(float)
    for ranking in rankings:
        mean, deviation = distribution([score for _, score in ranking])
        for thing, score in ranking:
            totals[thing] += distributed(score, mean, deviation)
    return totals


def distribution(scores: Sequence[float]) -> tuple[float, float]:
    """The mean of a ranking's scores and their standard deviation."""
    mean = math.fsum(scores) / max(1, len(scores))
    return mean, math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / max(1, len(scores) - 1))


def distributed(score: float, mean: float, deviation: float) -> float:
    """What a ranking with such scores adds for a thing with this score."""
    return (score - mean) / (RANGE * deviation) + _MIDDLE if deviation else _MIDDLE
