"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Sequence

# Of the reasons whose names say too little.
_REASONS = {
    "symlink": "a link",
    "undecodable": "not text in a known encoding",
    "undecodable_name": "its name is not text",
    "credential_file": "may hold a secret, by its name",
    "credential_text": "holds a secret",
    "saved_text": "text that somebody saved",
    "chunker_failed": "could not be split into passages",
}


def why_left_out(reason: str) -> str:
    """Why an index lacks a file, in plain words: "too large", "holds a secret"."""
    return _REASONS.get(reason, reason.replace("_", " "))


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun: "1 file is", "1,200 files are"."""
    return f"{count:,} {one if count == 1 else many}"


def named(names: Sequence[str], most: int = 10) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
