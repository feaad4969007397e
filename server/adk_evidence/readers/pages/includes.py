"""Snippet includes of pymdownx: `--8<-- "path"`, with a section or line ranges, and the block form."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

# Gives the text of a file by its path below the repository's root, None where there is no such file.
IncludeReader = Callable[[str], str | None]

_INLINE = re.compile(r"""^\s*(?P<escape>;*)-+8<-+[ \t]+(?:"(?P<double>[^"]+)"|'(?P<single>[^']+)')\s*$""")
_BLOCK = re.compile(r"^\s*-+8<-+\s*$")
_SPAN = "[0-9]{0,7}(?::-?[0-9]{0,7})?"
# Each range may repeat the whole file.
MAX_RANGES = 16
_RANGES = re.compile(rf"{_SPAN}(?:,{_SPAN}){{0,{MAX_RANGES - 1}}}")
_RANGE_CHARS = "0123456789:,-"
_SECTION = re.compile(r"[A-Za-z][-\w]*")
# A longer reference names no file and counts as text.
MAX_REFERENCE_CHARS = 1000
# One dash before the scissors is enough: searching for all of them would take quadratic time.
_MARKER = re.compile(r"-8<-+[ \t]+\[[ \t]*(start|end)[ \t]*:[ \t]*([A-Za-z][-\w]*)[ \t]*\]")


class Include(NamedTuple):
    """A reference as the page writes it. `part` is a section's name or line ranges; empty for the whole file."""

    path: str
    part: str = ""


def find_includes(lines: Sequence[str]) -> Iterator[tuple[int, Include]]:
    """All includes of a page with their 0-based lines; they count inside code blocks too. Takes linear time."""
    for number, reference in _references(lines):
        if len(reference) <= MAX_REFERENCE_CHARS:
            yield number, _parse(reference)


def _references(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    open_block: list[tuple[int, str]] | None = None
    for number, line in enumerate(lines):
        if "8<" in line:
            if match := _INLINE.match(line):
                if not match["escape"]:
                    yield number, match["double"] or match["single"]
                continue
            if _BLOCK.match(line):
                yield from open_block or ()
                open_block = [] if open_block is None else None
                continue
        if open_block is not None and line.strip() and not line.strip().startswith(";"):
            open_block.append((number, line.strip()))


def _parse(reference: str) -> Include:
    path, _, section = reference.rpartition(":")
    if path and _SECTION.fullmatch(section):
        return Include(path, section)
    # Line ranges hold colons themselves, so they start at the first colon of the characters that ranges consist of.
    colon = reference.find(":", max(1, len(reference.rstrip(_RANGE_CHARS))))
    if colon > 0 and _RANGES.fullmatch(reference, colon + 1):
        return Include(reference[:colon], reference[colon + 1 :])
    return Include(reference)


def read_include(include: Include, read: IncludeReader) -> str | None:
    """The included text without section markers, or None where the file or the section does not exist.

    Only paths that stay below the repository's root are asked for.
    """
    path = PurePosixPath(include.path)
    if path.is_absolute() or ".." in path.parts or "://" in include.path or "\x00" in include.path:
        return None
    text = read(include.path)
    lines = None if text is None else _part(text.splitlines(), include.part)
    if lines is None:
        return None
    return textwrap.dedent("\n".join(line for line in lines if not _MARKER.search(line)))


def _part(lines: list[str], part: str) -> list[str] | None:
    if part[:1].isalpha():
        return _section(lines, part)
    return [line for span in part.split(",") for line in _line_range(lines, span)]


def _section(lines: list[str], name: str) -> list[str] | None:
    inside: list[str] | None = None
    for line in lines:
        marker = _MARKER.search(line)
        if marker and marker[2] == name:
            if marker[1] == "start":
                inside = []
            elif inside is not None:
                return inside
        elif inside is not None:
            inside.append(line)
    return inside


def _line_range(lines: list[str], span: str) -> list[str]:
    first, _, last = span.partition(":")
    begin = max(int(first), 1) if first else 1
    # A single number means: from this line on. A negative end counts from the file's end.
    end = int(last) if last not in ("", "-") else len(lines)
    return lines[begin - 1 : end + len(lines) + 1 if end < 0 else end]
