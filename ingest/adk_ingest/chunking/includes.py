"""Snippet includes of pymdownx: `--8<-- "path"`, with a section or line ranges, and the block form."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

IncludeReader = Callable[[str], str | None]

_INLINE = re.compile(r"""^\s*(?P<escape>;*)-+8<-+[ \t]+(?:"(?P<double>[^"]+)"|'(?P<single>[^']+)')\s*$""")
_BLOCK = re.compile(r"^\s*-+8<-+\s*$")
_RANGES = re.compile(r"^(?P<path>.+?):(?P<ranges>[0-9]{0,7}(?::-?[0-9]{0,7})?(?:,[0-9]{0,7}(?::-?[0-9]{0,7})?)*)$")
_SECTION = re.compile(r"^(?P<path>.+):(?P<section>[A-Za-z][-\w]*)$")
_MARKER = re.compile(r"-+8<-+[ \t]+\[[ \t]*(start|end)[ \t]*:[ \t]*([A-Za-z][-\w]*)[ \t]*\]")


@dataclass(frozen=True)
class Include:
    """A reference as the page writes it. `section` or `ranges` narrow the file down."""

    path: str
    section: str | None = None
    ranges: str | None = None


def find_includes(lines: Sequence[str]) -> Iterator[tuple[int, Include]]:
    """All includes of a page with their 0-based lines; they count inside code blocks too."""
    open_block: list[tuple[int, Include]] | None = None
    for number, line in enumerate(lines):
        if "8<" in line:
            if match := _INLINE.match(line):
                if not match["escape"]:
                    yield number, _parse(match["double"] or match["single"])
                continue
            if _BLOCK.match(line):
                if open_block is None:
                    open_block = []
                else:
                    yield from open_block
                    open_block = None
                continue
        if open_block is not None and line.strip() and not line.strip().startswith(";"):
            open_block.append((number, _parse(line.strip())))


def _parse(reference: str) -> Include:
    if match := _RANGES.match(reference):
        return Include(match["path"], ranges=match["ranges"])
    if match := _SECTION.match(reference):
        return Include(match["path"], section=match["section"])
    return Include(reference)


def read_include(include: Include, reader: IncludeReader) -> str | None:
    """The included text without section markers, or None where the file or the section is not there.

    Only paths that stay below the repository's root are asked for.
    """
    path = PurePosixPath(include.path)
    if path.is_absolute() or ".." in path.parts or "://" in include.path or "\x00" in include.path:
        return None
    text = reader(include.path)
    if text is None:
        return None
    lines = text.splitlines()
    if include.section is not None:
        section = _section(lines, include.section)
        if section is None:
            return None
        lines = section
    elif include.ranges is not None:
        lines = [line for span in include.ranges.split(",") for line in _line_range(lines, span)]
    return textwrap.dedent("\n".join(line for line in lines if not _MARKER.search(line)))


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
