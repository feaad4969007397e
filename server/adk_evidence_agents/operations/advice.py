"""Recommendations on searches: each says what to do, and comes only where it applies."""

from __future__ import annotations

from collections.abc import Iterable

from adk_evidence.identifiers import code_identifiers
from adk_evidence.models.pack import Verification
from adk_evidence_agents.operations.filters import narrows
from adk_evidence_agents.operations.places import holds
from adk_evidence_agents.operations.requests import SearchFilters
from adk_evidence_agents.operations.run import Run

BROAD_WORDS = 2


def on_filters(run: Run, filters: SearchFilters) -> None:
    """What to do when no chunk passed the filters that a store checks."""
    if narrows(filters) and run.vectors_searched == 0:
        run.notes.advise(
            "Nothing that is indexed passes filters.file_type, filters.directory and filters.tags; change or omit them."
        )


def on_breadth(run: Run, query: str, filters: SearchFilters) -> None:
    """What to do about a question of one or two plain words that is asked of everything."""
    if len(query.split()) <= BROAD_WORDS and not code_identifiers(query) and not narrows(filters):
        run.notes.advise("The query is broad; say more, or add a filter for file type or directory.")


def on_age(run: Run, results: Iterable[tuple[str, Verification]]) -> None:
    """What to do when cited lines, of which the index's name is given, are no longer in their source."""
    stale = sorted({name for name, found in results if not holds(found)})
    if stale:
        run.notes.advise(f"Some results are older than their source files; update {', '.join(stale)}.")
