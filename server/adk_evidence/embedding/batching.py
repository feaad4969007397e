"""Cutting work into requests that a service accepts, and a file's chunks into batches that share a context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from adk_evidence.embedding.base import ContextBatch

T = TypeVar("T")


@dataclass(frozen=True)
class Size:
    """How much something adds to a request."""

    items: int
    chars: int
    tokens: int

    def __add__(self, other: Size) -> Size:
        return Size(self.items + other.items, self.chars + other.chars, self.tokens + other.tokens)

    def within(self, limit: Size) -> bool:
        """Whether all three parts are within their limits."""
        return self.items <= limit.items and self.chars <= limit.chars and self.tokens <= limit.tokens


NOTHING = Size(0, 0, 0)


def pack(sizes: Sequence[Size], limit: Size) -> Iterator[list[int]]:
    """Positions in `sizes`, in order, a request at a time; an item above the limit makes a request alone."""
    batch: list[int] = []
    total = NOTHING
    for position, size in enumerate(sizes):
        if batch and not (total + size).within(limit):
            yield batch
            batch, total = [], NOTHING
        batch.append(position)
        total = total + size
    if batch:
        yield batch


def in_halves(
    positions: list[int], send: Callable[[list[int]], T], too_large: type[Exception]
) -> Iterator[tuple[list[int], T]]:
    """Send a request; where the service takes none of this size, send its halves.

    Args:
        positions: The items of the request.
        send: Sends a request of some of these items.
        too_large: What `send` raises where the service refuses a request for its size.

    Yields:
        Positions, and what `send` returned for them; every position comes once, in order.

    Raises:
        Exception: `too_large`, where the service refuses even a single item.
    """
    try:
        found = send(positions)
    except too_large:
        if len(positions) == 1:
            raise
    else:
        yield positions, found
        return
    middle = len(positions) // 2
    yield from in_halves(positions[:middle], send, too_large)
    yield from in_halves(positions[middle:], send, too_large)


def split_contexts(texts: Sequence[str], sizes: Sequence[Size], limit: Size, overlap: int) -> list[ContextBatch]:
    """A file's chunks in context batches (SPEC 3 section 7.1.3).

    A file within the limit is one batch. A longer one is cut into batches of neighbours that share `overlap` chunks,
    fewer where they would leave no room for a new one. Each chunk belongs to the batch where it is most central:
    where more chunks lie on its shorter side. Of two such batches it belongs to the first.

    Args:
        texts: The chunks' texts, in the file's order.
        sizes: Their sizes.
        limit: The largest batch; a chunk above it makes a batch alone.
        overlap: Chunks that two neighbouring batches share.
    """
    spans = _spans(sizes, limit, overlap)
    own: list[list[int]] = [[] for _ in spans]
    for chunk in range(len(texts)):
        holders = [number for number, (start, end) in enumerate(spans) if start <= chunk < end]
        home = max(holders, key=lambda number: (_centrality(chunk, spans[number]), -number))
        own[home].append(chunk - spans[home][0])
    return [
        ContextBatch(tuple(texts[start:end]), tuple(positions))
        for (start, end), positions in zip(spans, own, strict=True)
        if positions
    ]


def _spans(sizes: Sequence[Size], limit: Size, overlap: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = end = 0
    while end < len(sizes):
        # The overlap gives way to the first new chunk, which must fit in.
        start = max(start, end - overlap)
        while start < end and not _sum(sizes, start, end + 1).within(limit):
            start += 1
        end += 1
        while end < len(sizes) and _sum(sizes, start, end + 1).within(limit):
            end += 1
        spans.append((start, end))
    return spans


def _sum(sizes: Sequence[Size], start: int, end: int) -> Size:
    return sum(sizes[start:end], NOTHING)


def _centrality(chunk: int, span: tuple[int, int]) -> int:
    start, end = span
    return min(chunk - start, end - 1 - chunk)
