"""The reranker that the settings name."""

from __future__ import annotations

from adk_evidence.search.rerankers.base import Reranker
from adk_evidence.search.rerankers.cascade import CascadeReranker
from adk_evidence.search.rerankers.files import FileWeights
from adk_evidence.search.rerankers.local import LocalReranker, Weights
from adk_evidence.settings import Settings


def make_reranker(settings: Settings) -> Reranker | None:
    """The reranker of the settings, or None for the fused order; nothing is loaded or asked before its first use."""
    match settings.rerank.provider:
        case "local":
            return LocalReranker()
        case "fastembed":
            from adk_evidence.search.rerankers.fastembed import FastEmbedReranker

            return FastEmbedReranker(settings.rerank.model, settings.embedding.dense, settings.paths.models)
        case "voyage":
            from adk_evidence.search.rerankers.voyage import VoyageReranker
            from adk_evidence.services.voyage import VoyageService

            return VoyageReranker(VoyageService(settings), settings.rerank)
        case "llm":
            from adk_evidence.search.rerankers.llm import LlmReranker
            from adk_evidence.services.chat import ChatService

            llm = settings.rerank.llm
            # A whole pool would be too much for one prompt.
            model = LlmReranker(ChatService(llm), llm)
            return CascadeReranker(LocalReranker(), model, llm.max_documents, model.reword if llm.wordings else None)
        case "none":
            return None


# Chosen on 429 questions about 23 repositories in 13 languages; the weights of `Weights` itself, on the ADK's.
_OF_CODE = Weights(dense=0.3, mean=0.35)


def for_codebase(reranker: Reranker | None) -> Reranker | None:
    """The reranker for an index of other code than the ADK's: the local one goes by files there."""
    by_files = LocalReranker(_OF_CODE, FileWeights())
    if isinstance(reranker, CascadeReranker) and isinstance(reranker.first, LocalReranker):
        return reranker.after(by_files)
    return by_files if isinstance(reranker, LocalReranker) else reranker
