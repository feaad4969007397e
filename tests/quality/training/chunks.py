"""The chunks of an index for which questions were written, and which of them may answer such a question.

A question was written for one chunk, but other chunks may answer it as well: those for which nearly the same question
was written, and neighbours and twins of the chunk. The questions of some files are held out, with all chunks of these
files.
"""

from __future__ import annotations

import functools
import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.encoders import as_built
from adk_evidence.index.opened import CurrentIndex
from adk_evidence.models.chunk import KINDS, ChunkPayload
from adk_evidence.settings import Settings
from adk_evidence.store.base import scroll_all

# A chunk with a question of at least this cosine may answer as well. Of two questions below it, most ask other things.
SAME_QUESTION = 0.72
# Chunks of one file that are nearer than this say parts of the same.
NEAR_LINES = 30
# One file of so many is held out.
HELD_OUT_FILES = 12

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Chunk:
    """A chunk, the vectors of its passages, and those of the questions that were written for it."""

    payload: ChunkPayload
    passages: FloatMatrix
    asked: FloatMatrix

    @functools.cached_property
    def key(self) -> str:
        """Its lines but for white space: twins have the same."""
        return " ".join(self.payload.body.split())

    @property
    def is_held_out(self) -> bool:
        """Whether its file is one whose questions measure an adapter."""
        return int(hashlib.sha256(self.payload.path.encode("utf-8", "replace")).hexdigest(), 16) % HELD_OUT_FILES == 0


@dataclass(frozen=True)
class Asked:
    """A question, its vector, and the place of the chunk that it was written for."""

    text: str
    vector: FloatMatrix
    chunk: int


def read_chunks(settings: Settings) -> list[Chunk]:
    """The chunks of the published index for which questions were written, docs first, by file and line.

    Raises:
        InvalidRequestError: The local model did not make the index's vectors, or the index has no written questions.
        StoreError: There is no index, or the index does not match the settings.
    """
    if settings.embedding.dense.provider != "minilm":
        raise InvalidRequestError(
            "An adapter is trained from an index whose dense model is all-MiniLM-L6-v2.",
            "Leave out --profile, or set embedding.dense.provider to minilm.",
        )
    found = []
    with closing(CurrentIndex(settings)) as current, current.pin() as index:
        if as_built(settings, index.manifest).embedding.dense.is_static:
            raise InvalidRequestError(
                "The vectors of the index are static, and adapters are trained for those of the model itself.",
                f"Set embedding.dense.precision to int8 and run `{settings.ingest_command}`.",
            )
        for kind in KINDS:
            dense, asked = settings.store.dense_vector(kind), settings.store.questions_vector(kind)
            for record in scroll_all(index.store, settings.store.collection(kind), with_vectors=True):
                passages, questions = (
                    np.atleast_2d(np.asarray(record.vectors.get(name, ()), dtype=np.float32)) for name in (dense, asked)
                )
                payload = ChunkPayload.model_validate(record.payload)
                # An index may keep the vectors of other questions; then they cannot be told apart.
                if passages.size and questions.size and len(questions) == len(payload.questions):
                    found.append(Chunk(payload, passages, questions))
    if not found:
        raise InvalidRequestError(
            "The index has no questions that were written for its chunks, so there is nothing to train from.",
            f"Set ingestion.questions to true and run `{settings.ingest_command}`.",
        )
    return sorted(
        found,
        key=lambda one: (one.payload.kind != "doc", one.payload.path, one.payload.start_line, one.payload.chunk_id),
    )


def asked_of(chunks: Sequence[Chunk], *, held_out: bool, seed: int) -> list[Asked]:
    """The questions of files that are held out, or of all others, in the seed's order; each text once."""
    found: dict[str, Asked] = {}
    for place, chunk in enumerate(chunks):
        for text, vector in zip(chunk.payload.questions, chunk.asked, strict=True):
            found.setdefault(text, Asked(text, vector, place))
    own = [one for one in found.values() if chunks[one.chunk].is_held_out == held_out]
    return sorted(own, key=lambda one: hashlib.sha256(f"{seed}:{one.text}".encode("utf-8", "replace")).digest())


class Passages:
    """The passages of all chunks, to compare vectors with; a chunk is as similar as its most similar passage."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.vectors = np.concatenate([chunk.passages for chunk in chunks])
        self.counts = np.array([len(chunk.passages) for chunk in chunks])
        self._ends = np.cumsum(self.counts)
        self._starts = self._ends - self.counts

    def compared(self, vectors: FloatMatrix) -> tuple[FloatMatrix, FloatMatrix]:
        """The similarities of vectors to each passage, and to each chunk; rows are the vectors."""
        near: FloatMatrix = vectors @ self.vectors.T
        return near, np.maximum.reduceat(near, self._starts, axis=1)

    def best_of(self, near: FloatMatrix, chunk: int) -> int:
        """The number, within a chunk, of the passage to which a vector is most similar; `near` is the vector's row."""
        return int(np.argmax(near[self._starts[chunk] : self._ends[chunk]]))


class MayAnswer:
    """Tells which chunks may answer a question as well as the one that it was written for."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._asked = np.concatenate([chunk.asked for chunk in chunks])
        self._of = np.repeat(np.arange(len(chunks)), [len(chunk.asked) for chunk in chunks])
        self._twins: dict[str, list[int]] = defaultdict(list)
        self._files: dict[str, list[int]] = defaultdict(list)
        for place, chunk in enumerate(chunks):
            self._twins[chunk.key].append(place)
            self._files[chunk.payload.path].append(place)

    def twins(self, place: int) -> Sequence[int]:
        """The chunks with the same text, the chunk itself among them."""
        return self._twins[self._chunks[place].key]

    def of(self, question: Asked) -> NDArray[np.bool_]:
        """For each chunk whether it may answer, the question's own chunk too."""
        found = np.zeros(len(self._chunks), dtype=np.bool_)
        found[self._of[self._asked @ question.vector >= SAME_QUESTION]] = True
        found[self.twins(question.chunk)] = True
        path = self._chunks[question.chunk].payload.path
        found[[other for other in self._files[path] if self._is_near(question.chunk, other)]] = True
        return found

    def _is_near(self, place: int, other: int) -> bool:
        pair = self._chunks[place].payload, self._chunks[other].payload
        first, second = sorted(pair, key=lambda payload: payload.start_line)
        return second.start_line - first.end_line < NEAR_LINES
