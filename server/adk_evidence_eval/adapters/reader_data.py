"""What a reader is trained from: written questions, the passage that answers each, and passages that only seem to.

The questions are those of the index, never those of a labelled set. Each comes with the chunks that dense vectors and
BM25 rank first for it, but for those that may answer as well: hard negatives. Of a chunk without questions, such as an
entry of the API reference or a page for readers of Java, nobody can say whether it answers: it takes no part.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.base import FloatMatrix, SparseEncoder
from adk_evidence.identifiers import query_lexical_text
from adk_evidence.models.chunk import KINDS
from adk_evidence.search.rerank.local import Weights
from adk_evidence.search.rerank.reader import passage_text
from adk_evidence_eval.adapters.chunks import Asked, Chunk, MayAnswer, Passages, Tell, asked_of

# Of a question's chunks of each kind, and of both together.
POOL_OF_KIND = 30
POOL = 30
# As many hard negatives are kept of a question; each step of the training draws some of them.
NEGATIVES = 20
LEAST_NEGATIVES = 5
# At most so many questions of held-out files are asked.
HELD_OUT_QUESTIONS = 120
_BATCH = 128

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A question, the text that answers it and texts that do not, best first, by their places in the list of texts."""

    question: str
    positive: int
    negatives: tuple[int, ...]


@dataclass(frozen=True)
class HeldOut:
    """A question of a held-out file: its pool, best first, the pool's scores, and the place of what answers."""

    question: str
    pool: tuple[int, ...]
    scores: tuple[float, ...]
    right: int


@dataclass(frozen=True)
class TrainingData:
    """Texts, each once, and what refers to them."""

    texts: Sequence[str]
    examples: Sequence[Example]
    held_out: Sequence[HeldOut]

    @property
    def choosing(self) -> Sequence[HeldOut]:
        """The held-out questions that choose among the states of a training: one of three."""
        return self.held_out[: -(-len(self.held_out) // 3)]

    @property
    def measuring(self) -> Sequence[HeldOut]:
        """The held-out questions that chose nothing, so that what is measured with them is no luck of the choice."""
        return self.held_out[len(self.choosing) :]

    @functools.cached_property
    def sha256(self) -> str:
        """The hash of all texts and of everything that refers to them."""
        digest = hashlib.sha256()
        for part in (self.texts, [vars(one) for one in (*self.examples, *self.held_out)]):
            for row in part:
                digest.update(json.dumps(row).encode() + b"\n")
        return digest.hexdigest()


def training_data(
    chunks: Sequence[Chunk],
    encoder: SparseEncoder,
    *,
    questions: int | None = None,
    seed: int = 0,
    tell: Tell = lambda sentence: None,
) -> TrainingData:
    """Examples and held-out questions; the same chunks, number and seed give the same data.

    Args:
        chunks: The chunks, in a fixed order.
        encoder: Makes the terms of BM25.
        questions: How many examples are made at most; None for all.
        seed: Decides which ones, and their order. Which questions are held out does not depend on it.
        tell: Gets a sentence from time to time.
    """
    search = _Search(chunks, encoder)
    train, held = (asked_of(chunks, held_out=held, seed=0 if held else seed) for held in (False, True))
    texts, may = _Texts(chunks), MayAnswer(chunks)
    wanted = [*held[:HELD_OUT_QUESTIONS], *train[:questions]]
    examples, held_out = list[Example](), list[HeldOut]()
    for done, (question, pool) in enumerate(search.pools(wanted), 1):
        if chunks[question.chunk].is_held_out:
            if (one := _held_out(chunks, question, pool, texts)) is not None:
                held_out.append(one)
        elif (example := _example(chunks, question, pool, texts, may)) is not None:
            examples.append(example)
        if done % 1000 == 0 or done == len(wanted):
            tell(f"training data: {done:,} of {len(wanted):,} questions")
    return TrainingData(texts.made, examples, held_out)


@dataclass(frozen=True)
class _Found:
    """A chunk of a pool, by place, its passage that is nearest to the question, and the score of the chunk."""

    chunk: int
    passage: int
    score: float


class _Texts:
    """The texts of passages, each once, in the order in which they are first asked for."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._places: dict[str, int] = {}

    @property
    def made(self) -> list[str]:
        return list(self._places)

    def place(self, found: _Found) -> int:
        text = passage_text(self._chunks[found.chunk].payload, found.passage)
        return self._places.setdefault(text, len(self._places))


class _Search:
    """The dense and sparse scores of all chunks for a question; unlike an index, without the words of its questions."""

    def __init__(self, chunks: Sequence[Chunk], encoder: SparseEncoder) -> None:
        self._encoder = encoder
        self._passages = Passages(chunks)
        kinds = [chunk.payload.kind for chunk in chunks]
        self._kinds = [np.flatnonzero([kind == one for kind in kinds]) for one in KINDS if one in kinds]
        self._postings = _postings(chunks, encoder)
        self._weights = Weights()

    def pools(self, questions: Sequence[Asked]) -> Iterator[tuple[Asked, list[_Found]]]:
        """The pool of each question, best first; the question's own chunk is last where the search does not find it."""
        for start in range(0, len(questions), _BATCH):
            batch = questions[start : start + _BATCH]
            near, best = self._passages.compared(np.stack([one.vector for one in batch]))
            for row, question in enumerate(batch):
                yield question, self._pool(question, near[row], best[row])

    def _pool(self, question: Asked, near: FloatMatrix, best: FloatMatrix) -> list[_Found]:
        words = self._sparse(question.text, len(best))
        scores = np.full(len(best), -np.inf)
        chosen: list[int] = []
        for members in self._kinds:
            own = self._weights.dense * _standard(best[members]) + self._weights.sparse * _standard(words[members])
            scores[members] = own
            # Stable, so that equal scores keep the order of the chunks on every machine.
            chosen += members[np.argsort(-own, kind="stable")[:POOL_OF_KIND]].tolist()
        order = sorted(chosen, key=lambda place: (-scores[place], place))[:POOL]
        if question.chunk not in order:
            order.append(question.chunk)
        return [_Found(place, self._passages.best_of(near, place), float(scores[place])) for place in order]

    def _sparse(self, text: str, chunks: int) -> Floats:
        scores = np.zeros(chunks)
        for term in self._encoder.encode_query(query_lexical_text(text)).indices:
            if term in self._postings:
                places, weights = self._postings[term]
                scores[places] += weights
        return scores


def _postings(chunks: Sequence[Chunk], encoder: SparseEncoder) -> Mapping[int, tuple[NDArray[np.int64], Floats]]:
    """For each term the places of the chunks that hold it, and the term's weights there times its rarity."""
    held: dict[int, list[tuple[int, float]]] = {}
    for place, chunk in enumerate(chunks):
        [vector] = encoder.encode_documents([query_lexical_text(chunk.payload.searched_text)], chunk.payload.kind)
        for term, weight in zip(vector.indices, vector.values, strict=True):
            held.setdefault(term, []).append((place, weight))
    postings = {}
    for term, found in held.items():
        places, weights = zip(*found, strict=True)
        rarity = np.log1p((len(chunks) - len(found) + 0.5) / (len(found) + 0.5))
        postings[term] = np.array(places), np.array(weights) * rarity
    return postings


def _standard(values: NDArray[np.floating]) -> Floats:
    spread = values.std(dtype=np.float64)
    return (values - values.mean(dtype=np.float64)) / spread if spread else np.zeros(len(values))


def _example(
    chunks: Sequence[Chunk], question: Asked, pool: Sequence[_Found], texts: _Texts, may: MayAnswer
) -> Example | None:
    """The example of a question, or None where too few chunks are surely wrong."""
    [own] = [found for found in pool if found.chunk == question.chunk]
    # Of what a held-out file says, the training must know nothing.
    right = may.of(question)
    wrong = [found for found in pool if not (right[found.chunk] or chunks[found.chunk].is_held_out)]
    if len(wrong) < LEAST_NEGATIVES:
        return None
    negatives = tuple(texts.place(found) for found in itertools.islice(wrong, NEGATIVES))
    return Example(question.text, texts.place(own), negatives)


def _held_out(chunks: Sequence[Chunk], question: Asked, pool: Sequence[_Found], texts: _Texts) -> HeldOut | None:
    """The held-out question, or None where the search does not find its chunk, so that no order could be right."""
    twins = chunks[question.chunk].key
    found = [one for one in pool[:POOL] if one.chunk == question.chunk or chunks[one.chunk].key != twins]
    right = [place for place, one in enumerate(found) if one.chunk == question.chunk]
    if not right or len(found) < 2:
        return None
    scores = tuple(round(one.score, 6) for one in found)
    return HeldOut(question.text, tuple(texts.place(one) for one in found), scores, right[0])
