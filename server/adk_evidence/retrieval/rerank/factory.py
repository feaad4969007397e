"""The reranker that the settings name."""

from __future__ import annotations

from adk_evidence.retrieval.rerank.base import Reranker
from adk_evidence.retrieval.rerank.local import LocalReranker
from adk_evidence.settings import Settings


def make_reranker(settings: Settings) -> Reranker | None:
    """The reranker of the settings, or None for the fused order."""
    return LocalReranker() if settings.rerank.provider == "local" else None
