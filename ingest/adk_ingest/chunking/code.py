"""Source files, one chunk a definition: a reader for each language finds the definitions, outline.py cuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.outline import Outline, SyntaxNotUnderstoodError, outline_chunks
from adk_ingest.chunking.prose import ProseChunker
from adk_ingest.chunking.python import ModuleName, read_python
from adk_ingest.chunking.r import read_r
from adk_ingest.chunking.treesitter import read_treesitter
from adk_ingest.chunking.treesitter_languages import LANGUAGES

OutlineReader = Callable[[SourceFile, ChunkingSettings], Outline | None]

# The name of what once read broken Python stays: the chunks of whole files are the same as then, and another version
# would make all indexes count as outdated.
PYTHON_VERSION = "python-ast-2+python-fallback-1"
OTHER_VERSIONS = (f"tree-sitter-1+{ProseChunker.version}", "r-1")


def outline_readers(module_name: ModuleName) -> Mapping[str, OutlineReader]:
    """The reader of each language's files by their extension.

    Args:
        module_name: Gives the dotted module of a path, None where the path is not importable.
    """

    def python(file: SourceFile, chunking: ChunkingSettings) -> Outline | None:
        return read_python(file, chunking, module_name)

    others = {extension: read_treesitter(language) for extension, language in LANGUAGES.items()}
    return {".py": python, ".r": read_r, **others}


class CodeChunker:
    """Splits files of one language by their definitions; files that are mostly no such syntax by blank lines.

    Args:
        chunking: Sizes in characters.
        read: The language's reader; None of what it returns means that the file says nothing.
    """

    def __init__(self, chunking: ChunkingSettings, read: OutlineReader) -> None:
        self._chunking = chunking
        self._read = read

    def chunk(self, file: SourceFile) -> ChunkedFile:
        """Split a file; its invariants are those of `Chunker.chunk`."""
        try:
            outline = self._read(file, self._chunking)
        except SyntaxNotUnderstoodError as exc:
            chunked = ProseChunker(self._chunking).chunk(file)
            chunked.chunks = [replace(chunk, lang=exc.lang) for chunk in chunked.chunks]
            chunked.parse_failed = True
            chunked.warnings.append(f"{file.path} was split by its blank lines: most of it is no {exc.title}.")
            return chunked
        if outline is None:
            return ChunkedFile([])
        chunked = ChunkedFile(outline_chunks(file, outline, self._chunking))
        if outline.broken is not None:
            chunked.parse_failed = True
            chunked.warnings.append(f"Parts of {file.path} were split by their layout: {outline.broken}")
        return chunked
