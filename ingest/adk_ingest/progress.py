"""How ingestion tells what it does; the CLI shows it as a bar, as lines or as JSON."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the steps of a run. Calls come from one thread, in order."""

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """A stage begins; `total` is its number of units where it is known."""

    def advance(self, count: int = 1) -> None:
        """Units of the current stage are done."""

    def note(self, message: str) -> None:
        """Something a person should know, one sentence."""


class Silent:
    """Shows nothing."""

    def stage(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Ignored."""

    def advance(self, count: int = 1) -> None:
        """Ignored."""

    def note(self, message: str) -> None:
        """Ignored."""
