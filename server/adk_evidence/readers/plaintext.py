"""Reads the structure of reStructuredText, AsciiDoc, plain text and data files (SPEC 3 section 5.1.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adk_evidence.readers import breaks
from adk_evidence.readers.pages.page import Heading, Page

DATA_LANGUAGES = ("yaml", "json", "toml")

_RST_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_ADOC_TITLE = re.compile(r"(={1,6})[ \t]+(\S.*)$")
_ADOC_VERBATIM = re.compile(r"(-{4,}|\.{4,})[ \t]*$")
_CLOSER = re.compile(r"[ \t]*[\]})]+[,;]?[ \t]*$")
_TOML_TABLE = re.compile(r"\[{1,2}[^\[\]]+\]{1,2}[ \t]*(?:#.*)?$")
_SENTENCE_END = re.compile(r"[.!?][\"')]*[ \t]*$")
_MAX_TITLE_CHARS = 300


def read_plaintext(lines: Sequence[str], lang: str) -> Page:
    """Read a file: `rst` and `adoc` have titles, `yaml`, `json` and `toml` are data; any other is plain prose."""
    return _read_data(lines, lang) if lang in DATA_LANGUAGES else _Reader(lines, lang).read()


class _Reader:
    """Finds titles and paragraphs of prose."""

    def __init__(self, lines: Sequence[str], lang: str) -> None:
        self._lines = lines
        self._lang = lang
        self._page = Page(lines, lang)
        self._stack: list[int] = []  # open headings
        self._adornments: list[str] = []  # in the order of their first use: a title's level is its adornment's place
        self._verbatim_end: str | None = None
        self._last_line = -1  # that is not blank
        self._glued = False  # the next paragraph belongs to what stands before it

    def read(self) -> Page:
        line = 0
        while line < len(self._lines):
            end = self._read_title(line) or self._read_text_line(line)
            if self._stack:
                self._page.heading_at[line:end] = self._stack[-1:] * (end - line)
            line = end
        return self._page

    def _read_text_line(self, line: int) -> int:
        content = self._lines[line].strip()
        if not content:
            return line + 1
        before = self._lines[line - 1].strip() if line else ""
        depth = 1 if self._lines[line][0] in " \t" else 0
        if self._verbatim_end is not None:
            self._page.ranks[line] = breaks.LINE if before else breaks.SOFT
        elif before:
            self._page.ranks[line] = breaks.SOFT if _SENTENCE_END.search(before[-20:]) else breaks.LINE
        elif self._glued:
            self._page.ranks[line] = breaks.KEEP_TOGETHER
        else:
            self._page.ranks[line] = breaks.block(depth)
        self._last_line = line
        self._glued = content.endswith(":") or content.startswith(".. ")
        if self._lang == "adoc" and _ADOC_VERBATIM.match(content):
            mark = content[0]
            if self._verbatim_end is None:
                self._verbatim_end = mark
            elif self._verbatim_end == mark:
                self._verbatim_end = None
        return line + 1

    def _read_title(self, line: int) -> int | None:
        """Read a title that begins here; returns the line behind it."""
        if self._lang == "rst":
            return self._read_rst_title(line)
        if self._lang == "adoc" and self._verbatim_end is None and (match := _ADOC_TITLE.match(self._lines[line])):
            self._begin_section(line, line + 1, len(match[1]), match[2])
            return line + 1
        return None

    def _read_rst_title(self, line: int) -> int | None:
        if line and self._lines[line - 1].strip():
            return None
        over = _RST_ADORNMENT.match(self._lines[line])
        title_line = line + 1 if over else line
        if title_line + 1 >= len(self._lines):
            return None
        title, under = self._lines[title_line], _RST_ADORNMENT.match(self._lines[title_line + 1])
        if not under or not title.strip() or _RST_ADORNMENT.match(title):
            return None
        if over and over[0].strip() != under[0].strip():
            return None
        if not over and (title[0] in " \t" or len(under[0].strip()) < min(len(title.strip()), 4)):
            return None
        adornment = under[1] * (2 if over else 1)
        if adornment not in self._adornments:
            self._adornments.append(adornment)
        self._begin_section(line, title_line + 2, self._adornments.index(adornment) + 1, title)
        return title_line + 2

    def _begin_section(self, line: int, end: int, level: int, title: str) -> None:
        title = " ".join(title[:_MAX_TITLE_CHARS].split())
        headings = self._page.headings
        self._page.title = self._page.title or title
        while self._stack and headings[self._stack[-1]].level >= level:
            self._stack.pop()
        headings.append(Heading(line, level, title, None, 0, tuple(self._stack)))
        self._stack.append(len(headings) - 1)
        # A title without text below it goes with the next title.
        glued = self._last_line in self._page.label_lines
        self._page.ranks[line] = breaks.KEEP_TOGETHER if glued else min(level, 6)
        for number in range(line, end):
            self._page.label_lines.add(number)
            if number > line:
                self._page.ranks[number] = breaks.KEEP_TOGETHER
        self._last_line = end - 1
        self._glued = True


def _read_data(lines: Sequence[str], lang: str) -> Page:
    """The less a line of YAML, JSON or TOML is indented, the better a chunk begins there."""
    page = Page(lines, lang)
    before = ""
    for number, line in enumerate(lines):
        content = line.strip()
        if not content:
            pass
        elif before.startswith("#") or _CLOSER.match(line):
            page.ranks[number] = breaks.KEEP_TOGETHER  # an entry after its comment; a closing bracket
        elif lang == "toml":
            page.ranks[number] = breaks.block(0 if _TOML_TABLE.match(content) or not before else 1)
        else:
            depth = (len(line) - len(line.lstrip(" \t"))) // 2
            page.ranks[number] = breaks.block(depth) if not before else breaks.list_item(depth)
        before = content
    return page
