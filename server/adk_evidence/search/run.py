"""The state of one request: what is asked, what is found so far, and what could not take part."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder
from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import Kind
from adk_evidence.models.pack import EvidencePack, Quality
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.context import Context
from adk_evidence.search.hybrid import Hit, QueryVectors
from adk_evidence.search.query import Query
from adk_evidence.search.rerank.base import Reranker
from adk_evidence.search.scope import Scope
from adk_evidence.settings import Settings


@dataclass(frozen=True)
class Models:
    """The models and the threads that all requests share."""

    dense: Pair[DenseEmbedder]
    sparse: SparseEncoder
    reranker: Reranker | None
    threads: Executor


@dataclass
class Run:
    """One request on one index. Stages read what earlier stages have left here, and leave their own results.

    `vectors` are those of the question, which feedback may have moved, and of its sub-queries. `hits` are what each
    collection returned; `unique` are all of them without repeated evidence, `merged` those of them that can be cited,
    `ranked` the pool in the reranker's order, and `final` what the pack shows. `required` is how many results of each
    kind the mode asks for; `absent_kinds` are required but not indexed, and `missing` are short of what is required.
    `pack` is made where more than the ranking is asked for. A part that failed is not asked again, as the request
    would only wait for another time-out.
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

    sub_queries: tuple[str, ...] = ()
    vectors: list[QueryVectors] = field(default_factory=list)
    hits: dict[Kind, list[Hit]] = field(default_factory=dict)
    unique: list[Hit] = field(default_factory=list)
    merged: list[Hit] = field(default_factory=list)
    ranked: list[Hit] = field(default_factory=list)
    final: list[Hit] = field(default_factory=list)
    required: dict[Kind, int] = field(default_factory=dict)
    absent_kinds: tuple[Kind, ...] = ()
    missing: tuple[Kind, ...] = ()
    rerank_model: str | None = None
    quality: Quality | None = None
    pack: EvidencePack | None = None

    dense_failed: set[Kind] = field(default_factory=set)
    sparse_failed: bool = False
    collections_failed: dict[Kind, CollectionUnavailableError] = field(default_factory=dict)
    rerank_failed: bool = False

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of chunks that the request searches."""
        return self.scope.kinds

    @property
    def dense_used(self) -> bool:
        """Whether the question has a dense vector for any kind."""
        return bool(self.vectors and self.vectors[0].dense)

    def without_collection(self, kind: Kind, failure: CollectionUnavailableError) -> None:
        """Go on without a collection.

        Raises:
            CollectionUnavailableError: In strict mode.
        """
        if self.context.strict:
            raise failure
        self.collections_failed.setdefault(kind, failure)
        self.context.warn("collection_unavailable", str(failure))
