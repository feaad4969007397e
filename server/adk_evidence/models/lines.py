"""A span of lines, which packs and readers of files share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from adk_evidence.models.base import Frozen


class LineSpan(Frozen):
    """Lines of a file, 1-based and inclusive."""

    start: int
    end: int

    @property
    def numbers(self) -> range:
        return range(self.start, self.end + 1)

    def touches(self, start: int, end: int) -> bool:
        """Whether some of lines `start` to `end` are among these."""
        return self.start <= end and start <= self.end


def runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of the numbers of each run that follow each other."""
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda each: each[1] - each[0]):
        own = [number for _, number in run]
        yield own[0], own[-1]
