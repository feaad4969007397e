"""The search of a request: every collection that it wants, and what becomes of it when one cannot answer."""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError, EvidenceError
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import Kind
from adk_evidence.search.context import Context
from adk_evidence.search.hybrid import Hit, QueryVectors, search_collection
from adk_evidence.settings import Settings
from adk_evidence.store import base
from adk_evidence.store.base import Filter, Fusion, HasId, Prefetch


class Searcher:
    """Searches the collections of one request.

    A collection that cannot answer is a warning and is not asked again, which would wait for another time-out;
    `failed` has them. `limits` says how many hits of a kind are wanted.

    Args:
        index: Where the collections are.
        settings: How a collection is searched.
        filters: The filter of every kind that the request searches.
        names: Names in code that the question mentions.
        pool: Where collections are searched side by side.
        context: Gets the warnings.
    """

    def __init__(
        self,
        index: Index,
        settings: Settings,
        filters: Mapping[Kind, Filter],
        names: Sequence[str],
        pool: Executor,
        context: Context,
    ) -> None:
        self.limits: dict[Kind, int] = dict.fromkeys(filters, settings.retrieval.final_limit_per_collection)
        self.failed: dict[Kind, CollectionUnavailableError] = {}
        self._index = index
        self._settings = settings
        self._filters = filters
        self._names = names
        self._pool = pool
        self._context = context

    def search(self, kinds: Iterable[Kind], vectors: Sequence[QueryVectors]) -> dict[Kind, list[Hit]]:
        """Hits by kind; a collection that cannot answer is not in the result.

        Raises:
            CollectionUnavailableError: None of the request's collections can answer, or one cannot in strict mode.
        """
        # Both collections side by side, where the store can: an engine inside this process that holds the
        # interpreter's lock only makes threads wait for each other (47 against 40 ms a request).
        beside = self._index.store.concurrent
        futures = {
            kind: self._context.submit(self._pool, self._hits, kind, vectors)
            if beside
            else _call(self._hits, kind, vectors)
            for kind in kinds
            if kind not in self.failed
        }
        found: dict[Kind, list[Hit]] = {}
        for kind, future in futures.items():
            try:
                found[kind] = future.result()
            except CollectionUnavailableError as exc:
                self._lost(kind, exc)
        if self.failed.keys() >= self._filters.keys():
            raise self.failed[next(iter(self._filters))]
        return found

    def holds(self, kind: Kind, term: SparseVector, filter: Filter) -> bool:
        """Whether a term stands in a collection; what cannot be looked up is not said to be missing.

        Raises:
            CollectionUnavailableError: It cannot be looked up in strict mode.
        """
        if kind in self.failed:
            return True
        store = self._settings.store
        branch = Prefetch(store.sparse_vector, term, 1)
        try:
            found = self._index.store.hybrid_query(store.collection(kind), [branch], Fusion(), limit=1, filter=filter)
        except CollectionUnavailableError as exc:
            self._lost(kind, exc)
            return True
        return bool(found.fused)

    def weights(self, kind: Kind, terms: Mapping[str, SparseVector], filter: Filter) -> dict[str, float]:
        """The best score that each term alone reaches in a collection, which is higher the rarer the term is.

        A term that stands nowhere has 0; where the collection cannot answer, nothing is known of any term.

        Raises:
            CollectionUnavailableError: It cannot be looked up in strict mode.
        """
        kept = self._index.term_weights
        known = {
            name: weight for name, term in terms.items() if (weight := kept.peek((kind, filter, term))) is not None
        }
        wanted = {name: term for name, term in terms.items() if name not in known}
        found = self._branches(kind, [Prefetch(self._sparse, term, 1) for term in wanted.values()], filter)
        for (name, term), hits in zip(wanted.items(), found, strict=False):
            best = hits[0].score if hits else 0.0
            known[name] = kept.get((kind, filter, term), functools.partial(float, best))
        return known

    def holders(self, kind: Kind, terms: Mapping[str, SparseVector], ids: Sequence[str]) -> dict[str, set[str]]:
        """Which of the given points hold each term.

        Raises:
            CollectionUnavailableError: It cannot be looked up in strict mode.
        """
        among = Filter(must=(HasId(tuple(ids)),))
        branches = [Prefetch(self._sparse, term, len(ids)) for term in terms.values()] if ids else []
        found = self._branches(kind, branches, among, held=ids)
        return {name: {hit.id for hit in hits} for name, hits in zip(terms, found, strict=False)}

    @property
    def _sparse(self) -> str:
        return self._settings.store.sparse_vector

    def _branches(
        self, kind: Kind, branches: Sequence[Prefetch], filter: Filter, held: Container[str] = ()
    ) -> list[list[base.Hit]]:
        """The hits of each branch; none at all where the collection cannot answer."""
        if kind in self.failed or not branches:
            return []
        collection = self._settings.store.collection(kind)
        try:
            return self._index.store.hybrid_query(
                collection, branches, Fusion(), limit=1, filter=filter, held=held
            ).branches
        except CollectionUnavailableError as exc:
            self._lost(kind, exc)
            return []

    def _hits(self, kind: Kind, vectors: Sequence[QueryVectors]) -> list[Hit]:
        return search_collection(
            self._index.store,
            kind,
            vectors,
            self._settings.retrieval,
            self._settings.store,
            limit=self.limits[kind],
            filter=self._filters[kind],
            names=self._names,
            payloads=self._index.payloads(kind),
        )

    def _lost(self, kind: Kind, failure: CollectionUnavailableError) -> None:
        """Go on without a collection."""
        if self._context.strict:
            raise failure
        self.failed.setdefault(kind, failure)
        self._context.warn("collection_unavailable", str(failure))


def _call(
    function: Callable[[Kind, Sequence[QueryVectors]], list[Hit]], kind: Kind, vectors: Sequence[QueryVectors]
) -> Future[list[Hit]]:
    """Like an executor's `submit`, in the calling thread."""
    future: Future[list[Hit]] = Future()
    try:
        future.set_result(function(kind, vectors))
    except EvidenceError as exc:
        future.set_exception(exc)
    return future
