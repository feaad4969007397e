"""Some lines of a candidate's text, as a reader sees them.

Where lines are left out, a mark stands in their place, which says which lines these are and what begins there.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from textwrap import shorten

from adk_evidence.languages import title_of
from adk_evidence.models.lines import runs
from adk_evidence.models.pack import Candidate, LeftOut
from adk_evidence.text.tokens import estimate_tokens, listed_within

NOT_CITED = "[CONTEXT, NOT CITED]"
# What a mark takes at most without names, and what these take. A gap that takes no more than a mark is shown instead.
MARK_TOKENS = 9
NAMES_TOKENS = 15
# A token has fewer characters than this.
MARK_CHARS = 8
# The most names in a mark, and characters of a name.
MARK_NAMES = 3
MARK_NAME_CHARS = 40
# Stands above lines that begin inside a string, so that nobody takes their words for code.
OF_STRING = "[... of a string that begins above]"
# Lines of a comment in code look like headings of the first level, which stand at the head of a page.
_SECTION = re.compile(r"\s*(?:#{2,6} +(.*?)[ #]*(?:\{[^{}]*\})?|(?:async +)?(?:def|class) +(\w+).*)$")
_BEGINNINGS = frozenset("#acd")
_DEFINITION = re.compile(r"()\s*(?:async +)?(?:def|class) +(\w+)")


def shown(candidate: Candidate) -> str:
    """The passages of a candidate in the order of their lines, with marks for what stands between them.

    The whole text where no passages were chosen.
    """
    lines = passage_lines(candidate)
    return with_marks(candidate, lines, candidate.attached_shown) if lines else body(candidate)


# Each mark of a text looks at its lines.
@functools.lru_cache(maxsize=64)
def lines_of(text: str) -> Sequence[str]:
    return text.split("\n")


def passage_lines(candidate: Candidate) -> frozenset[int]:
    """The numbers of the lines of the passages; none where no passages were chosen, or lines have no numbers."""
    if candidate.lines is None:
        return frozenset()
    return frozenset(line for passage in candidate.passages for line in passage.lines.numbers)


def with_marks(candidate: Candidate, kept: Iterable[int], included: str = "") -> str:
    """Lines of a candidate by their numbers, with marks for what stands between them, and included files."""
    text, found = lines_of(candidate.text), list[str]()
    start = following = candidate.lines.start if candidate.lines else 1
    for first, last in runs(kept):
        found += marks(candidate, following, first - 1, between=following > start)
        if following == start and first < start + candidate.inside_string:
            found.append(OF_STRING)
        found += text[first - start : last + 1 - start]
        following = last + 1
    found += marks(candidate, following, start + len(text) - 1, between=False)
    return "\n".join(found) + beside(included)


def body(candidate: Candidate) -> str:
    """The lines that a candidate cites, followed by the files that they include, below `NOT_CITED`."""
    return f"{candidate.text}{beside(candidate.attached)}"


def beside(included: str) -> str:
    """How included files stand below the lines that include them."""
    return f"\n\n{NOT_CITED}\n{included}" if included else ""


def marks(candidate: Candidate, first: int, last: int, *, between: bool = False) -> list[str]:
    """What is said of lines that are not shown; `between` two passages, even empty lines are a border."""
    found = []
    here = [one for one in candidate.left_out if one.lines.touches(first, last)]
    for start, end, languages in _joined(here, lambda number: not _told(candidate, number, number)):
        if first < start and _told(candidate, first, start - 1):
            found.append(_left_out(candidate, first, start - 1))
        found.append(_mark(start, end, languages))
        first = end + 1
    if first <= last and (_told(candidate, first, last) or (between and not found)):
        found.append(_left_out(candidate, first, last))
    return found


def _left_out(candidate: Candidate, first: int, last: int) -> str:
    """The mark for some lines, with what begins there; these lines themselves where that takes no more."""
    start = candidate.lines.start if candidate.lines else 1
    lines = lines_of(candidate.text)[first - start : last + 1 - start]
    if sum(map(len, lines)) < MARK_TOKENS * MARK_CHARS and estimate_tokens("\n".join(lines)) < MARK_TOKENS:
        return "\n".join(lines)
    names = listed_names(candidate, lines)
    return f"{_lines(first, last)[:-1]}: {names}]" if names else _lines(first, last)


def listed_names(candidate: Candidate, lines: Iterable[str]) -> str:
    """The names of the sections and definitions that some lines of a candidate begin, as many as a mark holds."""
    begins = _SECTION if candidate.language == "md" else _DEFINITION
    matches = [found for line in lines if line.lstrip()[:1] in _BEGINNINGS and (found := begins.match(line))]
    names = [shorten(found[1] or found[2], MARK_NAME_CHARS, placeholder="\u2026") for found in matches]
    return listed_within(names[:MARK_NAMES], NAMES_TOKENS, "") if names else ""


def for_reader(lines: Sequence[str], first: int, last: int, for_others: Iterable[LeftOut]) -> str:
    """Lines `first` to `last` (from 1) of a file, with a mark in place of those that are for other readers."""
    parts: list[str] = []
    following = first
    here = [one for one in for_others if one.lines.touches(first, last)]
    for start, end, languages in _joined(here, lambda number: not lines[number - 1].strip()):
        start, end = max(start, first), min(end, last)
        parts += [*lines[following - 1 : start - 1], _mark(start, end, languages)]
        following = end + 1
    return "\n".join([*parts, *lines[following - 1 : last]])


def is_for_others(lines: Sequence[str], first: int, last: int, for_others: Iterable[LeftOut]) -> bool:
    """Whether lines `first` to `last` of a file hold nothing but what is for other readers."""
    others = {number for one in for_others for number in range(one.lines.start, one.lines.end + 1)}
    return all(number in others or not line.strip() for number, line in enumerate(lines[first - 1 : last], first))


def _mark(start: int, end: int, languages: Iterable[str]) -> str:
    place = f"lines {start}-{end}" if end > start else f"line {start}"
    return f"[{place}: {', '.join(map(title_of, languages))}]"


def _lines(first: int, last: int) -> str:
    return f"[... lines {first}-{last}]" if last > first else f"[... line {first}]"


def _joined(left_out: Iterable[LeftOut], is_blank: Callable[[int], bool]) -> list[tuple[int, int, list[str]]]:
    """Lines for other readers that follow each other, also after a blank line, as one."""
    found: list[tuple[int, int, list[str]]] = []
    for one in left_out:
        start, end = one.lines.start, one.lines.end
        between = start - found[-1][1] - 1 if found else math.inf
        if between < 1 or (between == 1 and is_blank(start - 1)):
            start, before, languages = found.pop()
            more = [] if one.language in languages else [one.language]
            found.append((start, max(before, end), [*languages, *more]))
        else:
            found.append((start, end, [one.language]))
    return found


def _told(candidate: Candidate, first: int, last: int) -> bool:
    """Whether lines of the cited text hold anything but white space."""
    if candidate.lines is None:
        return False
    lines = lines_of(candidate.text)[first - candidate.lines.start : last + 1 - candidate.lines.start]
    return any(line.strip() for line in lines)
