"""The encoders that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adk_evidence.embedding.base import Pair, SparseEncoder
from adk_evidence.embedding.bm25 import MODEL as BM25
from adk_evidence.embedding.bm25 import Bm25Encoder, sparse_model_name
from adk_evidence.embedding.minilm import DIMENSION, MiniLmEmbedder, dense_model_name
from adk_evidence.embedding.splade import MODEL as SPLADE
from adk_evidence.embedding.splade import SpladeEncoder, splade_model_name
from adk_evidence.embedding.weights import Report
from adk_evidence.errors import SettingsError
from adk_evidence.identifiers import LEXICAL_VERSION
from adk_evidence.settings import Settings


def make_dense(settings: Settings, report: Report | None = None, check: Callable[[], None] | None = None) -> Pair[Any]:
    """The dense embedders of docs and code; nothing is loaded, fetched or asked before their first use.

    Args:
        settings: `embedding` and the home folder decide.
        report: Gets a sentence before each step of the first preparation, and each wait, that takes long.
        check: Called while a service is waited for; may raise to stop.
    """
    dense = settings.embedding.dense
    match dense.provider:
        case "minilm":
            return Pair.of(MiniLmEmbedder(dense, settings.paths.models, report))
        case "fastembed":
            from adk_evidence.embedding.fastembed_dense import FastEmbedEmbedder

            def local(name: str, path: Any) -> FastEmbedEmbedder:
                return FastEmbedEmbedder(name, path, dense, settings.paths.models, report)

            chosen = dense.fastembed
            if (chosen.docs_model, chosen.docs_model_path) == (chosen.code_model, chosen.code_model_path):
                return Pair.of(local(chosen.docs_model, chosen.docs_model_path))
            return Pair(
                local(chosen.docs_model, chosen.docs_model_path), local(chosen.code_model, chosen.code_model_path)
            )
        case "voyage":
            from adk_evidence.embedding.voyage import VoyageCodeEmbedder, VoyageDocsEmbedder
            from adk_evidence.services.voyage import voyage_service

            service = voyage_service(settings, notice=report, check=check)
            voyage, batching = settings.embedding.voyage, settings.ingestion.batching
            return Pair(
                VoyageDocsEmbedder(service, voyage, batching, voyage.docs_model),
                VoyageCodeEmbedder(service, voyage, batching, voyage.code_model),
            )


def make_sparse(settings: Settings, report: Report | None = None) -> SparseEncoder:
    """The sparse encoder; nothing is loaded before its first use.

    Args:
        settings: `ingestion.lexical.sparse_model` and `embedding.sparse` decide.
        report: Gets a sentence before a download.

    Raises:
        SettingsError: `ingestion.lexical.sparse_model` names a model that this build does not have.
    """
    lexical = settings.ingestion.lexical
    if lexical.sparse_model == SPLADE:
        return SpladeEncoder(settings.embedding.sparse.splade, lexical.sparse_batch_size, settings.paths.models, report)
    _require_known(lexical.sparse_model)
    return Bm25Encoder(settings.embedding.sparse)


def fingerprint(settings: Settings) -> dict[str, str | int]:
    """What an index and a query must have in common: dense models and dimensions, sparse model with parameters,
    and the version of the expansion of names.

    Raises:
        SettingsError: The settings name a model that this build does not have.
    """
    lexical = settings.ingestion.lexical
    _require_known(lexical.sparse_model)
    sparse = settings.embedding.sparse
    dense_model, dimension = _dense_fingerprint(settings)
    sparse_model = splade_model_name(sparse.splade) if lexical.sparse_model == SPLADE else sparse_model_name(sparse)
    return {
        "dense_model": dense_model,
        "dense_dimension": dimension,
        "sparse_model": sparse_model,
        "lexical_version": LEXICAL_VERSION,
    }


def voyage_usage(*parts: object) -> dict[str, Any]:
    """What Voyage's parts used since they were made, and how tokens are estimated; empty without such parts."""
    services = [service for part in parts if (service := getattr(part, "service", None)) is not None]
    if not services:
        return {}
    from adk_evidence.embedding.voyage_tokens import counter

    used: dict[str, Any] = {}
    for service in services:
        for model, usage in service.usage.items():
            used[model] = {"requests": usage.requests, "tokens": usage.tokens, "token_counter": counter(model)}
    return used


def _dense_fingerprint(settings: Settings) -> tuple[str, str | int]:
    dense = settings.embedding.dense
    if dense.provider == "minilm":
        return dense_model_name(dense), DIMENSION
    if dense.provider == "voyage":
        from adk_evidence.embedding.voyage import voyage_model_name

        voyage = settings.embedding.voyage
        names = [voyage_model_name(name, voyage) for name in (voyage.docs_model, voyage.code_model)]
        return _one_or_both(names), voyage.dimension
    from adk_evidence.embedding.fastembed_dense import dense_dimension, fastembed_model_name

    chosen = (dense.fastembed.docs_model, dense.fastembed.code_model)
    dimensions = [dense_dimension(name) for name in chosen]
    both = dimensions[0] if len(set(dimensions)) == 1 else f"docs {dimensions[0]}, code {dimensions[1]}"
    return _one_or_both([fastembed_model_name(name, dense) for name in chosen]), both


def _one_or_both(names: list[str]) -> str:
    return names[0] if len(set(names)) == 1 else f"docs {names[0]}, code {names[1]}"


def _require_known(model: str) -> None:
    if model not in (BM25, SPLADE):
        raise SettingsError(f"The sparse model {model} is not part of this build.", f"Use {BM25} or {SPLADE}.")
