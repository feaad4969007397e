"""What the pipeline asks of an encoder, dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatMatrix = NDArray[np.float32]


@dataclass(frozen=True)
class SparseVector:
    """A sparse vector: unique indices in ascending order, values of the same length."""

    indices: tuple[int, ...]
    values: tuple[float, ...]

    def __bool__(self) -> bool:
        return bool(self.indices)


class DenseEmbedder(Protocol):
    """Encodes texts into one dense space."""

    @property
    def model(self) -> str:
        """Name of the model, part of the index's fingerprint and of the cache's key."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        """Encode chunks; returns shape (len(texts), dimension), L2-normalised.

        Raises:
            ModelError: The model cannot be loaded.
        """

    def embed_query(self, text: str) -> list[float]:
        """Encode one query; returns `dimension` floats."""


class SparseEncoder(Protocol):
    """Encodes lexical text into sparse vectors."""

    @property
    def model(self) -> str:
        """Name of the model and of the parameters that change its vectors."""

    @property
    def requires_idf(self) -> bool:
        """Whether the store must apply its IDF modifier."""

    def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        """Encode lexical texts of kind `doc` or `code`."""

    def encode_query(self, text: str) -> SparseVector:
        """Encode one query's lexical text."""
