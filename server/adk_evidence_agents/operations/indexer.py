"""What the operations need of ingestion; adapters that may index hand an implementation in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from adk_evidence.index.codebases import Codebase
    from adk_ingest.codebase import IndexReport

Cancelled = Callable[[], bool]
# What is done, the total if it is known, and a sentence; may be called from any thread.
Progress = Callable[[float, float | None, str], None]


class Indexer(Protocol):
    """Writes named indexes. Each method raises `EvidenceError` and leaves the published index as it was then."""

    def index(self, codebase: Codebase, cancelled: Cancelled, progress: Progress) -> IndexReport:
        """Build the index of a codebase, and remember the codebase under its name."""
        ...

    def update(self, name: str, cancelled: Cancelled, progress: Progress) -> IndexReport:
        """Bring an index up to date with its files."""
        ...

    def delete(self, name: str) -> None:
        """Remove an index and what was remembered of it."""
        ...
