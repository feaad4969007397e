"""A folder of anybody's code: what git knows of it, where git knows it at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from adk_evidence.errors import SourceError
from adk_evidence.gitcli import GitError, run_git
from adk_ingest.sources.git import current_ref, git_line

# A large checkout takes git some seconds; a slow disk more.
_GIT_SECONDS = 120.0
# Types of what a commit holds that are files with text of their own: no links, no other repositories.
_REGULAR = (b"100644", b"100755")


@dataclass(frozen=True)
class GitState:
    """What git says of a folder.

    `unchanged` are the repository's paths of the files that are on disk as the commit has them. `ignored` are paths
    below the folder, those of folders with `/` at their end. `prefix` is the folder's place in the repository.
    """

    commit: str
    ref: str | None
    prefix: str
    unchanged: frozenset[str]
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
    if not root.is_dir():
        raise SourceError(f"The folder {root} does not exist.", "Name the folder that holds the code.")
    root = root.resolve()
    try:
        top = Path(git_line(root, "rev-parse", "--show-toplevel"))
        commit = git_line(root, "rev-parse", "--verify", "HEAD^{commit}")
        prefix = "" if top.samefile(root) else git_line(root, "rev-parse", "--show-prefix")
        if prefix:
            git_line(root, "rev-parse", "--verify", "--quiet", f"HEAD:{prefix.rstrip('/')}")
    except GitError as exc:
        notices = []
        if (root / ".git").exists():
            notices.append(f"Git cannot tell the commit of {root}, which is cited by its content: {exc.message}")
        return CodebaseFolder(root, None, notices)
    committed = _committed(root)
    state = GitState(
        commit=commit,
        ref=current_ref(root),
        prefix=prefix,
        unchanged=committed - _changed(root),
        ignored=_ignored(root),
    )
    return CodebaseFolder(root, state)


def _committed(root: Path) -> frozenset[str]:
    """Repository paths of the regular files that the commit holds below the folder."""
    paths = set()
    for entry in _records(root, "ls-tree", "-r", "-z", "--full-name", "HEAD"):
        about, _, path = entry.partition(b"\t")
        if about.split(b" ", 1)[0] in _REGULAR:
            paths.add(_text(path))
    return frozenset(paths)


def _changed(root: Path) -> frozenset[str]:
    """Repository paths of the committed files that are no longer on disk as they were."""
    command = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all")
    return frozenset(_text(entry[3:]) for entry in _records(root, *command, "--", "."))


def _ignored(root: Path) -> frozenset[str]:
    command = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return frozenset(_text(entry) for entry in _records(root, *command))


def _records(root: Path, *command: str) -> list[bytes]:
    output = run_git(command, cwd=root, timeout=_GIT_SECONDS)
    return [entry for entry in output.split(b"\0") if entry]


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
