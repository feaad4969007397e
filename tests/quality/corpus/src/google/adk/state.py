"""The dictionary beside a talk."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping

TEMPORARY = "temp:"
SHARED = ("user:", "app:")


class State(MutableMapping[str, object]):
    """Values by key; changes are collected until they are committed."""

    def __init__(self, saved: dict[str, object]) -> None:
        self._saved = saved
        self._changes: dict[str, object] = {}

    def __getitem__(self, key: str) -> object:
        return self._changes[key] if key in self._changes else self._saved[key]

    def __setitem__(self, key: str, value: object) -> None:
        json.dumps(value)
        self._changes[key] = value

    def __delitem__(self, key: str) -> None:
        del self._saved[key]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._saved, **self._changes})

    def __len__(self) -> int:
        return len({**self._saved, **self._changes})

    def commit(self) -> dict[str, object]:
        """Save the changes of a turn but for the temporary ones; returns what was saved."""
        kept = {key: value for key, value in self._changes.items() if not key.startswith(TEMPORARY)}
        self._saved.update(kept)
        self._changes.clear()
        return kept

    def rollback(self) -> None:
        """Forget the changes of a turn that failed."""
        self._changes.clear()


def scope_of(key: str) -> str:
    """Who shares a key: `session`, `user`, `app` or `temp`."""
    prefix, colon, _ = key.partition(":")
    return prefix if colon and f"{prefix}:" in (*SHARED, TEMPORARY) else "session"
