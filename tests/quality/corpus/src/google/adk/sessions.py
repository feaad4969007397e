"""Talks and where they are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

IDLE = timedelta(days=30)


@dataclass
class Session:
    """One talk: its owner and its events, oldest first."""

    id: str
    owner: str
    events: list[dict[str, object]] = field(default_factory=list)
    touched: datetime | None = None

    def is_closed(self, now: datetime) -> bool:
        """Whether the talk has been idle for so long that it can only be read."""
        return self.touched is not None and now - self.touched > IDLE


class SessionStore:
    """Keeps sessions in memory; databases derive from it."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def create(self, owner: str) -> Session:
        """Begin a talk for an owner."""
        session = Session(id=f"s{len(self._sessions) + 1}", owner=owner)
        self._sessions[session.id] = session
        return session

    def get(self, session_id: str) -> Session:
        """The talk with this id, to go on with it.

        Raises:
            KeyError: There is none.
        """
        return self._sessions[session_id]

    def branch(self, session_id: str, at: int) -> Session:
        """A new talk that shares the first `at` events of another."""
        origin = self.get(session_id)
        copy = self.create(origin.owner)
        copy.events = origin.events[:at]
        return copy

    def erase_owner(self, owner: str) -> int:
        """Remove everything that an owner said; returns how many talks that were."""
        mine = [name for name, session in self._sessions.items() if session.owner == owner]
        for name in mine:
            del self._sessions[name]
        return len(mine)
