"""What comments say: the licence of a file, and the first paragraph of a module's or definition's documentation.

`comments` are those that fill their lines: the first line of each, by its last line. Lines are 1-based.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from adk_evidence.readers.licences import licence_lines

_MARKS = re.compile(
    r"^\s*(?:/\*+!?|///?/?!?|#+'?|\*(?!/)|--+(?:\[=*\[)?(?: ?[|^])?|\{-+ ?\|?)\s?"
    r"|^\s*(?:\]=*\]|\"\"\")\s*$|\s*(?:\*+/|-+\})\s*$"
)
# Documentation that is a string, as in Elixir.
_STRING = re.compile(r'^@(?:type)?doc\s+(?:~[sS])?("+)(.*?)\1?$')
_TITLE_TAG = re.compile(r"^[@\\](?:file|fileoverview|module|description|desc|brief|title|summary)\b\s*")
_TAG = re.compile(r"^[@\\]\w")
_XML = re.compile(r"</?(?:summary|para|remarks)>")
_DIRECTIVE = re.compile(
    r"^(?:!/|frozen_string_literal|eslint|prettier|tslint|istanbul|jshint|nolint|go:|biome|@ts-)", re.IGNORECASE
)


def licence_end(lines: Sequence[str], comments: Mapping[int, int]) -> int:
    """The last line of the licence or copyright note that opens a file; 0 where nothing does."""
    ends = {first: last for last, first in comments.items()}
    end = ends.get(1, 0)
    if lines[0].lstrip().startswith(("//", "#", "--")):
        while ends.get(end + 1) == end + 1:
            end += 1
    return licence_lines(lines, end)


def module_doc(lines: Sequence[str], comments: Mapping[int, int], licence: int, first: int) -> str | None:
    """What the comment below the licence says, unless the comment reaches the first definition, at line `first`."""
    ends = {start: last for last, start in comments.items()}
    begin = licence + 1
    while begin <= len(lines) and not lines[begin - 1].strip():
        begin += 1
    end = begin - 1
    while end + 1 in ends:
        end = ends[end + 1]
    return first_paragraph(lines[begin - 1 : end]) if end < first else None


def first_paragraph(lines: Sequence[str]) -> str | None:
    """The first paragraph of whole-line comments without their marks, on one line; None where they say nothing.

    Of several comments the last one that is written as `/** ... */` counts. Tags (`@param`) and directives to tools
    end a paragraph.
    """
    opened = [number for number, line in enumerate(lines) if line.lstrip().startswith("/**")]
    words: list[str] = []
    for line in lines[opened[-1] :] if opened else lines:
        text = _XML.sub("", _MARKS.sub("", _MARKS.sub("", line))).strip()
        text = _TITLE_TAG.sub("", _STRING.sub(r"\2", text))
        if _DIRECTIVE.match(text):
            continue
        if (words and not text) or _TAG.match(text):
            break
        if text:
            words.append(text)
    return " ".join(" ".join(words).split()) or None
