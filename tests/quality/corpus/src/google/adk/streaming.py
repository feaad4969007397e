"""Events while a turn runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """A piece of a turn; partial ones are shown and not stored."""

    text: str
    partial: bool = False
    interrupted_at: float | None = None


def with_complete_text(pieces: Iterable[str]) -> Iterator[Event]:
    """Partial events as words arrive, then one complete event with all of the text."""
    whole = ""
    for piece in pieces:
        whole += piece
        yield Event(piece, partial=True)
    yield Event(whole)


class LiveConnection:
    """Sound in both directions."""

    def __init__(self) -> None:
        self._frames: list[bytes] = []
        self._played = 0.0

    def send(self, frame: bytes) -> None:
        """Queue a frame of the person's voice."""
        self._frames.append(frame)

    def interrupt(self) -> Event:
        """The person has begun to speak: says how many seconds of the answer were heard."""
        self._frames.clear()
        return Event("", interrupted_at=self._played)
