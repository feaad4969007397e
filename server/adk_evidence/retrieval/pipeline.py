"""From a request to a verified Evidence Pack (SPEC 5): encode, retrieve, merge, rerank, gate, cite, check."""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adk_evidence.citations.verify import verify
from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder, SparseVector
from adk_evidence.embedding.factory import make_dense, make_sparse, voyage_usage
from adk_evidence.embedding.queries import remembered
from adk_evidence.errors import CollectionUnavailableError, EvidenceError, ModelError, StoreError
from adk_evidence.eventloop import cancellable
from adk_evidence.identifiers import query_lexical_text
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.models.pack import (
    Candidate,
    Coverage,
    EvidencePack,
    Quality,
    RetrievalPlan,
    VersionPlan,
)
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.retrieval import gates
from adk_evidence.retrieval.candidates import Ranked
from adk_evidence.retrieval.feedback import moved_query, with_first_similarity
from adk_evidence.retrieval.filters import build_filter
from adk_evidence.retrieval.hybrid import Hit, QueryVectors, search_collection
from adk_evidence.retrieval.index import CurrentIndex, Index
from adk_evidence.retrieval.merge import dedup, merge_hits, pool
from adk_evidence.retrieval.pack import NamesFound, assess_quality, build_candidate
from adk_evidence.retrieval.query import Query, normalise, sub_queries
from adk_evidence.retrieval.rerank.base import RerankDocument, Reranker, instruction
from adk_evidence.retrieval.rerank.cascade import first_stage
from adk_evidence.retrieval.rerank.factory import make_reranker
from adk_evidence.retrieval.version_filter import BASES, VersionChoice, choose_versions, missing_version
from adk_evidence.retrieval.versions import asked_versions, without_versions
from adk_evidence.settings import Settings
from adk_evidence.store.base import Filter, Fusion, Match, Prefetch, Vector
from adk_evidence.telemetry import EventLog

MAX_LOGGED_HITS = 200
MAX_CHECKED_NAMES = 8

Cancelled = Callable[[], bool]


class RequestCancelledError(EvidenceError):
    """The caller no longer wants the answer."""

    code = "cancelled"


@dataclass
class Outcome:
    """Everything that one retrieval found, best first; the pack shows `final`."""

    query: Query
    final: list[Ranked]
    ranked: list[Ranked]
    merged: list[Hit]
    plan: RetrievalPlan
    warnings: list[str]
    quality: Quality
    timings_ms: dict[str, float] = field(default_factory=dict)
    rerank_model: str | None = None

    def order(self) -> list[Hit]:
        """All hits: the final results, then the reranked rest, then the merged pool that was not reranked."""
        unique: dict[str, Hit] = {}
        for hit in (*(item.hit for item in (*self.final, *self.ranked)), *self.merged):
            unique.setdefault(hit.payload.candidate_id, hit)
        return list(unique.values())


class EvidenceService:
    """Answers evidence requests from the published index. Safe to share between threads.

    Args:
        settings: Validated settings; the default builds every part from them.
        dense: Dense encoder, or one for docs and one for code, for tests.
        sparse: Sparse encoder.
        reranker: Reranker; None leaves the fused order.
        keep_queries: Number of questions whose dense vectors are kept for when they are asked again.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        dense: DenseEmbedder | Pair[DenseEmbedder] | None = None,
        sparse: SparseEncoder | None = None,
        reranker: Reranker | None = None,
        keep_queries: int = 0,
    ) -> None:
        self._settings = settings
        made: Pair[DenseEmbedder] = Pair.of(dense or make_dense(settings))
        self._dense = remembered(made, keep_queries) if keep_queries else made
        self._sparse = sparse or make_sparse(settings)
        self._reranker = reranker or make_reranker(settings)
        self._owned: tuple[object, ...] = (*self._dense.each, self._reranker)
        self._current = CurrentIndex(settings)
        # For the kinds of several requests: a service that is slow to one must not make the others wait.
        self._pool = ThreadPoolExecutor(max_workers=4 * len(KINDS), thread_name_prefix="adk-evidence-search")
        telemetry = settings.telemetry
        self._log = EventLog(settings.paths.event_log, telemetry.max_bytes) if telemetry.event_log else None

    def close(self) -> None:
        """Release the index, the threads and the connections to services."""
        self._current.close()
        self._pool.shutdown(wait=False, cancel_futures=True)
        for part in self._owned:
            close = getattr(part, "close", None)
            if close is not None:
                close()

    @property
    def dense(self) -> DenseEmbedder:
        """The dense encoder of code, to share it with the search for targets."""
        return self._dense.code

    @property
    def encoders(self) -> tuple[Pair[DenseEmbedder], SparseEncoder]:
        """The dense encoders of docs and code, and the sparse one."""
        return self._dense, self._sparse

    def beside(self, settings: Settings) -> EvidenceService:
        """A service on another index with the models of this one, which are closed with this one alone.

        Args:
            settings: They name the other index and the same models.
        """
        other = EvidenceService(settings, dense=self._dense, sparse=self._sparse, reranker=self._reranker)
        other._owned = ()
        return other

    def pin(self) -> AbstractContextManager[Index]:
        """The index for one request about symbols or sources; see `CurrentIndex.pin`."""
        return self._current.pin()

    def find(self, request: EvidenceRequest, cancelled: Cancelled | None = None) -> EvidencePack:
        """Answer a request with a checked pack.

        Args:
            request: The question with its constraints.
            cancelled: Asked between stages; when it says yes the work stops.

        Raises:
            RequestCancelledError: `cancelled` said yes.
            EvidenceError: No index, an index of other models, or a failed part in strict mode.
        """
        with self._current.pin() as index:
            run = _Run(self, index, request, cancelled)
            outcome = run.retrieve()
            pack = run.pack(outcome)
        if self._log is not None:
            self._log.write(_event(pack, outcome, request))
        return pack

    def local_files(self, pack: EvidencePack) -> dict[str, Path]:
        """Where the cited files lie on this machine, by candidate id; a file that is not here is left out."""
        with self._current.pin() as index:
            found = {candidate.candidate_id: index.local_file(candidate) for candidate in pack.candidates}
        return {name: path for name, path in found.items() if path is not None}

    def retrieve(self, request: EvidenceRequest, cancelled: Cancelled | None = None) -> Outcome:
        """The ranking alone, without citations and without an event; what evaluation measures."""
        with self._current.pin() as index:
            return _Run(self, index, request, cancelled).retrieve()


class _Run:
    """One request on one index."""

    def __init__(
        self, service: EvidenceService, index: Index, request: EvidenceRequest, cancelled: Cancelled | None
    ) -> None:
        self._service = service
        self._settings = service._settings
        self._index = index
        self._request = request
        self._query = normalise(request.query)
        self._asked = asked_versions(self._query.text)
        self._cancelled = cancelled
        self._strict = self._settings.retrieval.strict if request.strict is None else request.strict
        budget = request.time_budget_ms or self._settings.pack.time_budget_ms
        self._deadline = time.monotonic() + budget / 1000 if budget else None
        self._warnings: dict[str, None] = {}
        self._timings: dict[str, float] = {}
        self._kinds = tuple(
            kind for kind in KINDS if ("docs" if kind == "doc" else "code") in request.filters.source_types
        )
        self._limits = dict.fromkeys(self._kinds, self._settings.retrieval.final_limit_per_collection)
        self._dense_used = False
        self._dense_failed: set[Kind] = set()
        self._sparse_failed = False
        self._rerank_failed = False
        self._failed_kinds: dict[Kind, CollectionUnavailableError] = {}
        self._excluded_origins: tuple[str, ...] = ()
        self._versions: dict[Kind, VersionChoice] = {}
        self._version_missing = False
        self._hinted = False
        self._rerank_model: str | None = None

    def retrieve(self) -> Outcome:
        settings = self._settings
        query = self._query
        filters = self._filters()
        size = self._request.max_results_final or settings.pack.max_results_final
        expanded: tuple[str, ...] = sub_queries(query) if settings.retrieval.expansion == "always" else ()

        with self._stage("encode"):
            vectors = self._encode((query.text, *expanded))
        with self._stage("search"):
            hits = self._search(self._kinds, vectors, filters)
        if not expanded and self._is_weak(hits) and self._may_spend("sub-queries"):
            expanded = sub_queries(query)
            with self._stage("expand"):
                vectors += self._encode(expanded)
                hits |= self._search(self._kinds, vectors, filters)
        if settings.retrieval.feedback_passages and self._dense_used and self._may_spend("feedback"):
            with self._stage("feedback"):
                vectors, hits = self._with_feedback(query, vectors, hits, filters)

        # Of a kind that is not indexed at all, nothing can be required.
        held = [kind for kind in self._kinds if self._index.paths(kind)]
        required = gates.required_kinds(self._request.task_mode, settings.pack, held, size)
        buffer = max(settings.pack.top_k_buffer, size)

        def choose(reranker: Reranker | None) -> tuple[list[Ranked], list[Hit], gates.Selection]:
            ranked, merged = self._rank(query, vectors[0], hits, reranker)
            return ranked, merged, gates.select(ranked, size, buffer, required)

        # A careful second stage is asked once, when all candidates are there.
        reranker = self._service._reranker
        quick = first_stage(reranker)
        ranked, merged, selection = choose(quick)
        if selection.missing and self._may_spend("the second try for coverage"):
            with self._stage("coverage"):
                for kind in selection.missing:
                    self._limits[kind] = settings.retrieval.expanded_limit_per_collection
                hits |= self._search(selection.missing, vectors, filters)
                ranked, merged, selection = choose(quick)
        untried = settings.retrieval.expansion == "auto" and not expanded
        if selection.missing and untried and self._may_spend("sub-queries"):
            expanded = sub_queries(query)
            with self._stage("expand"):
                vectors += self._encode(expanded)
                hits |= self._search(selection.missing, vectors, filters)
                ranked, merged, selection = choose(quick)
        if reranker is not quick and self._may_spend("the second reranker"):
            ranked, merged, selection = choose(reranker)
        with self._stage("names"):
            names = self._names_found(hits)
        for kind in selection.missing:
            found = sum(item.kind == kind for item in selection.items)
            name = "docs" if kind == "doc" else "code"
            self._warn("coverage", f"only {found} of the {required[kind]} {name} results that the mode asks for.")

        return Outcome(
            query=query,
            final=selection.items,
            ranked=ranked,
            merged=merged,
            plan=self._plan(expanded),
            warnings=list(self._warnings),
            quality=assess_quality(
                selection.items,
                dense_used=self._dense_used,
                names=names,
                relevant_similarity=settings.retrieval.relevant_similarity,
                gaps=self._gaps(),
                subject=settings.subject,
            ),
            timings_ms=self._timings,
            rerank_model=self._rerank_model,
        )

    def pack(self, outcome: Outcome) -> EvidencePack:
        places = {id(item): place for place, item in enumerate(outcome.ranked, 1)}
        with self._stage("verify"):
            candidates = [
                self._candidate(rank, item, places[id(item)], outcome.query)
                for rank, item in enumerate(outcome.final, 1)
            ]
        docs = sum(item.kind == "doc" for item in outcome.final)
        pack = EvidencePack(
            pack_id="",
            query_id=str(uuid.uuid4()),
            status="success" if candidates else "no_results",
            query=self._request.query,
            task_mode=self._request.task_mode,
            profile=self._settings.profile,
            index=self._index.info(),
            quality=outcome.quality,
            retrieval_plan=outcome.plan,
            candidates=tuple(candidates),
            coverage=Coverage(docs_in_top_k=docs, code_in_top_k=len(candidates) - docs),
            warnings=tuple(dict.fromkeys([*outcome.warnings, *self._warnings])),
            debug={
                "timings_ms": {name: round(value, 2) for name, value in self._timings.items()},
                "qdrant": {
                    "store": self._settings.store.kind,
                    "merged": len(outcome.merged),
                    "reranked": len(outcome.ranked),
                },
                "voyage": voyage_usage(*self._service._dense.each, self._service._reranker),
            },
        )
        return pack.with_id()

    def _candidate(self, rank: int, item: Ranked, place: int, query: Query) -> Candidate:
        payload = item.hit.payload
        verification = verify(payload, self._index.source_of(payload))
        if not gates.has_lines(payload):
            self._warn("line_spans_unavailable", f"line spans unavailable for {payload.path}.")
        return build_candidate(rank, item, place, query, verification)

    def _filters(self) -> dict[Kind, Filter]:
        asked = self._request.filters
        built = {kind: build_filter(asked, self._index.paths(kind), self._index.refs(kind)) for kind in self._kinds}
        self._choose_versions({kind for kind in self._kinds if built[kind][1]})
        if asked.repo_ref_hint and not self._hinted:
            went_on = "the search went on without it" if self._left_out() else "all of them were searched"
            self._warn("ref_not_indexed", f"no indexed corpus is of {asked.repo_ref_hint!r}; {went_on}.")
        filters = {kind: _narrowed(filter, self._versions.get(kind)) for kind, (filter, _) in built.items()}
        if not self._index.has_api_reference:
            return filters
        if "doc" in self._kinds and not self._index.has_guides:
            self._warn("docs_fallback", "the guides are not indexed; the API reference stands in for them.")
        elif self._kinds == KINDS and not asked.path_allowlist and not built["doc"][1]:
            # Its pages repeat the docstrings of the code that is searched as well, and would crowd out the guides.
            # Who names paths or a version may well mean these pages.
            docs = filters["doc"]
            filters["doc"] = Filter(docs.must, docs.should, (*docs.must_not, Match("origin", ("api-reference",))))
            self._excluded_origins = ("api-reference",)
        return filters

    def _choose_versions(self, hinted: set[Kind]) -> None:
        """Choose the versions of each kind; a version that is asked for in vain is a warning.

        Args:
            hinted: Kinds that the request's own filter narrows; then the question does not count.
        """
        self._hinted = bool(hinted)
        asked = () if hinted else self._asked
        self._versions = {
            kind: choose_versions(kind, self._index.refs(kind), asked) for kind in KINDS if kind not in hinted
        }
        # Guides have no version: then the code beside them says which one is indexed.
        searched = [self._versions[kind] for kind in self._kinds if kind in self._versions]
        known = any(choice.searched for choice in searched)
        missing = missing_version(asked, searched if known else list(self._versions.values()))
        if missing:
            self._version_missing = True
            self._warn("version_not_indexed", missing)

    def _left_out(self) -> bool:
        return any(self._versions[kind].left_out for kind in self._kinds if kind in self._versions)

    def _encode(self, texts: Sequence[str]) -> list[QueryVectors]:
        branches = self._settings.retrieval.branches
        encoded = []
        # A version narrows the search. Chunks do not name their own, so that in a query it only draws away from what is
        # asked: recall at 12 falls from .415 to .360 on 129 questions that begin with one, and stays .416 without it.
        plain = without_versions(self._query.text)
        for text in (text.replace(self._query.text, plain) for text in texts):
            dense = self._embed(text) if "dense" in branches else {}
            sparse = self._encode_sparse(text) if "sparse" in branches else SparseVector((), ())
            encoded.append(QueryVectors(text, dense, sparse))
        return encoded

    def _encode_sparse(self, text: str) -> SparseVector:
        nothing = SparseVector((), ())
        if self._sparse_failed:
            return nothing
        try:
            return self._service._sparse.encode_query(query_lexical_text(text))
        except ModelError as exc:
            # Without the dense side as well, nothing would be searched.
            if self._strict or not self._dense_used:
                raise
            self._sparse_failed = True
            self._warn("sparse_unavailable", str(exc))
            return nothing

    def _embed(self, text: str) -> dict[Kind, Sequence[float]]:
        """The text's vector for each kind that is searched; a kind whose model failed is left out."""
        if not self._index.dense_complete:
            if self._strict:
                raise StoreError("The index has no dense vectors yet.", "Wait for the ingestion to end.")
            self._warn("dense_pending", "dense vectors are still being computed; results are by keywords only.")
            return {}
        pair = self._service._dense
        # Finding a model may take seconds: once a request is enough.
        wanted = [kind for kind in self._kinds if kind not in self._dense_failed]
        if not wanted:
            return {}
        if pair.shared:
            vector = self._vector(lambda: pair.doc.embed_query(text), wanted)
            return {} if vector is None else dict.fromkeys(wanted, vector)
        # Two models, which may be two services: neither waits for the other.
        futures = {kind: self._service._pool.submit(pair[kind].embed_query, text) for kind in wanted}
        found = {kind: self._vector(future.result, [kind]) for kind, future in futures.items()}
        return {kind: vector for kind, vector in found.items() if vector is not None}

    def _vector(self, embed: Callable[[], Sequence[float]], kinds: Sequence[Kind]) -> Sequence[float] | None:
        try:
            vector = embed()
        except ModelError as exc:
            if self._strict:
                raise
            self._dense_failed.update(kinds)
            self._warn("dense_unavailable", str(exc))
            return None
        self._dense_used = True
        return vector

    def _gaps(self) -> list[str]:
        """What did not take part in this answer, as clauses for its quality."""
        gaps = []
        if self._dense_used and self._dense_failed:
            gaps.append(f"the semantic side was not available for {_named(self._dense_failed)}")
        if self._sparse_failed:
            gaps.append("the keyword side was not available")
        if lost := [self._settings.store.collection(kind) for kind in self._kinds if kind in self._failed_kinds]:
            gaps.append(f"{' and '.join(lost)} could not be searched")
        if self._version_missing:
            gaps.append("the version that the question names is not in the index")
        if self._rerank_failed:
            gaps.append("the reranker was not available, so the order is that of the search")
        return gaps

    def _search(
        self, kinds: Sequence[Kind], vectors: Sequence[QueryVectors], filters: dict[Kind, Filter]
    ) -> dict[Kind, list[Hit]]:
        """Hits by kind; a collection that cannot answer is a warning and not in the result.

        It is not asked again for the same request, which would wait for another time-out.
        """
        settings = self._settings

        def search(kind: Kind) -> list[Hit]:
            return search_collection(
                self._index.store,
                kind,
                vectors,
                settings.retrieval,
                settings.store,
                limit=self._limits[kind],
                filter=filters[kind],
                names=self._query.names,
            )

        # Both collections side by side, where the store can: an engine inside this process that holds the
        # interpreter's lock only makes threads wait for each other (47 against 40 ms a request).
        submit = self._service._pool.submit if self._index.store.concurrent else _call
        futures = {kind: submit(search, kind) for kind in kinds if kind not in self._failed_kinds}
        found: dict[Kind, list[Hit]] = {}
        for kind, future in futures.items():
            try:
                found[kind] = future.result()
            except CollectionUnavailableError as exc:
                self._lost(kind, exc)
        if self._failed_kinds.keys() >= set(self._kinds):
            raise self._failed_kinds[self._kinds[0]]
        return found

    def _lost(self, kind: Kind, failure: CollectionUnavailableError) -> None:
        """Go on without a collection."""
        if self._strict:
            raise failure
        self._failed_kinds.setdefault(kind, failure)
        self._warn("collection_unavailable", str(failure))

    def _names_found(self, hits: Mapping[Kind, Sequence[Hit]]) -> NamesFound:
        """Which names of the question stand anywhere in the index: an invented API is recognised by its absence."""
        names = self._query.names[:MAX_CHECKED_NAMES]
        if not self._service._sparse.exact_terms or self._sparse_failed:
            # Related terms match as well: a name is found where it stands, and its absence proves nothing.
            return NamesFound(tuple(name for name in names if self._stands_in(name, hits)))
        known: list[str] = []
        unknown: list[str] = []
        for name in names:
            # The name as a whole: its words stand in many places.
            term = self._service._sparse.encode_query(name.lower())
            if not term:
                continue
            if any(self._holds(kind, term, self._versions.get(kind)) for kind in KINDS):
                known.append(name)
                continue
            unknown.append(name)
            if self._left_out() and any(self._holds(kind, term) for kind in KINDS):
                self._warn("unknown_name", f"{name} is not in the version that was searched, but in another one.")
            else:
                self._warn("unknown_name", f"{name} is nowhere in the index; it may be invented, your own or too new.")
        return NamesFound(tuple(known), tuple(unknown))

    @staticmethod
    def _stands_in(name: str, hits: Mapping[Kind, Sequence[Hit]]) -> bool:
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        return any(word.search(hit.payload.text) for found in hits.values() for hit in found)

    def _holds(self, kind: Kind, term: SparseVector, versions: VersionChoice | None = None) -> bool:
        store = self._settings.store
        branch = Prefetch(store.sparse_vector, term, 1)
        # What cannot be looked up is not said to be missing.
        if kind in self._failed_kinds:
            return True
        try:
            collection, filter = store.collection(kind), _narrowed(Filter(), versions)
            return bool(self._index.store.hybrid_query(collection, [branch], Fusion(), limit=1, filter=filter).fused)
        except CollectionUnavailableError as exc:
            self._lost(kind, exc)
            return True

    def _with_feedback(
        self, query: Query, vectors: list[QueryVectors], hits: dict[Kind, list[Hit]], filters: dict[Kind, Filter]
    ) -> tuple[list[QueryVectors], dict[Kind, list[Hit]]]:
        """A second pass with the query moved towards the first results of the first."""
        retrieval = self._settings.retrieval
        ranked, _ = self._rank(query, vectors[0], hits, first_stage(self._service._reranker))
        relevant = [item.hit for item in ranked[: retrieval.feedback_passages]]
        store = self._settings.store
        try:
            first_vectors = moved_query(
                vectors[0],
                relevant,
                self._index.store,
                store,
                retrieval,
                shared_space=self._service._dense.shared,
            )
        except CollectionUnavailableError as exc:
            if self._strict:
                raise
            self._warn("collection_unavailable", str(exc))
            return vectors, hits
        moved = [first_vectors, *vectors[1:]]
        first = {hit.point_id: hit.similarity for found in hits.values() for hit in found}
        again = self._search(self._kinds, moved, filters)
        # A collection that fails only now keeps what the first pass found in it.
        return moved, hits | {kind: with_first_similarity(found, first) for kind, found in again.items()}

    def _is_weak(self, hits: dict[Kind, list[Hit]]) -> bool:
        retrieval = self._settings.retrieval
        if retrieval.expansion != "auto":
            return False
        everything = [hit for found in hits.values() for hit in found]
        if len(everything) < retrieval.weak_pool_size:
            return True
        similarities = [hit.similarity for hit in everything if hit.similarity is not None]
        return bool(similarities) and max(similarities) < retrieval.weak_similarity

    def _rank(
        self, query: Query, vectors: QueryVectors, hits: dict[Kind, list[Hit]], reranker: Reranker | None
    ) -> tuple[list[Ranked], list[Hit]]:
        merged = dedup(merge_hits(hits.get("doc", []), hits.get("code", [])))
        complete = [
            hit for hit in merged if gates.provenance_complete(hit.payload, self._index.is_published(hit.payload))
        ]
        if len(complete) < len(merged):
            self._warn("provenance", f"{len(merged) - len(complete)} results without a stable address were left out.")
        candidates = pool(complete, self._settings.retrieval.pool_size)
        with self._stage("rerank"):
            return self._rerank(query, vectors, candidates, reranker), complete

    def _rerank(
        self, query: Query, vectors: QueryVectors, candidates: list[Hit], reranker: Reranker | None
    ) -> list[Ranked]:
        unranked = [Ranked(hit, place, None) for place, hit in enumerate(candidates, 1)]
        if reranker is None or not candidates or self._rerank_failed:
            return unranked
        try:
            documents = self._documents(vectors, candidates)
            with cancellable(self._cancelled):
                scores = reranker.rerank(query, self._request.task_mode, documents)
        except EvidenceError as exc:
            if self._strict:
                raise
            self._warn("rerank_unavailable", str(exc))
            # Waiting for its time-out once a request is enough.
            self._rerank_failed = True
            self._rerank_model = None
            return unranked
        self._rerank_model = reranker.model
        ranked = [
            Ranked(item.hit, item.pool_rank, score.score, score.features)
            for item, score in zip(unranked, scores, strict=True)
        ]
        return sorted(ranked, key=lambda item: (-(item.rerank_score or 0.0), item.pool_rank))

    def _documents(self, vectors: QueryVectors, candidates: Sequence[Hit]) -> list[RerankDocument]:
        scores_of = self._branch_scores(vectors, candidates)
        return [
            RerankDocument(
                payload=hit.payload,
                fused_rank=hit.fused_rank,
                body_tokens=self._settings.rerank.body_tokens,
                scores=scores_of.get(hit.point_id, {}),
            )
            for hit in candidates
        ]

    def _branch_scores(self, vectors: QueryVectors, candidates: Sequence[Hit]) -> dict[str, dict[str, float]]:
        """Exact dense and sparse scores of every candidate, also where its branch did not return it.

        `dense` is the similarity of a chunk's best passage where it has several, and `mean` that of all of them.
        """
        store = self._settings.store
        scores: dict[str, dict[str, float]] = {}
        for kind in self._kinds:
            ids = [hit.point_id for hit in candidates if hit.payload.kind == kind]
            queries: dict[str, Vector] = {}
            if kind in vectors.dense:
                for name in self._index.manifest.collections[store.collection(kind)].dense:
                    queries[name] = vectors.dense[kind]
            if vectors.sparse:
                queries[store.sparse_vector] = vectors.sparse
            if not ids or not queries:
                continue
            found = self._index.store.score_points(store.collection(kind), ids, queries)
            branches = {store.sparse_vector: "sparse", store.mean_vector(kind): "mean"}
            for name, by_id in found.items():
                branch = branches.get(name, "dense")
                for point, score in by_id.items():
                    scores.setdefault(point, {})[branch] = score
        return scores

    def _plan(self, expanded: tuple[str, ...]) -> RetrievalPlan:
        settings = self._settings
        retrieval = settings.retrieval
        return RetrievalPlan(
            collections_queried=tuple(settings.store.collection(kind) for kind in self._kinds),
            hybrid_fusion=retrieval.fusion,
            rrf_k=retrieval.rrf_k if retrieval.fusion == "rrf" else None,
            prefetch_limits={"dense": retrieval.dense_prefetch_limit, "sparse": retrieval.sparse_prefetch_limit},
            final_limits={settings.store.collection(kind): self._limits[kind] for kind in self._kinds},
            qdrant_search_params={"hnsw_ef": retrieval.hnsw_ef, "exact": retrieval.exact},
            sub_queries=expanded,
            feedback={
                "passages": retrieval.feedback_passages,
                "weight": retrieval.feedback_weight,
                "terms": retrieval.feedback_terms,
            }
            if retrieval.feedback_passages
            else None,
            rerank_model=self._rerank_model,
            filters=self._request.filters.model_dump(mode="json", exclude_defaults=True),
            excluded_origins=self._excluded_origins,
            versions=self._version_plan(),
        )

    def _version_plan(self) -> VersionPlan | None:
        """What became of versions; None for a question about none where one is indexed."""
        if not self._asked and not self._left_out():
            return None
        chosen = {
            self._settings.store.collection(kind): self._versions[kind]
            for kind in self._kinds
            if kind in self._versions
        }
        bases = {choice.basis for choice in chosen.values() if choice.searched}
        return VersionPlan(
            asked=tuple(one.text for one in self._asked),
            basis="request" if self._hinted else next((basis for basis in BASES if basis in bases), "newest"),
            searched={name: choice.searched for name, choice in chosen.items() if choice.searched},
            left_out={name: choice.left_out for name, choice in chosen.items() if choice.left_out},
        )

    def _may_spend(self, what: str) -> bool:
        """Whether the soft time budget allows an optional stage; a skipped one is a warning."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return True
        self._warn("time_budget", f"the time budget was spent before {what}.")
        return False

    def _warn(self, code: str, sentence: str) -> None:
        self._warnings.setdefault(f"{code}: {sentence}")

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        """Times a stage, which does not begin for a caller that has gone."""
        if self._cancelled is not None and self._cancelled():
            raise RequestCancelledError("The request was cancelled.")
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._timings[name] = self._timings.get(name, 0.0) + (time.perf_counter() - begin) * 1000


def _narrowed(filter: Filter, versions: VersionChoice | None) -> Filter:
    if versions is None or not versions.commits:
        return filter
    return Filter((*filter.must, Match("commit", versions.commits)), filter.should, filter.must_not)


def _named(kinds: set[Kind]) -> str:
    return " and ".join("docs" if kind == "doc" else "code" for kind in KINDS if kind in kinds)


def _call(function: Callable[[Kind], list[Hit]], kind: Kind) -> Future[list[Hit]]:
    """Like an executor's `submit`, in the calling thread."""
    future: Future[list[Hit]] = Future()
    try:
        future.set_result(function(kind))
    except EvidenceError as exc:
        future.set_exception(exc)
    return future


def _event(pack: EvidencePack, outcome: Outcome, request: EvidenceRequest) -> dict[str, Any]:
    plan = outcome.plan
    wrapped = instruction(outcome.query, request.task_mode)
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "event": "retrieval",
        "query_id": pack.query_id,
        "pack_id": pack.pack_id,
        "query_text": pack.query,
        "task_mode": pack.task_mode,
        "generation": pack.index.generation if pack.index else None,
        "collections_queried": plan.collections_queried,
        "qdrant_request_params": {
            "prefetch_limits": plan.prefetch_limits,
            "fusion": plan.hybrid_fusion,
            "rrf_k": plan.rrf_k,
            "hnsw_ef": plan.qdrant_search_params["hnsw_ef"],
            "exact": plan.qdrant_search_params["exact"],
            "limits": plan.final_limits,
            "sub_queries": len(plan.sub_queries),
            "filters": plan.filters,
        },
        "qdrant_result_ids": [
            {"candidate_id": hit.payload.candidate_id, "score": hit.fused_score}
            for hit in outcome.merged[:MAX_LOGGED_HITS]
        ],
        "rerank_model": outcome.rerank_model,
        "rerank_instruction_hash": hashlib.sha256(wrapped.encode()).hexdigest()[:16],
        "rerank_batching": {
            "documents": len(outcome.ranked),
            "batches": len({item.features.get("batch") for item in outcome.ranked}) if outcome.rerank_model else 0,
        },
        "final_top_k": [
            {"candidate_id": item.candidate_id, "rerank_score": item.rerank_score, "verified": item.verification.state}
            for item in pack.candidates
        ],
        "coverage": pack.coverage.model_dump(),
        "quality": pack.quality.level,
        "warnings": pack.warnings,
        "timings_ms": pack.debug["timings_ms"],
    }
