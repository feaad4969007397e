"""The reranker that the settings name."""

from __future__ import annotations

from adk_evidence.retrieval.rerank.base import Reranker
from adk_evidence.retrieval.rerank.local import LocalReranker
from adk_evidence.settings import Settings


def make_reranker(settings: Settings) -> Reranker | None:
    """The reranker of the settings, or None for the fused order; nothing is loaded or asked before its first use."""
    match settings.rerank.provider:
        case "local":
            return LocalReranker()
        case "fastembed":
            from adk_evidence.retrieval.rerank.fastembed import FastEmbedReranker

            return FastEmbedReranker(settings.rerank, settings.paths.models)
        case "voyage":
            from adk_evidence.embedding.voyage_service import voyage_service
            from adk_evidence.retrieval.rerank.voyage import VoyageReranker

            return VoyageReranker(voyage_service(settings), settings.rerank)
        case "llm":
            from adk_evidence.retrieval.rerank.cascade import CascadeReranker
            from adk_evidence.retrieval.rerank.chat import ChatService
            from adk_evidence.retrieval.rerank.llm import LlmReranker

            llm = settings.rerank.llm
            # A whole pool would be too much for one prompt.
            model = LlmReranker(ChatService(llm), llm, settings.rerank.cache_entries)
            return CascadeReranker(LocalReranker(), model, llm.max_documents)
        case "none":
            return None
