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
# Some of the patterns take time that grows with the square of the length.
_MAX_TITLE_CHARS = 500
_MARKUP = (
    (re.compile(r"\{:?[^{}]*\}\s*$"), ""),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<[^<>]+>|(?<!\w):[a-z][\w+-]*:(?!\w)"), ""),
    (re.compile(r"[\W_]+"), ""),
)


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it, subsections included.

    `trail` holds the keys of the headings above it and its own.
    """

    trail: tuple[str, ...]
    anchor: str
    lines: LineSpan


def find_section(payload: ChunkPayload, text: str) -> LineSpan | None:
    """The lines of the section that has the cited trail of headings, else of the one with the cited anchor.

    Args:
        payload: The chunk.
        text: The page as it is now.
    """
    trail = tuple(heading_key(heading) for heading in payload.headings)
    _, _, fragment = (payload.uri or "").partition("#")
    anchor = heading_key(fragment)
    found = list(sections(text))
    matches = [section.lines for section in found if trail and section.trail == trail]
    matches = matches or [section.lines for section in found if anchor and section.anchor == anchor]
    return min(matches, key=lambda lines: abs(lines.start - payload.start_line), default=None)


def sections(text: str) -> Iterator[Section]:
    """The sections of a page in the order of their headings; fenced code has none."""
    lines = split_lines(text)
    found = list(_heading_lines(lines))
    ends = _ends(found, len(lines))
    last_text = _last_text(lines)
    stack: list[tuple[int, str]] = []
    for (number, level, title), end in zip(found, ends, strict=True):
        stack = [(outer, name) for outer, name in stack if outer < level] + [(level, heading_key(title))]
        end = last_text[end]
        explicit = _EXPLICIT_ID.search(title[-_MAX_TITLE_CHARS:])
        anchor = heading_key(explicit[1]) if explicit else stack[-1][1]
        yield Section(tuple(name for _, name in stack), anchor, LineSpan(start=number, end=end))


def _ends(found: list[tuple[int, int, str]], last: int) -> list[int]:
    """For each heading the line before the next one that is not below it; each is looked at once."""
    ends = [last] * len(found)
    open_sections: list[int] = []
    for place, (number, level, _) in enumerate(found):
        while open_sections and found[open_sections[-1]][1] >= level:
            ends[open_sections.pop()] = number - 1
        open_sections.append(place)
    return ends


def _last_text(lines: list[str]) -> list[int]:
    """For each line number the last line up to there that is not blank; 0 stands before the first."""
    last = [0]
    for number, line in enumerate(lines, 1):
        last.append(number if line.strip() else last[-1])
    return last


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


def heading_key(title: str) -> str:
    """What titles and anchors are compared by: their letters and digits, without markup."""
    title = title[:_MAX_TITLE_CHARS]
    for pattern, replacement in _MARKUP:
        title = pattern.sub(replacement, html.unescape(title))
    return title.casefold()
