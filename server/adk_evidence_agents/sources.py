"""Opens what a citation points to, in whichever index it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_evidence.citations.cited import NotIndexedError, open_citation
from adk_evidence.errors import EvidenceError, IndexMissingError, UnknownIndexError
from adk_evidence.index.names import MAIN
from adk_evidence.index.registry import list_indexes, read_codebase
from adk_evidence.models.citation import parse_citation
from adk_evidence_agents.session import AgentSession

if TYPE_CHECKING:
    from adk_evidence.citations.cited import CitedSource


def open_cited(session: AgentSession, citation: str) -> CitedSource:
    """The source that a citation points to.

    Citations of a codebase begin with the name of its index, those of the main index with the name of a repository.
    A codebase may be called like one of these: then the cited commit tells them apart.

    Args:
        session: Opens the indexes.
        citation: As an answer has it, or as it was shown; its lines may be others.

    Raises:
        InvalidRequestError: The text is not a citation, or it stands for several files.
        NotIndexedError: No index holds such a file or page at that commit.
        IndexMissingError: Nothing was ingested yet.
        SourceError: The source cannot be read, or the file is gone from it.
    """
    name = parse_citation(citation).name
    codebase = _codebase_called(session, name)
    failures: list[EvidenceError] = []
    for index in (*codebase, MAIN):
        try:
            return _open_in(session, index, citation)
        except (NotIndexedError, IndexMissingError) as exc:
            failures.append(exc)
    names = _names(session)
    if not codebase and names and name not in names:
        raise NotIndexedError(f"No index has sources called {name!r}.", f"Citations begin with {' or '.join(names)}.")
    # What the index of this very name says is more to the point.
    raise failures[0]


def _open_in(session: AgentSession, name: str, citation: str) -> CitedSource:
    opened = session.open(name)
    with opened.symbols.pin() as (index, symbols):
        return open_citation(index, opened.settings.store, symbols, citation)


def _codebase_called(session: AgentSession, name: str) -> tuple[str, ...]:
    try:
        return (read_codebase(session.settings, name).name,)
    except UnknownIndexError:
        return ()


def _names(session: AgentSession) -> tuple[str, ...]:
    """What the citations of all indexes begin with."""
    known = list_indexes(session.settings)
    return tuple(sorted({name for index in known for name in index.cited_as}))
