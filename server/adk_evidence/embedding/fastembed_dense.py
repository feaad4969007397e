"""Dense models of FastEmbed's list, computed on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adk_evidence.embedding.base import FloatMatrix, Once, encodable
from adk_evidence.embedding.fastembed_models import describe, open_model
from adk_evidence.embedding.weights import Report
from adk_evidence.settings import DenseSettings


class FastEmbedEmbedder:
    """A `DenseEmbedder` of FastEmbed's list; loaded at first use, methods may be called from threads.

    Args:
        name: The model's name in the list.
        folder: Where the user has the model, or None for the hub.
        settings: Threads, batch size and the cut in tokens.
        models: The folder of prepared models.
        report: Gets a sentence before a download.
    """

    def __init__(
        self, name: str, folder: Path | None, settings: DenseSettings, models: Path, report: Report | None = None
    ) -> None:
        self._name = name
        self._folder = folder
        self._settings = settings
        self._models = models
        self._report = report
        self._load = Once(self._open)

    @property
    def model(self) -> str:
        """Name of the model with the cut that decides a document's vector."""
        return f"{self._name};max_tokens={self._settings.max_tokens}"

    @property
    def dimension(self) -> int:
        """Length of a vector, by FastEmbed's list.

        Raises:
            SettingsError: The list does not have the model.
        """
        return int(describe("dense", self._name)["dim"])

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        """Encode chunks, cut to `max_tokens`, the longest first, so that little is computed for padding.

        Yields:
            Positions in `texts`, and their vectors, L2-normalised. Every position comes once.

        Raises:
            ModelError: The model cannot be had or does not load.
        """
        model = self._load()
        order = sorted(range(len(texts)), key=lambda position: (-len(texts[position]), position))
        size = self._settings.batch_size
        for start in range(0, len(order), size):
            positions = order[start : start + size]
            batch = [encodable(texts[position]) for position in positions]
            yield positions, _normalised(model.passage_embed(batch, batch_size=size))

    def embed_query(self, text: str) -> list[float]:
        """Encode one query; returns `dimension` floats.

        Raises:
            ModelError: The model cannot be had or does not load.
        """
        vector: list[float] = _normalised(self._load().query_embed(encodable(text)))[0].tolist()
        return vector

    def _open(self) -> Any:
        model = open_model(
            "dense",
            self._name,
            self._folder,
            self._models,
            setting="embedding.dense.fastembed",
            threads=self._settings.threads,
            report=self._report,
        )
        tokenizer = model.model.tokenizer
        tokenizer.enable_truncation(min(self._settings.max_tokens, tokenizer.truncation["max_length"]))
        return model


def _normalised(vectors: Any) -> FloatMatrix:
    matrix = np.asarray(list(vectors), dtype=np.float32)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    normalised: FloatMatrix = matrix / np.maximum(norms, np.finfo(np.float32).tiny)
    return normalised
