"""Citations: `adk-docs@<commit>:<url>`, `adk-python@<commit>:<path>#L<start>-L<end>` (SPEC 5, 10.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.pack import LineSpan

_CITATION = re.compile(r"(?P<name>[^@\s]+)@(?P<commit>[^:\s]+):(?P<target>.+)", re.DOTALL)
_LINES = re.compile(r"#L([1-9][0-9]{0,9})-L([1-9][0-9]{0,9})\Z")


@dataclass(frozen=True)
class Citation:
    """The parts of a citation; exactly one of `url` and `path` is set, `lines` only with `path`."""

    name: str
    commit: str
    url: str | None = None
    path: str | None = None
    lines: LineSpan | None = None


def docs_citation(repo: str, commit: str, url: str) -> str:
    """The citation of a page.

    Args:
        repo: `owner/name`.
        commit: Commit or tag.
        url: The page's URL with its anchor, or its path where the site is not known.
    """
    return f"{short_name(repo)}@{commit}:{url}"


def code_citation(repo: str, commit: str, path: str, start: int | None, end: int | None) -> str:
    """The citation of lines of a file; without known lines it names the file alone.

    Args:
        repo: `owner/name`.
        commit: Commit or tag.
        path: Path within the repository.
        start: First line, 1-based.
        end: Last line, inclusive.
    """
    lines = f"#L{start}-L{end}" if start is not None and end is not None else ""
    return f"{short_name(repo)}@{commit}:{path}{lines}"


def parse_citation(text: str) -> Citation:
    """Take a citation apart.

    Raises:
        InvalidRequestError: The text is not a citation.
    """
    match = _CITATION.fullmatch(text)
    if match is None:
        raise InvalidRequestError("This is not a citation.", "Citations look like adk-python@v1.0.0:src/a.py#L1-L9.")
    name, commit, target = match.group("name", "commit", "target")
    if target.startswith(("https://", "http://")):
        return Citation(name, commit, url=target)
    lines = _LINES.search(target)
    if lines is None:
        return Citation(name, commit, path=target)
    span = LineSpan(start=int(lines[1]), end=int(lines[2]))
    return Citation(name, commit, path=target[: lines.start()], lines=span)


def short_name(repo: str) -> str:
    """The name of a repository without its owner, as citations have it."""
    return repo.rsplit("/", 1)[-1]
