"""Opposites that vectors hardly tell apart: what is called by the other word of a pair than the question says.

`before a tool` and `after_tool_callback` share all words but one, and the two words that differ stand in the same
company everywhere, so a small dense model takes the one for the other (Ono et al., "Word Embedding-based Antonym
Detection", 2015). A word alone says little: who changes a response `before it is shown` needs what runs after the
model. So both must stand beside the same word.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from adk_evidence.embedding.bm25 import load_stopwords
from adk_evidence.identifiers import split_identifier
from adk_evidence.models.chunk import ChunkPayload

_PAIRS = (
    ("before", "after"),
    ("input", "output"),
    ("request", "response"),
    ("client", "server"),
    ("enable", "disable"),
    ("include", "exclude"),
    ("allow", "deny"),
    ("load", "save"),
    ("read", "write"),
    ("upload", "download"),
    ("import", "export"),
    ("encode", "decode"),
    ("start", "end"),
    ("start", "stop"),
    ("open", "close"),
)
_OPPOSITES = {
    word: frozenset(other for pair in _PAIRS if word in pair for other in pair) - {word}
    for word in {word for pair in _PAIRS for word in pair}
}
# What stands before them is of another part of the sentence.
_PREPOSITIONS = frozenset(("before", "after"))
# Between `before` and `tool`, a question may have one of them, as in `before each tool` and `before calling a tool`.
_BETWEEN = frozenset(
    ("all", "any", "call", "called", "calling", "each", "every", "executing", "execution", "invoking", "run", "running")
)
_WORD = re.compile(r"\w+")

# A word of a pair, and a word that stands beside it.
Beside = tuple[str, str]


# A question is ranked up to three times.
@functools.lru_cache(maxsize=64)
def asked_beside(question: str) -> frozenset[Beside]:
    """The words of pairs in a question, each with the words beside it, where the question has one of the pair alone."""
    dull = load_stopwords()
    words = [
        word
        for found in _WORD.findall(question)
        if found.lower() not in dull
        for word in split_identifier(found)
        if word not in _BETWEEN
    ]
    asked = frozenset(_beside(words))
    return frozenset((word, near) for word, near in asked if not any((one, near) in asked for one in _OPPOSITES[word]))


def is_opposite(asked: frozenset[Beside], payload: ChunkPayload) -> bool:
    """Whether a chunk is called by the opposite of what was asked, and by nothing that was asked."""
    if not asked:
        return False
    called = _called((payload.symbol or "").rpartition(".")[2], payload.path, payload.headings)
    return not called & asked and any((one, near) in called for word, near in asked for one in _OPPOSITES[word])


# The same chunks come again with other questions.
@functools.lru_cache(maxsize=1 << 13)
def _called(symbol: str, path: str, headings: tuple[str, ...]) -> frozenset[Beside]:
    """The words of pairs in what a chunk is called by its symbol, its file and its headings."""
    names = (symbol, PurePosixPath(path).stem, *headings)
    return frozenset(beside for name in names for beside in _beside(split_identifier(name)))


def _beside(words: Sequence[str]) -> Iterable[Beside]:
    for place, word in enumerate(words):
        if word in _OPPOSITES:
            if place + 1 < len(words):
                yield word, _singular(words[place + 1])
            if place and word not in _PREPOSITIONS:
                yield word, _singular(words[place - 1])


def _singular(word: str) -> str:
    return word.removesuffix("s")
