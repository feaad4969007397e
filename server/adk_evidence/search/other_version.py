"""Opens a citation of a version that is not indexed in the version that is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from adk_evidence.citations.anchor import Corpus, anchor, anchor_within
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.citation import docs_citation, parse_citation, short_name
from adk_evidence.models.cited import Cited
from adk_evidence.models.pack import LineSpan, Verification
from adk_evidence.search.read import CANDIDATE, CitedSource, NotIndexedError, read_citation, read_file
from adk_evidence.store.manifest import NO_COMMIT
from adk_evidence.textfile import split_lines

if TYPE_CHECKING:
    from adk_evidence.search.session import Session
    from adk_evidence.store.manifest import CorpusEntry

# What citations of a codebase have for a commit: never the tag of a release.
_OF_CODEBASE = re.compile(rf"{NO_COMMIT}.+|[0-9a-f]{{40,64}}")


def read_in_other_version(session: Session, named: str, cited: Cited | None = None) -> CitedSource:
    """What a citation of another version points to in the indexed version, with `cited_commit` set.

    Args:
        session: Reads the index.
        named: A citation or the id of a candidate.
        cited: The cited text, where it is known: then its lines are looked for. Its path does not count.

    Raises:
        InvalidRequestError: The text is neither a citation nor an id.
        NotIndexedError: The index has no version of the repository with such a file or page.
        SourceError: The source cannot be read.
    """
    match = CANDIDATE.fullmatch(named)
    parts = None if match else parse_citation(named)
    name = match["repo"] if match else parts.name if parts else None
    commit = match["commit"] if match else parts.commit if parts else None
    path = match["path"] if match else parts.path if parts else None
    lines = cited.lines if cited else parts.lines if parts else None
    if name is None or commit is None:
        raise _not_indexed()
    for corpus, entry in _versions(session, name, commit, whole=match is not None):
        if path is None:
            found = _page(session, entry, parts.url if parts else None)
        else:
            found = _file(session, corpus, entry, path, cited)
        if found is not None:
            return _placed(found, lines, cited).model_copy(update={"cited_commit": commit, "cited_lines": lines})
    raise _not_indexed()


def _not_indexed() -> NotIndexedError:
    return NotIndexedError("The index holds no such file, in no version.", "Ask again.")


def _versions(session: Session, name: str, commit: str, *, whole: bool) -> Iterator[tuple[str, CorpusEntry]]:
    """The corpora of a repository; where `whole`, the name has the owner, if there is one."""
    if isinstance(session.settings, CodebaseSettings) and not _OF_CODEBASE.fullmatch(commit):
        return
    for corpus, entry in session.index.manifest.proper().items():
        if name == entry.repo or (not whole and name == short_name(entry.repo)):
            yield corpus, entry


def _file(session: Session, corpus: str, entry: CorpusEntry, path: str, cited: Cited | None) -> CitedSource | None:
    """The file of the cited path, or the indexed file that the cited text is in now."""
    if cited is not None:
        there = anchor(replace(cited, path=path), Corpus(session.index.sources[corpus])).path
        path = there if there in entry.files else path
    return read_file(session, path, entry.repo, entry.commit) if path in entry.files else None


def _page(session: Session, entry: CorpusEntry, url: str | None) -> CitedSource | None:
    citation = docs_citation(entry.repo, entry.commit, url or "")
    return read_citation(session, citation) if citation in session.symbols.table.sections else None


def _placed(source: CitedSource, lines: LineSpan | None, cited: Cited | None) -> CitedSource:
    """The source with the lines where the cited text is in the source's own text."""
    if cited is None:
        last = max(1, len(split_lines(source.text)))
        shown = source.lines or (lines and LineSpan(start=min(lines.start, last), end=min(lines.end, last)))
        unknown = Verification(
            state="unverified", reason="The cited text is not known, so its lines may be others here."
        )
        return source.model_copy(update={"lines": shown, "verification": unknown})
    found = anchor_within(replace(cited, path=source.path), source.text)
    if found is None:
        found = Verification(state="gone", reason="Neither its text nor its name is in the file.")
    shown = cited.lines if found.state == "exact" else found.lines
    return source.model_copy(update={"lines": shown, "verification": found})
