"""The dense model of ranked targets: the active profile's, or Gemini."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.embedding.factory import make_dense
from adk_evidence.embedding.weights import Report
from adk_evidence.settings import Settings


class TargetEmbedder(Protocol):
    """What building and searching targets ask of a dense model."""

    @property
    def model(self) -> str:
        """Name of the model with all that changes its vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        """Batches of positions in `texts` with their vectors; every position comes once."""

    def embed_query(self, text: str) -> list[float]:
        """Encode one query."""


def make_target_embedder(settings: Settings, report: Report | None = None) -> TargetEmbedder:
    """The dense model that `targets.embedding` names, the one for code where a profile has two.

    Nothing is loaded before its first use.

    Args:
        settings: `targets.embedding`, `embedding` and the home folder decide.
        report: Gets a sentence before each step of the first preparation that takes long.
    """
    if settings.targets.embedding == "gemini":
        from adk_evidence.embedding.gemini import GeminiEmbedder

        return GeminiEmbedder(settings.embedding.gemini)
    # Symbols and what is said of them are code to the models that tell the two apart.
    embedder: TargetEmbedder = make_dense(settings, report).code
    return embedder
