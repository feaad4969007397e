"""What the operations need of ingestion. The core does not import it: adapters hand an implementation in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from adk_evidence.index.codebase import Codebase

Cancelled = Callable[[], bool]
# What is done, the total if it is known, and a sentence; may be called from any thread.
Progress = Callable[[float, float | None, str], None]


@dataclass(frozen=True)
class IndexReport:
    """What a run left in one named index.

    Args:
        name: Of the index.
        files: Files in the index.
        chunks: Chunks in the index.
        vectors: Dense vectors in the index.
        size_bytes: Size of the index on disk.
        seconds: How long the run took.
        changed_files: Files that the run read anew.
        removed_files: Files that are no longer in the index.
        skipped: Path and reason of each file that is not in the index although its pattern asks for it.
        warnings: Sentences about what is not as it was asked for.
        status: `unchanged` when there was nothing to do, `partial` when files were skipped because of an error.
    """

    name: str
    files: int
    chunks: int
    vectors: int
    size_bytes: int
    seconds: float
    changed_files: int
    removed_files: int
    skipped: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    status: Literal["success", "partial", "unchanged"]


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
