"""How far an index is behind its sources."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from adk_evidence.gitcli import GitError, run_git
from adk_evidence.index.indexer import Survey
from adk_evidence.models.analysis import CorpusFacts
from adk_evidence.store.manifest import IndexManifest

_GIT_SECONDS = 10
_SECONDS_A_DAY = 86_400


class Differences(NamedTuple):
    """Paths of the files that the sources have otherwise than the index."""

    changed: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]


def days_since(created_at: str) -> float:
    """Days since a time in ISO 8601; 0 where the clock says that it is yet to come."""
    age = datetime.now(UTC) - datetime.fromisoformat(created_at)
    return round(max(0.0, age.total_seconds()) / _SECONDS_A_DAY, 3)


def differences(manifest: IndexManifest, survey: Survey) -> Differences:
    """What an update of the index would read, remove and add.

    A file that is committed or changed goes from one corpus of its repository to another, and stays the same file. The
    files of a repository that could not be looked at count as unchanged.
    """
    indexed = {
        (corpus.repo, path): file.sha256
        for corpus in manifest.corpora.values()
        if corpus.source != "api-reference" and corpus.repo not in survey.unread
        for path, file in corpus.files.items()
    }
    now = survey.files
    return Differences(
        changed=tuple(path for (repo, path), sha in sorted(indexed.items()) if now.get((repo, path), sha) != sha),
        missing=tuple(path for repo, path in sorted(indexed.keys() - now.keys())),
        added=tuple(path for repo, path in sorted(now.keys() - indexed.keys()) if repo not in survey.unread),
    )


def corpora(manifest: IndexManifest) -> tuple[CorpusFacts, ...]:
    """The corpora of an index, and of those that are checkouts the commit that is checked out now."""
    return tuple(_facts(manifest, name) for name in sorted(manifest.corpora))


def _facts(manifest: IndexManifest, name: str) -> CorpusFacts:
    entry = manifest.corpora[name]
    current = since = None
    if entry.location.kind == "git":
        current = _git(entry.location.root, "rev-parse", "--verify", "HEAD")
        if current is not None:
            count = _git(entry.location.root, "rev-list", "--count", f"{entry.commit}..{current}")
            since = int(count) if count and count.isdigit() else None
    return CorpusFacts(
        name=name,
        kind=entry.kind,
        repo=entry.repo,
        commit=entry.commit,
        ref=entry.ref,
        files=len(entry.files),
        chunks=entry.chunks,
        current_commit=current,
        commits_since=since,
    )


def _git(root: Path, *args: str) -> str | None:
    with suppress(GitError):
        return run_git(args, cwd=root, timeout=_GIT_SECONDS).decode("ascii", "replace").strip()
    return None
