"""The encoders that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from adk_evidence.embedding import bm25
from adk_evidence.embedding.base import Pair, SparseEncoder
from adk_evidence.embedding.minilm.model import MiniLmEmbedder
from adk_evidence.embedding.minilm.static import StaticEmbedder
from adk_evidence.embedding.minilm.weights import Report
from adk_evidence.errors import SettingsError
from adk_evidence.settings import Settings
from adk_evidence.text.identifiers import LEXICAL_VERSION

T = TypeVar("T")


def make_dense(settings: Settings, report: Report | None = None, check: Callable[[], None] | None = None) -> Pair[Any]:
    """The dense embedders of docs and code; nothing is loaded, fetched or asked before their first use.

    `report` gets a sentence before each step of the first preparation, and each wait, that takes long; `check` is
    called while a service is waited for, and may raise to stop.
    """
    dense, models = settings.embedding.dense, settings.paths.models
    match dense.provider:
        case "minilm":
            local = StaticEmbedder if dense.is_static else MiniLmEmbedder
            return Pair.of(local(dense, models, report))
        case "fastembed":
            from adk_evidence.embedding.fastembed_models import FastEmbedEmbedder

            chosen = dense.fastembed
            doc = FastEmbedEmbedder(chosen.docs_model, dense, models, report)
            if chosen.code_model == chosen.docs_model:
                return Pair.of(doc)
            return Pair(doc, FastEmbedEmbedder(chosen.code_model, dense, models, report))
        case "voyage":
            from adk_evidence.embedding.voyage import voyage_embedders
            from adk_evidence.services.voyage import VoyageService

            return voyage_embedders(VoyageService(settings, notice=report, check=check), settings)
        case "openai":
            from adk_evidence.embedding.openai import openai_embedder
            from adk_evidence.services.embeddings import EmbeddingsService

            embedding = settings.embedding
            return Pair.of(openai_embedder(EmbeddingsService(embedding, notice=report, check=check), embedding))


def make_sparse(settings: Settings, report: Report | None = None) -> SparseEncoder:
    """The sparse encoder; nothing is loaded before its first use. `report` gets a sentence before a download."""
    lexical = settings.ingestion.lexical
    if lexical.sparse_model == bm25.MODEL:
        return bm25.Bm25Encoder()
    from adk_evidence.embedding import splade

    if lexical.sparse_model == splade.MODEL:
        return splade.SpladeEncoder(settings.embedding.dense, lexical.sparse_batch_size, settings.paths.models, report)
    raise SettingsError(
        f"The sparse model {lexical.sparse_model} is not part of this build.", f"Use {bm25.MODEL} or {splade.MODEL}."
    )


def fingerprint(settings: Settings) -> dict[str, str | int]:
    """What an index and a query must have in common.

    Raises:
        SettingsError: The settings name a model that this build does not have.
    """
    sparse, dense = make_sparse(settings), make_dense(settings)
    return {
        "dense_model": _one_or_both(dense.doc.model, dense.code.model),
        "dense_dimension": _one_or_both(dense.doc.dimension, dense.code.dimension),
        "sparse_model": sparse.model,
        "lexical_version": LEXICAL_VERSION,
    }


def _one_or_both(docs: T, code: T) -> T | str:
    return docs if docs == code else f"docs {docs}, code {code}"


def voyage_usage(*parts: object) -> dict[str, Any]:
    """What Voyage's parts used since they were made, and how tokens are estimated; empty without such parts."""
    services = [service for part in parts if (service := getattr(part, "service", None)) is not None]
    if not services:
        return {}
    from adk_evidence.embedding.voyage_tokens import counter

    return {
        model: {"requests": usage.requests, "tokens": usage.tokens, "token_counter": counter(model)}
        for service in services
        for model, usage in service.meter.usage.items()
    }
