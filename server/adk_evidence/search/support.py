"""How far results support a question, on a scale that does not depend on the other results.

A ranking always has a first result. Whether it answers anything shows in four measures that mean the same for every
question: the share of the question's words that the results hold, each weighted by how rare the word is in the index;
the same share for pairs of neighbouring words within one result; the number of words that stand nowhere in the index;
and the similarity of the nearest passage. A logistic model joins them (`retrieval.support` in the settings).
"""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from adk_evidence.embedding.base import SparseVector
from adk_evidence.embedding.bm25 import load_stopwords, load_words
from adk_evidence.identifiers import is_code_like, query_lexical_text
from adk_evidence.models.chunk import KINDS
from adk_evidence.search.hybrid import Hit
from adk_evidence.search.run import Run
from adk_evidence.search.terms import exact_term, holders, weights
from adk_evidence.search.versions import without_versions
from adk_evidence.settings import SupportSettings

FILLER_WORDS_FILE = "filler_words.txt"
# A pasted traceback has hundreds of words; its first ones say enough.
MAX_WORDS = 32
# Shorter words are too near to each other.
MIN_MISSPELT = 5
ALIKE = 0.8
# The highest weight of a term in a text is about this much above 1 for a term that the text repeats.
_REPEATED = 1.8
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Measures:
    """What the model goes by; `names` has them in the order in which they are fitted.

    `coverage` and `pairs` are shares, 0 to 1, `similarity` is a cosine, `words` the logarithm of the number of words
    that count (of a long question less is covered), `absent` the number of words that stand nowhere in the index.
    """

    coverage: float
    pairs: float
    similarity: float
    words: float
    absent: float

    def score(self, weights: SupportSettings) -> float:
        """The support as a probability."""
        total = weights.bias + sum(getattr(weights, name) * getattr(self, name) for name in MEASURES)
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, total))))


MEASURES = tuple(Measures.__dataclass_fields__)


@dataclass(frozen=True)
class Support:
    """How far the results of one question support it.

    `score` is that of all results together and `by_result` that of each alone, by point id: 0 to 1, where the settings
    have the weights for the model; else None and empty. `absent` are words that stand nowhere in the index.
    """

    measures: Measures
    score: float | None = None
    by_result: Mapping[str, float] = field(default_factory=dict)
    absent: tuple[str, ...] = ()


def measure_support(run: Run) -> Support:
    """The support of the final results.

    Raises:
        CollectionUnavailableError: A collection cannot answer in strict mode.
    """
    model = run.settings.retrieval.support
    words = content_words(run.query.text)
    exact = exact_term(run, "adk") is not None
    found = _by_terms(run, words) if exact else _by_texts(words, run.final)
    shares = _Shares(found)
    similarities = {hit.point_id: hit.similarity or 0.0 for hit in run.final}
    count = math.log1p(len(found.weights))

    def of(ids: Sequence[str], similarity: float) -> Measures:
        return Measures(shares.coverage(ids), shares.pairs(ids), similarity, count, float(len(found.absent)))

    together = of([hit.point_id for hit in run.final], max(similarities.values(), default=0.0))
    # Another version, which was not searched, may have the word.
    absent = () if run.scope.leaves_versions_out else found.absent
    if model is None or not exact:
        return Support(together, absent=absent)
    return Support(
        together,
        score=together.score(model),
        by_result={point: of([point], near).score(model) for point, near in similarities.items()},
        absent=absent,
    )


def _by_terms(run: Run, words: Sequence[str]) -> _Found:
    terms = {word: term for word in dict.fromkeys(words) if (term := exact_term(run, word))}
    rarity = _rarity(run, terms)
    meant: dict[str, str] = {}
    vocabulary = functools.cache(lambda: _vocabulary(run.final))
    for word in [word for word, weight in rarity.items() if not weight]:
        likely = _correction(word, vocabulary)
        term = exact_term(run, likely) if likely else None
        if likely and term:
            meant[word] = likely
            terms[likely] = term
    rarity |= _rarity(run, {likely: terms[likely] for likely in meant.values()})
    said = [meant.get(word, word) for word in words if word in terms]
    # Two forms of a word are one term.
    first: dict[SparseVector, str] = {}
    said = [first.setdefault(terms[word], word) for word in said]
    wanted = {word: terms[word] for word in dict.fromkeys(said)}
    results: dict[str, set[str]] = {word: set() for word in wanted}
    for kind in KINDS:
        ids = tuple(hit.point_id for hit in run.final if hit.kind == kind)
        for word, points in holders(run, kind, wanted, ids).items():
            results[word] |= points
    # What cannot be looked up is not said to be missing.
    absent = () if run.collections_failed else tuple(word for word in wanted if not rarity[word])
    unheard = _REPEATED * math.log(2 * run.index.points + 2)
    return _Found(said, {word: rarity[word] or unheard for word in wanted}, results, absent)


def _rarity(run: Run, terms: Mapping[str, SparseVector]) -> dict[str, float]:
    """How rare each word is in what is searched: its best score there, 0 where it stands nowhere."""
    rarity = dict.fromkeys(terms, 0.0)
    for kind in KINDS:
        for word, weight in weights(run, kind, terms, run.scope.of_versions(kind)).items():
            rarity[word] = max(rarity[word], weight)
    return rarity


@dataclass(frozen=True)
class _Found:
    """The question's words in its order, their weights, the results that hold each, and those that none can hold."""

    words: Sequence[str]
    weights: Mapping[str, float]
    holders: Mapping[str, set[str]]
    absent: tuple[str, ...] = ()


class _Shares:
    def __init__(self, found: _Found) -> None:
        self._found = found
        weights = found.weights
        self._total = math.fsum(weights.values())
        self._pairs = {
            (one, other): min(weights[one], weights[other]) for one, other in pairwise(found.words) if one != other
        }
        self._pair_total = math.fsum(self._pairs.values())

    def coverage(self, ids: Sequence[str]) -> float:
        """The weighted share of the words that any of the results holds; 1 for a question without such words."""
        if not self._total:
            return 1.0
        wanted = set(ids)
        held = (weight for word, weight in self._found.weights.items() if self._found.holders[word] & wanted)
        return math.fsum(held) / self._total

    def pairs(self, ids: Sequence[str]) -> float:
        """The weighted share of the pairs of neighbouring words that one result holds."""
        if not self._pair_total:
            return self.coverage(ids)
        wanted, holders = set(ids), self._found.holders
        held = (weight for (one, other), weight in self._pairs.items() if holders[one] & holders[other] & wanted)
        return math.fsum(held) / self._pair_total


def content_words(question: str) -> list[str]:
    """The words of a question that say what it is about, in its order, names with their parts, at most `MAX_WORDS`."""
    dull = load_stopwords() | load_words(FILLER_WORDS_FILE)
    words = _WORD.findall(query_lexical_text(without_versions(question)).lower())
    kept = [word for word in words if word not in dull]
    first = set(list(dict.fromkeys(kept))[:MAX_WORDS])
    return [word for word in kept if word in first]


def _by_texts(words: Sequence[str], items: Sequence[Hit]) -> _Found:
    """Where the sparse encoder cannot tell which words stand where: every word counts the same."""
    texts = {item.point_id: _words_of(item) for item in items}
    holders = {word: {point for point, text in texts.items() if word in text} for word in words}
    return _Found(words, dict.fromkeys(words, 1.0), holders)


def _words_of(item: Hit) -> frozenset[str]:
    return frozenset(_WORD.findall(item.payload.text[item.payload.body_start :].lower()))


def _vocabulary(items: Iterable[Hit]) -> list[str]:
    return sorted({word for item in items for word in _words_of(item) if word.isalpha()})


def _correction(word: str, vocabulary: Callable[[], list[str]]) -> str | None:
    """The word of the results that a misspelt one probably means."""
    if len(word) < MIN_MISSPELT or not word.isalpha() or is_code_like(word):
        return None
    near = [one for one in vocabulary() if one[0] == word[0] and abs(len(one) - len(word)) <= 2]
    return next(iter(difflib.get_close_matches(word, near, 1, ALIKE)), None)
