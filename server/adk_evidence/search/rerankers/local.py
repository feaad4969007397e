"""The local reranker: a z-scored sum of sparse and dense scores, and of what provenance says.

BM25 scores and cosines of two collections live on four scales. Standardising each score within its kind makes them
comparable, so that neither branch decides alone and docs do not crowd out code (measured on local models: RRF .485/.361
MRR@12 on code/docs pseudo-queries, this sum .502/.385). Where a chunk has a vector for each passage, the similarities
of its best passage and of the whole are both counted: what is said in one place, and what the chunk is about.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

from adk_evidence.models.chunk import KINDS, ChunkPayload, Kind
from adk_evidence.models.request import TaskMode
from adk_evidence.readers.definitions import read_definition
from adk_evidence.search.question.query import Query
from adk_evidence.search.rerankers.base import RerankDocument, ScoreScale
from adk_evidence.search.rerankers.changelog import asks_for_changes, is_changelog
from adk_evidence.text.identifiers import is_code_like, is_internal

BRANCHES = ("dense", "mean", "sparse", "asked")
# How many of the best docs vouch for the code whose names they use.
LINKING_DOCS = 8
# Tasks that are less similar to a query than this are others.
TASK_NEAR = 0.5
# Scores whose standard deviation is less are all the same.
_CONSTANT = 1e-9
_NAME = re.compile(r"\w+")
_CONSTRUCTOR = ".__init__"


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
    - `private` counts for private definitions that the query does not name, where something is to be built.
    - `changelog` counts for what tells of changes from version to version, unless the query asks for changes.
    """

    dense: float = 0.6
    mean: float = 0.2
    sparse: float = 0.4
    asked: float = 0.3
    task: float = 3.0
    definition: float = 3.0
    linked: float = 0.8
    private: float = -0.6
    changelog: float = -2.0


class LocalReranker:
    """Scores candidates by what the branches measured and by their provenance; loads no model."""

    model = "local-zscore-10"

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights: Mapping[str, float] = asdict(weights or Weights())

    def rerank(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[float]:
        """The weighted sum of each document's features; branch scores are standardised within the document's kind."""
        names = query.names
        payloads = [document.payload for document in documents]
        defined = [_defined(payload) for payload in payloads]
        defining = _defining(query, payloads, defined)
        scores = [0.0] * len(documents)
        found = scales(documents)
        of_use = not asks_for_changes(query.text)
        # The names of the code that cannot be meant as plain words, and how many of the best docs use each of them.
        linking = {name for own in defined for name in own if is_code_like(name)}
        used: Counter[str] = Counter()
        for kind in KINDS:
            members = [index for index, payload in enumerate(payloads) if payload.kind == kind]
            for index in members:
                payload, measured = payloads[index], documents[index].scores
                features = {branch: scaled(measured.get(branch), scale) for branch, scale in found[kind].items()}
                named = bool(defined[index]) and defined[index][0] in names
                if index in defining:
                    features["definition"] = defining[index]
                if task_mode == "build" and not named and _is_private(payload):
                    features["private"] = 1.0
                if "task" in measured:
                    features["task"] = (measured["task"] - TASK_NEAR) / (1 - TASK_NEAR)
                if of_use and is_changelog(payload.path, payload.headings):
                    features["changelog"] = 1.0
                if linked := max([used[name] for name in defined[index] if name in used], default=0):
                    features["linked"] = linked / LINKING_DOCS
                scores[index] = weighted(features, self.weights)
            if kind == "doc" and linking:
                best = sorted(members, key=lambda index: -scores[index])[:LINKING_DOCS]
                for index in best:
                    used.update(linking & _names_in(payloads[index].searched_text))
        return scores


# The same docs lead in many questions, and in both passes of a question.
@functools.lru_cache(maxsize=256)
def _names_in(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def _defining(query: Query, payloads: Sequence[ChunkPayload], defined: Sequence[Sequence[str]]) -> Mapping[int, float]:
    """How far each chunk, by its place, defines what the query names, 0 to 1; `defined` are the names of each chunk.

    A name counts the more, the fewer texts hold the name and define it. Of several definitions, only those in a class
    count that the query mentions, if there are any. There, a parameter of the constructor counts as well.
    """
    names = query.names
    if not names:
        return {}
    words, most = frozenset(query.identifiers), math.log(len(payloads) + 1)
    made = [(place, symbol) for place, payload in enumerate(payloads) for symbol in _constructors(payload, words)]
    found: dict[int, float] = {}
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
            found |= {place: max(value, found.get(place, 0.0)) for place in places}
    return found


def _owners(payload: ChunkPayload, name: str) -> frozenset[str]:
    """The classes in which a chunk defines a name."""
    parts = [symbol.split(".") for symbol in payload.symbols]
    return frozenset(part[-2] for part in parts if len(part) > 1 and part[-1] == name)


def _constructors(payload: ChunkPayload, words: Collection[str]) -> list[str]:
    """The constructors in a chunk, those of classes among some words."""
    made = [symbol for symbol in payload.symbols if symbol.endswith(_CONSTRUCTOR)]
    return [symbol for symbol in made if symbol.removesuffix(_CONSTRUCTOR).rpartition(".")[2] in words]


# A question is ranked up to three times.
@functools.lru_cache(maxsize=256)
def _parameters(payload: ChunkPayload, symbol: str) -> frozenset[str]:
    return frozenset(read_definition(payload, symbol).parameters)


def _defined(payload: ChunkPayload) -> Sequence[str]:
    """The names that a chunk of code defines, its own first."""
    return (_own_name(payload), *payload.names) if payload.kind == "code" else ()


def _is_private(payload: ChunkPayload) -> bool:
    """Whether a chunk of code defines what its name, or that of a class around it, says is for its own module."""
    return payload.kind == "code" and is_internal(payload.symbol or "")


def _own_name(payload: ChunkPayload) -> str:
    return (payload.symbol or "").rpartition(".")[2]


def scales(documents: Sequence[RerankDocument]) -> dict[Kind, dict[str, ScoreScale]]:
    """The scale of each branch's scores by kind; a branch that has scored nothing of a kind has none."""
    return {
        kind: {
            branch: _scale(known, len(members), optional=branch == "asked")
            for branch in BRANCHES
            if (known := [document.scores[branch] for document in members if branch in document.scores])
        }
        for kind in KINDS
        for members in [[document for document in documents if document.payload.kind == kind]]
    }


def _scale(known: Sequence[float], count: int, *, optional: bool) -> ScoreScale:
    """The scale of a branch that has scored some of so many documents.

    A missing score counts as the lowest one, or as the mean of what need not be there.
    """
    lowest = min(known)
    filled = known if optional else [*known, *[lowest] * (count - len(known))]
    mean = math.fsum(filled) / len(filled)
    deviation = math.sqrt(math.fsum([(value - mean) ** 2 for value in filled]) / len(filled))
    return ScoreScale(mean=mean, deviation=deviation, lowest=mean if optional else lowest)


def scaled(value: float | None, scale: ScoreScale) -> float:
    """The z-score; a missing score counts as the scale says, and every score of a constant branch as zero."""
    if scale.deviation < _CONSTANT:
        return 0.0
    known = scale.lowest if value is None else value
    return (known - scale.mean) / scale.deviation


def weighted(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The score of a document. A document with a `mean` has the weight of the mean less for `dense`."""
    total = sum([weights[name] * value for name, value in features.items()])
    return total - weights["mean"] * features.get("dense", 0.0) if "mean" in features else total
