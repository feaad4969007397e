"""Cuts pages, prose and data files at their headings, tabs and paragraphs (SPEC 3 section 5.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from adk_evidence.readers.languages import BY_EXTENSION
from adk_evidence.readers.page import Page
from adk_evidence.readers.plaintext import DATA_LANGUAGES
from adk_evidence.readers.sections import read_page
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import Attachment, ChunkedFile, RawChunk, SourceFile
from adk_ingest.chunking.cutting import Lines, Piece, context_tail
from adk_ingest.chunking.includes import Include, IncludeReader, find_includes, read_include
from adk_ingest.chunking.spans import SECTION, Splitter

VERSION = "1"

_PROSE = ("md", "rst", "adoc", *DATA_LANGUAGES)


def chunk_prose(file: SourceFile, chunking: ChunkingSettings, include: IncludeReader | None = None) -> ChunkedFile:
    """Split Markdown as mkdocs-material understands it, reStructuredText, AsciiDoc, plain text or a data file.

    A section begins at a heading of `docs.split_level` or above; a section that is larger than
    `docs.target_chunk_chars` falls apart at its sub-headings, then at its tabs, then at paragraphs. A chunk that begins
    with a heading or a tab gets no context tail, because the text before it is about something else. Front matter stays
    in the lines of the first chunk. YAML, JSON and TOML are cut where an entry begins, at the outermost level that
    serves. Without `include`, every file that a Markdown page includes counts as missing.
    """
    language = BY_EXTENSION.get(PurePosixPath(file.path).suffix.lower())
    lang = language.lang if language is not None and language.lang in _PROSE else "txt"
    page = read_page(file.lines, lang)
    lines = Lines(page.lines)
    is_markdown = lang == "md"
    anchors = page.anchors() if is_markdown else [None] * len(page.headings)
    includes = _read_includes(page.lines, include) if is_markdown else {}
    ranks = [SECTION if rank <= chunking.docs.split_level else rank for rank in page.ranks]
    chunks: list[RawChunk] = []
    previous: Piece | None = None
    for piece in Splitter(lines, ranks, chunking).pieces():
        own = range(piece.start - 1, piece.end)
        tail = ""
        if previous is not None and own.start not in page.label_lines and lang not in DATA_LANGUAGES:
            tail = context_tail(lines, previous, chunking.docs.overlap_chars, page.fence_at)
        innermost = page.heading_at[_first_content_line(page, own)]
        included = dict.fromkeys(found for line in own for found in includes.get(line, ()))
        chunks.append(
            RawChunk(
                start_line=piece.start,
                end_line=piece.end,
                body=lines.text(piece),
                tail=tail,
                start_col=piece.start_col,
                end_col=piece.end_col,
                headings=page.titles(innermost),
                anchor=None if innermost is None else anchors[innermost],
                lang=lang,
                code_langs=_languages(page, own),
                attachments=tuple(Attachment(path, text) for path, text in included if text is not None),
                missing_includes=tuple(path for path, text in included if text is None),
            )
        )
        previous = piece
    return ChunkedFile(chunks, title=page.title, warnings=page.warnings)


def _first_content_line(page: Page, own: range) -> int:
    """The first of some lines that says something itself: no heading, no tab label, no front matter."""
    for line in range(max(own.start, page.front_matter_end), own.stop):
        if line not in page.label_lines and page.lines[line].strip():
            return line
    return own[-1]


def _languages(page: Page, own: range) -> tuple[str, ...]:
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
