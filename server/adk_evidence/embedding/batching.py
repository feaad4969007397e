"""Cutting work into requests that a service accepts, and a file's chunks into batches that share a context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from adk_evidence.embedding.base import ContextBatch
from adk_evidence.services.metering import RequestTooLargeError

T = TypeVar("T")

# A text that a service refuses even alone is shortened, but not below this length.
LEAST_CHARS = 200


@dataclass(frozen=True)
class Size:
    """How much something adds to a request."""

    items: int
    chars: int
    tokens: int

    def __add__(self, other: Size) -> Size:
        return Size(self.items + other.items, self.chars + other.chars, self.tokens + other.tokens)

    def within(self, limit: Size) -> bool:
        return self.items <= limit.items and self.chars <= limit.chars and self.tokens <= limit.tokens


NOTHING = Size(0, 0, 0)


def longest_first(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Positions of texts in batches of `size`, texts of similar length together: a model pads to the longest text."""
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    for start in range(0, len(order), size):
        yield order[start : start + size]


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


def in_halves(positions: list[int], send: Callable[[list[int]], T]) -> Iterator[tuple[list[int], T]]:
    """Send a request; where it is too large, send its halves, and raise where even one item is too large.

    Yields:
        Positions, and what `send` returned for them; every position comes once, in order.
    """
    try:
        found = send(positions)
    except RequestTooLargeError:
        if len(positions) == 1:
            raise
    else:
        yield positions, found
        return
    middle = len(positions) // 2
    for half in (positions[:middle], positions[middle:]):
        yield from in_halves(half, send)


def shortening(texts: list[str], send: Callable[[list[str]], T], tell: Callable[[int], None]) -> T:
    """Send texts; where one text alone is too large, send its first half, of whose length `tell` is called."""
    while True:
        try:
            return send(texts)
        except RequestTooLargeError:
            if len(texts) > 1 or len(texts[0]) < 2 * LEAST_CHARS:
                raise
        texts = [texts[0][: len(texts[0]) // 2]]
        tell(len(texts[0]))


def split_contexts(texts: Sequence[str], sizes: Sequence[Size], limit: Size, overlap: int) -> list[ContextBatch]:
    """A file's chunks, in order, in context batches (SPEC 3 section 7.1.3).

    A file within the limit is one batch, and so is a chunk above the limit. A longer file is cut into batches of
    neighbours that share `overlap` chunks, fewer where they would leave no room for a new one. Each chunk belongs to
    the batch where it is most central: where more chunks lie on its shorter side. Of two such batches it belongs to
    the first.
    """
    spans = _spans(sizes, limit, overlap)
    own: list[list[int]] = [[] for _ in spans]
    for chunk in range(len(texts)):
        # How many chunks lie on the shorter side; below 0 where the batch does not have the chunk.
        central = [min(chunk - start, end - 1 - chunk) for start, end in spans]
        home = central.index(max(central))
        own[home].append(chunk - spans[home][0])
    return [
        ContextBatch(tuple(texts[start:end]), tuple(positions))
        for (start, end), positions in zip(spans, own, strict=True)
        if positions
    ]


def _spans(sizes: Sequence[Size], limit: Size, overlap: int) -> list[tuple[int, int]]:
    def fits(start: int, end: int) -> bool:
        return sum(sizes[start:end], NOTHING).within(limit)

    spans: list[tuple[int, int]] = []
    start = end = 0
    while end < len(sizes):
        # The overlap gives way to the first new chunk, which must fit in.
        start = max(start, end - overlap)
        while start < end and not fits(start, end + 1):
            start += 1
        end += 1
        while end < len(sizes) and fits(start, end + 1):
            end += 1
        spans.append((start, end))
    return spans
