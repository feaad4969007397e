"""What holds for the chunks of every file, whatever the chunker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from adk_ingest.chunking.base import RawChunk


def assert_exact(text: str, chunks: Sequence[RawChunk]) -> None:
    """Bodies are the cited lines, in order, and each line that is not blank is in one chunk.

    It is in a second chunk only if that chunk leaves the line out.
    """
    lines = text.split("\n")
    columns: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for item in chunks:
        cited = "\n".join(lines[item.start_line - 1 : item.end_line])
        assert item.body == cited[item.start_col : item.end_col]
        assert item.body.strip() or item.start_col is not None
        assert (item.start_col is None) == (item.end_col is None)
        left_out = {line for first, last, _ in item.left_out for line in range(first, last + 1)}
        for line in set(range(item.start_line, item.end_line + 1)) - left_out:
            end = len(lines[line - 1]) if item.end_col is None else item.end_col
            columns[line].append((item.start_col or 0, end))
        for first, last, language in item.left_out:
            assert item.start_line < first
            assert any(one.for_language == language and first <= one.start_line <= last for one in chunks)
    for number, line in enumerate(lines, 1):
        assert all(one[1] <= other[0] for one, other in pairwise(sorted(columns[number]))), f"line {number} is in two"
        left = list(line)
        for first, last in columns[number]:
            left[first:last] = [" "] * (last - first)
        assert not "".join(left).strip(), f"line {number} is in no chunk"
    assert [item.start_line for item in chunks] == sorted(item.start_line for item in chunks)
