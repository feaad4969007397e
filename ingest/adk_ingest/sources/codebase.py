"""The folder of a codebase, with what git knows about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adk_evidence.errors import SourceError
from adk_evidence.gitcli import GitError
from adk_ingest.sources.git import committed_files, current_ref, read_head, records


@dataclass(frozen=True)
class GitState:
    """What git says of a folder.

    `prefix` is the folder's place in the repository. `committed` has the ids of what the commit holds by the
    repository's paths. `ignored` are paths below the folder; those of folders end with `/`.
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
    """Look at a folder, given by an absolute path.

    Raises:
        SourceError: There is no such folder, or git began to answer and failed.
    """
    if root.is_file():
        raise SourceError(f"{root} is a file, not a folder.", "Name the folder that holds it.")
    if not root.is_dir():
        raise SourceError(f"The folder {root} does not exist.", "Name the folder that holds the code.")
    root = root.resolve()
    try:
        commit, prefix = read_head(root)
    except GitError as exc:
        notices = []
        if (root / ".git").exists():
            notices.append(f"Git cannot tell the commit of {root}, which is cited by its content: {exc.message}")
        return CodebaseFolder(root, None, notices)
    ignored = records(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return CodebaseFolder(root, GitState(commit, current_ref(root), prefix, committed_files(root), frozenset(ignored)))
