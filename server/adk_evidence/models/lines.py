"""A span of lines, which packs and readers of files share."""

from __future__ import annotations

from adk_evidence.models.base import Frozen


class LineSpan(Frozen):
    """Lines of a file, 1-based and inclusive."""

    start: int
    end: int

    def touches(self, start: int, end: int) -> bool:
        """Whether some of lines `start` to `end` are among these."""
        return self.start <= end and start <= self.end
