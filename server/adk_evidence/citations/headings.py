"""Finds a cited section of a page again by its headings or its anchor."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import LineSpan
from adk_evidence.textfile import split_lines

_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)")
_EXPLICIT_ID = re.compile(r"\{:?[^{}]*?#([\w.:-]+)[^{}]*\}\s*$")
_MARKUP = (
    (re.compile(r"\{:?[^{}]*\}\s*$"), ""),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<[^<>]+>|(?<!\w):[a-z][\w+-]*:(?!\w)"), ""),
    (re.compile(r"[\W_]+"), ""),
)


@dataclass(frozen=True)
class _Section:
    trail: tuple[str, ...]
    anchor: str
    lines: LineSpan


def find_section(payload: ChunkPayload, text: str) -> LineSpan | None:
    """The lines of the section that has the cited trail of headings, else of the one with the cited anchor.

    Args:
        payload: The chunk.
        text: The page as it is now.
    """
    trail = tuple(_key(heading) for heading in payload.headings)
    _, _, fragment = (payload.uri or "").partition("#")
    anchor = _key(fragment)
    sections = list(_sections(text))
    matches = [section.lines for section in sections if trail and section.trail == trail]
    matches = matches or [section.lines for section in sections if anchor and section.anchor == anchor]
    return min(matches, key=lambda lines: abs(lines.start - payload.start_line), default=None)


def _sections(text: str) -> Iterator[_Section]:
    lines = split_lines(text)
    found = list(_heading_lines(lines))
    stack: list[tuple[int, str]] = []
    for place, (number, level, title) in enumerate(found):
        stack = [(outer, name) for outer, name in stack if outer < level] + [(level, _key(title))]
        end = next((later for later, other, _ in found[place + 1 :] if other <= level), len(lines) + 1) - 1
        while not lines[end - 1].strip():
            end -= 1
        explicit = _EXPLICIT_ID.search(title)
        anchor = _key(explicit[1]) if explicit else stack[-1][1]
        yield _Section(tuple(name for _, name in stack), anchor, LineSpan(start=number, end=end))


def _heading_lines(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Line number, level and source of each heading outside fenced code."""
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif heading := _HEADING.fullmatch(line):
            yield number, len(heading[1]), heading[2]


def _key(title: str) -> str:
    """What titles and anchors are compared by: their letters and digits, without markup."""
    for pattern, replacement in _MARKUP:
        title = pattern.sub(replacement, html.unescape(title))
    return title.casefold()
