"""The encoders that the settings name."""

from __future__ import annotations

from adk_evidence.embedding.base import SparseEncoder
from adk_evidence.embedding.bm25 import MODEL as BM25
from adk_evidence.embedding.bm25 import Bm25Encoder, sparse_model_name
from adk_evidence.embedding.minilm import DIMENSION, MiniLmEmbedder, dense_model_name
from adk_evidence.embedding.weights import Report
from adk_evidence.errors import SettingsError
from adk_evidence.identifiers import LEXICAL_VERSION
from adk_evidence.settings import Settings


def make_dense(settings: Settings, report: Report | None = None) -> MiniLmEmbedder:
    """The dense embedder; nothing is loaded or fetched before its first use.

    Args:
        settings: `embedding.dense` and the home folder decide.
        report: Gets a sentence before each step of the first preparation that takes long.
    """
    return MiniLmEmbedder(settings.embedding.dense, settings.paths.models, report)


def make_sparse(settings: Settings) -> SparseEncoder:
    """The sparse encoder; nothing is loaded before its first use.

    Raises:
        SettingsError: `ingestion.lexical.sparse_model` names a model that this build does not have.
    """
    _require_bm25(settings)
    return Bm25Encoder(settings.embedding.sparse)


def fingerprint(settings: Settings) -> dict[str, str | int]:
    """What an index and a query must have in common: dense model and dimension, sparse model with parameters,
    and the version of the expansion of names.

    Raises:
        SettingsError: `ingestion.lexical.sparse_model` names a model that this build does not have.
    """
    _require_bm25(settings)
    return {
        "dense_model": dense_model_name(settings.embedding.dense),
        "dense_dimension": DIMENSION,
        "sparse_model": sparse_model_name(settings.embedding.sparse),
        "lexical_version": LEXICAL_VERSION,
    }


def _require_bm25(settings: Settings) -> None:
    model = settings.ingestion.lexical.sparse_model
    if model != BM25:
        raise SettingsError(f"The sparse model {model} is not part of this build.", f"Use {BM25}.")
