"""Points, filters and queries in neutral types, and all that the stores of both engines do alike."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast
from uuid import UUID

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError, StoreError
from adk_evidence.store.fusion import distributed_scores, reciprocal_ranks

# A sequence of sequences is a multivector: several vectors of one point, whose similarity is that of the nearest.
Vector = Sequence[float] | Sequence[Sequence[float]] | SparseVector
# A vector as an engine takes it, once it was checked.
CheckedVector = list[float] | list[list[float]] | SparseVector

# Which payload fields and which vectors a page of points has: all, none or the named ones.
Wanted = tuple[bool | list[str], bool | list[str]]

# The payload fields that filters name. Stores index them when a collection is created; each index costs a point 200
# bytes of memory and 10 microseconds of writing, and time whenever the collection is opened.
KEYWORD_FIELDS = (
    "corpus",
    "commit",
    "path",
    "source_type",
    "origin",
    "lang",
    "code_langs",
    "for_language",
    "symbol_kind",
    "symbol",
    "names",
    "decorators",
)
# The translated filters that an engine keeps. A question has up to fourteen, and its second ranking needs two again;
# one may hold the ids of thousands of points, 10 KB for a hundred.
KEPT_FILTERS = 16
REBUILD = "Run `adk-ingest all` to build the index again."


@dataclass(frozen=True)
class Match:
    """A field equals one of the values (arrays: holds one of them)."""

    key: str
    any_of: tuple[str, ...]


@dataclass(frozen=True)
class HasId:
    """A point's id is one of these."""

    ids: tuple[str, ...]


@dataclass(frozen=True)
class HasVector:
    """A point has a vector of this name."""

    name: str


@dataclass(frozen=True)
class Filter:
    """Conditions on the payload; empty parts do not constrain."""

    must: tuple[Condition, ...] = ()
    should: tuple[Condition, ...] = ()
    must_not: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.must or self.should or self.must_not)


Condition = Match | HasId | HasVector | Filter


@dataclass(frozen=True)
class FilterTypes:
    """How an engine spells filters."""

    filter: Callable[..., Any]
    any_of: Callable[[str, list[str]], Any]
    has_id: Callable[[list[UUID]], Any]
    has_vector: Callable[[str], Any]

    # The branches of a request, and both passes of its ranking, have the same filters, with many ids each.
    @functools.lru_cache(maxsize=KEPT_FILTERS)  # noqa: B019 - there is one instance for each engine
    def translate(self, filter: Filter | None) -> Any:
        """The engine's filter; None where nothing is constrained."""
        if not filter:
            return None
        parts = {part: self.conditions(getattr(filter, part)) for part in ("must", "should", "must_not")}
        return self.filter(**parts)

    def conditions(self, conditions: Iterable[Condition]) -> list[Any] | None:
        return [self._condition(condition) for condition in conditions] or None

    def _condition(self, condition: Condition) -> Any:
        match condition:
            case Match(key, any_of):
                return self.any_of(key, list(any_of))
            case HasId(ids):
                return self.has_id([checked_id(point) for point in ids])
            case HasVector(name):
                return self.has_vector(name)
            case Filter():
                return self.translate(condition) or self.filter()


@dataclass(frozen=True)
class Prefetch:
    """One branch of a query: the points nearest to a vector, among those that pass the branch's filter."""

    using: str
    query: Vector
    limit: int
    filter: Filter | None = None


@dataclass(frozen=True)
class Fusion:
    """How branches are joined: by reciprocal ranks with the constant k, or by distribution-based scores."""

    method: Literal["rrf", "dbsf"] = "rrf"
    k: int = 60


@dataclass(frozen=True)
class SearchParams:
    """Accuracy against speed of the dense branch."""

    hnsw_ef: int | None = None
    exact: bool = False


class Hit(NamedTuple):
    """A point with its score; `payload` is None where the payload was not asked for."""

    id: str
    score: float
    payload: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class HybridResult:
    """The fused hits of a query, and the hits of each branch in the order of the prefetches."""

    fused: list[Hit]
    branches: list[list[Hit]]


@dataclass(frozen=True)
class Record:
    """A stored point."""

    id: str
    payload: Mapping[str, Any]
    vectors: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True)
class NewPoint:
    """A point to write. Its id is a UUID; its vectors are keyed by name."""

    id: str
    vectors: Mapping[str, Vector]
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class CollectionSpec:
    """A collection to create: named dense sizes (cosine) and named sparse vectors with or without IDF.

    Points have several vectors for each of the dense names in `multi`. Queries always have one.
    """

    name: str
    dense: Mapping[str, int]
    sparse: Mapping[str, bool]
    multi: frozenset[str] = frozenset()


def unanswered(collection: str, reason: str, hint: str = REBUILD) -> StoreError:
    return CollectionUnavailableError(f"The collection {collection} cannot answer: {reason}.", hint)


def unwritten(collection: str, reason: str, hint: str = REBUILD) -> StoreError:
    return StoreError(f"The collection {collection} cannot be written: {reason}.", hint)


def has_terms(vector: Vector) -> bool:
    """Whether a vector can find anything: an empty sparse vector is the same as none."""
    return not isinstance(vector, SparseVector) or bool(vector)


def in_order(scores: Mapping[str, float]) -> list[Hit]:
    """The points that have these scores, best first; equal scores in the order of their ids."""
    return [Hit(point, -negative) for negative, point in sorted([(-score, point) for point, score in scores.items()])]


def fused(branches: Iterable[Sequence[Hit]], fusion: Fusion) -> list[Hit]:
    """All hits of all branches, each best first, in the order of their fused scores."""
    if fusion.method == "rrf":
        scores = reciprocal_ranks(([hit.id for hit in hits] for hits in branches), fusion.k)
    else:
        scores = distributed_scores([(hit.id, hit.score) for hit in hits] for hits in branches)
    return in_order(scores)


class EvidenceStore(ABC):
    """Reads a published index. Methods may be called from several threads.

    The engine searches the branches of a query, and they are fused here: an engine that fused would search every branch
    a second time, which takes 2.3 to 3.1 ms instead of 0.9 to 1.3.

    Errors: `CollectionUnavailableError` where a collection cannot answer, `StoreError` otherwise.
    """

    # Whether queries from several threads run side by side instead of waiting for each other.
    concurrent: bool
    _filters: FilterTypes

    def __init__(self, specs: Sequence[CollectionSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    def _spec(self, collection: str) -> CollectionSpec:
        try:
            return self._specs[collection]
        except KeyError:
            raise CollectionUnavailableError(f"The index has no collection {collection}.", REBUILD) from None

    def hybrid_query(
        self,
        collection: str,
        prefetch: Sequence[Prefetch],
        fusion: Fusion,
        *,
        limit: int,
        filter: Filter | None = None,
        params: SearchParams | None = None,
        held: Container[str] = (),
    ) -> HybridResult:
        """Run the branches and fuse them; fused hits carry payloads, ties are broken by point id.

        With a limit of 0, no payload is read and the result has the branches alone.
        Points in `held`, whose payloads the caller has, may come without a payload. A branch with an empty sparse
        vector is not run: its list is empty.
        """
        spec = self._spec(collection)
        wanted = {
            place: Prefetch(branch.using, branch.query, branch.limit, _both(filter, branch.filter))
            for place, branch in enumerate(prefetch)
            if has_terms(branch.query)
        }
        answers = self._search(spec, [*wanted.values()], params) if wanted else []
        found = dict(zip(wanted, map(in_order, answers), strict=True))
        best = fused(found.values(), fusion)[:limit]
        missing = [hit.id for hit in best if hit.id not in held]
        payloads = {record.id: record.payload for record in self.retrieve(collection, missing)} if missing else {}
        return HybridResult(
            fused=[Hit(hit.id, hit.score, payloads.get(hit.id)) for hit in best],
            branches=[found.get(place, []) for place in range(len(prefetch))],
        )

    def score_points(
        self,
        collection: str,
        ids: Sequence[str],
        queries: Mapping[str, Vector],
        known: Mapping[str, Container[str]] | None = None,
    ) -> dict[str, dict[str, float]]:
        """Exact scores of given points: `{vector name: {point id: score}}`.

        Points without a match are left out, and so are points in `known`, whose scores the caller has.
        """
        spec = self._spec(collection)
        branches = []
        for using, query in queries.items():
            held = (known or {}).get(using, ())
            points = tuple(point for point in ids if point not in held)
            if points and has_terms(query):
                branches.append(Prefetch(using, query, len(points), Filter(must=(HasId(points),))))
        scores: dict[str, dict[str, float]] = {using: {} for using in queries}
        answers = self._search(spec, branches, None, full=True) if branches else []
        return scores | {branch.using: found for branch, found in zip(branches, answers, strict=True)}

    def count(self, collection: str, filter: Filter | None = None) -> int:
        """Exact number of points that pass the filter."""
        return self._count(self._spec(collection).name, self._filters.translate(filter))

    def scroll(
        self,
        collection: str,
        *,
        filter: Filter | None = None,
        limit: int = 256,
        offset: str | None = None,
        with_payload: bool | Sequence[str] = True,
        with_vectors: bool | Sequence[str] = False,
    ) -> tuple[list[Record], str | None]:
        """A page of points in the order of their ids, and the next page's offset or None.

        Payloads and vectors come whole, not at all, or with the named fields and vectors alone.
        """
        spec, start = self._spec(collection), None if offset is None else checked_id(offset)
        conditions, wanted = self._filters.translate(filter), (_selected(with_payload), _selected(with_vectors))
        records, following = self._scroll(spec.name, conditions, limit, start, wanted)
        return records, None if following is None else str(following)

    def retrieve(self, collection: str, ids: Sequence[str]) -> list[Record]:
        """Points by id; missing ones are left out."""
        name, wanted = self._spec(collection).name, [checked_id(point) for point in ids]
        return self._retrieve(name, wanted) if wanted else []

    @abstractmethod
    def close(self) -> None:
        """Release the store; it cannot be used afterwards."""

    # The engine's part. Collections exist, ids are UUIDs, and conditions are the engine's own.

    @abstractmethod
    def _search(
        self, spec: CollectionSpec, branches: Sequence[Prefetch], params: SearchParams | None, *, full: bool = False
    ) -> list[dict[str, float]]:
        """What each branch finds: points with their scores; `full` asks for exact scores."""

    @abstractmethod
    def _count(self, collection: str, conditions: Any) -> int: ...

    @abstractmethod
    def _scroll(
        self, collection: str, conditions: Any, limit: int, start: UUID | None, wanted: Wanted
    ) -> tuple[list[Record], object]: ...

    @abstractmethod
    def _retrieve(self, collection: str, ids: list[UUID]) -> list[Record]: ...


class IndexWriter(EvidenceStore):
    """Writes an index that nobody reads yet. One thread."""

    @abstractmethod
    def upsert(self, collection: str, points: Iterable[NewPoint]) -> int:
        """Write points, replacing those with the same id; returns how many.

        Raises:
            StoreError: An id is not a UUID, a vector has the wrong length, a payload is not JSON in UTF-8, or the
                engine refuses the points.
        """

    @abstractmethod
    def delete(self, collection: str, filter: Filter) -> None:
        """Delete the points that pass the filter; every point passes an empty filter."""

    @abstractmethod
    def set_payload(self, collection: str, filter: Filter, fields: Mapping[str, Any]) -> None:
        """Give the points that pass the filter other values of some payload fields; other fields and vectors stay.

        None takes a field away: to readers, that is the same.

        Raises:
            StoreError: The engine refuses the values.
        """

    @abstractmethod
    def flush(self) -> None:
        """Make everything written so far durable."""


def scroll_all(
    store: EvidenceStore,
    collection: str,
    *,
    filter: Filter | None = None,
    page: int = 256,
    with_payload: bool | Sequence[str] = True,
    with_vectors: bool = False,
) -> Iterator[Record]:
    """Every point of a collection that passes the filter, in the order of their ids."""
    offset: str | None = None
    while True:
        records, offset = store.scroll(
            collection,
            filter=filter,
            limit=page,
            offset=offset,
            with_payload=with_payload,
            with_vectors=with_vectors,
        )
        yield from records
        if offset is None:
            return


def checked_point(spec: CollectionSpec, point: NewPoint) -> dict[str, CheckedVector]:
    """The vectors of a point by name. Empty sparse vectors are left out.

    Raises:
        StoreError: `checked_vector` refuses a vector.
    """
    return {
        name: [_checked_numbers(spec, name, row) for row in cast("Sequence[Sequence[float]]", value)]
        if name in spec.multi and not isinstance(value, SparseVector)
        else checked_vector(spec, name, value)
        for name, value in point.vectors.items()
        if has_terms(value)
    }


def checked_vector(spec: CollectionSpec, name: str, value: Vector) -> list[float] | SparseVector:
    """One vector for one of a collection's names, as numbers that a store can take.

    Raises:
        StoreError: The collection has no such vector, or the value has the wrong length or holds something that is
            not a number. Engines take some of that without a word.
    """
    if not isinstance(value, SparseVector):
        return _checked_numbers(spec, name, cast("Sequence[float]", value))
    if name not in spec.sparse:
        raise StoreError(f"The collection {spec.name} has no sparse vector {name}.")
    _require_finite(name, value.values)
    return value


def _checked_numbers(spec: CollectionSpec, name: str, value: Sequence[float]) -> list[float]:
    size = spec.dense.get(name)
    if size is None:
        raise StoreError(f"The collection {spec.name} has no dense vector {name}.")
    if len(value) != size:
        raise StoreError(
            f"A vector for {name} has {len(value)} dimensions where the index has {size}.",
            "Use the model that the index was built with, or run `adk-ingest all`.",
        )
    # Rows of arrays, memory-mapped ones above all, are ten times slower to hand over than lists.
    tolist = getattr(value, "tolist", None)
    numbers = cast("list[float]", tolist() if tolist else list(value))
    _require_finite(name, numbers)
    return numbers


def _require_finite(name: str, numbers: Sequence[float]) -> None:
    if not math.isfinite(sum(numbers)):
        raise StoreError(f"A vector for {name} holds a value that is not a number.")


@functools.lru_cache(maxsize=1 << 15)
def checked_id(point: str) -> UUID:
    try:
        return UUID(point)
    except ValueError:
        raise StoreError(f"{point!r} is not a point id.") from None


def stored(point: Any) -> Record:
    """A point as either engine returns it."""
    # Read once: the embedded engine makes new objects at every reading.
    vectors = point.vector
    return Record(
        str(point.id),
        point.payload or {},
        {
            name: SparseVector(tuple(value.indices), tuple(value.values)) if hasattr(value, "indices") else value
            for name, value in (vectors.items() if isinstance(vectors, dict) else ())
        },
    )


def _selected(wanted: bool | Sequence[str]) -> bool | list[str]:
    return wanted if isinstance(wanted, bool) else list(wanted)


def _both(first: Filter | None, second: Filter | None) -> Filter | None:
    """A filter that asks for what both ask for."""
    return Filter(must=(first, second)) if first and second else first or second
