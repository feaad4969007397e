"""Citations: `adk-docs@<commit>:<url> L<start>-L<end>`, `adk-python@<commit>:<path>#L<start>-L<end>`.

SPEC 5, 10.4 has the former without lines. The sections of a page may have one address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import LineSpan

_CITATION = re.compile(r"(?P<name>[^@\s]+)@(?P<commit>[^:\s]+):(?P<target>.+)", re.DOTALL)
# An address has an anchor of its own.
_PAGE_LINES = re.compile(r"\s+L([1-9][0-9]{0,9})-L([1-9][0-9]{0,9})\s*\Z")
_LINES = re.compile(r"#L([1-9][0-9]{0,9})-L([1-9][0-9]{0,9})\Z")
# As outlines and other lists name places.
_PLACE = re.compile(r"(?P<path>[^@:#\n]+)(?::|#L)(?P<start>[1-9][0-9]{0,9})-L?(?P<end>[1-9][0-9]{0,9})")


@dataclass(frozen=True)
class Citation:
    """The parts of a citation; exactly one of `url` and `path` is set.

    A place such as `docs/a.md:1-9` has neither name nor commit; its path has no `@`, `:` or `#`.
    """

    name: str | None
    commit: str | None
    url: str | None = None
    path: str | None = None
    lines: LineSpan | None = None


def citation_of(payload: ChunkPayload) -> str:
    """The citation of a chunk; only what the payload knows goes into it."""
    lines = (payload.start_line, payload.end_line) if payload.has_lines else (None, None)
    if payload.kind == "doc" and payload.uri:
        return docs_citation(payload.repo, payload.commit, payload.uri, *lines)
    return code_citation(payload.repo, payload.commit, payload.path, *lines)


def can_be_cited(payload: ChunkPayload, published: bool) -> bool:
    """Whether a chunk may enter a pack: code needs a path, and docs a stable URL where their pages are `published`."""
    return bool(payload.uri) if payload.kind == "doc" and published else bool(payload.path)


def docs_citation(repo: str, commit: str, url: str, start: int | None = None, end: int | None = None) -> str:
    """The citation of lines of a page by its URL with its anchor, or by its path where the site is not known."""
    lines = f" L{start}-L{end}" if start is not None and end is not None else ""
    return f"{short_name(repo)}@{commit}:{url}{lines}"


def code_citation(repo: str, commit: str, path: str, start: int | None, end: int | None) -> str:
    """The citation of lines of a file (1-based, inclusive); without known lines it names the file alone."""
    lines = f"#L{start}-L{end}" if start is not None and end is not None else ""
    return f"{short_name(repo)}@{commit}:{path}{lines}"


def parse_citation(text: str) -> Citation:
    match = _CITATION.fullmatch(text)
    if match is None and (place := _PLACE.fullmatch(text.strip())):
        return Citation(None, None, path=place["path"], lines=_span(place["start"], place["end"]))
    if match is None:
        raise InvalidRequestError("This is not a citation.", "Citations look like adk-python@v1.0.0:src/a.py#L1-L9.")
    name, commit, target = match.group("name", "commit", "target")
    if target.startswith(("https://", "http://")):
        lines = _PAGE_LINES.search(target)
        if lines is None:
            return Citation(name, commit, url=target)
        return Citation(name, commit, url=target[: lines.start()], lines=_span(lines[1], lines[2]))
    lines = _LINES.search(target)
    if lines is None:
        return Citation(name, commit, path=target)
    return Citation(name, commit, path=target[: lines.start()], lines=_span(lines[1], lines[2]))


def _span(start: str, end: str) -> LineSpan:
    if int(end) < int(start):
        raise InvalidRequestError("The lines of this citation end before they begin.", "Put the first line first.")
    return LineSpan(start=int(start), end=int(end))


def short_name(repo: str) -> str:
    """The name of a repository without its owner, as citations have it."""
    return repo.rsplit("/", 1)[-1]
