"""A git checkout, and getting one (SPEC 3 section 4.1)."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from adk_evidence.errors import SourceError
from adk_evidence.gitcli import GitError, run_git
from adk_evidence.settings import CorpusSettings
from adk_ingest.sources.base import CorpusSource

PROBE_SECONDS = 4.0
FETCH_SECONDS = 300.0
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# A transfer that has come to a stand ends early.
_STALLED = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=15")


def open_checkout(root: Path, settings: CorpusSettings) -> CorpusSource:
    """The checkout in a folder, which may be a folder inside a checkout.

    Args:
        root: The folder to walk.
        settings: The corpus that the checkout is.

    Raises:
        SourceError: git is missing, or the folder is not a checkout or holds nothing that its commit knows.
    """
    root = root.resolve()
    try:
        top = Path(git_line(root, "rev-parse", "--show-toplevel"))
        commit = git_line(root, "rev-parse", "--verify", "HEAD^{commit}")
    except GitError as exc:
        hint = exc.hint or f"Name a git checkout of {settings.repo}, or a folder with a corpus.json."
        raise SourceError(f"The folder {root} is not a usable git checkout: {exc.message}", hint) from exc
    prefix = "" if top.samefile(root) else git_line(root, "rev-parse", "--show-prefix")
    if prefix and not _succeeds(root, "rev-parse", "--verify", "--quiet", f"HEAD:{prefix.rstrip('/')}"):
        message = f"The folder {root} lies in the git checkout {top}, whose commit does not hold it."
        raise SourceError(message, "Commit the folder, or give it a corpus.json.")
    return CorpusSource(
        corpus=settings.corpus,
        repo=settings.repo,
        kind="git",
        root=root,
        commit=commit,
        ref=current_ref(root),
        site_url=settings.site_url,
        path_prefix=prefix,
        dirty=bool(run_git(["status", "--porcelain", "--", "."], cwd=root)),
    )


def current_ref(root: Path) -> str | None:
    """The branch, else the tag that HEAD is at."""
    for command in (
        ("symbolic-ref", "--quiet", "--short", "HEAD"),
        ("describe", "--tags", "--exact-match", "HEAD"),
    ):
        try:
            return git_line(root, *command)
        except GitError:
            continue
    return None


def git_line(root: Path, *command: str) -> str:
    """What a git command says in one line.

    Raises:
        GitError: It failed.
    """
    return run_git(command, cwd=root).decode("utf-8", "surrogateescape").rstrip("\n")


def _succeeds(root: Path, *command: str) -> bool:
    try:
        run_git(command, cwd=root)
    except GitError:
        return False
    return True


@dataclass(frozen=True)
class _Remote:
    """What to fetch: the full ref name (None for a bare commit) and the commit it is at (None: unknown)."""

    name: str | None
    commit: str | None


def clone_or_update(
    url: str,
    destination: Path,
    ref: str | None = None,
    *,
    notify: Callable[[str], None],
    probe_timeout: float = PROBE_SECONDS,
    timeout: float = FETCH_SECONDS,
) -> None:
    """Make `destination` a shallow checkout of a repository or bring it up to date; asks for no password.

    Local changes are never overwritten, and a crash leaves no half checkout.

    Args:
        url: The repository.
        destination: The checkout's folder.
        ref: Branch, tag or full commit; None: the default branch.
        notify: Gets a sentence before something takes long.
        probe_timeout: Seconds within which the repository must answer.
        timeout: Seconds for the transfer.

    Raises:
        SourceError: The repository cannot be reached, or `destination` cannot be made or updated.
    """
    if ref is not None and (ref.startswith("-") or not ref):
        raise SourceError(f"{ref!r} is not a branch, tag or commit.")
    destination.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(destination.parent / f".{destination.name}.lock"):
        remote = _probe(url, ref, destination.parent, probe_timeout)
        if destination.is_dir() and any(destination.iterdir()):
            _update(url, destination, remote, notify, timeout)
        else:
            notify(f"Cloning {url}")
            _clone(url, destination, remote, timeout)


def _probe(url: str, ref: str | None, folder: Path, timeout: float) -> _Remote:
    """Ask the repository where the ref is; this is also the test whether it can be reached at all."""
    patterns = [ref, f"{ref}^{{}}"] if ref else ["HEAD"]
    try:
        listing = run_git(["ls-remote", "--symref", "--", url, *patterns], cwd=folder, timeout=timeout)
    except GitError as exc:
        raise SourceError(f"{url} cannot be reached: {exc.message}", exc.hint) from exc
    commits: dict[str, str] = {}
    default = None
    for line in listing.decode("utf-8", "replace").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: "):
            default = value.removeprefix("ref: ")
        else:
            commits[name] = value
    if ref is None:
        return _Remote(default, commits.get("HEAD"))
    for name in (ref, f"refs/heads/{ref}", f"refs/tags/{ref}"):
        if name in commits:
            return _Remote(name, commits.get(f"{name}^{{}}", commits[name]))
    if _COMMIT.fullmatch(ref):
        return _Remote(None, ref)
    raise SourceError(f"{url} has no branch or tag {ref!r}.")


def _clone(url: str, destination: Path, remote: _Remote, timeout: float) -> None:
    with tempfile.TemporaryDirectory(prefix=f".{destination.name}-", dir=destination.parent) as scratch:
        folder = Path(scratch) / "checkout"
        try:
            run_git(["init", "--quiet", str(folder)], cwd=Path(scratch))
            run_git(["remote", "add", "origin", url], cwd=folder)
            _checkout(folder, remote, timeout)
        except GitError as exc:
            raise SourceError(f"{url} could not be cloned: {exc.message}", exc.hint) from exc
        if destination.is_dir():
            destination.rmdir()  # empty, as was seen under the lock
        shutil.move(folder, destination)


def _update(url: str, destination: Path, remote: _Remote, notify: Callable[[str], None], timeout: float) -> None:
    try:
        if Path(git_line(destination, "rev-parse", "--show-toplevel")) != destination.resolve():
            raise GitError("it is not a checkout itself.")
        if git_line(destination, "rev-parse", "HEAD") == remote.commit:
            return
        if run_git(["status", "--porcelain"], cwd=destination):
            raise GitError("it has local changes, which are kept.")
        notify(f"Updating {destination.name} from {url}")
        _checkout(destination, remote, timeout)
    except GitError as exc:
        raise SourceError(f"{destination} could not be updated: {exc.message}", exc.hint) from exc


def _checkout(folder: Path, remote: _Remote, timeout: float) -> None:
    """Fetch one commit and stand on it, on a branch of its own name where it is a branch."""
    name = remote.name or remote.commit or "HEAD"
    tag = f"+{name}:{name}" if name.startswith("refs/tags/") else name
    run_git([*_STALLED, "fetch", "--quiet", "--depth=1", "--no-tags", "origin", tag], cwd=folder, timeout=timeout)
    branch = name.removeprefix("refs/heads/")
    where = ["-B", branch] if branch != name else ["--detach"]
    run_git(["checkout", "--quiet", *where, "FETCH_HEAD", "--"], cwd=folder, timeout=timeout)
