"""Targets by their names: exact and prefix look-ups, and what a query was typed as."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from adk_evidence.identifiers import code_identifiers, is_code_like
from adk_evidence.symbols.targets.model import Scored, Target, Why

EXACT_SCORE = 4.0
PREFIX_SCORE = 3.0

Typed = Literal["name", "code", "natural"]

_SEPARATORS = re.compile(r"[\W_]+")
_LAST = "\U0010ffff"


def compact(text: str) -> str:
    """Lower-case letters and digits alone, so that `LLM agent`, `llm_agent` and `LlmAgent` are the same."""
    return _SEPARATORS.sub("", text).lower()


def typed_as(query: str) -> Typed:
    """What a query was typed as: a name or its beginning, words with names among them, or natural language."""
    words = query.split()
    if len(words) == 1 and (is_code_like(words[0]) or words[0][:1].isupper()):
        return "name"
    return "code" if any(is_code_like(word) for word in words) else "natural"


@dataclass(frozen=True)
class ByName:
    """Positions of targets that were found by name: exact matches, then others whose name begins so.

    `is_code` says that the query can only be part of a name: `ReflectAnd`, but not `Retry`.
    """

    exact: list[int]
    beginnings: list[int]
    is_code: bool

    def is_enough(self, limit: int) -> bool:
        """Whether nothing else needs to be searched."""
        return bool(self.exact) or len(self.beginnings) >= (1 if self.is_code else limit)

    def scored(self) -> list[Scored]:
        """The same as results of a search."""
        exact = [Scored(place, EXACT_SCORE, Why(match="exact")) for place in self.exact]
        return exact + [Scored(place, PREFIX_SCORE, Why(match="prefix")) for place in self.beginnings]


class TargetNames:
    """Look-ups by name in a fixed list of targets. Results are positions in that list, the highest ranked first.

    Args:
        targets: In the order of their rank.
    """

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = targets
        self._exact: dict[str, list[int]] = {}
        self._folded: dict[str, list[int]] = {}
        self._compact: dict[str, list[int]] = {}
        starts: list[tuple[str, int]] = []
        for place, target in enumerate(targets):
            paths = {*_suffixes(target.fqn), *_suffixes(target.import_path)}
            for path in paths:
                self._exact.setdefault(path, []).append(place)
                self._folded.setdefault(path.lower(), []).append(place)
            self._compact.setdefault(compact(target.symbol), []).append(place)
            folded = {target.name.lower(), target.symbol.lower(), target.fqn.lower(), target.import_path.lower()}
            starts += [(start, place) for start in folded]
        starts.sort()
        self._starts = [start for start, _ in starts]
        self._places = [place for _, place in starts]

    def exact(self, name: str) -> list[int]:
        """Targets of exactly this bare or dotted name; where there is none, those that differ in case alone."""
        wanted = name.strip().rstrip("()").strip(".")
        return self._exact.get(wanted) or self._folded.get(wanted.lower()) or []

    def same_letters(self, query: str) -> list[int]:
        """Targets whose name is the query but for case, spaces, underscores and dots."""
        return self._compact.get(compact(query), [])

    def prefix(self, beginning: str, limit: int) -> list[int]:
        """Targets whose bare or dotted name begins so, whatever the case; those of top level first."""
        wanted = beginning.strip().lower()
        if not wanted:
            return []
        start, end = bisect_left(self._starts, wanted), bisect_left(self._starts, wanted + _LAST)
        places = sorted(set(self._places[start:end]), key=lambda place: ("." in self._targets[place].symbol, place))
        return places[:limit]

    def named_in(self, query: str) -> list[int]:
        """Targets that a query names, in the order of the query: it itself, then names in it that can only be code."""
        whole = [] if len(query.split()) > 1 else self.exact(query)
        found = whole or self.same_letters(query)
        return list(dict.fromkeys([*found, *(place for name in code_identifiers(query) for place in self.exact(name))]))

    def look_up(self, query: str, limit: int) -> ByName:
        """What is found by name alone: exact matches, and beginnings for a query that was typed as a name."""
        exact = self.named_in(query)[:limit]
        beginnings = self.prefix(query, limit) if typed_as(query) == "name" else []
        others = [place for place in beginnings if place not in exact][: limit - len(exact)]
        return ByName(exact, others, is_code_like(query.strip()))


def _suffixes(path: str) -> Iterator[str]:
    """`a.b.C.d` itself and `b.C.d`, `C.d`, `d`."""
    while path:
        yield path
        path = path.partition(".")[2]
