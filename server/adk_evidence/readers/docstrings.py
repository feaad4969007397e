"""Reads what a docstring in Google's style says of each parameter or field. Other styles are prose."""

from __future__ import annotations

import re

from adk_evidence.readers.python import clip

MAX_CHARS = 600
MAX_LINES = 2000
_SECTION = re.compile(r"(?:Args|Arguments|Parameters|Keyword Args|Keyword Arguments|Attributes|Fields):")
# `name: text`, `name (type, optional): text`, `name (tuple(int, int)): text`, `**kwargs: text`
_TYPE = r"\([^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\)"
_ENTRY = re.compile(rf"\*{{0,2}}([A-Za-z_]\w{{0,120}})(?: ?{_TYPE})?:(?:\s|$)")


def argument_docs(doc: str) -> dict[str, str]:
    """The text of each parameter or field of a docstring without its indentation, on one line."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    # The columns where a section and its entries begin; -1 outside of sections and before the first entry.
    section = entry = -1
    for line in doc.splitlines()[:MAX_LINES]:
        text = line.strip()
        if not text:
            continue
        column = len(line) - len(line.lstrip())
        if _SECTION.fullmatch(text) and (section < 0 or column <= section):
            section, entry, current = column, -1, None
            continue
        if section >= 0 and column <= section:
            section = entry = -1
            current = None
        if section < 0:
            continue
        entry = column if entry < 0 else entry
        if column <= entry:
            match = _ENTRY.match(text)
            # Another line at this column is an entry that cannot be read; the entry before does not go on with it.
            current = found.setdefault(match[1], []) if match else None
            text = text[match.end() :].strip() if match else ""
        if current is not None and text:
            current.append(text)
    return {name: clip(" ".join(" ".join(lines).split()), MAX_CHARS) for name, lines in found.items() if lines}
