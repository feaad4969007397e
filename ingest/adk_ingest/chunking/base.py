"""What every chunker takes and gives. `records.py` adds headers, and the texts that the encoders see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adk_evidence.models.chunk import SectionAvailability, SymbolKind
from adk_evidence.text.textfile import split_lines

if TYPE_CHECKING:
    from adk_ingest.corpora.known_files import KnownFile


@dataclass(frozen=True)
class SourceFile:
    """A decoded file: newlines are `\\n`, there is no byte-order mark. `path` is relative to the repository.

    The text of a file that did not change since the last run is read from `known` when it is asked for.
    """

    path: str
    own_text: str | None
    file_hash: str
    known: KnownFile | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        if self.own_text is not None:
            return self.own_text
        return "" if self.known is None else self.known.text

    def derived(self, rule: str, derive: Callable[[], Any]) -> Any:
        """What a rule finds in the text, as plain JSON data; the last run's result where the file did not change."""
        return derive() if self.known is None else self.known.derived(rule, derive)

    @property
    def lines(self) -> list[str]:
        return split_lines(self.text)


@dataclass(frozen=True)
class Attachment:
    """Text from another file that a chunk shows below its own lines: an included file.

    `line` is the line of the chunk's file that includes it, 1-based.
    """

    path: str
    text: str
    line: int


@dataclass(frozen=True)
class RawChunk:
    """A chunk before it gets its header.

    `body` is `"\\n".join(lines[start_line - 1 : end_line])` verbatim; with `start_col` and `end_col`, that slice
    (in characters) of the line. `tail` is context repeated verbatim from the chunk before. `symbol` is the chunk's own
    qualified name, `symbols` are all definitions that begin inside it, and `decorators` the names of their decorators.
    `doc` is the first paragraph of the symbol's docstring. `sections` are the trails of the headings that begin inside
    a chunk of a page. `anchor` is the fragment of the chunk's innermost heading.
    `left_out` has the first line, the last line and the language of the own lines that are for readers of another
    language than the corpus's; a chunk that is for such readers names their language in `for_language`. For
    `availability` see `ChunkPayload`.
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
    decorators: tuple[str, ...] = ()
    fqn: str | None = None
    signature: str | None = None
    doc: str | None = None
    headings: tuple[str, ...] = ()
    sections: tuple[tuple[str, ...], ...] = ()
    anchor: str | None = None
    lang: str = "txt"
    code_langs: tuple[str, ...] = ()
    availability: tuple[SectionAvailability, ...] = ()
    for_language: str | None = None
    left_out: tuple[tuple[int, int, str], ...] = ()
    attachments: tuple[Attachment, ...] = ()
    missing_includes: tuple[str, ...] = ()

    @property
    def searched_lines(self) -> list[str]:
        """The own lines, those of `left_out` as empty ones: what a search finds the chunk by."""
        lines = self.body.split("\n")
        for first, last, _ in self.left_out:
            lines[first - self.start_line : last - self.start_line + 1] = [""] * (last - first + 1)
        return lines


@dataclass
class ChunkedFile:
    """A file's chunks in the order of their lines, and what a person should know about them.

    The chunks' own lines do not overlap, except that a chunk for other readers lies in the `left_out` of a chunk around
    it. They leave out only blank lines, and files that hold no more than a licence.
    The same file always gives the same chunks, and nothing that a file can hold makes a chunker raise.
    Of a generated page, `page` is the text and `text_hash` its sha256; the file's hash is that of what the page is made
    of.
    """

    chunks: list[RawChunk]
    title: str | None = None
    warnings: list[str] = field(default_factory=list)
    parse_failed: bool = False
    text_hash: str | None = None
    page: str | None = None
