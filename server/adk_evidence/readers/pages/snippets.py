"""The Python code that a page shows: fenced or indented blocks, and the files that the page includes."""

from __future__ import annotations

import heapq
import re
import textwrap
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from adk_evidence.readers.pages.includes import IncludeReader, find_includes, read_include
from adk_evidence.readers.pages.markdown import code_blocks
from adk_evidence.readers.python import parse_quietly

_PYTHON = "python"
# A block without a language, or without a fence, counts as Python where a line of it imports the package.
_IMPORT = re.compile(r"(?P<indent>[ \t]*)(?:from|import)[ \t]+google(?:\.adk\b|[ \t]+import[ \t]+adk\b)")
_MIN_INDENT = 4
# `!pip install google-adk`, `%load_ext`: commands of notebooks.
_MAGIC = re.compile(r"^[ \t]*(?:!|%{1,2}[A-Za-z]).*$", re.MULTILINE)
# A page may include one file again and again; no page that people read shows more.
MAX_INCLUDED_CHARS = 1_000_000
_PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |$)")
# An argument that stands for others: `Agent(name="x", ...)` is no Python.
_MORE_ARGUMENTS = re.compile(r"(?<=,)(\s*)\.\.\.(?=\s*[,)])")
_SHOWN_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#]+)", re.MULTILINE
)
_SHOWN_NAME = re.compile(r"([A-Za-z_]\w*)(?:[ \t]+as[ \t]+\w+)?")


class Snippet(NamedTuple):
    """Python code as a page shows it.

    `text` has a line for each line of the page from `line` (from 0) on. An included file has lines of its own: the page
    shows all of it at `line`, and `included` is its path.
    """

    line: int
    text: str
    included: str = ""

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """The lines of the page that show lines `first` to `last` of the text; all from 0."""
        return (self.line, self.line) if self.included else (self.line + first, self.line + last)


def snippets_of(lines: Sequence[str], lang: str, read: IncludeReader | None = None) -> Iterator[Snippet]:
    """The Python code of a file in the order of its lines, read as far as it is asked for.

    Args:
        lines: Of the whole file.
        lang: `py` for a module, which is one snippet; `md` for a page. Other files show no Python.
        read: Gives the text of an included file by its path; None leaves included files out.
    """
    if lang == "py":
        yield Snippet(0, "\n".join(lines))
    elif lang == "md":
        # A block of includes comes behind an include inside that block.
        included = sorted(_included(lines, read), key=lambda snippet: snippet.line)
        yield from heapq.merge(_blocks(lines), included, key=lambda snippet: snippet.line)


def _included(lines: Sequence[str], read: IncludeReader | None) -> Iterator[Snippet]:
    shown = 0
    for number, include in find_includes(lines) if read else ():
        text = read_include(include, read) if read and include.path.endswith(".py") else None
        if text is not None:
            shown += len(text)
            if shown > MAX_INCLUDED_CHARS:
                return
            yield Snippet(number, text, include.path)


def _blocks(lines: Sequence[str]) -> Iterator[Snippet]:
    blocks = code_blocks(lines)
    number = 0
    while number < len(lines):
        block = blocks.get(number)
        if block is not None:
            first, end = block.first + 1, block.end - 1
            if block.language == _PYTHON or (block.language is None and any(map(_IMPORT.match, lines[first:end]))):
                yield Snippet(first, _code(lines[first:end]))
            number = block.end
        elif (found := _IMPORT.match(lines[number])) and len(found["indent"].expandtabs(4)) >= _MIN_INDENT:
            end = _indented_end(lines, blocks, number, found["indent"])
            yield Snippet(number, _code(lines[number:end]))
            number = end
        else:
            number += 1


def _indented_end(lines: Sequence[str], blocks: Container[int], start: int, indent: str) -> int:
    """The line behind the last line that is indented as the one at `start`, before the next code block."""
    end = start + 1
    for number in range(start + 1, len(lines)):
        if number in blocks:
            break
        if lines[number].strip():
            if not lines[number].startswith(indent):
                break
            end = number + 1
    return end


def _code(lines: Sequence[str]) -> str:
    """The lines of a block as Python reads them, as many as there were."""
    # An include is checked as a text of its own.
    kept = ["" if "8<--" in line else line for line in lines]
    if _PROMPT.match(next((line.lstrip() for line in kept if line.strip()), "")):
        bare = [line.lstrip() for line in kept]
        kept = [line[4:] if _PROMPT.match(line) else "" for line in bare]
    text = _MAGIC.sub("", textwrap.dedent("\n".join(kept)))
    if "..." in text and parse_quietly(text) is None:
        filled = _MORE_ARGUMENTS.sub(r"\1**_", text)
        return filled if parse_quietly(filled) is not None else text
    return text


def shown_imports(text: str) -> Iterator[str]:
    """Dotted paths that the examples of a page import by `from ... import ...`."""
    for match in _SHOWN_IMPORT.finditer(text):
        for name in _SHOWN_NAME.findall(match["names"]):
            yield f"{match['module']}.{name}"
