"""Reads the indexed files that citations point to, decoded exactly as ingestion decoded them."""

from __future__ import annotations

import errno
import functools
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path

from adk_evidence.errors import SourceError
from adk_evidence.gitcli import GitError, GitRefusalError, run_git
from adk_evidence.store.manifest import SourceLocation
from adk_evidence.text.textfile import decode, is_binary

CACHED_FILES = 256
GIT_SHOW_SECONDS = 5
GIT_LIST_SECONDS = 10
MAX_LISTED = 50_000
# Folders of installed and compiled code.
_MADE_FOLDERS = frozenset({"node_modules", "__pycache__"})
_NO_SUCH_FILE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}
_COMMIT = re.compile(r"[0-9a-f]{7,64}")

# A state of a file: its time, size and inode. None: there is no such file.
Stamp = tuple[int, int, int] | None


@dataclass
class Reads:
    """The files that were read, each in the state in which it was read.

    `complete` says whether these files are all that was looked at: lists of files and commits have no stamp.
    """

    files: dict[tuple[SourceReader, str], Stamp] = field(default_factory=dict)
    complete: bool = True

    def note(self, reader: SourceReader, path: str, stamp: Stamp) -> None:
        """Note a file; what was read of one that changed meanwhile belongs to no one state."""
        if self.files.setdefault((reader, path), stamp) != stamp:
            self.complete = False


_noted: ContextVar[Reads | None] = ContextVar("noted", default=None)


@contextmanager
def noting_reads() -> Iterator[Reads]:
    """Note what every reader reads in this context."""
    reads = Reads()
    token = _noted.set(reads)
    try:
        yield reads
    finally:
        _noted.reset(token)


def _note_unstamped() -> None:
    if (noted := _noted.get()) is not None:
        noted.complete = False


class SourceReader:
    """Reads the files of one corpus, never outside its root. Methods may be called from several threads.

    Args:
        location: Where the files are.
        folder: What a relative root starts from: the generation's folder.
    """

    def __init__(self, location: SourceLocation, folder: Path = Path()) -> None:
        self._location = location
        self._root = os.path.realpath(folder / location.root)
        self._load = functools.lru_cache(maxsize=CACHED_FILES)(_load)
        self._show = functools.lru_cache(maxsize=CACHED_FILES)(self._read_commit)

    def read(self, path: str) -> str | None:
        """The text of a file as it is now, or None where there is no such text file.

        Raises:
            SourceError: The source itself cannot be read.
        """
        try:
            stamp, text = self._read(path)
        except SourceError:
            # What hinders reading may end while the file stays as it is.
            _note_unstamped()
            raise
        if (noted := _noted.get()) is not None:
            noted.note(self, path, stamp)
        return text

    def _read(self, path: str) -> tuple[Stamp, str | None]:
        disk, stamp = self._state(path)
        return stamp, None if stamp is None else self._load(disk, *stamp)

    def _state(self, path: str) -> tuple[str, Stamp]:
        """Where a file lies, and its state; fails as `read` does."""
        disk = self.on_disk(path)
        if disk is None:
            return "", None
        try:
            info = os.stat(disk)  # noqa: PTH116
        except OSError as exc:
            if exc.errno not in _NO_SUCH_FILE:
                raise SourceError(f"{path} cannot be read: {exc.strerror}.") from exc
            if Path(self._root).is_dir():
                return disk, None
            message = f"The folder {self._root} that was indexed is missing."
            raise SourceError(message, "Restore it or index again.") from exc
        return disk, (info.st_mtime_ns, info.st_size, info.st_ino) if stat.S_ISREG(info.st_mode) else None

    def stamp(self, path: str) -> Stamp:
        """The state of a file as it is now; a text that `read` has returned holds as long as the state is the same."""
        try:
            return self._state(path)[1]
        except SourceError:
            return None

    def paths(self) -> list[str]:
        """The paths of the files that are there now, sorted, indexed or not; at most `MAX_LISTED`.

        Hidden folders and links are left out, and of a checkout what git ignores.
        """
        _note_unstamped()
        found = self._listed() if self._location.kind == "git" else None
        relative = list(islice(self._walked(), MAX_LISTED)) if found is None else found[:MAX_LISTED]
        return sorted(self._location.path_prefix + path for path in relative)

    def _listed(self) -> list[str] | None:
        command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
        # Without a path, git lists all that lies below the root.
        command += [f":(literal){tree}" for tree in self._location.subtrees if "" not in self._location.subtrees]
        try:
            listed = run_git(command, cwd=Path(self._root), timeout=GIT_LIST_SECONDS)
        except GitError:
            return None
        return [path for path in os.fsdecode(listed).split("\0") if path]

    def _walked(self) -> Iterator[str]:
        for tree in self._location.subtrees:
            top = Path(self._root, tree)
            if top.is_file():
                yield tree
            for folder, folders, names in os.walk(top):
                folders[:] = sorted(name for name in folders if name[0] != "." and name not in _MADE_FOLDERS)
                inside = Path(folder).relative_to(self._root)
                yield from ((inside / name).as_posix() for name in sorted(names))

    def read_at_commit(self, path: str) -> str | None:
        """The text of a file at the indexed commit, or None where the source keeps no history."""
        _note_unstamped()
        if self._location.kind != "git":
            return None
        try:
            return self._show(path)
        except GitError:
            # Git did not get to an answer, which is therefore not kept: the next call asks again.
            return None

    def _read_commit(self, path: str) -> str | None:
        # git could take a commit that is not a hash for an option or for another revision.
        if not _COMMIT.fullmatch(self._location.commit):
            return None
        command = ["cat-file", "blob", f"{self._location.commit}:{path}"]
        try:
            return _decode(run_git(command, cwd=Path(self._root), timeout=GIT_SHOW_SECONDS))
        except (GitRefusalError, ValueError):  # ValueError: a NUL in the path
            return None

    def on_disk(self, path: str) -> str | None:
        """Where a file of the corpus lies, whether it is there or not; None for a path that leads out of the corpus."""
        if not path.startswith(self._location.path_prefix):
            return None
        relative = path.removeprefix(self._location.path_prefix)
        parts = relative.split("/")
        if any(part in ("", ".", "..") for part in parts):
            return None
        if sys.platform == "win32" and re.search(r"[\\:]", relative):
            return None
        if not any(tree in ("", relative) or relative.startswith(f"{tree}/") for tree in self._location.subtrees):
            return None
        try:
            disk = os.path.join(self._root, *parts)  # noqa: PTH118
            disk = disk if _is_plain(self._root, parts) else os.path.realpath(disk)
        except ValueError:  # a NUL or a lone surrogate, which no file name has
            return None
        return disk if disk.startswith(self._root.rstrip(os.sep) + os.sep) else None


def _is_plain(root: str, parts: Iterable[str]) -> bool:
    """Whether no part of a path below a folder is a link: of most paths, so much shows in a third of the time."""
    if os.name != "posix":
        return False
    try:
        return not any(stat.S_ISLNK(os.lstat(place).st_mode) for place in accumulate((root, *parts), os.path.join))
    except OSError:
        return False


def _load(disk: str, mtime_ns: int, size: int, inode: int) -> str | None:
    # The parameters after the path only let the cache notice a new version.
    try:
        return _decode(Path(disk).read_bytes())
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise SourceError(f"{Path(disk).name} cannot be read: {exc.strerror}.") from exc


def _decode(raw: bytes) -> str | None:
    decoded = None if is_binary(raw) else decode(raw)
    return decoded.text if decoded else None
