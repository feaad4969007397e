"""Compares what a caller takes an index to be embedded with, and what it is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from adk_evidence.errors import ModelError
from adk_evidence.settings import Settings
from adk_evidence_agents.operations.records import Notes
from adk_evidence_agents.operations.requests import EmbeddingConfig

_PAIR = re.compile(r"docs (?P<docs>.+), code (?P<code>.+)")


class EmbeddingMismatchError(ModelError):
    """A caller names another model or dimension than the index has."""

    code = "embedding_mismatch"


def check_embedding(config: EmbeddingConfig, fingerprint: Mapping[str, str | int], name: str) -> None:
    """Refuse a request whose embedding is not the index's: its thresholds would mean something else.

    Args:
        config: What the request says; what it leaves out is not compared.
        fingerprint: The index's.
        name: Of the index, for the sentence.

    Raises:
        EmbeddingMismatchError: Model or dimension differ.
    """
    models, dimensions = str(fingerprint["dense_model"]), str(fingerprint["dense_dimension"])
    differs = config.model is not None and _model(config.model) not in {_model(each) for each in _each(models)}
    if not differs and config.dimensions is not None:
        differs = str(config.dimensions) not in _each(dimensions)
    if differs:
        raise EmbeddingMismatchError(
            f"The index {name} is embedded with {models} ({dimensions} dimensions), not as embedding_config says.",
            "Leave embedding_config out, or index again with a profile that has that model.",
        )


def note_batch_size(config: EmbeddingConfig, settings: Settings, notes: Notes) -> None:
    """Say that another batch size than the settings' has no effect."""
    used = settings.embedding.dense.batch_size
    if config.batch_size is not None and config.batch_size != used:
        notes.note(
            "embedding_error",
            f"embedding_config.batch_size is {config.batch_size}, but batches have the {used} texts of the setting "
            "embedding.dense.batch_size.",
            "info",
        )


def _each(value: str) -> tuple[str, ...]:
    pair = _PAIR.fullmatch(value)
    return (pair["docs"], pair["code"]) if pair else (value,)


def _model(name: str) -> str:
    """A model's name without its publisher and parameters."""
    return name.partition(";")[0].rpartition("/")[2].strip().lower()
