"""Cuts a file's lines into spans of about the wanted size, at the best places that its format offers.

A format says for every line how good a place to begin a chunk it is: a rank, where less is better. A span
that is larger than the target is cut at all places of the best rank that it has inside, and its parts again
at the next rank. So a section falls apart into sub-sections before it falls apart into paragraphs, whatever
their sizes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adk_evidence.readers.breaks import KEEP_TOGETHER, LINE, NEVER, is_unit

SECTION = 0  # the rank of what always begins a span

_SENTENCE_END = re.compile(r"[.!?。！？][\"')\]]*\s+")  # noqa: RUF001 (full-width punctuation is meant)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Sizes:
    """Wanted, smallest and largest size of a span, in characters."""

    target: int
    minimum: int
    maximum: int


@dataclass(frozen=True)
class Span:
    """Lines `start` to `end` (0-based, end exclusive); with `start_col` and `end_col` a part of one line."""

    start: int
    end: int
    start_col: int | None = None
    end_col: int | None = None


@dataclass
class _Piece:
    start: int
    end: int
    size: int
    divisible: bool  # holds a part that is larger than the target


class Splitter:
    """Cuts one file.

    Args:
        lines: The file's lines.
        ranks: For each line how good a place it is to begin a span.
        sizes: The sizes to keep to.
    """

    def __init__(self, lines: Sequence[str], ranks: Sequence[int], sizes: Sizes) -> None:
        self._lines = lines
        self._ranks = ranks
        self._sizes = sizes
        self._offsets = [0]
        for line in lines:
            self._offsets.append(self._offsets[-1] + len(line) + 1)

    def spans(self) -> Iterator[Span]:
        """Spans in the order of lines. They do not overlap and leave out blank lines only."""
        for section in self._cut(0, len(self._lines), SECTION):
            for start, end in self._divide(section.start, section.end, SECTION):
                yield from self._finish(start, end)

    def _size(self, start: int, end: int) -> int:
        return self._offsets[end] - self._offsets[start]

    def _divide(self, start: int, end: int, above: int) -> Iterator[tuple[int, int]]:
        """Cut a range at the best rank that it holds and that is greater than `above`."""
        size = self._size(start, end)
        rank = min((rank for rank in self._ranks[start + 1 : end] if rank > above), default=NEVER)
        limit = self._sizes.maximum if rank >= KEEP_TOGETHER else self._sizes.target
        if size <= limit:
            yield start, end
        elif rank >= LINE:
            yield from self._by_lines(start, end)
        else:
            pieces = self._cut(start, end, rank)
            if not is_unit(rank):  # blocks are grouped up to the target
                pieces = self._pack(pieces)
            for piece in self._join_small(pieces):
                if piece.divisible or piece.size > self._sizes.maximum:
                    yield from self._divide(piece.start, piece.end, rank)
                else:
                    yield piece.start, piece.end

    def _cut(self, start: int, end: int, rank: int) -> list[_Piece]:
        inside = [line for line in range(start + 1, end) if self._ranks[line] == rank]
        pieces = []
        for first, last in zip([start, *inside], [*inside, end], strict=True):
            size = self._size(first, last)
            pieces.append(_Piece(first, last, size, size > self._sizes.target))
        return pieces

    def _pack(self, pieces: list[_Piece]) -> list[_Piece]:
        """Group neighbours up to the target, in groups of about the same size."""
        total = sum(piece.size for piece in pieces)
        wanted = total / math.ceil(total / self._sizes.target)
        packed: list[_Piece] = []
        for piece in pieces:
            last = packed[-1] if packed else None
            if last and last.size + piece.size <= self._sizes.target and last.size + piece.size / 2 <= wanted:
                packed[-1] = _Piece(last.start, piece.end, last.size + piece.size, divisible=False)
            else:
                packed.append(piece)
        return packed

    def _join_small(self, pieces: list[_Piece]) -> list[_Piece]:
        """Join what is too small to the smaller one of its neighbours."""
        joined: list[_Piece] = []
        waiting: _Piece | None = None  # a small piece that goes with what comes next
        for index, current in enumerate(pieces):
            piece = self._joined(waiting, current) if waiting else current
            waiting = None
            if piece.size >= self._sizes.minimum:
                joined.append(piece)
                continue
            before = joined[-1].size if joined else math.inf
            after = pieces[index + 1].size if index + 1 < len(pieces) else math.inf
            if before <= after and joined and self._may_join(joined[-1], piece):
                joined[-1] = self._joined(joined[-1], piece)
            elif index + 1 < len(pieces) and self._may_join(piece, pieces[index + 1]):
                waiting = piece
            else:
                joined.append(piece)
        return joined

    def _may_join(self, one: _Piece, other: _Piece) -> bool:
        return one.divisible or other.divisible or one.size + other.size <= self._sizes.maximum

    @staticmethod
    def _joined(one: _Piece, other: _Piece) -> _Piece:
        return _Piece(one.start, other.end, one.size + other.size, one.divisible or other.divisible)

    def _by_lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        first = start
        for line in range(start + 1, end):
            if self._size(first, line + 1) > self._sizes.target:
                yield first, line
                first = line
        yield first, end

    def _finish(self, start: int, end: int) -> Iterator[Span]:
        while start < end and not self._lines[start].strip():
            start += 1
        while end > start and not self._lines[end - 1].strip():
            end -= 1
        if start == end:
            return
        if end - start > 1 or len(self._lines[start]) <= self._sizes.maximum:
            yield Span(start, end)
            return
        line = self._lines[start]
        for first, last in _columns(line, self._sizes.target):
            if line[first:last].strip():
                yield Span(start, end, first, last)


def _columns(line: str, limit: int) -> Iterator[tuple[int, int]]:
    """Cut a line into parts of at most `limit` characters: after a sentence, else a space, else anywhere."""
    start = 0
    while len(line) - start > limit:
        end = start + limit
        for pattern in (_SENTENCE_END, _SPACE):
            ends = [match.end() for match in pattern.finditer(line, start + limit // 2, start + limit)]
            if ends:
                end = ends[-1]
                break
        yield start, end
        start = end
    yield start, len(line)


def context_tail(lines: Sequence[str], previous: Span, limit: int, verbatim: Sequence[tuple[int, int] | None]) -> str:
    """The last whole lines of a span, at most `limit` characters, that the next chunk repeats as its context.

    Args:
        lines: The file's lines.
        previous: The span before the chunk.
        limit: Size in characters.
        verbatim: For each line the code block (first line, end) that it is in; no tail begins inside one.
    """
    if previous.start_col is not None:
        return ""
    start, size = previous.end, -1
    while start > previous.start and size + len(lines[start - 1]) + 1 <= limit:
        start -= 1
        size += len(lines[start]) + 1
    while start < previous.end:
        inside = verbatim[start]
        if inside is not None and inside[0] < start:
            start = inside[1]
        elif not lines[start].strip():
            start += 1
        else:
            break
    return "\n".join(lines[start : previous.end])
