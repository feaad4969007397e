"""Finds a cited section of a page again by its headings or its anchor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adk_evidence.models.cited import Cited
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers.pages.headings import parse_heading
from adk_evidence.readers.pages.markdown import read_markdown
from adk_evidence.readers.pages.page import Page
from adk_evidence.readers.plaintext import read_plaintext
from adk_evidence.text.textfile import split_lines

_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it, subsections included.

    `trail` holds the keys of the headings above it and its own, `anchor` the key of its anchor. `depth` counts the
    tabs, notes and lists around it.
    """

    trail: tuple[str, ...]
    anchor: str
    lines: LineSpan
    depth: int


def read_page(lines: Sequence[str], lang: str) -> Page:
    """The structure of a page; whatever is not Markdown (`md`) is read as plain text or data."""
    return read_markdown(lines) if lang == "md" else read_plaintext(lines, lang)


def find_section(cited: Cited, text: str) -> LineSpan | None:
    """The lines of the section that has the cited trail of headings, else the cited anchor, in the page of today."""
    trail = heading_trail(cited)
    anchor = _key((cited.uri or "").partition("#")[2])
    if not trail and not anchor:
        return None
    found = list(sections(text, cited.lang))
    matches = [section.lines for section in found if trail and section.trail == trail]
    matches = matches or [section.lines for section in found if anchor and section.anchor == anchor]
    return min(matches, key=lambda lines: abs(lines.start - cited.start_line), default=None)


def sections_of(cited: Cited, text: str) -> list[LineSpan]:
    """The lines of every section that has the cited trail of headings."""
    trail = heading_trail(cited)
    return [section.lines for section in sections(text, cited.lang) if section.trail == trail] if trail else []


def heading_trail(cited: Cited) -> tuple[str, ...]:
    """The keys of the cited headings."""
    return tuple(_key(heading) for heading in cited.headings)


def sections(text: str, lang: str = "md") -> Iterator[Section]:
    """The sections of a page in the order of their headings."""
    page = read_page(split_lines(text), lang)
    last_lines = _last_lines(page)
    for index, (heading, anchor) in enumerate(zip(page.headings, page.anchors(), strict=True)):
        trail = tuple(_key(title) for title in page.titles(index))
        lines = LineSpan(start=heading.line + 1, end=last_lines[index] + 1)
        yield Section(trail, _key(anchor), lines, heading.depth)


def heading_key(source: str) -> str:
    """What titles and anchors are compared by: their letters and digits, without markup."""
    return _key(parse_heading(source)[0])


def _key(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


def _last_lines(page: Page) -> list[int]:
    """The last line of each section that is not blank."""
    last = [heading.line for heading in page.headings]
    for line, heading in enumerate(page.heading_at):
        if heading is not None and page.lines[line].strip():
            last[heading] = line
    for index in range(len(last) - 1, -1, -1):
        for above in page.headings[index].path[-1:]:
            last[above] = max(last[above], last[index])
    return last
