"""Searches for targets: by words, by meaning, and by both (ranked-target-search sections 3.4 and 4)."""

from __future__ import annotations

import asyncio
import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.embedding.bm25 import Bm25Encoder
from adk_evidence.identifiers import expand_identifiers, query_lexical_text
from adk_evidence.settings import SparseSettings
from adk_evidence.symbols.targets.model import Match, RankedTarget, Scored, Target, Why
from adk_evidence.symbols.targets.names import TargetNames, Typed, compact, typed_as

# Of a name in a document against a word of its docstring.
NAME_REPEATS = 3
# Below these similarities a word, or a whole name, is another one and no slip.
SIMILAR_WORD = 0.75
SIMILAR_NAME = 0.8
MIN_FUZZY_CHARS = 4
CORRECTIONS = 3
# How far the rank of a target raises its score: in the lexical list, and in the fused one.
LEXICAL_BOOST = 1.0
FUSED_BOOST = 0.5
# Of members, for a question in words: it rather means the class that does something than one method of it.
MEMBER_WEIGHT = 0.9
FUSED_DEPTH = 50
# What the lexical and the vector list count by what the query was typed as.
WEIGHTS: Mapping[Typed, tuple[float, float]] = {"name": (1.0, 0.3), "code": (1.0, 0.6), "natural": (1.0, 1.0)}

# Matches that no similarity of meaning outdoes.
_BY_NAME = ("exact", "similar_name")
_MEMBER_NAME = re.compile(r"^(?:class )?(\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")


class SearchProvider(Protocol):
    """Finds targets for a query."""

    def rank(self, query: str, limit: int) -> list[Scored]:
        """The best `limit` targets, best first.

        Raises:
            ModelError: The dense model cannot answer.
        """

    async def search(self, query: str, limit: int = 5) -> list[RankedTarget]:
        """The same off the event loop, as results."""


Present = Callable[[Sequence[Scored]], list[RankedTarget]]


class _Provider:
    def __init__(self, present: Present) -> None:
        self._present = present

    def rank(self, query: str, limit: int) -> list[Scored]:
        raise NotImplementedError

    async def search(self, query: str, limit: int = 5) -> list[RankedTarget]:
        """The best `limit` targets; the work is done in a thread."""
        return await asyncio.to_thread(lambda: self._present(self.rank(query, limit)))


class LexicalSearchProvider(_Provider):
    """BM25 over names, docstrings and signatures, with look-ups by name and corrected slips.

    Exact names come first, then beginnings of names, then names that differ by a slip, then words.

    Args:
        targets: In the order of their rank.
        names: Of the same targets.
        settings: Of the BM25 encoder.
        present: Makes results.
    """

    def __init__(
        self, targets: Sequence[Target], names: TargetNames, settings: SparseSettings, present: Present
    ) -> None:
        super().__init__(present)
        self._names = names
        self._boost = np.array([1 + LEXICAL_BOOST * target.score for target in targets], dtype=np.float32)
        texts = [_lexical_text(target) for target in targets]
        lengths = [len(_WORD.findall(text)) for text in texts]
        average = max(1.0, sum(lengths) / max(1, len(lengths)))
        self._encoder = Bm25Encoder(settings.model_copy(update={"avg_len_code": average}))
        self._postings = self._invert(texts)
        self._count = len(targets)
        self._vocabulary = sorted({word for text in texts for word in _WORD.findall(text) if len(word) > 2})
        self._known = set(self._vocabulary)
        self._compact_names: dict[str, list[int]] = defaultdict(list)
        for place, target in enumerate(targets):
            self._compact_names[compact(target.name)].append(place)
        self._name_keys = [key for key in self._compact_names if len(key) >= MIN_FUZZY_CHARS]

    def rank(self, query: str, limit: int) -> list[Scored]:
        """The best `limit` targets; a score above 1 is one of a name."""
        by_name = self._names.look_up(query, limit)
        found = {item.place: item for item in by_name.scored()}
        if not by_name.exact:
            for place, similarity in self._similar_names(query):
                _keep(found, place, 1.0 + similarity, "similar_name")
        for place, score in self.words(query, limit):
            _keep(found, place, score, "words")
        best = sorted(found.values(), key=lambda item: -item.score)[:limit]
        return [
            replace(item, why=item.why.model_copy(update={"lexical_rank": rank, "lexical_score": round(item.score, 4)}))
            for rank, item in enumerate(best, 1)
        ]

    def words(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Places and BM25 scores from 0 to 1 by the query's words, those with slips corrected."""
        scores = np.zeros(self._count, dtype=np.float32)
        for word, weight in self._corrected(query).items():
            for term in self._encoder.encode_query(word).indices:
                posting = self._postings.get(term)
                if posting is not None:
                    scores[posting[0]] += weight * posting[1]
        scores *= self._boost
        places = _best(scores, limit)
        top = float(scores[places[0]]) if len(places) else 0.0
        return [(int(place), float(scores[place]) / top) for place in places if scores[place] > 0]

    def _corrected(self, query: str) -> dict[str, float]:
        """The words of a query with their weights; a word that no target has is replaced by those it may mean."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        weights: dict[str, float] = {}
        for word in dict.fromkeys(_WORD.findall(query_lexical_text(query))):
            weights[word] = 1.0
            if word in self._known or len(word) < MIN_FUZZY_CHARS or self._has_stem(word):
                continue
            similar = process.extract(
                word,
                self._vocabulary,
                scorer=OSA.normalized_similarity,
                score_cutoff=SIMILAR_WORD,
                limit=CORRECTIONS,
            )
            for candidate, similarity, _ in similar:
                weights[candidate] = max(weights.get(candidate, 0.0), similarity)
            for candidate in self._completions(word):
                weights[candidate] = max(weights.get(candidate, 0.0), SIMILAR_WORD)
        return weights

    def _completions(self, word: str) -> list[str]:
        """Words that begin so: somebody is still typing."""
        start = bisect_left(self._vocabulary, word)
        return [other for other in self._vocabulary[start : start + CORRECTIONS] if other.startswith(word)]

    def _has_stem(self, word: str) -> bool:
        terms = self._encoder.encode_query(word).indices
        return not terms or any(term in self._postings for term in terms)

    def _similar_names(self, query: str) -> list[tuple[int, float]]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        wanted = compact(query)
        if len(wanted) < MIN_FUZZY_CHARS:
            return []
        similar = process.extract(
            wanted, self._name_keys, scorer=OSA.normalized_similarity, score_cutoff=SIMILAR_NAME, limit=CORRECTIONS
        )
        # The boost orders names that are equally similar.
        return [
            (place, similarity * float(self._boost[place]) / (1 + LEXICAL_BOOST))
            for name, similarity, _ in similar
            for place in self._compact_names[name]
        ]

    def _invert(self, texts: Sequence[str]) -> dict[int, tuple[NDArray[np.int64], FloatMatrix]]:
        """Places and IDF-weighted BM25 values by term."""
        lists: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, vector in enumerate(self._encoder.encode_documents(texts, "code")):
            for term, value in zip(vector.indices, vector.values, strict=True):
                lists[term].append((place, value))
        postings = {}
        for term, entries in lists.items():
            idf = math.log1p((len(texts) - len(entries) + 0.5) / (len(entries) + 0.5))
            places = np.array([place for place, _ in entries], dtype=np.int64)
            postings[term] = (places, np.array([value * idf for _, value in entries], dtype=np.float32))
        return postings


class VectorSearchProvider(_Provider):
    """Exact cosine similarity with the vectors of a set.

    Args:
        vectors: Shape (N, D), L2-normalised, row i for target i.
        embed_query: Encodes a query into D floats.
        present: Makes results.
    """

    def __init__(self, vectors: FloatMatrix, embed_query: Callable[[str], list[float]], present: Present) -> None:
        super().__init__(present)
        self._vectors = vectors
        self._embed_query = embed_query

    def rank(self, query: str, limit: int) -> list[Scored]:
        """The best `limit` targets; the score is the cosine similarity.

        Raises:
            ModelError: The dense model cannot answer.
        """
        vector = np.array(self._embed_query(query), dtype=np.float32)
        vector /= max(float(np.linalg.norm(vector)), 1e-12)
        # Not `@`: the threads of BLAS would wait for those of the model, longer than one thread takes.
        similarities: NDArray[np.float32] = np.einsum("ij,j->i", self._vectors, vector)
        return [
            Scored(
                int(place),
                float(similarities[place]),
                Why(match="meaning", vector_rank=rank, similarity=round(float(similarities[place]), 4)),
            )
            for rank, place in enumerate(_best(similarities, limit), 1)
        ]


class HybridSearchProvider(_Provider):
    """Both, fused by reciprocal ranks that are weighted by what the query was typed as.

    What the query names comes first. A query that is a name, or the beginning of one, is answered without the dense
    model.

    Args:
        targets: In the order of their rank.
        names: Of the same targets.
        lexical: Search by words.
        vector: Search by meaning.
        rrf_k: The constant of reciprocal rank fusion.
        present: Makes results.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        names: TargetNames,
        lexical: LexicalSearchProvider,
        vector: VectorSearchProvider,
        rrf_k: int,
        present: Present,
    ) -> None:
        super().__init__(present)
        self._targets = targets
        self._names = names
        self._lexical = lexical
        self._vector = vector
        self._rrf_k = rrf_k

    def rank(self, query: str, limit: int) -> list[Scored]:
        """The best `limit` targets; scores fall from 1 within the fused part.

        Raises:
            ModelError: The dense model cannot answer.
        """
        by_name = self._names.look_up(query, 1)
        if typed_as(query) == "name" and (by_name.exact or by_name.beginnings):
            return self._lexical.rank(query, limit)
        depth = max(FUSED_DEPTH, limit)
        lexical, vector = self._lexical.rank(query, depth), self._vector.rank(query, depth)
        places = {item.place: number for number, item in enumerate(lexical) if item.why.match in _BY_NAME}
        fused = self._fuse(query, lexical, vector)
        return sorted(fused, key=lambda item: (places.get(item.place, len(lexical)), -item.score))[:limit]

    def _fuse(self, query: str, lexical: Sequence[Scored], vector: Sequence[Scored]) -> list[Scored]:
        scores: dict[int, float] = defaultdict(float)
        whys: dict[int, Why] = {}
        typed = typed_as(query)
        for_words, for_meaning = WEIGHTS[typed]
        for rank, item in enumerate(lexical, 1):
            # By its score as well: the end of a list of words is chance matches.
            scores[item.place] += for_words * min(1.0, item.score) / (self._rrf_k + rank)
            whys[item.place] = item.why
        for rank, item in enumerate(vector, 1):
            scores[item.place] += for_meaning / (self._rrf_k + rank)
            known = whys.get(item.place)
            whys[item.place] = _both(known, item.why) if known else item.why
        for place in scores:
            target = self._targets[place]
            scores[place] *= 1 + FUSED_BOOST * target.score
            if typed == "natural" and "." in target.symbol:
                scores[place] *= MEMBER_WEIGHT
        top = max(scores.values(), default=1.0)
        return [Scored(place, score / top, whys[place]) for place, score in scores.items()]


def _both(lexical: Why, vector: Why) -> Why:
    return lexical.model_copy(update={"vector_rank": vector.vector_rank, "similarity": vector.similarity})


def _keep(found: dict[int, Scored], place: int, score: float, match: Match) -> None:
    if place not in found:
        found[place] = Scored(place, score, Why(match=match))


def _best(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Places of the highest scores, the highest first; equal ones in the order of their rank."""
    if limit < len(scores):
        cut = np.partition(scores, -limit)[-limit]
        places = np.flatnonzero(scores >= cut)
    else:
        places = np.arange(len(scores))
    order: NDArray[np.int64] = places[np.argsort(-scores[places], kind="stable")][:limit]
    return order


def _lexical_text(target: Target) -> str:
    own, *members = target.signatures
    name = f"{target.symbol} " * NAME_REPEATS
    names_inside = " ".join(_MEMBER_NAME.findall("\n".join(members)))
    return expand_identifiers(f"{name}{target.import_path} {target.type} {target.summary} {own} {names_inside}")
