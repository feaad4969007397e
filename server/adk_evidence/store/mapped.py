"""Memory that an index needs no more: pages of its mapped files, and what its engine had allocated."""

from __future__ import annotations

import ctypes
import re
import sys
from contextlib import suppress
from pathlib import Path

_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ +(/.*)")


# Of Linux 5.4 and later.
_MADV_PAGEOUT = 21
_MADV_DONTNEED = 4


def give_back_pages(folder: Path) -> None:
    """Release the pages of mapped files below a folder; a page that is read again is loaded again.

    The engine reads all of an index into memory when it opens the index, but questions need a small part. Nothing
    happens on systems other than Linux, or where Linux refuses.
    """
    # Another thread may close a file meanwhile, and other memory may get the addresses of the file: MADV_DONTNEED would
    # lose what that memory holds, and this advice loses nothing.
    _advise(folder, _MADV_PAGEOUT)


def leave_pages_to_system(folder: Path) -> None:
    """Release the pages of mapped files below a folder that no other thread maps or closes, as while it is written.

    The pages stay in the system's cache, which writes changed ones to the disk in its own time. `give_back_pages` takes
    them out of the cache, too, so that changed ones are written and all are read from the disk again.
    """
    _advise(folder, _MADV_DONTNEED)


def _advise(folder: Path, advice: int) -> None:
    """Give the system advice about all shared mappings of files below a folder."""
    if sys.platform != "linux":
        return
    below = f"{folder.resolve()}/"
    with suppress(OSError, AttributeError):
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for line in Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines():
            mapping = _MAPPING.match(line)
            # A private mapping may hold what no file has.
            if mapping and mapping[3].endswith("s") and mapping[4].startswith(below):
                start, end = int(mapping[1], 16), int(mapping[2], 16)
                advise(start, end - start, advice)


def give_back_heap() -> None:
    """Release memory that was allocated and freed again, which the C library keeps for allocations to come.

    The engine allocates a few kilobytes for each point in small pieces, among which others lie; so nearly all of a
    closed index would stay. Nothing happens on systems without glibc.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
