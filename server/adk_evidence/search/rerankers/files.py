"""Which files of a codebase answer: what their paths say, and what several of their chunks say together.

A question about a codebase is answered by a file or a few. A file is named for what it is about; a file that answers
has several chunks near the question; tests, examples and declarations repeat the words of what they are about. The
questions about the ADK are answered by sections, and the same rules harm them.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from py_rust_stemmers import SnowballStemmer

from adk_evidence.embedding.bm25 import load_stopwords
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.search.question.query import Query
from adk_evidence.text.identifiers import split_identifier

AGREEING = 3
# Files that are called by what they are to their folder have the folder's name.
_OF_FOLDER = frozenset({"__init__", "__main__", "index", "mod"})
_ASIDE_FOLDERS = re.compile(
    r"_?(?:tests?|testing|testdata|specs?|examples?|samples?|demos?|fixtures?|mocks?|stubs?|bench(?:es|marks?)?|e2e"
    r"|templates?|snapshots?|vendor(?:ed)?|third_?party|generated)_?|__(?:tests|mocks|snapshots|fixtures)__"
)
_ASIDE_FILES = re.compile(
    r"(?:tests?|spec|bench|mock|conftest)[_.-].*|.*[_.-](?:tests?|spec|bench(?:mark)?|mocks?|stories|generated|pb2?|min)"
    r"|conftest|.*Tests?|.*Spec"
)
_DECLARED = re.compile(r"(?:.*/)?(?:types?|typings|interfaces)(?:\.[^/]*|/.*)|.*(?:\.d\.[mc]?ts|\.pyi)")
_STEM = SnowballStemmer("english").stem_word
# The stems of words with which a question asks for what stands aside otherwise.
_ASKS_ASIDE = frozenset({"test", "spec", "exampl", "sampl", "demo", "fixtur", "mock", "stub", "benchmark", "vendor"})


@dataclass(frozen=True)
class FileWeights:
    """What a file adds to the scores of its chunks, in standard deviations of a branch's score.

    - `name` counts for the share of a file's name that the question has, `asked` for the share of the question that the
      file's name has, and `folders` for that of its folders.
    - `agreement` counts for what the next best chunks of the file have, `AGREEING` of them: with all, large files lead.
    - `again` is taken from a chunk for each better one of its file, so that other files' best come before.
    - `aside` is taken from tests, examples, fixtures, templates and vendored or generated files, unless the question
      asks for such, and `declared` from files that hold declarations alone.
    - `docs` is taken from prose, which says in the words of the question what the code does.
    """

    name: float = 0.5
    asked: float = 0.5
    folders: float = 0.6
    agreement: float = 0.25
    again: float = 1.0
    aside: float = 1.5
    declared: float = 0.6
    docs: float = 0.5


def by_file(
    weights: FileWeights, query: Query, payloads: Sequence[ChunkPayload], scores: Sequence[float]
) -> list[float]:
    """The scores of some chunks with what their files add."""
    asked = _stems(query.text)
    members: dict[str, list[int]] = defaultdict(list)
    for place, payload in enumerate(payloads):
        members[payload.path].append(place)
    found = np.array(scores)
    for path, places in members.items():
        added = _of_path(weights, path, asked)
        if payloads[places[0]].kind == "doc":
            added -= weights.docs
        places.sort(key=lambda place: -found[place])
        own = found[places]
        # What is nearer than the mean of all candidates is above zero.
        agreement = weights.agreement * np.maximum(own[1 : 1 + AGREEING], 0).sum()
        found[places] = own + added - weights.again * np.arange(len(places))
        found[places[0]] += agreement
    return [float(score) for score in found]


def _of_path(weights: FileWeights, path: str, asked: frozenset[str]) -> float:
    """What a path alone adds."""
    known = _read(path)
    both = known.name & asked
    added = 0.0
    if both:
        added += weights.name * len(both) / len(known.name) + weights.asked * len(both) / len(asked)
    if asked:
        added += weights.folders * len(known.folders & asked) / len(asked)
    if known.is_aside and not asked & _ASKS_ASIDE:
        added -= weights.aside
    return added - weights.declared * known.is_declared


def is_aside(path: str) -> bool:
    """Whether a file is a test, an example, a fixture, or vendored or generated."""
    return _read(path).is_aside


@dataclass(frozen=True)
class _Path:
    """What a path says: the stems of a file's name and of its folders, and what kind of file it is."""

    name: frozenset[str]
    folders: frozenset[str]
    is_aside: bool
    is_declared: bool


# Each question meets the same few hundred files.
@functools.lru_cache(maxsize=8192)
def _read(path: str) -> _Path:
    file = PurePosixPath(path)
    folders = file.parts[:-1]
    stem = file.name.partition(".")[0] or file.stem
    own = folders[-1] if folders and stem in _OF_FOLDER else stem
    return _Path(
        name=_stems_of(split_identifier(own)),
        folders=_stems_of(word for folder in folders for word in split_identifier(folder)),
        is_aside=any(_ASIDE_FOLDERS.fullmatch(folder.lower()) for folder in folders)
        or _ASIDE_FILES.fullmatch(file.stem) is not None,
        is_declared=_DECLARED.fullmatch(path) is not None,
    )


@functools.lru_cache(maxsize=64)
def _stems(text: str) -> frozenset[str]:
    """The stems of a question's words, without stop words."""
    return _stems_of(word for word in split_identifier(text) if word not in load_stopwords())


def _stems_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_STEM, words))
