"""The question's words as a text is looked through for them: by the keys that forms of a word share, with weights."""

from __future__ import annotations

import bisect
import functools
import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple, cast

from adk_evidence.embedding.base import SparseEncoder
from adk_evidence.search.calibration import Support
from adk_evidence.search.stages import Question
from adk_evidence.text.identifiers import split_identifier

# Forms of a word share so many characters at their beginning.
START_CHARS = 3
_WORD = re.compile(r"\w+")


class Words(NamedTuple):
    """The words of the parts of a text, each once in a part, as the lines of one text: garbage collections leave texts
    out. `folded` has them in small letters at the same places, and `ends` are where the words of each part end.
    """

    listed: str
    folded: str
    ends: tuple[int, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Words:
        parts = ["".join([f"{token}\n" for token in tokens_of(text)]) for text in texts]
        listed = "".join(parts)
        folded = listed.lower()
        # A letter of Turkish becomes two.
        listed = (
            listed if len(folded) == len(listed) else "".join([one if len(one.lower()) == 1 else "_" for one in listed])
        )
        return cls(listed, listed.lower(), tuple(accumulate(map(len, parts))))


@dataclass
class QuestionWords:
    """The question's words, each with its weight, by the keys that two forms of a word share.

    `key` finds the key of a word. Forms of a word begin alike: `starts` are the beginnings of the question's words, so
    that few words of a text are looked up. `_keys` are those of the words that were.
    """

    weights: Mapping[object, float]
    key: Callable[[str], object]
    starts: frozenset[str]
    names: frozenset[str] = frozenset()
    _keys: dict[str, frozenset[object]] = field(default_factory=dict)

    @classmethod
    def of(cls, question: Question, support: Support) -> QuestionWords:
        sparse = question.models.sparse
        exact = sparse.exact_terms and not question.context.failed.sparse
        return cls.made(support.weights, sparse if exact else None, frozenset(question.query.names))

    @classmethod
    def made(cls, words: Mapping[str, float], sparse: SparseEncoder | None, names: frozenset[str]) -> QuestionWords:
        """The question of some words with their weights; without an encoder, a word is its own key."""
        key: Callable[[str], object] = str if sparse is None else functools.partial(_term, cast("Hashable", sparse))
        weights: dict[object, float] = {}
        for word, weight in words.items():
            weights[key(word)] = max(weight, weights.get(key(word), 0.0))
        return cls(weights, key, frozenset(word[:START_CHARS] for word in words), names)

    def held(self, text: str) -> frozenset[object]:
        """The keys of the question that a text has."""
        return self.held_by(_words(text))[0]

    def held_by(self, words: Words) -> list[frozenset[object]]:
        """The keys of the question that each part of a text has."""
        text, held = words.folded, [frozenset[object]()] * len(words.ends)
        for start in self.starts:
            place = text.find(start)
            while place >= 0:
                # The next hit in the same word says nothing new.
                first, last = text.rfind("\n", 0, place) + 1, text.find("\n", place)
                if keys := self._keys_of(words.listed[first:last]):
                    held[bisect.bisect_right(words.ends, place)] |= keys
                place = text.find(start, last)
        return held

    def _keys_of(self, token: str) -> frozenset[object]:
        keys = self._keys.get(token)
        if keys is None:
            near = (word for word in _parts(token) if word[:START_CHARS] in self.starts)
            keys = self._keys[token] = frozenset(key for word in near if (key := self.key(word)) in self.weights)
        return keys

    def score(self, held: Iterable[object]) -> float:
        wanted = frozenset(held)
        # Summed in a fixed order, so that the same question gives the same sum.
        return math.fsum([weight for key, weight in self.weights.items() if key in wanted]) if wanted else 0.0


# The same pages and classes are outlined again.
@functools.lru_cache(maxsize=2048)
def _words(text: str) -> Words:
    return Words.of([text])


def tokens_of(text: str) -> Collection[str]:
    """The different words and names of a text."""
    return dict.fromkeys(_WORD.findall(text))


@functools.lru_cache(maxsize=1 << 16)
def _parts(token: str) -> tuple[str, ...]:
    return (token.lower(), *split_identifier(token))


@functools.lru_cache(maxsize=1 << 14)
def _term(sparse: Hashable, word: str) -> object:
    """The term by which the index knows a word; the word itself where the index does not keep it."""
    indices = cast("SparseEncoder", sparse).encode_query(word).indices
    return indices[0] if len(indices) else word
