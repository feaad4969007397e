"""File operations that leave either the old or the new state behind, whenever the process dies."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_ON_WINDOWS = os.name == "nt"
# File systems of macOS have called parts of a file holes that hold data.
_TELLS_HOLES = sys.platform == "linux"
_BLOCK = 1 << 16
# How many files or folders are synced or removed side by side. The disk confirms several files together; one after the
# other, each file waits some milliseconds where other programs use the disk, too.
_AT_A_TIME = 8
_ZEROS = bytes(_BLOCK)
_RENAME_ATTEMPTS = 40
_RENAME_PAUSE_SECONDS = 0.05
# Qdrant Edge replaces its configuration through such files each time a folder is opened; they come and go.
_TRANSIENT_PREFIX = ".atomicwrite"


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a file's content in one step, durably. One writer at a time.

    Raises:
        OSError: The file cannot be written; its old content is untouched.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    rename(temporary, path)
    sync_folder(path.parent)


def write_private(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file by one that only its owner can read until it gets its mode. Windows keeps the folder's rights.

    Raises:
        OSError: The file cannot be written; its old content is untouched.
    """
    # The file has mode 0600 from the start, and a name that nobody else can have taken.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(name).chmod(mode)
        rename(Path(name), path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def rename(source: Path, target: Path) -> None:
    """Move a file over another, or a folder to a free name, within one file system.

    Raises:
        OSError: The move was refused; nothing has changed.
    """
    for attempt in range(1, _RENAME_ATTEMPTS + 1):
        try:
            source.replace(target)
            return
        except PermissionError:
            # Windows refuses while another process reads the file, which takes a moment.
            if not _ON_WINDOWS or attempt == _RENAME_ATTEMPTS:
                raise
            time.sleep(_RENAME_PAUSE_SECONDS)


def sync_folder(folder: str | Path) -> None:
    """Make a folder's list of names durable; Windows has no such call and needs none."""
    if not _ON_WINDOWS:
        _fsync(folder, os.O_RDONLY)


def sync_tree(folder: Path) -> None:
    """Make every file below a folder durable, and the folder itself.

    A file that has another name, too, is that of a durable folder (`link_tree`), whose content has not changed since.
    """
    files, folders = [], []
    for place, _, names in os.walk(folder):
        folders.append(place)
        files += [path for name in names if not _is_shared(path := os.path.join(place, name))]  # noqa: PTH118
    _side_by_side(lambda path: _fsync(path, os.O_RDWR), files)
    _side_by_side(sync_folder, folders)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder's content, and keep the holes of sparse files.

    Qdrant Edge lays out files of 32 MiB that are mostly empty: a plain copy would fill them with zeros, take five times
    the room, and read all of them. Nobody may be writing points to `source`.
    """
    _repeat_tree(source, target, (), _copy_file)


def link_tree(source: Path, target: Path, *, skip: Collection[str] = ()) -> None:
    """Put a folder's content into another, except files and folders named in `skip`, without copying it if possible.

    The files get a second name. To change one, replace it, or `unshare` it first: a change in place would be one of
    `source`. Where the file system has no second names, files are copied.
    """
    _repeat_tree(source, target, skip, _link_file)


def unshare(folder: Path) -> None:
    """Give a folder files of its own, which may be changed in place, instead of those that have other names, too.

    Raises:
        OSError: There is no room for them; no other name notices anything.
    """
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if _is_shared(path):
                # Out of the way first: ext4 writes a file to the disk at once that takes the place of another.
                shared = path.with_name(f".{name}.shared")
                rename(path, shared)
                _copy_file(shared, path)
                shared.unlink()


def remove_tree(folder: Path) -> None:
    """Delete a folder as far as possible; files that another process holds open stay for the next time."""
    # A folder that is a link stays, with all that it leads to; Windows also has links that `os.walk` follows.
    plain = not (_ON_WINDOWS or folder.is_symlink())
    innermost = [place for place, folders, _ in os.walk(folder) if not folders] if plain else []
    _side_by_side(_remove_all, innermost)
    _remove_all(folder)


def _side_by_side(do: Callable[[str], None], paths: Sequence[str]) -> None:
    """Do something that may be done twice for each path, some of them at a time; the first error is raised."""
    try:
        with ThreadPoolExecutor(_AT_A_TIME) as threads:
            list(threads.map(do, paths))
    except RuntimeError:
        # A process that is ending starts no more threads.
        for path in paths:
            do(path)


def _remove_all(folder: str | Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _repeat_tree(source: Path, target: Path, skip: Collection[str], repeat: Callable[[Path, Path], None]) -> None:
    for place, folders, names in os.walk(source, onerror=_raise):
        folders[:] = (name for name in folders if Path(place) != source or name not in skip)
        folder = target / Path(place).relative_to(source)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if name not in skip and not name.startswith(_TRANSIENT_PREFIX):
                repeat(Path(place, name), folder / name)


def _link_file(source: Path, target: Path) -> None:
    # Windows refuses to take a name from a file that a reader has mapped, whatever other names the file has.
    if not _ON_WINDOWS:
        try:
            target.hardlink_to(source)
        except OSError:
            # FAT and some shared folders have no second names, and there is a most number of names.
            pass
        else:
            if _is_shared(target):
                return
            # Some shared folders give second names and do not tell of them: nobody would know not to write there.
            target.unlink()
    _copy_file(source, target)


def _is_shared(path: str | Path) -> bool:
    return os.stat(path).st_nlink > 1  # noqa: PTH116


def _copy_file(source: Path, target: Path) -> None:
    # Unbuffered: a buffer would not learn where `_written` moves the reader.
    with source.open("rb", buffering=0) as reader, target.open("wb") as writer:
        size = os.fstat(reader.fileno()).st_size
        for start, end in _written(reader.fileno(), size):
            reader.seek(start)
            writer.seek(start)
            while start < end and (block := reader.read(min(_BLOCK, end - start))):
                start += len(block)
                if block == _ZEROS[: len(block)]:
                    writer.seek(start)
                else:
                    writer.write(block)
        writer.truncate(size)


def _written(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that are not holes, from and to; the whole file where the system does not tell holes."""
    if not _TELLS_HOLES:
        yield 0, size
        return
    end = 0
    while end < size:
        start, end = end, size
        try:
            start = os.lseek(descriptor, start, os.SEEK_DATA)
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
        except OSError as error:
            # Nothing but a hole follows. Other errors, and a file that takes room and has no data, say that this file
            # system does not know holes.
            if error.errno == errno.ENXIO and (start or not os.fstat(descriptor).st_blocks):
                return
        yield start, end


def _fsync(path: str | Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _raise(error: OSError) -> None:
    raise error
