"""A git checkout, and getting one (SPEC 3 section 4.1)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from adk_evidence.errors import SourceError
from adk_evidence.gitcli import GitError, foreign_settings, run_git
from adk_evidence.services.proxies import through_proxy
from adk_evidence.settings import CorpusSettings
from adk_ingest.corpora.known_files import KnownFiles
from adk_ingest.sources.base import CorpusSource

PROBE_SECONDS = 4.0
FETCH_SECONDS = 300.0
# Git takes some seconds for a large checkout, and longer on a slow disk.
READ_SECONDS = 120.0
# Modes of regular files in a commit; links and submodules have others.
_REGULAR = ("100644", "100755")
# The program that git starts on the other side, whatever a repository's settings name.
_UPLOAD_PACK = "--upload-pack=git-upload-pack"
# A transfer that stalls ends early.
_STALLED = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=15")


def open_checkout(root: Path, settings: CorpusSettings) -> CorpusSource:
    """The checkout in a folder, which may be a folder inside a checkout.

    Raises:
        SourceError: git is missing, or the folder is not a checkout or holds nothing that its commit knows.
    """
    root = root.resolve()
    try:
        commit, prefix = read_head(root)
    except GitError as exc:
        hint = exc.hint or f"Name a git checkout of {settings.repo}, or a folder with a corpus.json."
        raise SourceError(f"The folder {root} is not a usable git checkout: {exc.message}", hint) from exc
    return CorpusSource(
        corpus=settings.corpus,
        repo=settings.repo,
        kind="git",
        root=root,
        commit=commit,
        ref=current_ref(root),
        site_url=settings.site_url,
        path_prefix=prefix,
        committed=committed_files(root),
    )


def read_head(root: Path) -> tuple[str, str]:
    """The commit of the working tree around a folder, and the folder's place in it, such as `docs/`; empty at its top.

    Raises:
        GitError: No working tree holds the folder, or no commit does.
    """
    if git_line(root, "rev-parse", "--is-inside-work-tree") != "true":
        raise GitError("it is not part of the working tree that the repository's settings name.")
    prefix = git_line(root, "rev-parse", "--show-prefix")
    commit = git_line(root, "rev-parse", "--verify", "HEAD^{commit}")
    try:
        git_line(root, "rev-parse", "--verify", "--quiet", f"HEAD:{prefix.rstrip('/')}")
    except GitError as exc:
        raise GitError("its commit does not hold it.", "Commit the folder, or give it a corpus.json.") from exc
    return commit, prefix


def committed_files(root: Path) -> dict[str, str]:
    """The regular files that the commit holds below a folder: the ids of their contents by the repository's paths."""
    found = {}
    for entry in records(root, "ls-tree", "-r", "-z", "--full-name", "HEAD"):
        about, _, path = entry.partition("\t")
        mode, _, content = about.split(" ")
        if mode in _REGULAR:
            found[path] = content
    return found


def is_as_committed(disk: str | Path, content: str, known: KnownFiles) -> bool:
    """Whether a file holds the lines that the commit has, whose id is `content`."""
    file = known.look_at(disk)
    return file is not None and file.is_blob(content)


def has_changes(source: CorpusSource) -> bool:
    """Whether files of a checkout were changed or removed since its commit, as far as that shows without filters."""
    committed = (source.committed or {}).items()
    disks = ((source.root / path.removeprefix(source.path_prefix), content) for path, content in committed)
    return not all(is_as_committed(disk, content, source.known) for disk, content in disks)


def records(root: Path, *command: str) -> list[str]:
    """What a git command lists, with a zero byte after each entry."""
    output = run_git(command, cwd=root, timeout=READ_SECONDS).decode("utf-8", "surrogateescape")
    return [entry for entry in output.split("\0") if entry]


def current_ref(root: Path) -> str | None:
    """The branch, else the tag that HEAD is at."""
    for command in (("symbolic-ref", "--quiet", "--short", "HEAD"), ("describe", "--tags", "--exact-match", "HEAD")):
        with suppress(GitError):
            return git_line(root, *command)
    return None


def git_line(root: Path, *command: str) -> str:
    """What a git command says in one line."""
    return run_git(command, cwd=root).decode("utf-8", "surrogateescape").rstrip("\n")


class _Remote(NamedTuple):
    """What to fetch: the full name of the default branch and its commit; None for what the repository does not say."""

    name: str | None
    commit: str | None


def clone_or_update(url: str, destination: Path, *, notify: Callable[[str], None]) -> None:
    """Make `destination` a shallow checkout of a repository's default branch or bring it up to date.

    Asks for no password. Local changes are never overwritten, and a crash leaves no half checkout. `notify` gets a
    sentence before something takes long.

    Raises:
        SourceError: The repository cannot be reached, or `destination` cannot be made or updated.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(destination.parent / f".{destination.name}.lock"):
        remote = _probe(url, destination.parent)
        if destination.is_dir() and any(destination.iterdir()):
            _update(url, destination, remote, notify)
        else:
            notify(f"Cloning {url}")
            _clone(url, destination, remote)


def is_shallow(folder: Path) -> bool:
    """Whether a folder is a checkout without history, as a clone made here is; people mostly clone the history, too."""
    return (folder / ".git" / "shallow").is_file()


def _probe(url: str, folder: Path) -> _Remote:
    """Ask the repository for its default branch; this also tests whether the repository can be reached."""
    try:
        command = ["ls-remote", _UPLOAD_PACK, "--symref", "--", url, "HEAD"]
        listing = run_git(command, cwd=folder, timeout=PROBE_SECONDS, network=True, inside=False)
    except GitError as exc:
        proxy = through_proxy(url)
        hint = exc.hint or ("Mend the proxy, which HTTPS_PROXY or the system names." if proxy else "")
        raise SourceError(f"{url} cannot be reached{proxy}: {exc.message}", hint) from exc
    branch = commit = None
    for line in listing.decode("utf-8", "replace").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: "):
            branch = value.removeprefix("ref: ")
        elif name == "HEAD":
            commit = value
    return _Remote(branch, commit)


def _clone(url: str, destination: Path, remote: _Remote) -> None:
    with tempfile.TemporaryDirectory(prefix=f".{destination.name}-", dir=destination.parent) as scratch:
        folder = Path(scratch) / "checkout"
        try:
            run_git(["init", "--quiet", str(folder)], cwd=Path(scratch))
            run_git(["remote", "add", "origin", url], cwd=folder)
            _checkout(folder, url, remote)
        except GitError as exc:
            raise SourceError(f"{url} could not be cloned: {exc.message}", exc.hint) from exc
        if destination.is_dir():
            destination.rmdir()  # empty, as was seen under the lock
        shutil.move(folder, destination)


def _update(url: str, destination: Path, remote: _Remote, notify: Callable[[str], None]) -> None:
    try:
        if Path(git_line(destination, "rev-parse", "--show-toplevel")) != destination.resolve():
            raise GitError("it is not a checkout itself.")
        if git_line(destination, "rev-parse", "HEAD") == remote.commit:
            return
        # From here on files are read and written through the filters that the settings name.
        if foreign := foreign_settings(destination):
            raise GitError(f"its settings name more than a clone needs ({', '.join(foreign[:3])}); update it with git.")
        if run_git(["status", "--porcelain"], cwd=destination):
            raise GitError("it has local changes, which are kept.")
        notify(f"Updating {destination.name} from {url}")
        _checkout(destination, url, remote)
    except GitError as exc:
        raise SourceError(f"{destination} could not be updated: {exc.message}", exc.hint) from exc


def _checkout(folder: Path, url: str, remote: _Remote) -> None:
    """Fetch one commit and check it out, on a local branch of the same name."""
    name = remote.name or "HEAD"
    fetch = [*_STALLED, "fetch", _UPLOAD_PACK, "--quiet", "--depth=1", "--no-tags", "--", url, name]
    run_git(fetch, cwd=folder, timeout=FETCH_SECONDS, network=True)
    branch = name.removeprefix("refs/heads/")
    where = ["-B", branch] if branch != name else ["--detach"]
    run_git(["checkout", "--quiet", *where, "FETCH_HEAD", "--"], cwd=folder, timeout=FETCH_SECONDS)
