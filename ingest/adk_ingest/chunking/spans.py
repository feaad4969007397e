"""Cuts a file's lines into spans of about the wanted size, at the best places that its format offers.

A format says for every line how good a place to begin a chunk it is: a rank, where less is better. A span that is
larger than the target is cut at all places of the best rank inside it, and its parts again at the next rank. So a
section falls apart into sub-sections before it falls apart into paragraphs, whatever their sizes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from adk_evidence.readers.breaks import KEEP_TOGETHER, LINE, NEVER, is_unit
from adk_evidence.settings import ChunkingSettings

SECTION = 0  # the rank of what always begins a span

_SENTENCE_END = re.compile(r"[.!?。！？][\"')\]]*\s+")  # noqa: RUF001 (full-width punctuation is meant)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Span:
    """Lines `start` to `end` (0-based, end exclusive); with `start_col` and `end_col` a part of one line."""

    start: int
    end: int
    start_col: int | None = None
    end_col: int | None = None


class _Piece(NamedTuple):
    start: int
    end: int
    size: int
    divisible: bool  # holds a part that is larger than the target


class Splitter:
    """Cuts the lines of one file; `ranks` has for each line how good a place it is to begin a span."""

    def __init__(self, lines: Sequence[str], ranks: Sequence[int], chunking: ChunkingSettings) -> None:
        self._lines = lines
        self._ranks = ranks
        self._minimum = chunking.min_chunk_chars
        self._target = chunking.docs.target_chunk_chars
        self._maximum = chunking.max_chunk_chars
        self._offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def spans(self) -> Iterator[Span]:
        """Spans in the order of lines. They do not overlap and leave out only blank lines."""
        for section in self._cut(0, len(self._lines), SECTION):
            for start, end in self._divide(section.start, section.end, SECTION):
                yield from self._finish(start, end)

    def _size(self, start: int, end: int) -> int:
        return self._offsets[end] - self._offsets[start]

    def _divide(self, start: int, end: int, above: int) -> Iterator[tuple[int, int]]:
        """Cut a range at the best rank inside it that is greater than `above`."""
        rank = min((rank for rank in self._ranks[start + 1 : end] if rank > above), default=NEVER)
        if self._size(start, end) <= (self._maximum if rank >= KEEP_TOGETHER else self._target):
            yield start, end
        elif rank >= LINE:
            yield from self._by_lines(start, end)
        else:
            pieces = self._cut(start, end, rank)
            if not is_unit(rank):  # blocks are grouped up to the target
                pieces = self._pack(pieces)
            for piece in self._join_small(pieces):
                if piece.divisible or piece.size > self._maximum:
                    yield from self._divide(piece.start, piece.end, rank)
                else:
                    yield piece.start, piece.end

    def _cut(self, start: int, end: int, rank: int) -> list[_Piece]:
        inside = [line for line in range(start + 1, end) if self._ranks[line] == rank]
        ranges = [(first, last, self._size(first, last)) for first, last in pairwise([start, *inside, end])]
        return [_Piece(first, last, size, size > self._target) for first, last, size in ranges]

    def _pack(self, pieces: list[_Piece]) -> list[_Piece]:
        """Group neighbours up to the target, in groups of about the same size."""
        total = sum(piece.size for piece in pieces)
        wanted = total / math.ceil(total / self._target)
        packed: list[_Piece] = []
        for piece in pieces:
            last = packed[-1] if packed else None
            if last and last.size + piece.size <= self._target and last.size + piece.size / 2 <= wanted:
                packed[-1] = _join(last, piece)
            else:
                packed.append(piece)
        return packed

    def _join_small(self, pieces: list[_Piece]) -> list[_Piece]:
        """Join what is too small to the smaller one of its neighbours."""
        joined: list[_Piece] = []
        for index, piece in enumerate(pieces):
            before = joined[-1] if joined else None
            after = pieces[index + 1] if index + 1 < len(pieces) else None
            if piece.size >= self._minimum:
                joined.append(piece)
            elif before and (after is None or before.size <= after.size) and self._may_join(before, piece):
                joined[-1] = _join(before, piece)
            elif after and self._may_join(piece, after):
                pieces[index + 1] = _join(piece, after)
            else:
                joined.append(piece)
        return joined

    def _may_join(self, one: _Piece, other: _Piece) -> bool:
        return one.divisible or other.divisible or one.size + other.size <= self._maximum

    def _by_lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        first = start
        for line in range(start + 1, end):
            if self._size(first, line + 1) > self._target:
                yield first, line
                first = line
        yield first, end

    def _finish(self, start: int, end: int) -> Iterator[Span]:
        """A span without blank lines at its ends, or the parts of a line that is too long."""
        while start < end and not self._lines[start].strip():
            start += 1
        while end > start and not self._lines[end - 1].strip():
            end -= 1
        if end - start == 1 and len(line := self._lines[start]) > self._maximum:
            for first, last in _columns(line, self._target):
                if line[first:last].strip():
                    yield Span(start, end, first, last)
        elif start < end:
            yield Span(start, end)


def _join(one: _Piece, other: _Piece) -> _Piece:
    return _Piece(one.start, other.end, one.size + other.size, one.divisible or other.divisible)


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


def context_tail(lines: Sequence[str], previous: Span, limit: int, fences: Sequence[tuple[int, int] | None]) -> str:
    """The last whole lines of a span, at most `limit` characters, that the next chunk repeats as its context.

    `fences` has for each line the code block (first line, end) around it; no tail begins inside a code block.
    """
    if previous.start_col is not None:
        return ""
    start, size = previous.end, -1
    while start > previous.start and size + len(lines[start - 1]) + 1 <= limit:
        start -= 1
        size += len(lines[start]) + 1
    while start < previous.end:
        inside = fences[start]
        if inside is not None and inside[0] < start:
            start = inside[1]
        elif not lines[start].strip():
            start += 1
        else:
            break
    return "\n".join(lines[start : previous.end])
