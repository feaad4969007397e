"""The licence or copyright note at the head of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LICENCE = re.compile(r"copyright|licen[cs]e", re.IGNORECASE)


def licence_lines(lines: Sequence[str], opening: int | None = None) -> int:
    """The number of lines of the licence or copyright note at the head of a file; 0 where there is none.

    Args:
        lines: The lines of the file, or of its beginning.
        opening: How many lines the comment has that opens the file; by default, the lines that begin with `#`.
    """
    if opening is None:
        opening = next((n for n, line in enumerate(lines) if not line.lstrip().startswith("#")), len(lines))
    return opening if _LICENCE.search("\n".join(lines[:opening])) else 0


def strip_licence(text: str) -> str:
    """Code without the lines at its head that begin with `#`, if they are a licence or copyright note."""
    lines = text.split("\n")
    return "\n".join(lines[licence_lines(lines) :])
