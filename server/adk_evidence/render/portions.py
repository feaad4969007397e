"""As much of a candidate's text as there is room for: the best of its parts, with what names them."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adk_evidence.models.pack import Candidate
from adk_evidence.render.excerpts import (
    MARK_TOKENS,
    NAMES_TOKENS,
    OF_STRING,
    beside,
    listed_names,
    marks,
    passage_lines,
    with_marks,
)
from adk_evidence.text.tokens import estimate_tokens, truncate_tokens

# The most of a room that included files take.
INCLUDED_SHARE = 0.5
_FENCE = re.compile(r"\s*(?:[>*+-]\s+)*(`{3,}|~{3,})(.*)")


@dataclass(frozen=True)
class Portion:
    """Some lines of a candidate by their numbers, with what is shown of its included files."""

    candidate: Candidate
    lines: frozenset[int]
    included: str

    @classmethod
    def of(cls, candidate: Candidate) -> Portion | None:
        """The passages; None where none were chosen, or where lines have no numbers."""
        lines = passage_lines(candidate)
        return cls(candidate, lines, candidate.attached_shown) if lines else None

    @functools.cached_property
    def text(self) -> str:
        return with_marks(self.candidate, self.lines, self.included)

    @functools.cached_property
    def tiles(self) -> list[_Tile]:
        return _tiles(self.candidate)

    def within(self, tokens: int) -> Portion | None:
        """The best of these lines in at most so many tokens; None where not one of them fits."""
        room = tokens
        while room > 0:
            choice = Choice(self, room)
            for _, place in sorted(choice.steps(), key=lambda step: (-step[0], step[1])):
                choice.add(place, room - choice.price)
            found = choice.portion() if choice.places else self._beginning(room)
            if found is None or (spent := estimate_tokens(found.text)) <= tokens:
                return found
            room -= spent - tokens
        return None

    def _beginning(self, room: int) -> Portion | None:
        """The first lines of the best part and of what names it, in the borders of their code; without parts, of all"""
        parts = self.candidate.parts
        ranked = [(-part.worth, place) for place, part in enumerate(parts) if part.worth is not None]
        best = [parts[place] for place in (min(ranked)[1], *parts[min(ranked)[1]].needs)] if ranked else []
        wanted = sorted({line for part in best for line in part.lines.numbers} or self.lines)
        borders = _borders(self.candidate) if self.candidate.source_type == "docs" else {}
        included = _first_lines(self.included, int(INCLUDED_SHARE * room))
        found: Portion | None = None
        kept = frozenset[int]()
        for line in wanted:
            kept |= {line, *borders.get(line, ())}
            more = Portion(self.candidate, kept, included)
            if estimate_tokens(more.text) > room:
                break
            found = more
        return found


class Choice:
    """Parts of a portion that are chosen one by one. `price` is what they take at most, `places` are their places."""

    def __init__(self, portion: Portion, room: int) -> None:
        self._portion = portion
        self.included = _first_lines(portion.included, int(INCLUDED_SHARE * room))
        string = f"\n{OF_STRING}" if portion.candidate.inside_string else ""
        self._beside = estimate_tokens(beside(self.included) + string)
        self.places: frozenset[int] = frozenset()
        self.price = 0

    def steps(self) -> list[tuple[float, int]]:
        """How well each part matches that says something, and its place."""
        parts = self._portion.candidate.parts
        return [(part.worth, place) for place, part in enumerate(parts) if part.worth is not None]

    def add(self, place: int, room: int) -> int | None:
        """Choose a part and what names it, if the price rises by at most `room`: by how much it rises, or None."""
        places = self.places | {place, *self._portion.candidate.parts[place].needs}
        price = self._price(places)
        raised = price - self.price
        if raised > room:
            return None
        self.places, self.price = places, price
        return raised

    def portion(self) -> Portion:
        parts = self._portion.candidate.parts
        lines = frozenset(line for place in self.places for line in parts[place].lines.numbers)
        others = (line for one in self._portion.candidate.left_out for line in one.lines.numbers)
        return Portion(self._portion.candidate, lines.difference(others), self.included)

    def _price(self, places: frozenset[int]) -> int:
        total, named = self._beside, -1  # what the names in the mark for the present gap take, -1 outside a gap
        for part, shown, names, others in self._portion.tiles:
            if part in places or others:
                total += shown
                named = -1
            elif named < 0:
                total += MARK_TOKENS + names
                named = names
            elif names and named < NAMES_TOKENS:
                total += min(NAMES_TOKENS, named + names) - named
                named += names
        return total


class _Tile(NamedTuple):
    """A part, or lines between two parts: what these take, and what their names take in a mark.

    Lines for readers of `others`, which are shown to nobody, take their mark.
    """

    part: int | None
    shown: int
    names: int
    others: bool = False


def _tiles(candidate: Candidate) -> list[_Tile]:
    start = candidate.lines.start if candidate.lines else 1
    lines = candidate.text.split("\n")
    found: list[_Tile] = []
    following = start
    for place, part in enumerate(candidate.parts):
        found += _between(candidate, lines, following, part.lines.start - 1)
        own = lines[part.lines.start - start : part.lines.end + 1 - start]
        names = estimate_tokens(listed_names(candidate, own))
        found.append(_Tile(place, estimate_tokens("\n".join(["", *own])), names))
        following = part.lines.end + 1
    return found + _between(candidate, lines, following, start + len(lines) - 1)


def _between(candidate: Candidate, lines: Sequence[str], first: int, last: int) -> list[_Tile]:
    start = candidate.lines.start if candidate.lines else 1
    inside = lines[first - start : last + 1 - start]
    if not any(line.strip() for line in inside):
        return []
    if any(one.lines.touches(first, last) for one in candidate.left_out):
        return [_Tile(None, estimate_tokens("\n".join(["", *marks(candidate, first, last)])), 0, others=True)]
    return [_Tile(None, 0, estimate_tokens(listed_names(candidate, inside)))]


def _borders(candidate: Candidate) -> dict[int, tuple[int, int]]:
    """The first and the last line of the block of code around each line of a page."""
    found: dict[int, tuple[int, int]] = {}
    opened: tuple[int, str] | None = None
    for number, line in enumerate(candidate.text.split("\n"), candidate.lines.start if candidate.lines else 1):
        fence = _FENCE.match(line)
        if fence and opened is None:
            opened = number, fence[1]
        elif fence and opened and fence[1].startswith(opened[1]) and not fence[2].strip():
            found |= dict.fromkeys(range(opened[0], number + 1), (opened[0], number))
            opened = None
    return found


def _first_lines(included: str, room: int) -> str:
    """As many of the first lines of included files as fit, and a mark for the others."""
    if estimate_tokens(beside(included)) <= room:
        return included
    beginning = truncate_tokens(included, max(0, room - 2 * MARK_TOKENS)).rpartition("\n")[0]
    # The first line names the file.
    more = included.count("\n") - beginning.count("\n")
    return f"{beginning}\n[... {more} lines]" if "\n" in beginning else ""
