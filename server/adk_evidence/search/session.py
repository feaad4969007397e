"""The door to the evidence: a service for the whole process, and sessions that each read one pinned index."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adk_evidence.citations.anchor import Corpus
from adk_evidence.citations.verify import verify
from adk_evidence.embedding.base import DenseEmbedder, Once, Pair, SparseEncoder
from adk_evidence.embedding.factory import fingerprint, make_dense, make_sparse
from adk_evidence.embedding.queries import KEPT_QUESTIONS, RememberedQueries, remembered
from adk_evidence.errors import EvidenceError, RequestCancelledError, StoreError
from adk_evidence.index.encoders import as_built
from adk_evidence.index.opened import CurrentIndex, Index
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.chunk import KINDS, ChunkPayload
from adk_evidence.models.load import CacheUse
from adk_evidence.models.pack import EvidencePack, LeftOut, LineSpan, Verification
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest
from adk_evidence.search.candidates.hybrid import search_collection, wide_enough
from adk_evidence.search.context import Context
from adk_evidence.search.door import Door
from adk_evidence.search.event import retrieval_event
from adk_evidence.search.pack.assemble import assemble
from adk_evidence.search.pack.drift import check_ahead
from adk_evidence.search.pipeline import begin, rank
from adk_evidence.search.question.scope import filter_of
from adk_evidence.search.ranking.support import held_names
from adk_evidence.search.read import CitedSource, lines_for_others, read_candidate, read_citation, read_file
from adk_evidence.search.rerankers.base import Reranker
from adk_evidence.search.rerankers.factory import for_codebase, make_reranker
from adk_evidence.search.stages import Hit, Models, QueryVectors, Question, Ranking
from adk_evidence.services.eventloop import Cancelled
from adk_evidence.settings import Settings
from adk_evidence.telemetry import event_log
from adk_evidence.text.identifiers import query_lexical_text

if TYPE_CHECKING:
    from adk_evidence.symbols.current import CurrentSymbols
    from adk_evidence.symbols.lookup import Symbols


# So many new objects more than freed ones begin a garbage collection; a question makes some 3,500.
COLLECTED_AT_ONCE = 10_000


class Neighbour(NamedTuple):
    """A hit, and its cosine with what was asked; None where nothing was encoded for the hit's kind."""

    hit: Hit
    similarity: float | None


class EvidenceService:
    """Owns the settings, the models, the threads and the current index. Safe to share between threads.

    Args:
        settings: Validated settings; the default builds every part from them.
        dense: Dense encoder, or one for docs and one for code, for tests.
        sparse: Sparse encoder.
        reranker: Reranker; None leaves the fused order.
        keep_queries: Number of questions whose dense vectors each encoder keeps for when they are asked again.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        dense: DenseEmbedder | Pair[DenseEmbedder] | None = None,
        sparse: SparseEncoder | None = None,
        reranker: Reranker | None = None,
        keep_queries: int = KEPT_QUESTIONS,
    ) -> None:
        self.settings = settings
        made: Pair[DenseEmbedder] = Pair.of(dense or make_dense(settings))
        self.models = Models(
            dense=remembered(made, keep_queries),
            sparse=sparse or make_sparse(settings),
            reranker=reranker or make_reranker(settings),
            # For the kinds of several requests: a service that is slow to one must not make the others wait.
            threads=ThreadPoolExecutor(max_workers=4 * len(KINDS), thread_name_prefix="adk-evidence-search"),
        )
        # How indexes are read that have other encoders than the settings name, and these encoders, by their model.
        self._read_as: dict[str, tuple[Settings, Models]] = {}
        self._other_dense: dict[str, Pair[DenseEmbedder]] = {}
        self._reading = threading.Lock()
        self._keep_queries = keep_queries
        self.log = event_log(settings)
        self.door = Door(settings.load)
        self._current = CurrentIndex(settings)
        models = self.models
        self._owned: tuple[object, ...] = (self._current, *models.dense.each, models.reranker)
        self._symbols = Once(self._make_symbols)

    def close(self) -> None:
        """Release the index, the threads and the connections to services."""
        self.models.threads.shutdown(wait=False, cancel_futures=True)
        for part in self._owned:
            close = getattr(part, "close", None)
            if close is not None:
                close()

    def retire(self) -> None:
        """Release the index of a service that nobody asks any more; requests that run go on to their end."""
        self._current.close()

    def beside(self, settings: Settings) -> EvidenceService:
        """A service on the index of other settings with the models of this service, which alone closes them."""
        models = self.models
        other = EvidenceService(settings, dense=models.dense, sparse=models.sparse, reranker=models.reranker)
        # One limit holds for the answers of all indexes.
        other.door = self.door
        other._other_dense, other._reading, other._keep_queries = self._other_dense, self._reading, self._keep_queries
        other._owned = (other._current,)
        return other

    def tuned(self, settings: Settings, reranker: Reranker | None = None) -> EvidenceService:
        """A service that searches and ranks by other settings, on this service's index and with its encoders.

        The settings may differ in `retrieval`, `rerank` and `pack`. This service alone closes what is shared.
        """
        models = self.models
        other = EvidenceService(settings, dense=models.dense, sparse=models.sparse, reranker=reranker)
        other._current.close()
        other._current, other._symbols = self._current, self._symbols
        other._other_dense, other._reading = self._other_dense, self._reading
        other._owned = (other.models.reranker,)
        return other

    @contextmanager
    def session(self, context: Context | None = None) -> Iterator[Session]:
        """A session on the index that is published now; the index stays open and the same until the session ends.

        Raises:
            IndexMissingError: Nothing was ingested yet.
            IndexMismatchError: The index was built with other models than the settings name.
        """
        with self._current.pin() as index:
            yield Session(self, index, context or Context())

    def read_as(self, index: Index) -> tuple[Settings, Models]:
        """The settings and models with which an index is asked: those of the service, but the index's own encoder."""
        used = str(index.manifest.fingerprint["dense_model"])
        with self._reading:
            if used not in self._read_as:
                settings, models = as_built(self.settings, index.manifest), self.models
                if used != fingerprint(self.settings)["dense_model"]:
                    if used not in self._other_dense:
                        made: Pair[DenseEmbedder] = make_dense(settings)
                        self._other_dense[used] = remembered(made, self._keep_queries)
                    models = replace(models, dense=self._other_dense[used])
                if isinstance(settings, CodebaseSettings):
                    models = replace(models, reranker=for_codebase(models.reranker))
                # Kept, because equal requests are told by the identity of their settings.
                self._read_as[used] = settings, models
            return self._read_as[used]

    def find(self, request: EvidenceRequest, cancelled: Cancelled | None = None) -> EvidencePack:
        """See `Session.find`."""
        with self.session(Context(cancelled)) as session:
            return session.find(request)

    def ask(self, request: EvidenceRequest, cancelled: Cancelled | None = None) -> EvidencePack:
        """`find` for servers, whose clients ask the same: see `Door.find`."""
        with self.session(Context(cancelled)) as session:
            return self.door.find(session, request)

    @property
    def encoders(self) -> tuple[DenseEmbedder, ...]:
        """What questions are encoded with: the service's own models, then those of indexes that have others."""
        with self._reading:
            return tuple(each for dense in (self.models.dense, *self._other_dense.values()) for each in dense.each)

    def caches(self) -> tuple[CacheUse, ...]:
        """How full the caches of this process are, and how often they had what was asked for.

        Those of the index are new with every generation, and are there once it is open.
        """
        dense = self.models.dense
        others = (each for each in self.encoders if all(each is not own for own in dense.each))
        names = ["questions"] if dense.shared else ["questions to docs", "questions to code"]
        named = [*zip(names, dense.each, strict=True), *((f"questions to {each.model}", each) for each in others)]
        kept = [each.use(name) for name, each in named if isinstance(each, RememberedQueries)]
        return (self.door.use("answers"), *kept, *self._current.caches())

    @property
    def symbols(self) -> CurrentSymbols:
        """The symbols, which share the dense model of code."""
        return self._symbols()

    def _make_symbols(self) -> CurrentSymbols:
        from adk_evidence.symbols.current import CurrentSymbols

        return CurrentSymbols(self.settings, self.models.dense.code)


# Once in a process, because garbage that is frozen is never freed.
@functools.cache
def settle() -> None:
    """Leave what the first request has loaded out of garbage collections, and collect less often.

    Modules, models, the index and its symbols are some 250,000 objects, and stay. A full collection that walks over all
    of them would stop a request for 100 ms, the first one too: the little garbage among them stays. What later requests
    read stays for a while in caches, and is no garbage either: with Python's own threshold, looking for garbage among
    that takes a twentieth of all time.
    """
    gc.freeze()
    gc.enable()  # a server collects nothing before
    # A process that collects less often still, or not at all (0), wants that.
    youngest, *older = gc.get_threshold()
    if 0 < youngest < COLLECTED_AT_ONCE:
        gc.set_threshold(COLLECTED_AT_ONCE, *older)


class Session:
    """Everything that is asked of one pinned index. Safe to share between threads while it is open.

    Args:
        service: Owns the models and threads.
        index: The pinned index.
        context: Cancellation, and whether retrievals are logged.
    """

    def __init__(self, service: EvidenceService, index: Index, context: Context) -> None:
        self.service = service
        self.settings, self.models = service.read_as(index)
        self.index = index
        self.context = context

    def find(self, request: EvidenceRequest) -> EvidencePack:
        """Answer a request with a checked pack, and write the event of the retrieval.

        Raises:
            RequestCancelledError: The caller has gone.
            EvidenceError: A part failed in strict mode, or nothing is left to search with.
        """
        question = self._read(request)
        with self._failure_logged(question):
            ranking = rank(question)
            # The request's own targets: looking for them on disk again takes half a millisecond.
            targets = question.targets()
            pack = assemble(ranking, targets.imports() if targets is not None else None)
        self.log(retrieval_event(question, ranking, pack))
        settle()
        return pack

    def rank(self, request: EvidenceRequest) -> Ranking:
        """The ranking alone, without citations: what evaluation measures and operations merge. Fails as `find` does."""
        question = self._read(request)
        with self._failure_logged(question):
            ranking = rank(question)
        self.log(retrieval_event(question, ranking))
        settle()
        return ranking

    def held_names(self, request: EvidenceRequest) -> frozenset[str]:
        """The names of a request that the index holds for sure; see `support.held_names`."""
        with self.context.stage("names"):
            question = self._read(request)
            return held_names(question) if question.context.may_spend("names were looked up") else frozenset()

    def imports(self) -> object | None:
        """What an answer says of how things are imported: the same object as long as that does not change."""
        return self.service.symbols.imports()

    def on_behalf_of(self, cancelled: Cancelled) -> Session:
        """The same session, whose requests end when `cancelled` says so."""
        return type(self)(self.service, self.index, replace(self.context, cancelled=cancelled))

    def log(self, event: Mapping[str, Any]) -> None:
        """Write an event where retrievals of this session are logged."""
        if self.context.logged and self.service.log is not None:
            self.service.log.write(event)

    @contextmanager
    def _failure_logged(self, question: Question) -> Iterator[None]:
        """Write the event of a request that fails; `find` and `rank` write that of a request that succeeds."""
        try:
            yield
        except EvidenceError as exc:
            # A request that was cancelled has no answer that could miss anything.
            if exc.code != RequestCancelledError.code:
                self.log(retrieval_event(question, failure=exc))
            raise

    def _read(self, request: EvidenceRequest) -> Question:
        # A request goes by one state of the targets, which are looked for on disk.
        symbols, targets = (lambda: self.symbols), functools.cache(self.service.symbols.known)
        return begin(request, self.index, self.settings, self.models, self.context, symbols, targets)

    def similar(self, code: str, *, limit: int, filters: EvidenceFilters) -> list[Neighbour]:
        """Indexed code like a snippet, by its vector and by the words in it, best first.

        Raises:
            StoreError: The index has no dense vectors yet.
            InvalidRequestError: A path filter cannot be parsed.
            CollectionUnavailableError: The collection cannot answer.
        """
        index = self.index
        if (gap := index.dense_gap()) is not None:
            raise StoreError(f"{gap.why.capitalize()}.", gap.hint)
        retrieval = wide_enough(self.settings.retrieval, limit)
        settings = self.settings.model_copy(update={"retrieval": retrieval})
        narrowed = filter_of(filters, "code", index)
        with self.context.stage("encode"):
            models = self.models
            sparse = models.sparse.encode_query(query_lexical_text(code))
            vectors = QueryVectors(code, {"code": models.dense.code.embed_query(code)}, sparse)
        with self.context.stage("search"):
            wanted = retrieval.final_limit_per_collection
            hits = search_collection(index, settings, "code", [vectors], limit=wanted, filter=narrowed)
            return self.neighbours(vectors, hits)

    def neighbours(self, vectors: QueryVectors, hits: Sequence[Hit]) -> list[Neighbour]:
        """The hits in their order, each with its cosine with a query."""
        store = self.settings.store
        scores: dict[str, float] = {}
        for kind in KINDS:
            ids = [hit.point_id for hit in hits if hit.kind == kind]
            if ids and kind in vectors.dense:
                using = store.dense_vector(kind)
                query = {using: vectors.dense[kind]}
                scores |= self.index.store.score_points(store.collection(kind), ids, query)[using]
        return [Neighbour(hit, scores.get(hit.point_id)) for hit in hits]

    def verify(self, payload: ChunkPayload) -> Verification:
        """Compare what a chunk cites with its source."""
        reader = self.index.source_of(payload)
        return verify(payload, reader, Corpus(reader, only_follow=True) if reader is not None else None)

    def read(self, citation: str) -> CitedSource:
        """The source that a citation points to; see `read_citation`."""
        return read_citation(self.index, self.settings.store, lambda: self.symbols.table, citation)

    def check_pages(self) -> Iterator[str]:
        """Check pages of docs ahead of the questions that show them; see `drift.check_ahead`."""
        corpora = {name: Corpus(reader, only_follow=True) for name, reader in self.index.sources.items()}
        return check_ahead(self._read(EvidenceRequest(query="agent")), corpora)

    def lines_for_others(self, source: CitedSource) -> tuple[LeftOut, ...]:
        """The lines of a page that are for other readers; see `read.lines_for_others`."""
        return lines_for_others(self.index, self.settings.store, source)

    def read_file(
        self, path: str, name: str | None = None, commit: str | None = None, lines: LineSpan | None = None
    ) -> CitedSource:
        """An indexed file; see `read.read_file`."""
        return read_file(self.index, self.settings.store, path, name, commit, lines)

    def read_candidate(self, candidate_id: str) -> CitedSource:
        """The source of a pack's candidate; see `read.read_candidate`."""
        return read_candidate(self.index, self.settings.store, candidate_id)

    # Once for a session: a newer generation takes the place of the symbols that the service keeps.
    @cached_property
    def symbols(self) -> Symbols:
        return self.service.symbols.of(self.index)

    def local_files(self, pack: EvidencePack) -> dict[str, Path]:
        """Where the cited files lie on this machine, by candidate id; a file that is not here is left out."""
        found = {candidate.candidate_id: self.index.local_file(candidate) for candidate in pack.candidates}
        return {name: path for name, path in found.items() if path is not None}
