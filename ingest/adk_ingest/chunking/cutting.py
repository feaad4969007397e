"""Cuts the lines of a file where that costs least."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from adk_evidence.settings import ChunkingSettings


@dataclass(frozen=True)
class Piece:
    """Lines of a file, 1-based and inclusive; columns (0-based, end exclusive) where a line had to be cut."""

    start: int
    end: int
    start_col: int | None = None
    end_col: int | None = None


class Lines:
    """A file's lines with the sums that make the size of any range cheap."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        return self._lines[number - 1]

    def blank(self, number: int) -> bool:
        return not self.line(number).strip()

    def size(self, start: int, end: int) -> int:
        """Characters of lines `start`..`end`, joined."""
        return max(0, self._offsets[end] - self._offsets[start - 1] - 1)

    def text(self, piece: Piece) -> str:
        return "\n".join(self._lines[piece.start - 1 : piece.end])[piece.start_col : piece.end_col]

    def trim(self, start: int, end: int) -> tuple[int, int] | None:
        """The range without blank lines at its ends; None where nothing is left."""
        while start <= end and self.blank(start):
            start += 1
        while end > start and self.blank(end):
            end -= 1
        return (start, end) if start <= end else None

    def trimmed_size(self, start: int, end: int) -> int:
        """Characters of a range without blank lines at its ends; the range may end behind the last line."""
        trimmed = self.trim(start, min(end, len(self)))
        return self.size(*trimmed) if trimmed else 0

    def last_within(self, start: int, chars: int) -> int:
        """The last line that fits into `chars` characters counted from line `start`, at least `start`."""
        return max(start, bisect_right(self._offsets, self._offsets[start - 1] + chars + 1) - 1)

    def first_within(self, end: int, chars: int) -> int:
        """The first line from which on the lines up to `end` fit into `chars` characters; `end` + 1 where none does."""
        return bisect_left(self._offsets, self._offsets[end] - chars - 1) + 1

    def cut(self, start: int, end: int, settings: ChunkingSettings, cost: Callable[[int], int]) -> Iterator[Piece]:
        """Cut a range into pieces of at most `max_symbol_chunk_chars`, trimmed of blank lines.

        Each cut lies in the second half of what fits, above the line of the lowest `cost`, the latest of equals. The
        last piece stays above `min_chunk_chars` where that is possible. A longer line becomes a separate piece; beyond
        `max_chunk_chars` it is cut by columns.
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
        size = self.size(*trimmed) if trimmed else 0
        if trimmed and size > limit:
            for column in range(0, size, limit):
                yield Piece(*trimmed, column, min(column + limit, size))
        elif trimmed:
            yield Piece(*trimmed)


def context_tail(
    lines: Lines, previous: Piece, chars: int, fences: Sequence[tuple[int, int] | None] | None = None
) -> str:
    """The last whole lines of a piece, at most `chars` characters, that the next piece repeats as its context.

    A line that was cut by columns gives none. `fences` has for each line the code block around it (its first line, from
    0, and its end); no tail begins inside a code block.
    """
    if previous.start_col is not None:
        return ""
    start = max(lines.first_within(previous.end, chars), previous.start)
    while start <= previous.end:
        fence = fences[start - 1] if fences else None
        if fence is not None and fence[0] < start - 1:
            start = fence[1] + 1
        elif lines.blank(start):
            start += 1
        else:
            break
    return lines.text(Piece(start, previous.end))
