"""The question's words as a text is looked through for them: by the keys that forms of a word share, with weights."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from adk_evidence.embedding.base import SparseEncoder
from adk_evidence.search.calibration import Support
from adk_evidence.search.stages import Question
from adk_evidence.text.identifiers import split_identifier

# Forms of a word share so many characters at their beginning.
START_CHARS = 3
_WORD = re.compile(r"\w+")


@dataclass
class QuestionWords:
    """The question's words, each with its weight, by the keys that two forms of a word share.

    `key` finds the key of a word. Forms of a word begin alike: `starts` are the beginnings of the question's words, so
    that few words of a text are looked up. `_seen` are the tokens that were looked up; few of them have `_keys`.
    """

    weights: Mapping[object, float]
    key: Callable[[str], object]
    starts: frozenset[str]
    names: frozenset[str] = frozenset()
    _seen: set[str] = field(default_factory=set)
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

    def held(self, tokens: Collection[str]) -> frozenset[object]:
        """The keys of the question that some tokens have; see `tokens_of`."""
        return self.held_by([tokens])[0]

    def held_by(self, groups: Sequence[Collection[str]]) -> list[frozenset[object]]:
        """The keys of the question that each group of tokens has; see `tokens_of`."""
        # All groups are looked up at once: most of them have few new tokens.
        if new := frozenset[str]().union(*groups) - self._seen:
            self._look_up(new)
        keys = self._keys
        return [frozenset[object]().union(*[keys[token] for token in group if token in keys]) for group in groups]

    def _look_up(self, tokens: frozenset[str]) -> None:
        may_start = self._start.search
        for token in [token for token in tokens if may_start(token.lower())]:
            near = (word for word in _parts(token) if word[:START_CHARS] in self.starts)
            if keys := frozenset(key for word in near if (key := self.key(word)) in self.weights):
                self._keys[token] = keys
        self._seen |= tokens

    @functools.cached_property
    def _start(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, sorted(self.starts))) or r"(?!)")

    def score(self, held: Iterable[object]) -> float:
        wanted = frozenset(held)
        # Summed in a fixed order, so that the same question gives the same sum.
        return math.fsum([weight for key, weight in self.weights.items() if key in wanted]) if wanted else 0.0


def tokens_of(text: str) -> tuple[str, ...]:
    """The different words and names of a text."""
    # No set: garbage collections walk over every set that is kept, but leave out tuples of texts.
    return tuple(dict.fromkeys(_WORD.findall(text)))


@functools.lru_cache(maxsize=1 << 16)
def _parts(token: str) -> tuple[str, ...]:
    return (token.lower(), *split_identifier(token))


@functools.lru_cache(maxsize=1 << 14)
def _term(sparse: Hashable, word: str) -> object:
    """The term by which the index knows a word; the word itself where the index does not keep it."""
    indices = cast("SparseEncoder", sparse).encode_query(word).indices
    return indices[0] if len(indices) else word
