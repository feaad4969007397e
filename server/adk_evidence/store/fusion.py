"""Fusion of rankings by Qdrant's formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from adk_evidence.store.base import Fusion, Hit

# So many standard deviations on either side of the mean are a branch's range of scores.
_DEVIATIONS = 3
# The middle of that range, where a branch's scores are all the same.
_MIDDLE = 0.5

K = TypeVar("K", bound=Hashable)


def fused(branches: Iterable[Sequence[Hit]], fusion: Fusion) -> list[Hit]:
    """All hits of all branches, the best fused score first; equal scores in the order of their ids.

    Args:
        branches: The hits of each branch, best first.
        fusion: `rrf` adds 1 / (k + rank) of each branch that has a hit, ranks counted from 0. `dbsf` adds its scores,
            scaled so that three standard deviations below a branch's mean are 0 and three above it are 1.
    """
    if fusion.method == "rrf":
        totals = reciprocal_ranks(([hit.id for hit in hits] for hits in branches), fusion.k)
    else:
        totals = _sums((zip((hit.id for hit in hits), _scaled(hits), strict=True)) for hits in branches)
    return in_order(Hit(point, score) for point, score in totals.items())


def reciprocal_ranks(orders: Iterable[Iterable[K]], k: int) -> dict[K, float]:
    """The sum of 1 / (k + rank) over all orders that have a thing, ranks counted from 0."""
    return _sums(((thing, 1 / (k + rank)) for rank, thing in enumerate(order)) for order in orders)


def _sums(shares: Iterable[Iterable[tuple[K, float]]]) -> dict[K, float]:
    totals: defaultdict[K, float] = defaultdict(float)
    for order in shares:
        for thing, share in order:
            totals[thing] += share
    return totals


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """Hits best first; equal scores in the order of their ids."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def _scaled(hits: Sequence[Hit]) -> list[float]:
    scores = [hit.score for hit in hits]
    mean = math.fsum(scores) / max(1, len(scores))
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / max(1, len(scores) - 1))
    if not deviation:
        return [_MIDDLE] * len(scores)
    return [(score - mean) / (2 * _DEVIATIONS * deviation) + _MIDDLE for score in scores]
