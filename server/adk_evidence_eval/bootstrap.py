"""Bootstrap intervals of means over questions, and with them of paired differences (Sakai, SIGIR 2006)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 10_000
CONFIDENCE = 0.95
SEED = 13


@dataclass(frozen=True)
class Interval:
    """A mean, and the percentile interval of the means of resampled questions."""

    mean: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """1 or -1 where the whole interval lies above or below zero, else 0."""
        return (self.low > 0) - (self.high < 0)


def mean_interval(values: Sequence[float]) -> Interval:
    """The interval of the mean of one value per question. The seed is fixed, so the same values give the same interval.

    For a paired comparison give each question's difference. `values` is not empty.
    """
    import numpy as np

    sample = np.asarray(values, dtype=np.float64)
    means = sample[_resamples(len(sample))].mean(axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(sample.mean()), float(low), float(high))


@functools.lru_cache(maxsize=4)
def _resamples(size: int) -> NDArray[np.int32]:
    import numpy as np

    return np.random.default_rng(SEED).integers(0, size, (RESAMPLES, size), dtype=np.int32)
