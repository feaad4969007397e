"""Which names of a question stand anywhere in the index: an invented API is recognised by its absence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adk_evidence.embedding.base import SparseVector
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.search.context import Context
from adk_evidence.search.encoding import QueryEncoder
from adk_evidence.search.hybrid import Hit
from adk_evidence.search.scope import Scope
from adk_evidence.search.search import Searcher
from adk_evidence.store.base import Filter

MAX_CHECKED_NAMES = 8
UNKNOWN_NAME = "unknown_name"


@dataclass(frozen=True)
class NamesFound:
    """The names in code that a question mentions: those that the index holds somewhere, and those that it does not."""

    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


NO_NAMES = NamesFound()


class NameCheck:
    """Looks names up for one request.

    Args:
        encoder: The request's.
        searcher: The request's.
        scope: What the request searches.
        context: Gets a warning for each unknown name.
    """

    def __init__(self, encoder: QueryEncoder, searcher: Searcher, scope: Scope, context: Context) -> None:
        self._encoder = encoder
        self._searcher = searcher
        self._scope = scope
        self._context = context

    def check(self, names: Sequence[str], hits: Mapping[Kind, Sequence[Hit]]) -> NamesFound:
        """Look up the first `MAX_CHECKED_NAMES` names, in the index or, where that would prove nothing, in the hits.

        Raises:
            CollectionUnavailableError: A collection cannot answer in strict mode.
        """
        known: list[str] = []
        unknown: list[str] = []
        for name in names[:MAX_CHECKED_NAMES]:
            # The name as a whole: its words stand in many places.
            term = self._encoder.exact_term(name)
            if term is None:
                known += [name] if _stands_in(name, hits) else []
            elif not term:
                continue
            elif any(self._searcher.holds(kind, term, self._scope.of_versions(kind, Filter())) for kind in KINDS):
                known.append(name)
            else:
                unknown.append(name)
                self._warn(name, term)
        return NamesFound(tuple(known), tuple(unknown))

    def _warn(self, name: str, term: SparseVector) -> None:
        elsewhere = self._scope.leaves_versions_out and any(
            self._searcher.holds(kind, term, Filter()) for kind in KINDS
        )
        where = (
            "is not in the version that was searched, but in another one."
            if elsewhere
            else "is nowhere in the index; it may be invented, your own or too new."
        )
        self._context.warn(UNKNOWN_NAME, f"{name} {where}")


def _stands_in(name: str, hits: Mapping[Kind, Sequence[Hit]]) -> bool:
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    return any(word.search(hit.payload.text) for found in hits.values() for hit in found)
