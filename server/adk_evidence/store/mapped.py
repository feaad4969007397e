"""The files of an index that are mapped into memory."""

from __future__ import annotations

import ctypes
import re
import sys
from contextlib import suppress
from pathlib import Path

_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ +(/.*)")


# Of Linux 5.4 and later. Another thread may close a file meanwhile, and other memory may get the addresses of the file:
# MADV_DONTNEED would lose what that memory holds, and this advice loses nothing.
_MADV_PAGEOUT = 21


def give_back_pages(folder: Path) -> None:
    """Release the pages of mapped files below a folder; a page that is read again is loaded again.

    The engine reads all of an index into memory when it opens the index, but questions need a small part. Nothing
    happens on systems other than Linux, or where Linux refuses.
    """
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
                advise(start, end - start, _MADV_PAGEOUT)
