"""What the file of a trained adapter says of its training."""

from __future__ import annotations

from typing import Protocol

from adk_evidence import __version__
from adk_evidence.embedding.adapter import LICENSE, About, Format
from adk_evidence.embedding.minilm import MODEL
from adk_evidence.embedding.weights import MINILM_WEIGHTS, WEIGHTS


class _Plan(Protocol):
    @property
    def seed(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def tokens(self) -> int: ...


def about_training(made_for: Format, plan: _Plan, data_sha256: str, questions: int, question_tokens: int) -> About:
    """What is known before a training of the local model begins; nothing was read yet."""
    return About(
        format=made_for,
        base=MODEL,
        base_sha256=MINILM_WEIGHTS.sha256[WEIGHTS],
        rank=plan.rank,
        alpha=plan.alpha,
        tokens=plan.tokens,
        question_tokens=question_tokens,
        data_sha256=data_sha256,
        questions=questions,
        pairs=0,
        seed=plan.seed,
        license=LICENSE,
        product_version=__version__,
    )
