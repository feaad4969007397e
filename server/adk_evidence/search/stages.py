"""What the stages of a request hand on: Question -> Candidates -> Ranking -> EvidencePack."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder, SparseVector
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import SOURCE_TYPES, ChunkPayload, Kind
from adk_evidence.models.named import Named
from adk_evidence.models.pack import MovedUp, Quality, RetrievalPlan
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.calibration import Support
from adk_evidence.search.context import Context
from adk_evidence.search.question.query import Query
from adk_evidence.search.question.scope import Scope
from adk_evidence.search.rerankers.base import Reranker
from adk_evidence.settings import Settings
from adk_evidence.text.versions import is_same_version

if TYPE_CHECKING:
    from adk_evidence.symbols.lookup import Symbols
    from adk_evidence.targets.search import TargetSearch

# Candidates of the branch of written questions; what has a question near the one asked is among the first.
ASKED_PREFETCH_LIMIT = 40


@dataclass(frozen=True)
class Models:
    """The models and the threads that all requests share."""

    dense: Pair[DenseEmbedder]
    sparse: SparseEncoder
    reranker: Reranker | None
    threads: Executor


@dataclass(frozen=True)
class QueryVectors:
    """One query text, encoded. A kind without a vector in `dense` is searched by keywords alone."""

    text: str
    dense: Mapping[Kind, Sequence[float]]
    sparse: SparseVector


class BranchPlace(NamedTuple):
    """Where one branch placed a hit."""

    branch: str
    rank: int
    score: float


class Hit(NamedTuple):
    """A chunk that one collection returned, and its place among the hits of all collections once they are ranked.

    `similarity` is None where the dense branch did not return the chunk, `rerank_score` where no reranker answered.
    `named` says how the request names the chunk outright, if it does; `lines` are the lines of the file that are meant,
    which an excerpt must show. `moved_up` is that of `Why`.
    """

    point_id: str
    collection: str
    payload: ChunkPayload
    fused_rank: int
    fused_score: float
    branches: tuple[BranchPlace, ...]
    similarity: float | None
    pool_rank: int = 0
    rerank_score: float | None = None
    named: Named | None = None
    lines: tuple[int, ...] = ()
    moved_up: MovedUp | None = None

    @property
    def kind(self) -> Kind:
        return self.payload.kind


@dataclass(frozen=True)
class Question:
    """A request to one index as it was read: what is asked, what is searched, and with what.

    - `symbols` gives the symbols of the index, whose first use in a process takes seconds. `targets` gives the public
      ones, which are a file; None where the file is missing.
    - `size` is how many results are shown. `required` says how many of them the mode wants of each kind, and
      `absent_kinds` are wanted but not indexed.
    """

    request: EvidenceRequest
    query: Query
    size: int
    settings: Settings
    index: Index
    models: Models
    context: Context
    scope: Scope
    query_id: str
    symbols: Callable[[], Symbols]
    targets: Callable[[], TargetSearch | None] = lambda: None
    required: Mapping[Kind, int] = field(default_factory=dict)
    absent_kinds: tuple[Kind, ...] = ()

    @property
    def kinds(self) -> Sequence[Kind]:
        return self.scope.kinds

    @property
    def targets_of_version(self) -> TargetSearch | None:
        """The public symbols, where they are those of the searched version."""
        search, version = self.targets(), self.scope.version
        if search is None or version is None:
            return None
        about = search.set.about
        is_of_version = is_same_version(version, about.ref) or is_same_version(version, about.commit)
        return search if is_of_version else None

    def plan(self, question_model: str | None = None, rerank_model: str | None = None) -> RetrievalPlan:
        """What is asked of the store, and of which models."""
        retrieval, store = self.settings.retrieval, self.settings.store
        return RetrievalPlan(
            collections_queried=tuple(store.collection(kind) for kind in self.kinds),
            hybrid_fusion=retrieval.fusion,
            prefetch_limits={
                "dense": retrieval.dense_prefetch_limit,
                "sparse": retrieval.sparse_prefetch_limit,
                "asked": ASKED_PREFETCH_LIMIT,
            },
            qdrant_search_params={"hnsw_ef": retrieval.hnsw_ef, "exact": retrieval.exact},
            question_model=question_model,
            rerank_model=rerank_model,
            required={SOURCE_TYPES[kind]: minimum for kind, minimum in self.required.items()},
            versions=self.scope.version_plan,
            wordings=tuple(wording.text for wording in self.query.wordings),
        )


@dataclass(frozen=True)
class Encoded:
    """A question as vectors.

    `queries` are the question, which feedback may move, its wordings, and its sub-queries; `asked` is the question
    before that.
    `question_model` names the adapter that encoded it, if there was one.
    """

    queries: tuple[QueryVectors, ...] = ()
    asked: QueryVectors | None = None
    question_model: str | None = None

    @property
    def dense_used(self) -> bool:
        """Whether the question has a dense vector for any kind."""
        return bool(self.queries and self.queries[0].dense)


class Names(NamedTuple):
    """The code names of a request that the index holds, and those that it lacks."""

    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidates:
    """What was found for a question.

    - `hits` are what each collection returned, of at most `limits` each. `merged` are those without repeated evidence
      that can be cited.
    - `named` are the hits that the request names outright, best first. They lead the ranking. `names` are the symbols
      that the request carries. `frame_files` are the indexed files of a pasted traceback, by the paths of its frames.
    - `tasks` are the tasks near the question, by title, each with its similarity.
    - `relevant` are the point ids of the hits that feedback took as relevant, best first. If there are any, feedback
      has moved the question, and the branches' scores are those of another one.
    """

    encoded: Encoded
    hits: Mapping[Kind, Sequence[Hit]] = field(default_factory=dict)
    limits: Mapping[Kind, int] = field(default_factory=dict)
    merged: Sequence[Hit] = ()
    named: Sequence[Hit] = ()
    names: Names = field(default_factory=Names)
    frame_files: Mapping[str, str] = field(default_factory=dict)
    tasks: Mapping[str, float] = field(default_factory=dict)
    relevant: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """The candidates in their order, and how far they can be relied on.

    `ranked` is the pool in the reranker's order, `final` what a pack shows.
    """

    question: Question
    candidates: Candidates
    ranked: Sequence[Hit]
    final: Sequence[Hit]
    rerank_model: str | None
    names: Names
    support: Support
    quality: Quality

    @functools.cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each point in `ranked`, from 1."""
        return {hit.point_id: place for place, hit in enumerate(self.ranked, 1)}

    @property
    def plan(self) -> RetrievalPlan:
        return self.question.plan(self.candidates.encoded.question_model, self.rerank_model)

    def order(self) -> list[Hit]:
        """All hits: the final results, then the reranked rest, then the merged pool that was not reranked."""
        unique: dict[str, Hit] = {}
        for hit in (*self.final, *self.ranked, *self.candidates.merged):
            unique.setdefault(hit.payload.candidate_id, hit)
        return list(unique.values())
