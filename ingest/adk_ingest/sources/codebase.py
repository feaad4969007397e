"""The folder of a codebase, with what git knows about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adk_evidence.errors import SourceError
from adk_evidence.gitcli import GitError
from adk_ingest.sources.git import committed_files, current_ref, git_line, place_in_repository, records, text_of


@dataclass(frozen=True)
class GitState:
    """What git says of a folder.

    `committed` has, by the repository's paths, the ids of what the commit holds. `ignored` are paths below the folder,
    those of folders with `/` at their end. `prefix` is the folder's place in the repository.
    """

    commit: str
    ref: str | None
    prefix: str
    committed: Mapping[str, str]
    ignored: frozenset[str]


@dataclass(frozen=True)
class CodebaseFolder:
    """A folder to index; `git` is None where its files are of no commit. `notices` are for a person."""

    root: Path
    git: GitState | None
    notices: list[str] = field(default_factory=list)


def open_codebase(root: Path) -> CodebaseFolder:
    """Look at a folder.

    Args:
        root: An absolute path.

    Raises:
        SourceError: There is no such folder, or git began to answer and failed.
    """
    if root.is_file():
        raise SourceError(f"{root} is a file, not a folder.", "Name the folder that holds it.")
    if not root.is_dir():
        raise SourceError(f"The folder {root} does not exist.", "Name the folder that holds the code.")
    root = root.resolve()
    try:
        prefix = place_in_repository(root)
        commit = git_line(root, "rev-parse", "--verify", "HEAD^{commit}")
        if prefix:
            git_line(root, "rev-parse", "--verify", "--quiet", f"HEAD:{prefix.rstrip('/')}")
    except GitError as exc:
        notices = []
        if (root / ".git").exists():
            notices.append(f"Git cannot tell the commit of {root}, which is cited by its content: {exc.message}")
        return CodebaseFolder(root, None, notices)
    state = GitState(
        commit=commit,
        ref=current_ref(root),
        prefix=prefix,
        committed=committed_files(root),
        ignored=_ignored(root),
    )
    return CodebaseFolder(root, state)


def _ignored(root: Path) -> frozenset[str]:
    command = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return frozenset(text_of(entry) for entry in records(root, *command))
