"""Cuts reStructuredText, AsciiDoc, plain text and data files at blank lines and titles (SPEC 3 5.1.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking import blocks
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.chunking.blocks import Sizes, Span, Splitter, context_tail

_LANGUAGES = {
    ".rst": "rst",
    ".txt": "txt",
    ".adoc": "adoc",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".toml": "toml",
}
_DATA = {"yaml", "json", "toml"}
_RST_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_ADOC_TITLE = re.compile(r"(={1,6})[ \t]+(\S.*)$")
_ADOC_VERBATIM = re.compile(r"(-{4,}|\.{4,})[ \t]*$")
_CLOSER = re.compile(r"[ \t]*[\]})]+[,;]?[ \t]*$")
_TOML_TABLE = re.compile(r"\[{1,2}[^\[\]]+\]{1,2}[ \t]*(?:#.*)?$")
_SENTENCE_END = re.compile(r"[.!?][\"')]*[ \t]*$")
_MAX_TITLE_CHARS = 300


class PlainTextChunker:
    """Splits by blank lines and groups paragraphs to `docs.target_chunk_chars`.

    Titles of reStructuredText and AsciiDoc give headings, and begin sections as in Markdown. YAML, JSON and
    TOML are cut where an entry begins, at the outermost level that serves.
    """

    version = "1"

    def __init__(self, chunking: ChunkingSettings) -> None:
        self._sizes = Sizes(chunking.docs.target_chunk_chars, chunking.min_chunk_chars, chunking.max_chunk_chars)
        self._overlap = chunking.docs.overlap_chars
        self._split_level = chunking.docs.split_level

    def chunk(self, file: SourceFile) -> ChunkedFile:
        """Split a file into chunks in the order of its lines."""
        lines = file.lines
        lang = _LANGUAGES.get(PurePosixPath(file.path).suffix.lower(), "txt")
        text = _read_data(lines, lang) if lang in _DATA else _Reader(lines, lang, self._split_level).read()
        no_verbatim = [None] * len(lines)
        chunks: list[RawChunk] = []
        previous: Span | None = None
        for span in Splitter(lines, text.ranks, self._sizes).spans():
            tail = ""
            if previous is not None and span.start not in text.title_lines and lang not in _DATA:
                tail = context_tail(lines, previous, self._overlap, no_verbatim)
            chunks.append(
                RawChunk(
                    start_line=span.start + 1,
                    end_line=span.end,
                    body="\n".join(lines[span.start : span.end])[span.start_col : span.end_col],
                    tail=tail,
                    start_col=span.start_col,
                    end_col=span.end_col,
                    headings=text.headings_at[_first_content_line(text, lines, span)],
                    lang=lang,
                )
            )
            previous = span
        return ChunkedFile(chunks, title=text.title)


@dataclass
class _Text:
    """What a file's lines are; `ranks` and `headings_at` run in step with them."""

    ranks: list[int]
    headings_at: list[tuple[str, ...]]
    title_lines: set[int] = field(default_factory=set)
    title: str | None = None


def _first_content_line(text: _Text, lines: Sequence[str], span: Span) -> int:
    for line in range(span.start, span.end):
        if line not in text.title_lines and lines[line].strip():
            return line
    return span.end - 1


class _Reader:
    """Finds titles and paragraphs of prose."""

    def __init__(self, lines: Sequence[str], lang: str, split_level: int) -> None:
        self._lines = lines
        self._lang = lang
        self._split_level = split_level
        self._text = _Text([blocks.NEVER] * len(lines), [()] * len(lines))
        self._stack: list[tuple[int, str]] = []
        self._adornments: list[str] = []  # in the order of their first use: a title's level is its adornment's place
        self._verbatim_end: str | None = None
        self._last_line = -1  # that is not blank
        self._glued = False  # the next paragraph belongs to what stands before it

    def read(self) -> _Text:
        line = 0
        while line < len(self._lines):
            end = self._read_title(line) or self._read_text_line(line)
            path = tuple(title for _, title in self._stack)
            self._text.headings_at[line:end] = [path] * (end - line)
            line = end
        return self._text

    def _read_text_line(self, line: int) -> int:
        content = self._lines[line].strip()
        if not content:
            return line + 1
        before = self._lines[line - 1].strip() if line else ""
        depth = 1 if self._lines[line][0] in " \t" else 0
        if self._verbatim_end is not None:
            self._text.ranks[line] = blocks.LINE if before else blocks.SOFT
        elif before:
            self._text.ranks[line] = blocks.SOFT if _SENTENCE_END.search(before[-20:]) else blocks.LINE
        elif self._glued:
            self._text.ranks[line] = blocks.KEEP_TOGETHER
        else:
            self._text.ranks[line] = blocks.block(depth)
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
        self._text.title = self._text.title or title
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, title))
        rank = blocks.SECTION if level <= self._split_level else min(level, 6)
        # A title without text of its own goes with the next one.
        self._text.ranks[line] = blocks.KEEP_TOGETHER if self._last_line in self._text.title_lines else rank
        for number in range(line, end):
            self._text.title_lines.add(number)
            if number > line:
                self._text.ranks[number] = blocks.KEEP_TOGETHER
        self._last_line = end - 1
        self._glued = True


def _read_data(lines: Sequence[str], lang: str) -> _Text:
    """Ranks for YAML, JSON and TOML: the less a line is indented, the better a chunk begins there."""
    ranks = []
    before = ""
    for line in lines:
        content = line.strip()
        if not content:
            ranks.append(blocks.NEVER)
        elif before.startswith("#") or _CLOSER.match(line):
            ranks.append(blocks.KEEP_TOGETHER)  # an entry after its comment; a closing bracket
        elif lang == "toml":
            ranks.append(blocks.block(0 if _TOML_TABLE.match(content) or not before else 1))
        else:
            depth = (len(line) - len(line.lstrip(" \t"))) // 2
            ranks.append(blocks.block(depth) if not before else blocks.list_item(depth))
        before = content
    return _Text(ranks, [()] * len(lines))
