"""The dense model of ranked targets: the active profile's, or Gemini."""

from __future__ import annotations

from adk_evidence.embedding.base import DenseEmbedder
from adk_evidence.embedding.factory import make_dense
from adk_evidence.embedding.weights import Report
from adk_evidence.settings import Settings


def make_target_embedder(settings: Settings, report: Report | None = None) -> DenseEmbedder:
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
    embedder: DenseEmbedder = make_dense(settings, report).code
    return embedder
