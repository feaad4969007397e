"""Cuts pages, prose and data files at their headings, tabs and paragraphs (SPEC 3 section 5.1)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from adk_evidence.languages import BY_EXTENSION
from adk_evidence.models.chunk import SectionAvailability
from adk_evidence.readers.pages.audience import EVERYBODY, Part, Readers
from adk_evidence.readers.pages.availability import availabilities, of_heading
from adk_evidence.readers.pages.includes import Include, IncludeReader, find_includes, read_include
from adk_evidence.readers.pages.page import Page
from adk_evidence.readers.pages.sections import read_page
from adk_evidence.readers.plaintext import DATA_LANGUAGES
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import Attachment, ChunkedFile, RawChunk, SourceFile
from adk_ingest.chunking.cutting import Lines, Piece, context_tail
from adk_ingest.chunking.spans import SECTION, Splitter

VERSION = "3"
# Sections start at headings of this level and above; below, headings divide a subject.
SPLIT_LEVEL = 2

_PROSE = ("md", "rst", "adoc", *DATA_LANGUAGES)


def chunk_prose(
    file: SourceFile,
    chunking: ChunkingSettings,
    include: IncludeReader | None = None,
    readers: Readers = EVERYBODY,
) -> ChunkedFile:
    """Split Markdown as mkdocs-material understands it, reStructuredText, AsciiDoc, plain text or a data file.

    A section begins at a heading of `SPLIT_LEVEL` or above; a section that is larger than
    `docs.target_chunk_chars` falls apart at its sub-headings, then at its tabs, then at paragraphs. A chunk that begins
    with a heading or a tab gets no context tail, because the text before it is about something else. Front matter stays
    in the lines of the first chunk. YAML, JSON and TOML are cut where an entry begins, at the outermost level that
    serves. Without `include`, every file that a Markdown page includes counts as missing.

    What a Markdown page has for readers of other languages than that of `readers` is cut out first, and sizes count
    only the lines that remain: a step's prose and its code stay together, however many languages stand between them.
    Each part that was cut out is divided by the same rules.
    """
    language = BY_EXTENSION.get(PurePosixPath(file.path).suffix.lower())
    lang = language.lang if language is not None and language.lang in _PROSE else "txt"
    page = read_page(file.lines, lang)
    is_markdown = lang == "md"
    cutter = _Cutter(page, chunking, _read_includes(page.lines, include) if is_markdown else {})
    others = readers.parts_for_others(page, file.path) if is_markdown else []
    inside = {line for part in others for line in range(part.start, part.end)}
    own = [line for line in range(len(page.lines)) if line not in inside]
    chunks = [*cutter.chunks(own, others=others)]
    for part in others:
        chunks += cutter.chunks(range(part.start, part.end), for_language=part.language)
    chunks.sort(key=lambda chunk: (chunk.start_line, chunk.start_col or 0, -chunk.end_line))
    return ChunkedFile(chunks, title=page.title, warnings=page.warnings)


class _Cutter:
    """Makes chunks of some lines of a page."""

    def __init__(
        self, page: Page, chunking: ChunkingSettings, includes: Mapping[int, list[tuple[str, str | None]]]
    ) -> None:
        self._page = page
        self._chunking = chunking
        self._includes = includes
        self._anchors = page.anchors() if page.lang == "md" else [None] * len(page.headings)
        self._begins = {heading.line: index for index, heading in enumerate(page.headings)}
        told = availabilities(page) if page.lang == "md" else {}
        headings = (None, *range(len(page.headings))) if told else ()
        self._told = {heading: of_heading(page, heading, told) for heading in headings}
        self._all = Lines(page.lines)

    def chunks(
        self, numbers: Sequence[int], *, others: Sequence[Part] = (), for_language: str | None = None
    ) -> Iterator[RawChunk]:
        """The chunks of lines that are given by their 0-based numbers.

        A chunk reaches to the next one, over the parts for other readers between them.
        """
        page, docs = self._page, self._chunking.docs
        lines = Lines([page.lines[number] for number in numbers])
        ranks = _ranks(page, numbers)
        split = Splitter(lines, [SECTION if rank <= SPLIT_LEVEL else rank for rank in ranks], self._chunking)
        fences = _fences(page, numbers)
        pieces = list(split.pieces())
        starts = [part.start for part in others]
        for place, piece in enumerate(pieces):
            own = numbers[piece.start - 1 : piece.end]
            until = numbers[pieces[place + 1].start - 1] if place + 1 < len(pieces) else len(page.lines)
            # A part of a long line reaches nowhere.
            is_whole = piece.start_col is None
            inside = others[bisect_left(starts, own[0]) : bisect_left(starts, until)] if is_whole else []
            end = max([own[-1] + 1, *(part.end for part in inside)])
            whole = Piece(own[0] + 1, end, piece.start_col, piece.end_col)
            tail = ""
            if place and own[0] not in page.label_lines and page.lang not in DATA_LANGUAGES:
                tail = context_tail(lines, pieces[place - 1], docs.overlap_chars, fences)
            innermost = page.heading_at[_first_content_line(page, own)]
            included = self._included(own)
            yield RawChunk(
                start_line=whole.start,
                end_line=whole.end,
                body=self._all.text(whole),
                tail=tail,
                start_col=piece.start_col,
                end_col=piece.end_col,
                headings=page.titles(innermost),
                sections=tuple(page.titles(self._begins[line]) for line in own if line in self._begins),
                anchor=None if innermost is None else self._anchors[innermost],
                lang=page.lang,
                code_langs=_languages(page, own),
                availability=self._availability(own),
                for_language=for_language,
                left_out=tuple((part.start + 1, part.end, part.language) for part in inside),
                attachments=tuple(
                    Attachment(path, text, line) for (path, text), line in included.items() if text is not None
                ),
                missing_includes=tuple(path for path, text in included if text is None),
            )

    def _availability(self, own: Iterable[int]) -> tuple[SectionAvailability, ...]:
        """What the page says of where the features of some lines exist, with the lines where that changes, 1-based."""
        found: list[SectionAvailability] = []
        for line in own if self._told else ():
            stage, languages = self._told[self._page.heading_at[line]]
            if not found or found[-1][1:] != (stage, languages):
                found.append((line + 1, stage, languages))
        return tuple(found)

    def _included(self, own: Iterable[int]) -> dict[tuple[str, str | None], int]:
        """What some lines include, with its first line, 1-based."""
        found: dict[tuple[str, str | None], int] = {}
        for line in own:
            for include in self._includes.get(line, ()):
                found.setdefault(include, line + 1)
        return found


def _ranks(page: Page, numbers: Sequence[int]) -> list[int]:
    """How good a place each of some lines is to begin a chunk.

    A tab whose group begins with tabs that were cut out takes the place of the first one.
    """
    ranks = [page.ranks[number] for number in numbers]
    for place, (before, number) in enumerate(pairwise(numbers), 1):
        cut_out = next((line for line in range(before + 1, number) if page.lines[line].strip()), None)
        if cut_out is not None and number in page.tab_lines and cut_out in page.tab_lines:
            ranks[place] = page.ranks[cut_out]
    return ranks


def _fences(page: Page, numbers: Sequence[int]) -> list[tuple[int, int] | None]:
    """The code blocks around some lines, by their places among these lines."""
    places = {number: place for place, number in enumerate(numbers)}
    found: list[tuple[int, int] | None] = []
    for number in numbers:
        fence = page.fence_at[number]
        # A code block is cut out as a whole or not at all.
        found.append(None if fence is None else (places[fence[0]], places[fence[1] - 1] + 1))
    return found


def _first_content_line(page: Page, own: Sequence[int]) -> int:
    """The first of some lines that says something itself: no heading, no tab label, no front matter."""
    for line in own:
        if line >= page.front_matter_end and line not in page.label_lines and page.lines[line].strip():
            return line
    return own[-1]


def _languages(page: Page, own: Sequence[int]) -> tuple[str, ...]:
    named = (name for n in own if page.lines[n].strip() for name in (page.tab_language[n], page.fence_language[n]))
    return tuple(dict.fromkeys(name for name in named if name))


def _read_includes(lines: Sequence[str], read: IncludeReader | None) -> dict[int, list[tuple[str, str | None]]]:
    """What a page includes, by the line that says so: paths with their texts, None for a missing text."""
    texts: dict[Include, str | None] = {}
    found: dict[int, list[tuple[str, str | None]]] = defaultdict(list)
    for line, include in find_includes(lines):
        if include not in texts:
            texts[include] = read_include(include, read) if read else None
        found[line].append((include.path, texts[include]))
    return found
