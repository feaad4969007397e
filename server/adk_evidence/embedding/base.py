"""The protocols of encoders, dense and sparse, and the types of what they make."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from adk_evidence.models.chunk import Kind

FloatMatrix = NDArray[np.float32]
T = TypeVar("T")


@dataclass(frozen=True)
class SparseVector:
    """A sparse vector: unique indices in ascending order, values of the same length."""

    indices: tuple[int, ...]
    values: tuple[float, ...]

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> SparseVector:
        indices = sorted(weights)
        return cls(tuple(indices), tuple(weights[index] for index in indices))

    def __bool__(self) -> bool:
        return bool(self.indices)


class Once(Generic[T]):
    """Makes a value at the first call, for all threads; where making it fails, the next call tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: T | None = None

    def __call__(self) -> T:
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = self._make()
        return self._made


class DenseEmbedder(Protocol):
    """Encodes texts into one dense space. Nothing is loaded or asked before the first text; threads may share it.

    Its methods raise `ModelError` where the model cannot be loaded, or the service behind it does not answer.
    """

    @property
    def model(self) -> str:
        """Name of the model with all that decides its vectors: part of an index's fingerprint and of cache keys."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        """Encode chunks batch by batch, in an order of its choice; the caller may stop between two batches.

        Yields:
            Positions in `texts`, and their vectors, shape (len(positions), dimension). Every position comes once.
        """

    def embed_query(self, text: str) -> list[float]:
        """Encode one query; returns `dimension` floats."""


class QuestionEmbedder(Protocol):
    """A dense embedder that also encodes questions about the ADK so that they are nearer to what answers them."""

    @property
    def question_model(self) -> str:
        """Name of what encodes them."""

    def embed_question(self, text: str) -> list[float]:
        """Encode one question into the space of the texts."""


def question_embedder(embedder: DenseEmbedder) -> QuestionEmbedder | None:
    """The embedder, if it is one of questions as well."""
    return cast("QuestionEmbedder", embedder) if hasattr(embedder, "embed_question") else None


@dataclass(frozen=True)
class ContextBatch:
    """Neighbouring chunks of one file, embedded together so that each vector knows its surroundings.

    Attributes:
        texts: The chunks' texts, in the file's order.
        own: Positions in `texts` whose vectors are taken from this batch; the other texts only give context.
    """

    texts: tuple[str, ...]
    own: tuple[int, ...]

    @cached_property
    def keys(self) -> list[str]:
        """The cache keys of the own chunks' vectors: a vector depends on all texts of its batch."""
        digest = hashlib.sha256()
        for text in self.texts:
            # The length separates two texts, whatever they hold.
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
        return [hashlib.sha256(f"{digest.hexdigest()}:{position}".encode()).hexdigest() for position in self.own]


@runtime_checkable
class ContextualEmbedder(Protocol):
    """A dense embedder whose vectors of a chunk depend on the chunks around it."""

    def context_batches(self, texts: Sequence[str]) -> list[ContextBatch]:
        """Split a file's chunk texts, in order; every chunk is some batch's own exactly once."""

    def iter_embed_contexts(self, batches: Sequence[ContextBatch]) -> Iterator[tuple[list[int], list[FloatMatrix]]]:
        """Positions in `batches` with the vectors of their own chunks, a request at a time."""


@dataclass(frozen=True)
class Cost:
    """What embedding takes of a paid service.

    Attributes:
        usd: US dollars; None where the settings name no price.
        least_seconds: What the account's rate makes it take at the least.
    """

    requests: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    least_seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        seconds = self.least_seconds + other.least_seconds
        return Cost(self.requests + other.requests, self.tokens + other.tokens, usd, seconds)


@runtime_checkable
class PaidEmbedder(Protocol):
    """A dense embedder that costs money."""

    cap: float

    def estimate(self, inputs: Sequence[str] | Sequence[ContextBatch]) -> Cost:
        """What `iter_embed` or `iter_embed_contexts` would take for these inputs."""

    def spent(self) -> Cost:
        """What was used of the model so far, as the service counted it."""

    def close(self) -> None:
        """Close the service's connections."""


@dataclass(frozen=True)
class Pair(Generic[T]):
    """One dense embedder for docs and one for code; the same object where both share one vector space."""

    doc: T
    code: T

    @classmethod
    def of(cls, embedder: T | Pair[T]) -> Pair[T]:
        """A pair as it is, or one embedder for both kinds."""
        return embedder if isinstance(embedder, Pair) else cls(embedder, embedder)

    @property
    def shared(self) -> bool:
        """Whether docs and code lie in one vector space."""
        return self.doc is self.code

    @property
    def each(self) -> tuple[T, ...]:
        """The different embedders."""
        return (self.doc,) if self.shared else (self.doc, self.code)

    def __getitem__(self, kind: Kind) -> T:
        return self.doc if kind == "doc" else self.code


class SparseEncoder(Protocol):
    """Encodes lexical text into sparse vectors. Nothing is loaded before the first text; threads may share it."""

    @property
    def model(self) -> str:
        """Name of the model and of the parameters that change its vectors."""

    @property
    def requires_idf(self) -> bool:
        """Whether the store must apply its IDF modifier."""

    @property
    def exact_terms(self) -> bool:
        """Whether a term stands for one word, so that a word without hits is nowhere in the index.

        Such encoders only count words; other encoders run a model, and their vectors are worth keeping.
        """

    def has_terms(self, text: str) -> bool:
        """Whether a lexical text holds a term at all; this runs for every chunk, so it loads no model.

        Where it is false, the vector is empty. Where it is true, the vector of a learned model may still be empty.
        """

    def encode_documents(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        """Encode lexical texts of kind `doc` or `code`; a text without terms gives an empty vector."""

    def encode_query(self, text: str) -> SparseVector:
        """Encode one query's lexical text."""


def encodable(text: str) -> str:
    """The text with each lone surrogate replaced: models take only what UTF-8 can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
