"""One request: what is asked, what the stages have found so far, and what could not take part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder, SparseVector
from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import SOURCE_TYPES, ChunkPayload, Kind
from adk_evidence.models.named import Named
from adk_evidence.models.pack import EvidencePack, MovedUp, Quality, RetrievalPlan
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.render import wording
from adk_evidence.search.calibration import Support, calibration_of
from adk_evidence.search.context import Context
from adk_evidence.search.question.query import Query
from adk_evidence.search.question.scope import Scope
from adk_evidence.search.rerankers.base import Reranker
from adk_evidence.settings import Settings

if TYPE_CHECKING:
    from adk_evidence.symbols.lookup import Symbols
    from adk_evidence.symbols.table import SymbolEntry
    from adk_evidence.targets.search import TargetSearch

# Candidates of the branch of written questions; what has a question near the one asked is among the first.
ASKED_PREFETCH_LIMIT = 40
# How far the first results move a question, against a query of weight 1 on either side, and how many of their heaviest
# terms join the query's.
FEEDBACK_WEIGHT = 0.7
FEEDBACK_TERMS = 100
# How far down the ranking other parts of pages and classes that are results are looked for.
NEIGHBOUR_BUFFER = 40


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
    which an excerpt must show.
    `moved_up` is that of `Why`.
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
    features: Mapping[str, float] = MappingProxyType({})
    named: Named | None = None
    lines: tuple[int, ...] = ()
    scores: Mapping[str, float] = MappingProxyType({})
    moved_up: MovedUp | None = None

    @property
    def kind(self) -> Kind:
        return self.payload.kind


@dataclass
class Run:
    """One request on one index. Stages read what earlier stages have left here, and leave their own results.

    - `symbols`: gives the symbols of the index, whose first use in a process takes seconds. `targets` gives the public
      ones, which are a file; None where it is missing.
    - `vectors`: the encoded question, which feedback may move, and its encoded sub-queries. `asked` is the question as
      it was encoded first, None before that. `unadapted` is the vector of the question as the model itself encodes it,
      where an adapter encoded `asked`.
    - `relevant`: the point ids of the hits that feedback took as relevant, best first. If there are any, feedback has
      moved the question, and the branches' scores are of another one. `asked_scores` are then those of the question as
      it was encoded first, by point id.
    - `hits`: what each collection returned. `unique` are the hits without repeated evidence, `merged` the unique hits
      that can be cited, `ranked` the pool in the reranker's order, and `final` what the pack shows.
    - `resolved`: the symbols that the request carries as data; None before they are looked up.
    - `named`: the hits that the request names outright, best first. They lead `final`.
    - `frame_files`: the indexed files of a pasted traceback's frames, by the frames' paths; None before they are looked
      up.
    - `required`: how many results of each kind the mode asks for. `absent_kinds` are required but not indexed, and
      `missing` kinds have fewer results than required.
    - `known_names` and `unknown_names`: the code names in the question that the index holds, and those that it lacks.
    - `pack`: set where more than the ranking is asked for.

    A part that failed is not asked again: the request would only wait for another time-out.
    """

    request: EvidenceRequest
    query: Query
    size: int
    settings: Settings
    index: Index
    models: Models
    context: Context
    scope: Scope
    limits: dict[Kind, int]
    query_id: str
    symbols: Callable[[], Symbols]
    targets: Callable[[], TargetSearch | None] = lambda: None

    sub_queries: tuple[str, ...] = ()
    vectors: list[QueryVectors] = field(default_factory=list)
    asked: QueryVectors | None = None
    unadapted: Future[list[float]] | None = None
    relevant: tuple[str, ...] = ()
    asked_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hits: dict[Kind, list[Hit]] = field(default_factory=dict)
    unique: list[Hit] = field(default_factory=list)
    merged: list[Hit] = field(default_factory=list)
    ranked: list[Hit] = field(default_factory=list)
    final: list[Hit] = field(default_factory=list)
    resolved: tuple[SymbolEntry, ...] | None = None
    named: list[Hit] = field(default_factory=list)
    frame_files: Mapping[str, str] | None = None
    required: dict[Kind, int] = field(default_factory=dict)
    absent_kinds: tuple[Kind, ...] = ()
    missing: tuple[Kind, ...] = ()
    question_model: str | None = None
    rerank_model: str | None = None
    known_names: tuple[str, ...] = ()
    unknown_names: tuple[str, ...] = ()
    support: Support = field(init=False, repr=False)
    quality: Quality = field(init=False, repr=False)
    pack: EvidencePack | None = None

    dense_failed: set[Kind] = field(default_factory=set)
    adapter_failed: bool = False
    sparse_failed: bool = False
    collections_failed: dict[Kind, CollectionUnavailableError] = field(default_factory=dict)
    rerank_failed: bool = False

    @property
    def kinds(self) -> Sequence[Kind]:
        return self.scope.kinds

    @property
    def dense_used(self) -> bool:
        """Whether the question has a dense vector for any kind."""
        return bool(self.vectors and self.vectors[0].dense)

    @property
    def adapted_below(self) -> float:
        """How much lower the cosines of this question are than those of other questions."""
        calibration = calibration_of(self.settings)
        return calibration.adapted_below if calibration is not None and self.question_model else 0.0

    @property
    def plan(self) -> RetrievalPlan:
        """What was asked of the store."""
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
            question_model=self.question_model,
            rerank_model=self.rerank_model,
            required={SOURCE_TYPES[kind]: minimum for kind, minimum in self.required.items()},
            versions=self.scope.version_plan,
        )

    def order(self) -> list[Hit]:
        """All hits: the final results, then the reranked rest, then the merged pool that was not reranked."""
        unique: dict[str, Hit] = {}
        for hit in (*self.final, *self.ranked, *self.merged):
            unique.setdefault(hit.payload.candidate_id, hit)
        return list(unique.values())

    def without_collection(self, kind: Kind, failure: CollectionUnavailableError) -> None:
        """Go on without a collection; in strict mode, raise its failure."""
        if self.context.strict:
            raise failure
        self.collections_failed.setdefault(kind, failure)
        self.context.warn(wording.unavailable("collection_unavailable", failure))
