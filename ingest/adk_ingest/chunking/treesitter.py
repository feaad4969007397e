"""Source in languages other than Python, one chunk a definition, by tree-sitter."""

from __future__ import annotations

from dataclasses import replace

from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.outline import outline_chunks
from adk_ingest.chunking.prose import ProseChunker
from adk_ingest.chunking.treesitter_languages import Language
from adk_ingest.chunking.treesitter_outline import SyntaxNotUnderstoodError, read_outline


class TreeSitterChunker:
    """Splits files of one language by their definitions; files that are mostly no such syntax by blank lines.

    Args:
        chunking: Sizes in characters.
        language: The files' language.
    """

    version = f"tree-sitter-1+{ProseChunker.version}"

    def __init__(self, chunking: ChunkingSettings, language: Language) -> None:
        self._chunking = chunking
        self._language = language
        self._plain = ProseChunker(chunking)

    def chunk(self, file: SourceFile) -> ChunkedFile:
        """Split a file; its invariants are those of `Chunker.chunk`."""
        try:
            outline = read_outline(file.text, self._language, self._chunking.max_chunk_chars)
        except SyntaxNotUnderstoodError:
            chunked = self._plain.chunk(file)
            chunked.chunks = [replace(chunk, lang=self._language.lang) for chunk in chunked.chunks]
            chunked.parse_failed = True
            chunked.warnings.append(
                f"{file.path} was split by its blank lines: most of it is no {self._language.title}."
            )
            return chunked
        return ChunkedFile(outline_chunks(file, outline, self._chunking) if outline is not None else [])
