"""Cuts a file's lines into pieces of about the wanted size, at the best places that its format offers.

A format says for every line how good a place to begin a chunk it is: a rank, where less is better. A range that is
larger than the target is cut at all places of the best rank inside it, and its parts again at the next rank. So a
section falls apart into sub-sections before it falls apart into paragraphs, whatever their sizes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from adk_evidence.readers.breaks import KEEP_TOGETHER, LINE, NEVER, is_unit
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.cutting import Lines, Piece

SECTION = 0  # the rank of what always begins a piece

_SENTENCE_END = re.compile(r"[.!?。！？][\"')\]]*\s+")  # noqa: RUF001 (full-width punctuation is meant)
_SPACE = re.compile(r"\s+")


class _Range(NamedTuple):
    """Lines `start` to `end`, 0-based, end exclusive; `size` counts the newline of each."""

    start: int
    end: int
    size: int
    divisible: bool  # holds a part that is larger than the target


class Splitter:
    """Cuts the lines of one file; `ranks` has for each line how good a place it is to begin a piece."""

    def __init__(self, lines: Lines, ranks: Sequence[int], chunking: ChunkingSettings) -> None:
        self._lines = lines
        self._ranks = ranks
        self._minimum = chunking.min_chunk_chars
        self._target = chunking.docs.target_chunk_chars
        self._maximum = chunking.max_chunk_chars

    def pieces(self) -> Iterator[Piece]:
        """Pieces in the order of lines. They do not overlap and leave out only blank lines."""
        for section in self._cut(0, len(self._lines), SECTION):
            for start, end in self._divide(section.start, section.end, SECTION):
                yield from self._finish(start, end)

    def _size(self, start: int, end: int) -> int:
        return self._lines.size(start + 1, end) + 1

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

    def _cut(self, start: int, end: int, rank: int) -> list[_Range]:
        inside = [line for line in range(start + 1, end) if self._ranks[line] == rank]
        ranges = [(first, last, self._size(first, last)) for first, last in pairwise([start, *inside, end])]
        return [_Range(first, last, size, size > self._target) for first, last, size in ranges]

    def _pack(self, pieces: list[_Range]) -> list[_Range]:
        """Group neighbours up to the target, in groups of about the same size."""
        total = sum(piece.size for piece in pieces)
        wanted = total / math.ceil(total / self._target)
        packed: list[_Range] = []
        for piece in pieces:
            last = packed[-1] if packed else None
            if last and last.size + piece.size <= self._target and last.size + piece.size / 2 <= wanted:
                packed[-1] = _join(last, piece)
            else:
                packed.append(piece)
        return packed

    def _join_small(self, pieces: list[_Range]) -> list[_Range]:
        """Join what is too small to the smaller one of its neighbours."""
        joined: list[_Range] = []
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

    def _may_join(self, one: _Range, other: _Range) -> bool:
        return one.divisible or other.divisible or one.size + other.size <= self._maximum

    def _by_lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        first = start
        for line in range(start + 1, end):
            if self._size(first, line + 1) > self._target:
                yield first, line
                first = line
        yield first, end

    def _finish(self, start: int, end: int) -> Iterator[Piece]:
        """A piece without blank lines at its ends, or the parts of a line that is too long."""
        trimmed = self._lines.trim(start + 1, end)
        if trimmed is None:
            return
        line = self._lines.line(trimmed[0])
        if trimmed[0] == trimmed[1] and len(line) > self._maximum:
            parts = _columns(line, self._target)
            yield from (Piece(*trimmed, first, last) for first, last in parts if line[first:last].strip())
        else:
            yield Piece(*trimmed)


def _join(one: _Range, other: _Range) -> _Range:
    return _Range(one.start, other.end, one.size + other.size, one.divisible or other.divisible)


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
