"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun: "1 file is", "1,200 files are"."""
    return f"{count:,} {one if count == 1 else many}"


def named(names: Sequence[str], most: int = 10) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
