"""The local reranker: a z-scored sum of sparse and dense scores, and of what provenance says.

BM25 scores and cosines of two collections live on four scales. Standardising each score within its kind makes them
comparable, so that neither branch decides alone and docs do not crowd out code (measured on local models: RRF .485/.361
MRR@12 on code/docs pseudo-queries, this sum .502/.385). Where a chunk has a vector for each passage, the similarities
of its best passage and of the whole are both counted: what is said in one place, and what the chunk is about.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.request import TaskMode
from adk_evidence.readers.definitions import read_definition
from adk_evidence.search.question.query import Query
from adk_evidence.search.rerankers.base import RerankDocument
from adk_evidence.search.rerankers.files import FileWeights, by_file
from adk_evidence.text.identifiers import is_code_like, is_special, split_identifier

BRANCHES = ("dense", "mean", "sparse", "asked")
_DENSE, _MEAN = map(BRANCHES.index, ("dense", "mean"))
# A chunk need not have such a score.
_OPTIONAL = np.array([branch == "asked" for branch in BRANCHES])
# How many of the best docs vouch for the code whose names they use.
LINKING_DOCS = 8
# Tasks that are less similar to a query than this are others.
TASK_NEAR = 0.5
# Scores whose standard deviation is less are all the same.
_CONSTANT = 1e-9
_NAME = re.compile(r"\w+")
_CONSTRUCTOR = ".__init__"
_FENCE = "```"


@dataclass(frozen=True)
class Weights:
    """What a feature is worth, in standard deviations of a branch's score.

    - `mean` is the part of `dense` that goes to the similarity of a chunk as a whole, where `dense` is the similarity
      of its best passage.
    - `asked` counts for the nearest of the questions that were written for a chunk. A chunk without any is neither
      better nor worse for that.
    - `task` counts for what belongs to a task near the query: in full where the query is a way to say the task, and
      not at all at the similarity `TASK_NEAR`.
    - `definition` counts for a place that defines a name of the query, fields of a class too: the more, the fewer
      candidates hold the name and define the name. Who writes `error_retry_attempts` means that field; who writes
      `google_search` rarely asks where the name is defined.
    - `linked` counts for the definition of a name that the best docs use, samples among them, in full where all of
      them use the name.
    - `example` counts for docs with a block of code, where a question in words is not for an explanation: what people
      want to do is answered by the section with the code, and less so by introductions and concepts.
    - `override` counts for a method that takes what the documented method takes which it implements, where the query
      names the method and not its class: what the method is for, the documented one says.
    """

    dense: float = 0.6
    mean: float = 0.2
    sparse: float = 0.4
    asked: float = 0.3
    task: float = 3.0
    definition: float = 3.0
    linked: float = 0.8
    example: float = 0.4
    override: float = -1.5


class LocalReranker:
    """Scores candidates by what the branches measured and by their provenance; loads no model."""

    model = "local-zscore-14"

    def __init__(self, weights: Weights | None = None, files: FileWeights | None = None) -> None:
        self.weights: Mapping[str, float] = asdict(weights or Weights())
        self.files = files

    def rerank(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[float]:
        """How well each document fits the query and its other wordings.

        What the query itself says, the mean of all wordings and the best of them count a third each. The best one alone
        would follow a wording that is beside the point, and the mean alone would lose what only one wording finds.
        """
        found = self._of_chunks(query, task_mode, documents)
        if self.files is None:
            return found
        return by_file(self.files, query, [document.payload for document in documents], found)

    def _of_chunks(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[float]:
        own = self._scores(query, task_mode, documents)
        others = [
            self._scores(wording, task_mode, [replace(one, scores=one.wordings[number]) for one in documents])
            for number, wording in enumerate(query.wordings)
        ]
        scores = np.array([own, *others])
        found: list[float] = ((scores[0] + scores.mean(axis=0) + scores.max(axis=0)) / 3).tolist() if others else own
        return found

    def _scores(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[float]:
        """The weighted sum of each document's features; branch scores are standardised."""
        weights, payloads = self.weights, [document.payload for document in documents]
        known = _known(_Same((query, task_mode, *payloads)))
        near = np.array([document.scores.get("task", TASK_NEAR) for document in documents])
        # In a codebase, prose competes with code by how near it is; elsewhere the best of each kind are alike.
        features = _measured(documents, [np.arange(len(documents))] if self.files else [known.docs, known.code])
        features |= {**known.features, "task": (near - TASK_NEAR) / (1 - TASK_NEAR)}
        scores = np.zeros(len(documents))
        for name, values in features.items():
            scores += weights[name] * values
        docs, code = known.docs, known.code
        used: Counter[str] = Counter()
        for place in docs[np.argsort(-scores[docs], kind="stable")][:LINKING_DOCS] if known.linking else ():
            used.update(known.linking & _names_in(payloads[place].searched_text))
        if used:
            linked = [max([used[name] for name in known.defined[place]], default=0) for place in code]
            scores[code] += weights["linked"] / LINKING_DOCS * np.array(linked)
        found: list[float] = scores.tolist()
        return found


class _Same(tuple[Any, ...]):
    """A query, a mode and payloads that are compared as objects: comparing what they hold would take longer."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and len(self) == len(other) and all(map(operator.is_, self, other))


class _Known(NamedTuple):
    """What the candidates of a question are, whatever the branches measure.

    `docs` and `code` are places among the candidates, `defined` the names that each defines, and `linking` the names of
    the code that cannot be meant as plain words.
    """

    docs: np.ndarray
    code: np.ndarray
    defined: Sequence[Sequence[str]]
    linking: frozenset[str]
    features: Mapping[str, np.ndarray]


# A question is ranked up to three times.
@functools.lru_cache(maxsize=4)
def _known(same: _Same) -> _Known:
    query: Query = same[0]
    payloads: Sequence[ChunkPayload] = same[2:]
    task_mode, names = same[1], frozenset(query.names)
    is_doc = np.array([payload.kind == "doc" for payload in payloads], dtype=bool)
    defined = [_defined(payload) for payload in payloads]
    features = {"definition": _defining(query, payloads, defined), "override": _overriding(query, payloads, defined)}
    if query.kind == "question" and not names and task_mode != "explain":
        features["example"] = np.array([one.kind == "doc" and _FENCE in one.body for one in payloads], dtype=float)
    linking = frozenset(name for own in defined for name in own if is_code_like(name))
    return _Known(np.flatnonzero(is_doc), np.flatnonzero(~is_doc), defined, linking, features)


# The same docs lead in many questions, and in both passes of a question.
@functools.lru_cache(maxsize=2048)
def _names_in(text: str) -> frozenset[str]:
    """The words of a text that may be names of code: what is written small throughout is none."""
    return frozenset(word for word in _NAME.findall(text) if "_" in word or not word.islower())


def _defining(query: Query, payloads: Sequence[ChunkPayload], defined: Sequence[Sequence[str]]) -> np.ndarray:
    """How far each chunk defines what the query names, 0 to 1; `defined` are the names of each chunk.

    A name counts the more, the fewer texts hold the name and define it. Of several definitions, only those in a class
    count that the query mentions, if there are any. There, a parameter of the constructor counts as well.
    """
    names, found = query.names, np.zeros(len(payloads))
    if not names:
        return found
    words, most = frozenset(query.identifiers), math.log(len(payloads) + 1)
    made = [(place, symbol) for place, payload in enumerate(payloads) for symbol in _constructors(payload, words)]
    for name in names:
        taking = [
            place
            for place, symbol in made
            if name in payloads[place].text and name in _parameters(payloads[place], symbol)
        ]
        places = [place for place, names in enumerate(defined) if name in names]
        places = taking + [place for place in places if _owners(payloads[place], name) & words] or places
        if places:
            holding = sum(name in payload.text for payload in payloads)
            value = (1 - math.log(holding + 1) / most) / math.sqrt(len(places))
            found[places] = np.maximum(found[places], value)
    return found


def _overriding(query: Query, payloads: Sequence[ChunkPayload], defined: Sequence[Sequence[str]]) -> np.ndarray:
    """Which chunks define a method that the query names and that another candidate outlines, 0 or 1.

    The outline is a documented method without code that takes the same parameters. A word of a class that the class of
    the outline lacks means the method of that class.
    """
    found = np.zeros(len(payloads))
    words = {part for word in query.identifiers for part in split_identifier(word)}
    for name in query.names:
        methods = {
            place: _method(payloads[place], symbol)
            for place, names in enumerate(defined)
            if name in names
            for symbol in payloads[place].symbols
            if symbol.endswith(f".{name}")
        }
        outlines = [method for method in methods.values() if method.is_outline and method.parameters]
        for place, method in methods.items():
            alike = [one for one in outlines if one.parameters == method.parameters]
            if alike and not method.is_outline and not any((method.words - one.words) & words for one in alike):
                found[place] = 1.0
    return found


class _Method(NamedTuple):
    """A method: the words of its class and of its own name, its parameters, and whether it has a docstring alone."""

    words: frozenset[str]
    parameters: frozenset[str]
    is_outline: bool


# The same few methods are candidates again and again.
@functools.lru_cache(maxsize=1024)
def _method(payload: ChunkPayload, symbol: str) -> _Method:
    definition = read_definition(payload, symbol)
    words = (word for part in symbol.split(".")[-2:] for word in split_identifier(part))
    return _Method(frozenset(words), frozenset(definition.parameters), definition.is_outline)


def _owners(payload: ChunkPayload, name: str) -> frozenset[str]:
    """The classes in which a chunk defines a name, or what does its work."""
    parts = [symbol.split(".") for symbol in payload.symbols]
    return frozenset(part[-2] for part in parts if len(part) > 1 and part[-1] in (name, f"_{name}"))


def _constructors(payload: ChunkPayload, words: Collection[str]) -> list[str]:
    """The constructors in a chunk, those of classes among some words."""
    made = [symbol for symbol in payload.symbols if symbol.endswith(_CONSTRUCTOR)]
    return [symbol for symbol in made if symbol.removesuffix(_CONSTRUCTOR).rpartition(".")[2] in words]


# A question is ranked up to three times.
@functools.lru_cache(maxsize=256)
def _parameters(payload: ChunkPayload, symbol: str) -> frozenset[str]:
    return frozenset(read_definition(payload, symbol).parameters)


def _defined(payload: ChunkPayload) -> Sequence[str]:
    """The names that a chunk of code defines, its own first, also without underscores: `load` is done by `_load`."""
    name = (payload.symbol or "").rpartition(".")[2]
    bare = name if is_special(name) else name.lstrip("_")
    return (name, bare, *payload.names) if payload.kind == "code" else ()


def _measured(documents: Sequence[RerankDocument], kinds: Iterable[np.ndarray]) -> dict[str, np.ndarray]:
    """The branches' scores of each document, standardised within its kind; `kinds` are the places of each kind.

    A branch that has scored nothing of a kind is zero. So is `mean` where it stands as high as `dense`, whose weight it
    takes a part of.
    """
    scores = np.array([[one.scores.get(branch, np.nan) for one in documents] for branch in BRANCHES], dtype=float)
    features = np.zeros(scores.shape)
    for places in kinds:
        if len(places):
            features[:, places] = _standardised(scores[:, places])
            if not np.isnan(scores[_MEAN, places]).all():
                features[_MEAN, places] -= features[_DENSE, places]
    return dict(zip(BRANCHES, features, strict=True))


def _standardised(scores: np.ndarray) -> np.ndarray:
    """The z-scores of some documents, a row for each branch; all of a row are zero where all scores are the same.

    A missing score counts as the lowest one, or as the mean of what need not be there.
    """
    known = ~np.isnan(scores)
    counts = known.sum(axis=1)
    lowest = np.where(known, scores, np.inf).min(axis=1)
    means = np.where(known, scores, 0.0).sum(axis=1) / np.maximum(counts, 1)
    instead = np.where(counts, np.where(_OPTIONAL, means, lowest), 0.0)
    filled = np.where(known, scores, instead[:, None])
    away = filled - filled.mean(axis=1)[:, None]
    counted = np.where(_OPTIONAL, np.maximum(counts, 1), scores.shape[1])
    deviations = np.sqrt(np.square(away).sum(axis=1) / counted)[:, None]
    found: np.ndarray = np.divide(away, deviations, out=np.zeros(scores.shape), where=deviations >= _CONSTANT)
    return found
