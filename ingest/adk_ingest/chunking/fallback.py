"""The splitter for Python that does not parse, and cutting of whatever is too long (SPEC 3 section 5.2.2)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePosixPath

from adk_evidence.models.chunk import SymbolKind
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile

ModuleName = Callable[[str], str | None]

_BOUNDARY = re.compile(r"(?P<decorator>@)|(?:async\s+)?(?:def|class)\s+(?P<name>\w+)|(?:async\s+)?(?:def|class)\s")


@dataclass(frozen=True)
class Piece:
    """Lines of a file, 1-based and inclusive; columns (0-based, end exclusive) where a line had to be cut."""

    start: int
    end: int
    start_col: int | None = None
    end_col: int | None = None


class Lines:
    """A file's lines with the sums that make the size of any range cheap."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """Line `number`, 1-based."""
        return self._lines[number - 1]

    def blank(self, number: int) -> bool:
        """Whether a line holds nothing but whitespace."""
        return not self.line(number).strip()

    def comment(self, number: int) -> bool:
        """Whether a line is a comment."""
        return self.line(number).lstrip().startswith("#")

    def size(self, start: int, end: int) -> int:
        """Characters of lines `start`..`end`, joined."""
        return max(0, self._offsets[end] - self._offsets[start - 1] - 1)

    def text(self, piece: Piece) -> str:
        """What a piece holds."""
        return "\n".join(self._lines[piece.start - 1 : piece.end])[piece.start_col : piece.end_col]

    def trim(self, start: int, end: int) -> tuple[int, int] | None:
        """The range without blank lines at its ends; None where nothing is left."""
        while start <= end and self.blank(start):
            start += 1
        while end > start and self.blank(end):
            end -= 1
        return (start, end) if start <= end else None

    def trimmed_size(self, start: int, end: int) -> int:
        """Characters of a range without blank lines at its ends; it may end behind the last line."""
        trimmed = self.trim(start, min(end, len(self)))
        return self.size(*trimmed) if trimmed else 0

    def with_comments(self, start: int, floor: int) -> int:
        """The first of the comment lines that directly precede line `start`, not above line `floor`."""
        while start > floor and self.comment(start - 1):
            start -= 1
        return start

    def last_within(self, start: int, chars: int) -> int:
        """The last line that fits into `chars` characters counted from line `start`, at least `start`."""
        return max(start, bisect_right(self._offsets, self._offsets[start - 1] + chars + 1) - 1)

    def tail(self, start: int, end: int, chars: int) -> str:
        """The last whole lines of a range that fit into `chars` characters."""
        first = bisect_left(self._offsets, self._offsets[end] - chars - 1) + 1
        trimmed = self.trim(max(first, start), end)
        return self.text(Piece(*trimmed)) if trimmed else ""

    def cut(self, start: int, end: int, settings: ChunkingSettings, cost: Callable[[int], int]) -> Iterator[Piece]:
        """Cut a range into pieces of at most `max_symbol_chunk_chars`, trimmed of blank lines.

        Each cut lies in the second half of what fits, above the line of the lowest `cost`, the latest of
        equals. The last piece is kept above `min_chunk_chars` where that is possible. A longer line is a
        piece of its own; beyond `max_chunk_chars` it is cut by columns.
        """
        limit = settings.code.max_symbol_chunk_chars
        while (trimmed := self.trim(start, end)) is not None:
            start, end = trimmed
            if self.size(start, end) <= limit:
                yield Piece(start, end)
                return
            latest = min(self.last_within(start, limit), end - 1) + 1
            while latest > start + 1 and self.size(latest, end) < settings.min_chunk_chars:
                latest -= 1
            earliest = min(max(self.last_within(start, limit // 2), start + 1), latest)
            border = min(range(earliest, latest + 1), key=lambda line: (cost(line), -line)) if start < end else end + 1
            yield from self._piece(start, border - 1, settings.max_chunk_chars)
            start = border

    def _piece(self, start: int, end: int, limit: int) -> Iterator[Piece]:
        trimmed = self.trim(start, end)
        if trimmed is None:
            return
        size = self.size(*trimmed)
        if size <= limit:
            yield Piece(*trimmed)
            return
        for column in range(0, size, limit):
            yield Piece(*trimmed, column, min(column + limit, size))


def file_module(path: str, module_name: ModuleName) -> str:
    """The dotted name of a file's module, or its stem where it has none."""
    return module_name(path) or PurePosixPath(path).stem


class FallbackChunker:
    """Splits Python text at the definitions that its lines show, and long sections at blank lines.

    Args:
        chunking: Sizes in characters.
        module_name: Gives the dotted module of a path, None where the path is not importable.
    """

    version = "python-fallback-1"

    def __init__(self, chunking: ChunkingSettings, *, module_name: ModuleName) -> None:
        self._chunking = chunking
        self._module_name = module_name

    def chunk(self, file: SourceFile) -> ChunkedFile:
        """Split a file; its invariants are those of `Chunker.chunk`."""
        lines = Lines(file.lines)
        dotted = self._module_name(file.path)
        module = file_module(file.path, self._module_name)
        chunks: list[RawChunk] = []
        for start, end, name in _sections(lines):
            kind = _kind(lines, start, end) if name else "module"
            previous: Piece | None = None
            for piece in lines.cut(start, end, self._chunking, _layout_cost(lines)):
                tail = "" if previous is None else piece_tail(lines, previous, self._chunking.code.overlap_chars)
                chunks.append(
                    RawChunk(
                        start_line=piece.start,
                        end_line=piece.end,
                        body=lines.text(piece),
                        tail=tail,
                        start_col=piece.start_col,
                        end_col=piece.end_col,
                        symbol=name or module,
                        symbol_kind=kind if name is None or previous is None else "block",
                        symbols=(name,) if name and previous is None else (),
                        fqn=(f"{dotted}.{name}" if name else dotted) if dotted else None,
                        lang="py",
                    )
                )
                previous = piece
        return ChunkedFile(chunks)


def piece_tail(lines: Lines, previous: Piece, chars: int) -> str:
    """The context that a piece repeats from the one before; none after a line that was cut by columns."""
    return "" if previous.start_col is not None else lines.tail(previous.start, previous.end, chars)


def _sections(lines: Lines) -> Iterator[tuple[int, int, str | None]]:
    start, name, decorated = 1, None, False
    for number in range(1, len(lines) + 1):
        found = _BOUNDARY.match(lines.line(number))
        if not found:
            continue
        if not decorated:
            top = lines.with_comments(number, start)
            if top > start:
                yield start, top - 1, name
            start, name = top, None
        decorated = found["decorator"] is not None
        name = found["name"]
    if len(lines):
        yield start, len(lines), name


def _kind(lines: Lines, start: int, end: int) -> SymbolKind:
    return "class" if any(lines.line(number).startswith("class") for number in range(start, end + 1)) else "function"


def _layout_cost(lines: Lines) -> Callable[[int], int]:
    def cost(line: int) -> int:
        return (0 if lines.blank(line - 1) else 2) + (0 if lines.line(line)[:1].strip() else 1)

    return cost
