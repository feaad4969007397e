"""Fusion of rankings by Qdrant's formulas: of the branches of one index, and of the results of two or more indexes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

# The range of a ranking's scores in standard deviations: three on either side of the mean.
RANGE = 6
# The constant of reciprocal ranks for the answers of several indexes; ranks are counted from 0.
OF_INDEXES_K = 61
# The middle of that range, for rankings whose scores are all the same.
_MIDDLE = 0.5

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


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


@dataclass(frozen=True)
class Standing(Generic[T]):
    """How a result stands in its own index.

    Results of a lower `tier` come first, whatever else holds. `nearness` is the cosine with the question.
    """

    result: T
    tier: int
    nearness: float


@dataclass(frozen=True)
class Placed(Generic[T]):
    """A result among those of all indexes: its index, and its ranks in that index and by nearness, counted from 1."""

    result: T
    index: int
    tier: int
    own_rank: int
    near_rank: int

    @property
    def key(self) -> tuple[float, ...]:
        return (self.tier, -reciprocal_rank(self.own_rank, self.near_rank), self.own_rank, self.index)


def merged(answers: Sequence[Sequence[Standing[T]]], *, comparable: bool) -> list[Placed[T]]:
    """The results of several indexes in one order, which keeps the order of each.

    Scores of two indexes are not comparable, since the words of each are rare in their own way and the reranker scales
    what it sees. What is comparable is the place that an index gives a result, and the cosine with the question, where
    one model made the vectors of both. So the order is that of the reciprocal ranks of these two, or of the place only.
    What an index ranks behind a result of a later tier is of that tier, and what it ranks before a nearer result counts
    as just as near.

    Args:
        answers: What each index found, best first.
        comparable: Whether one model made the vectors of all.
    """
    found = []
    for index, standings in enumerate(answers):
        tiers = accumulate((one.tier for one in standings), max)
        near = [*accumulate((one.nearness for one in reversed(standings)), max)][::-1]
        for rank, (one, tier, nearness) in enumerate(zip(standings, tiers, near, strict=True), 1):
            found.append((nearness if comparable else 0.0, rank, index, tier, one.result))
    found.sort(key=lambda each: (-each[0], each[1], each[2]))
    placed = [
        Placed(result, index, tier, rank, near_rank)
        for near_rank, (_, rank, index, tier, result) in enumerate(found, 1)
    ]
    return sorted(placed, key=lambda one: one.key)


def reciprocal_rank(own_rank: int, near_rank: int) -> float:
    """What a merged result is ordered by, of its two ranks, counted from 1."""
    return reciprocal(own_rank - 1, OF_INDEXES_K) + reciprocal(near_rank - 1, OF_INDEXES_K)


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
