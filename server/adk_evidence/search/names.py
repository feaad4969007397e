"""Checks which names of a question the index holds: an invented API shows by its absence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adk_evidence.embedding.base import SparseVector
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.search.hybrid import Hit
from adk_evidence.search.run import Run
from adk_evidence.search.terms import exact_term, holds
from adk_evidence.store.base import Filter

MAX_CHECKED_NAMES = 8
UNKNOWN_NAME = "unknown_name"


@dataclass(frozen=True)
class NamesFound:
    """The code names that a question mentions: those that the index holds, and those that it does not."""

    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


NO_NAMES = NamesFound()


def check_names(run: Run) -> NamesFound:
    """Look up the first `MAX_CHECKED_NAMES` names in the index, or in the hits where the index proves nothing.

    Raises:
        CollectionUnavailableError: A collection cannot answer in strict mode.
    """
    known: list[str] = []
    unknown: list[str] = []
    for name in run.query.names[:MAX_CHECKED_NAMES]:
        # The name as a whole: its single words are in many places.
        term = exact_term(run, name)
        if term is None:
            known += [name] if _stands_in(name, run.hits) else []
        elif not term:
            continue
        elif any(holds(run, kind, term, run.scope.of_versions(kind)) for kind in KINDS):
            known.append(name)
        else:
            unknown.append(name)
            _warn(run, name, term)
    return NamesFound(tuple(known), tuple(unknown))


def _warn(run: Run, name: str, term: SparseVector) -> None:
    elsewhere = run.scope.leaves_versions_out and any(holds(run, kind, term, Filter()) for kind in KINDS)
    where = (
        "is not in the version that was searched, but in another one."
        if elsewhere
        else "is nowhere in the index; it may be invented, your own or too new."
    )
    run.context.warn(UNKNOWN_NAME, f"{name} {where}")


def _stands_in(name: str, hits: Mapping[Kind, Sequence[Hit]]) -> bool:
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    return any(word.search(hit.payload.text) for found in hits.values() for hit in found)
