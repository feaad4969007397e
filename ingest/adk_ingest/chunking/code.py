"""Source files, one chunk a definition: a reader for each language finds the definitions, `outline.py` cuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking import prose
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.outline import Outline, outline_chunks
from adk_ingest.chunking.python import read_python
from adk_ingest.chunking.r import read_r
from adk_ingest.chunking.treesitter import SyntaxNotUnderstoodError, read_treesitter
from adk_ingest.chunking.treesitter_languages import LANGUAGES

# The name of what once read broken Python stays: the chunks of whole files are the same as then, and another version
# would make all indexes count as outdated.
PYTHON_VERSION = "python-ast-2+python-fallback-1"
OTHER_VERSIONS = (f"tree-sitter-4+{prose.VERSION}", "r-1")

# A reader returns None for a file that holds no more than a licence.
_READERS: Mapping[str, Callable[[SourceFile, ChunkingSettings], Outline | None]] = {
    ".py": read_python,
    ".r": read_r,
    **dict.fromkeys(LANGUAGES, read_treesitter),
}
OTHER_EXTENSIONS = _READERS.keys() - {".py"}


def chunk_code(file: SourceFile, chunking: ChunkingSettings) -> ChunkedFile:
    """Split a file by its definitions; by blank lines where no reader knows its language or can make the file out."""
    read = _READERS.get(PurePosixPath(file.path).suffix.lower())
    if read is None:
        return prose.chunk_prose(file, chunking)
    try:
        outline = read(file, chunking)
    except SyntaxNotUnderstoodError as exc:
        chunked = prose.chunk_prose(file, chunking)
        chunked.chunks = [replace(chunk, lang=exc.language.lang) for chunk in chunked.chunks]
        chunked.parse_failed = True
        chunked.warnings.append(f"split by blank lines, as the text is for the most part not {exc.language.title}.")
        return chunked
    if outline is None:
        return ChunkedFile([])
    chunked = ChunkedFile(outline_chunks(file, outline, chunking))
    if outline.broken is not None:
        chunked.parse_failed = True
        chunked.warnings.append(f"split by layout where the syntax is not understood: {outline.broken}")
    return chunked
