"""Notes that outlive a talk."""

from __future__ import annotations

from dataclasses import dataclass

MAX_NOTES = 5
YEAR = 365.0


@dataclass(frozen=True)
class Note:
    """Something worth knowing later, with the session it came from."""

    text: str
    session: str
    age_days: float = 0.0


class Memory:
    """Searches notes by the words that they share with a message."""

    def __init__(self, limit: int = 3) -> None:
        self.limit = limit
        self._notes: list[Note] = []

    def add(self, notes: list[Note]) -> None:
        """Keep the notes of a closed talk, five of them at most."""
        self._notes += notes[:MAX_NOTES]

    def search(self, message: str) -> list[Note]:
        """The best notes for a message, those of more than a year at half weight."""
        words = set(message.lower().split())

        def weight(note: Note) -> float:
            shared = len(words & set(note.text.lower().split()))
            return shared / 2 if note.age_days > YEAR else float(shared)

        return sorted(self._notes, key=weight, reverse=True)[: self.limit]
