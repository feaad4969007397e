"""From a request to a verified Evidence Pack (SPEC 5): encode, retrieve, merge, rerank, gate, cite, check."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

from adk_evidence.citations.verify import verify
from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder
from adk_evidence.embedding.factory import make_dense, make_sparse, voyage_usage
from adk_evidence.embedding.queries import remembered
from adk_evidence.index.opened import CurrentIndex, Index
from adk_evidence.models.chunk import KINDS, SOURCE_TYPES, ChunkPayload, Kind
from adk_evidence.models.pack import Candidate, Coverage, EvidencePack, RetrievalPlan
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search import gates
from adk_evidence.search.candidates import Ranked
from adk_evidence.search.encoding import QueryEncoder
from adk_evidence.search.event import retrieval_event
from adk_evidence.search.feedback import search_again
from adk_evidence.search.hybrid import Hit, QueryVectors, wide_enough
from adk_evidence.search.names import NameCheck
from adk_evidence.search.outcome import Outcome
from adk_evidence.search.pack import assess_quality, build_candidate, lowered
from adk_evidence.search.progress import Cancelled, Progress, RequestCancelledError
from adk_evidence.search.query import normalise, sub_queries
from adk_evidence.search.ranking import Ranker
from adk_evidence.search.rerank.base import Reranker
from adk_evidence.search.rerank.cascade import first_stage
from adk_evidence.search.rerank.factory import make_reranker
from adk_evidence.search.scope import Scope
from adk_evidence.search.search import Searcher
from adk_evidence.search.support import SupportMeter
from adk_evidence.settings import Settings
from adk_evidence.store.manifest import NO_COMMIT, is_uncommitted
from adk_evidence.telemetry import EventLog

__all__ = ["Cancelled", "EvidenceService", "Outcome", "RequestCancelledError"]
# That a sentence names.
_NAMED_FILES = 3


# What becomes of the quality of an answer whose first citation does not hold, by the citation's state.
UNSOUND: Mapping[str, str] = {
    "gone": "the text that the first result cites is gone",
    "changed": "the text that the first result cites has changed",
}
# A kind in a sentence.
_KIND_NAMES: Mapping[Kind, str] = {"doc": "documentation", "code": "code"}


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

    def hold(self) -> AbstractContextManager[None]:
        """One and the same index for several requests of this thread; see `CurrentIndex.hold`."""
        return self._current.hold()

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
            self._log.write(retrieval_event(pack, outcome, request))
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
        settings = service._settings
        self._size = request.max_results_final or settings.pack.max_results_final
        # Only for a number that the request names: the settings' own limits hold for the settings' own number.
        retrieval = wide_enough(settings.retrieval, request.max_results_final or 0)
        settings = settings.model_copy(update={"retrieval": retrieval})
        self._service = service
        self._settings = settings
        self._index = index
        self._request = request
        self._query = query = normalise(request.query)
        self._progress = progress = Progress(
            strict=settings.retrieval.strict if request.strict is None else request.strict,
            budget_ms=request.time_budget_ms or settings.pack.time_budget_ms,
            cancelled=cancelled,
        )
        self._scope = scope = Scope(request.filters, query.text, index, progress)
        self._encoder = QueryEncoder(
            service._dense,
            service._sparse,
            service._pool,
            branches=settings.retrieval.branches,
            kinds=scope.kinds,
            dense_gap=index.dense_gap(),
            progress=progress,
        )
        self._searcher = Searcher(index, settings, scope.filters, query.names, service._pool, progress)
        self._absent_kinds: list[str] = []
        self._ranker = Ranker(index, settings, query, request.task_mode, progress)

    def retrieve(self) -> Outcome:
        settings = self._settings
        query, kinds = self._query, self._scope.kinds
        stage, may_spend = self._progress.stage, self._progress.may_spend
        size = self._size
        expanded: tuple[str, ...] = sub_queries(query) if settings.retrieval.expansion == "always" else ()

        with stage("encode"):
            vectors = self._encode((query.text, *expanded))
        with stage("search"):
            hits = self._searcher.search(kinds, vectors)
        if not expanded and self._is_weak(hits) and may_spend("sub-queries"):
            expanded = sub_queries(query)
            with stage("expand"):
                vectors += self._encode(expanded)
                hits |= self._searcher.search(kinds, vectors)
        if settings.retrieval.feedback_passages and self._encoder.dense_used and may_spend("feedback"):
            with stage("feedback"):
                vectors, hits = self._with_feedback(vectors, hits)

        # A kind that is not indexed at all is said to be missing, and nothing is searched for in vain.
        held = [kind for kind in kinds if self._index.paths(kind)]
        mode = self._request.task_mode
        if settings.expects_every_kind:
            wanted = gates.required_kinds(mode, settings.pack, kinds, size)
            self._absent_kinds = [_KIND_NAMES[kind] for kind in wanted if wanted[kind] and kind not in held]
        for name in self._absent_kinds:
            self._progress.warn("coverage", f"no {name} is indexed, though the mode asks for docs and code.")
        required = gates.required_kinds(mode, settings.pack, held, size)
        buffer = max(settings.pack.top_k_buffer, size)

        def choose(reranker: Reranker | None) -> tuple[list[Ranked], list[Hit], gates.Selection]:
            ranked, merged = self._ranker.rank(vectors[0], hits, reranker)
            return ranked, merged, gates.select(ranked, size, buffer, required)

        # A careful second stage is asked once, when all candidates are there.
        reranker = self._service._reranker
        quick = first_stage(reranker)
        ranked, merged, selection = choose(quick)
        if selection.missing and may_spend("the second try for coverage"):
            with stage("coverage"):
                for kind in selection.missing:
                    self._searcher.limits[kind] = settings.retrieval.expanded_limit_per_collection
                hits |= self._searcher.search(selection.missing, vectors)
                ranked, merged, selection = choose(quick)
        untried = settings.retrieval.expansion == "auto" and not expanded
        if selection.missing and untried and may_spend("sub-queries"):
            expanded = sub_queries(query)
            with stage("expand"):
                vectors += self._encode(expanded)
                hits |= self._searcher.search(selection.missing, vectors)
                ranked, merged, selection = choose(quick)
        if reranker is not quick and may_spend("the second reranker"):
            ranked, merged, selection = choose(reranker)
        with stage("names"):
            names = NameCheck(self._encoder, self._searcher, self._scope, self._progress).check(query.names, hits)
        with stage("support"):
            meter = SupportMeter(
                self._encoder, self._searcher, self._scope, self._index.points, settings.retrieval.support
            )
            support = meter.measure(query, selection.items)
        for kind in selection.missing:
            found = sum(item.kind == kind for item in selection.items)
            self._progress.warn(
                "coverage", f"only {found} of the {required[kind]} {SOURCE_TYPES[kind]} results that the mode asks for."
            )

        self._warn_of_uncommitted(selection.items)
        return Outcome(
            query=query,
            final=selection.items,
            ranked=ranked,
            merged=merged,
            plan=self._plan(expanded),
            warnings=self._progress.warnings,
            quality=assess_quality(
                selection.items,
                dense_used=self._encoder.dense_used,
                names=names,
                support=support,
                needed=settings.retrieval.support,
                relevant_similarity=settings.retrieval.relevant_similarity,
                gaps=self._gaps(),
                subject=settings.subject,
            ),
            support=support,
            timings_ms=self._progress.timings_ms,
            rerank_model=self._ranker.model,
        )

    def _warn_of_uncommitted(self, items: Sequence[Ranked]) -> None:
        payloads = [item.hit.payload for item in items]
        paths = dict.fromkeys(payload.path for payload in payloads if _is_uncommitted(payload))
        if paths:
            named = ", ".join(list(paths)[:_NAMED_FILES]) + (" and others" if len(paths) > _NAMED_FILES else "")
            sentence = f"no commit holds these files as they are, so `tree-` cites them as found on disk: {named}."
            self._progress.warn("uncommitted", sentence)

    def pack(self, outcome: Outcome) -> EvidencePack:
        places = {id(item): place for place, item in enumerate(outcome.ranked, 1)}
        with self._progress.stage("verify"):
            candidates = [
                self._candidate(rank, item, places[id(item)], outcome) for rank, item in enumerate(outcome.final, 1)
            ]
        docs = sum(item.kind == "doc" for item in outcome.final)
        first = candidates[0].verification.state if candidates else "exact"
        quality = lowered(outcome.quality, [UNSOUND[first]] if first in UNSOUND else [])
        pack = EvidencePack(
            pack_id="",
            query_id=str(uuid.uuid4()),
            status="success" if candidates else "no_results",
            query=self._request.query,
            task_mode=self._request.task_mode,
            profile=self._settings.profile,
            index=self._index.info(),
            quality=quality,
            retrieval_plan=outcome.plan,
            candidates=tuple(candidates),
            coverage=Coverage(docs_in_top_k=docs, code_in_top_k=len(candidates) - docs),
            warnings=tuple(dict.fromkeys([*outcome.warnings, *self._progress.warnings])),
            debug={
                "timings_ms": {name: round(value, 2) for name, value in self._progress.timings_ms.items()},
                "qdrant": {
                    "store": self._settings.store.kind,
                    "merged": len(outcome.merged),
                    "reranked": len(outcome.ranked),
                },
                "voyage": voyage_usage(*self._service._dense.each, self._service._reranker),
            },
        )
        return pack.with_id()

    def _candidate(self, rank: int, item: Ranked, place: int, outcome: Outcome) -> Candidate:
        payload = item.hit.payload
        verification = verify(payload, self._index.source_of(payload))
        if not gates.has_lines(payload):
            self._progress.warn("line_spans_unavailable", f"line spans unavailable for {payload.path}.")
        support = outcome.support.by_result.get(item.hit.point_id)
        return build_candidate(rank, item, place, outcome.query, verification, support)

    def _encode(self, texts: tuple[str, ...]) -> list[QueryVectors]:
        return self._encoder.encode(texts, self._query.text)

    def _with_feedback(
        self, vectors: list[QueryVectors], hits: dict[Kind, list[Hit]]
    ) -> tuple[list[QueryVectors], dict[Kind, list[Hit]]]:
        """A second pass with the query moved towards the first results of the first."""
        retrieval = self._settings.retrieval
        ranked, _ = self._ranker.rank(vectors[0], hits, first_stage(self._service._reranker))
        return search_again(
            vectors,
            hits,
            [item.hit for item in ranked[: retrieval.feedback_passages]],
            self._index.store,
            self._searcher,
            self._progress,
            self._settings,
            shared_space=self._service._dense.shared,
        )

    def _is_weak(self, hits: dict[Kind, list[Hit]]) -> bool:
        retrieval = self._settings.retrieval
        if retrieval.expansion != "auto":
            return False
        everything = [hit for found in hits.values() for hit in found]
        if len(everything) < retrieval.weak_pool_size:
            return True
        similarities = [hit.similarity for hit in everything if hit.similarity is not None]
        return bool(similarities) and max(similarities) < retrieval.weak_similarity

    def _gaps(self) -> list[str]:
        """What did not take part in this answer, as clauses for its quality."""
        gaps = []
        encoder, lost = self._encoder, self._searcher.failed
        if encoder.dense_used and encoder.dense_failed:
            gaps.append(f"the semantic side was not available for {_named(encoder.dense_failed)}")
        if encoder.sparse_failed:
            gaps.append("the keyword side was not available")
        if collections := [self._settings.store.collection(kind) for kind in self._scope.kinds if kind in lost]:
            gaps.append(f"{' and '.join(collections)} could not be searched")
        if self._scope.version_missing:
            gaps.append("the version that the question names is not in the index")
        gaps += [f"no {name} is indexed" for name in self._absent_kinds]
        if self._ranker.failed:
            gaps.append("the reranker was not available, so the order is that of the search")
        return gaps

    def _plan(self, expanded: tuple[str, ...]) -> RetrievalPlan:
        settings, scope = self._settings, self._scope
        retrieval = settings.retrieval
        return RetrievalPlan(
            collections_queried=tuple(settings.store.collection(kind) for kind in scope.kinds),
            hybrid_fusion=retrieval.fusion,
            rrf_k=retrieval.rrf_k if retrieval.fusion == "rrf" else None,
            prefetch_limits={"dense": retrieval.dense_prefetch_limit, "sparse": retrieval.sparse_prefetch_limit},
            final_limits={settings.store.collection(kind): limit for kind, limit in self._searcher.limits.items()},
            qdrant_search_params={"hnsw_ef": retrieval.hnsw_ef, "exact": retrieval.exact},
            sub_queries=expanded,
            feedback={
                "passages": retrieval.feedback_passages,
                "weight": retrieval.feedback_weight,
                "terms": retrieval.feedback_terms,
            }
            if retrieval.feedback_passages
            else None,
            rerank_model=self._ranker.model,
            filters=self._request.filters.model_dump(mode="json", exclude_defaults=True),
            excluded_origins=scope.excluded_origins,
            versions=scope.version_plan(settings.store),
        )


def _named(kinds: set[Kind]) -> str:
    return " and ".join(SOURCE_TYPES[kind] for kind in KINDS if kind in kinds)


def _is_uncommitted(payload: ChunkPayload) -> bool:
    # Pages that were made from uncommitted modules are in a corpus together with those of all others.
    made = payload.origin == "api-reference" and payload.commit.startswith(NO_COMMIT)
    return made or is_uncommitted(payload.corpus)
