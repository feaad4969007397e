"""How much room an index takes on disk."""

from __future__ import annotations

import os
from pathlib import Path


def size_on_disk(folder: Path) -> int:
    """Bytes that the files of a folder take on disk; files that vanish meanwhile do not count."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                info = os.lstat(Path(place, name))
            except OSError:
                continue
            # Qdrant Edge creates large files that are mostly or wholly unwritten. Windows does not report blocks.
            blocks = getattr(info, "st_blocks", None)
            total += info.st_size if blocks is None else blocks * 512
    return total
