"""Looks words up in the index: which words are there, how rare they are, and which results hold them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import Kind
from adk_evidence.search.run import Run
from adk_evidence.store import base
from adk_evidence.store.base import Filter, Fusion, HasId, Prefetch


def exact_term(run: Run, name: str) -> SparseVector | None:
    """The single term by which the index knows a name; empty for a word that the index does not keep.

    None where the sparse encoder also finds related terms, or failed: then the absence of a name proves nothing.
    """
    if not run.models.sparse.exact_terms or run.sparse_failed:
        return None
    return run.models.sparse.encode_query(name.lower())


def holds(run: Run, kind: Kind, term: SparseVector, filter: Filter) -> bool:
    """Whether a collection holds a term. A term that cannot be looked up counts as held.

    Raises:
        CollectionUnavailableError: The term cannot be looked up in strict mode.
    """
    found = _look_up(run, kind, [term], filter, most=1)
    return bool(found[0]) if found else True


def weights(run: Run, kind: Kind, terms: Mapping[str, SparseVector], filter: Filter) -> dict[str, float]:
    """The best score that each term alone reaches in a collection. The rarer the term, the higher the score.

    A term that no chunk holds scores 0. Where the collection cannot answer, the result is empty.

    Raises:
        CollectionUnavailableError: The terms cannot be looked up in strict mode.
    """
    kept = run.index.term_weights
    known = {name: weight for name, term in terms.items() if (weight := kept.peek((kind, filter, term))) is not None}
    wanted = {name: term for name, term in terms.items() if name not in known}
    found = _look_up(run, kind, list(wanted.values()), filter, most=1)
    for (name, term), hits in zip(wanted.items(), found, strict=False):
        best = hits[0].score if hits else 0.0
        known[name] = kept.get((kind, filter, term), functools.partial(float, best))
    return known


def holders(run: Run, kind: Kind, terms: Mapping[str, SparseVector], ids: Sequence[str]) -> dict[str, set[str]]:
    """The given points that hold each term.

    Raises:
        CollectionUnavailableError: The terms cannot be looked up in strict mode.
    """
    if not ids:
        return {}
    among = Filter(must=(HasId(tuple(ids)),))
    found = _look_up(run, kind, list(terms.values()), among, most=len(ids))
    return {name: {hit.id for hit in hits} for name, hits in zip(terms, found, strict=False)}


def _look_up(run: Run, kind: Kind, terms: Sequence[SparseVector], filter: Filter, *, most: int) -> list[list[base.Hit]]:
    """The best points that hold each term, best first; empty where the collection cannot answer."""
    if kind in run.collections_failed or not terms:
        return []
    store = run.settings.store
    branches = [Prefetch(store.sparse_vector, term, most) for term in terms]
    try:
        # Nothing fused is wanted, so that no payload is read: from a server, that would be a second request.
        answer = run.index.store.hybrid_query(store.collection(kind), branches, Fusion(), limit=0, filter=filter)
    except CollectionUnavailableError as exc:
        run.without_collection(kind, exc)
        return []
    return answer.branches
