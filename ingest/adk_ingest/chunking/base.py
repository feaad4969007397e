"""What every chunker takes and gives. Headers, lexical and dense texts are made of it in records.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from adk_evidence.models.chunk import SymbolKind


@dataclass(frozen=True)
class SourceFile:
    """A decoded file: newlines are `\\n`, no byte-order mark. `path` is relative to the repository, with `/`."""

    path: str
    text: str
    file_hash: str

    @property
    def lines(self) -> list[str]:
        """Lines as citations count them: split at `\\n` only; line n is `lines[n - 1]`."""
        lines = self.text.split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        return lines


@dataclass(frozen=True)
class Attachment:
    """Text from elsewhere that a chunk shows below its own lines, e.g. an included file."""

    path: str
    text: str


@dataclass(frozen=True)
class RawChunk:
    """A chunk before it gets its header.

    `body` is `"\\n".join(lines[start_line - 1 : end_line])` to the letter; with `start_col`/`end_col` set, that
    slice (in characters) of it. `tail` is context that is repeated from the chunk before, verbatim. `symbol` is the
    chunk's own qualified name, `symbols` all definitions that begin inside it. `doc` is the first paragraph of the
    symbol's docstring. `anchor` is the fragment of the chunk's innermost heading.
    """

    start_line: int
    end_line: int
    body: str
    tail: str = ""
    start_col: int | None = None
    end_col: int | None = None
    symbol: str | None = None
    symbol_kind: SymbolKind | None = None
    symbols: tuple[str, ...] = ()
    fqn: str | None = None
    signature: str | None = None
    doc: str | None = None
    headings: tuple[str, ...] = ()
    anchor: str | None = None
    lang: str = "txt"
    code_langs: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    missing_includes: tuple[str, ...] = ()


@dataclass
class ChunkedFile:
    """A file's chunks in the order of their lines, and what a person should know about them."""

    chunks: list[RawChunk]
    title: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    parse_failed: bool = False


class Chunker(Protocol):
    """Splits one file. Deterministic; never raises for what a file holds."""

    def chunk(self, file: SourceFile) -> ChunkedFile:
        """Split a file into chunks whose own lines do not overlap and leave out nothing but blank lines
        and files that hold no more than a licence."""
