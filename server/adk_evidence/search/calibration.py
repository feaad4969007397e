"""What the cosines of a dense model mean: from where on a result is about a question, and supports it.

The values belong to a model as its weights do, and are known for MiniLM alone, whose passages they were chosen for. No
other model's answers are judged by their cosines, nor those of static vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from adk_evidence.models.base import Frozen
from adk_evidence.settings import Settings


class SupportWeights(Frozen):
    """The weights of `support.Measures` in a logistic model, and what an answer of high quality needs."""

    bias: float
    coverage: float
    pairs: float
    similarity: float
    words: float
    absent: float
    # From this support on, a result is strong and an answer of high quality.
    high: float
    # Where no result is as similar as this, quality is not high; chosen by hand, not fitted.
    nearest: float


@dataclass(frozen=True)
class Calibration:
    """The thresholds of one dense model.

    Attributes:
        weak: A best similarity below this counts as a weak first pass.
        relevant: From this similarity on, a result is about the question.
        adapted_below: How much lower the cosines of adapted questions are, where they are compared with `relevant` or
            with those of another index; the other thresholds hold for both.
        support: How far results support a question.
    """

    weak: float
    relevant: float
    adapted_below: float
    support: SupportWeights


MINILM = Calibration(
    weak=0.25,
    # Below it are the best results of 7 of 8 questions about other things, of 3 of 16 about the ADK without an answer,
    # and of 1 of 129 with one.
    relevant=0.4,
    # On 116 questions with an answer, the median of the best was .513 instead of .586 with the first adapter.
    adapted_below=0.06,
    # Fitted to one half of config/golden and of 51 other questions with an answer.
    support=SupportWeights(
        bias=-10.389,
        coverage=3.173,
        pairs=2.506,
        similarity=4.949,
        words=1.679,
        absent=-1.28,
        high=0.263,
        nearest=0.43,
    ),
)


def calibration_of(settings: Settings) -> Calibration | None:
    """The thresholds of the dense model that the settings name; None where nobody knows them."""
    dense = settings.embedding.dense
    return MINILM if dense.provider == "minilm" and not dense.is_static else None


@dataclass(frozen=True)
class Measures:
    """What the model goes by; `MEASURES` has the names in the order in which they are fitted.

    `coverage` and `pairs` are shares, 0 to 1, `similarity` is a cosine, `words` the logarithm of the number of words
    that count (of a long question less is covered), `absent` the number of words that stand nowhere in the index.
    """

    coverage: float
    pairs: float
    similarity: float
    words: float
    absent: float

    def score(self, weights: SupportWeights) -> float:
        """The support as a probability."""
        total = weights.bias + sum(getattr(weights, name) * getattr(self, name) for name in MEASURES)
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, total))))


MEASURES = tuple(Measures.__dataclass_fields__)


@dataclass(frozen=True)
class Support:
    """How far the results of one question support it.

    `score` is the support by all results together, and `by_result` the support by each alone, by point id. Supports are
    0 to 1 where the settings have weights for the model, else None and empty. `absent` words stand nowhere in the
    index. `weights` has the question's words, each with how rare the word is in the index.
    """

    measures: Measures
    score: float | None = None
    by_result: Mapping[str, float] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
