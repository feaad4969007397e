"""Cuts pages, prose and data files at their headings, tabs and paragraphs (SPEC 3 section 5.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from adk_evidence.readers.languages import BY_EXTENSION
from adk_evidence.readers.page import Page
from adk_evidence.readers.plaintext import DATA_LANGUAGES
from adk_evidence.readers.sections import read_page
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import Attachment, ChunkedFile, RawChunk, SourceFile
from adk_ingest.chunking.includes import Include, IncludeReader, find_includes, read_include
from adk_ingest.chunking.spans import SECTION, Sizes, Span, Splitter, context_tail

_PROSE = ("md", "rst", "adoc", *DATA_LANGUAGES)


class ProseChunker:
    """Splits Markdown as mkdocs-material understands it, reStructuredText, AsciiDoc, plain text and data files.

    A section begins at a heading of `docs.split_level` or above; a section that is larger than
    `docs.target_chunk_chars` falls apart at its sub-headings, then at its tabs, then at paragraphs. A chunk that begins
    with a heading or a tab gets no context tail, because the text before it is about something else. Front matter is
    metadata and stays in the lines of the first chunk. YAML, JSON and TOML are cut where an entry begins, at the
    outermost level that serves.

    Args:
        chunking: Sizes.
        include_reader: Gives the text of a file that a Markdown page includes, by its path below the repository's
            root, or None where it does not exist. Without a reader every include counts as missing.
    """

    version = "1"

    def __init__(self, chunking: ChunkingSettings, *, include_reader: IncludeReader | None = None) -> None:
        self._sizes = Sizes(chunking.docs.target_chunk_chars, chunking.min_chunk_chars, chunking.max_chunk_chars)
        self._overlap = chunking.docs.overlap_chars
        self._split_level = chunking.docs.split_level
        self._reader = include_reader

    def chunk(self, file: SourceFile) -> ChunkedFile:
        """Split a file into chunks in the order of its lines."""
        lines = file.lines
        language = BY_EXTENSION.get(PurePosixPath(file.path).suffix.lower())
        lang = language.lang if language is not None and language.lang in _PROSE else "txt"
        page = read_page(lines, lang)
        is_markdown = lang == "md"
        anchors = page.anchors() if is_markdown else [None] * len(page.headings)
        includes = _resolve_includes(lines, self._reader) if is_markdown else _Includes()
        ranks = [SECTION if rank <= self._split_level else rank for rank in page.ranks]
        chunks: list[RawChunk] = []
        previous: Span | None = None
        for span in Splitter(lines, ranks, self._sizes).spans():
            tail = ""
            if previous is not None and span.start not in page.label_lines and lang not in DATA_LANGUAGES:
                tail = context_tail(lines, previous, self._overlap, page.fence_at)
            innermost = page.heading_at[_first_content_line(page, span)]
            chunks.append(
                RawChunk(
                    start_line=span.start + 1,
                    end_line=span.end,
                    body="\n".join(lines[span.start : span.end])[span.start_col : span.end_col],
                    tail=tail,
                    start_col=span.start_col,
                    end_col=span.end_col,
                    headings=page.titles(innermost),
                    anchor=None if innermost is None else anchors[innermost],
                    lang=lang,
                    code_langs=_languages(page, span),
                    attachments=includes.attachments_in(span),
                    missing_includes=includes.missing_in(span),
                )
            )
            previous = span
        return ChunkedFile(chunks, title=page.title, metadata=page.metadata, warnings=page.warnings)


def _first_content_line(page: Page, span: Span) -> int:
    """The first line of a span that says something itself: no heading, no tab label, no front matter."""
    for line in range(max(span.start, page.front_matter_end), span.end):
        if line not in page.label_lines and page.lines[line].strip():
            return line
    return span.end - 1


def _languages(page: Page, span: Span) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for line in range(span.start, span.end):
        if page.lines[line].strip():
            for language in (page.tab_language[line], page.fence_language[line]):
                if language:
                    found[language] = None
    return tuple(found)


@dataclass
class _Includes:
    """What a page includes, by the line that says so."""

    attachments: dict[int, list[Attachment]] = field(default_factory=lambda: defaultdict(list))
    missing: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    def attachments_in(self, span: Span) -> tuple[Attachment, ...]:
        found = (item for line in range(span.start, span.end) for item in self.attachments.get(line, ()))
        return tuple(dict.fromkeys(found))

    def missing_in(self, span: Span) -> tuple[str, ...]:
        found = (path for line in range(span.start, span.end) for path in self.missing.get(line, ()))
        return tuple(dict.fromkeys(found))


def _resolve_includes(lines: Sequence[str], reader: IncludeReader | None) -> _Includes:
    includes = _Includes()
    texts: dict[Include, str | None] = {}
    for line, include in find_includes(lines):
        if include not in texts:
            texts[include] = read_include(include, reader) if reader else None
        text = texts[include]
        if text is None:
            includes.missing[line].append(include.path)
        else:
            includes.attachments[line].append(Attachment(include.path, text))
    return includes
