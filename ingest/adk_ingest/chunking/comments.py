"""What comments say above a definition: the first paragraph of its documentation."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LICENCE = re.compile(r"copyright|licen[cs]e", re.IGNORECASE)
_MARKS = re.compile(r"^\s*(?:/\*+!?|///?/?!?|#+'?|\*(?!/))\s?|\s*\*+/\s*$")
_TITLE_TAG = re.compile(r"^[@\\](?:file|fileoverview|module|description|desc|brief|title|summary)\b\s*")
_TAG = re.compile(r"^[@\\]\w")
_XML = re.compile(r"</?(?:summary|para|remarks)>")
_DIRECTIVE = re.compile(r"^(?:eslint|prettier|tslint|istanbul|jshint|nolint|go:|biome|@ts-)", re.IGNORECASE)


def is_licence(comment: str) -> bool:
    """Whether a comment that opens a file is a licence or a copyright note."""
    return _LICENCE.search(comment) is not None


def first_paragraph(lines: Sequence[str]) -> str | None:
    """The first paragraph of whole-line comments without their marks, on one line; None where they say nothing.

    Of several comments the last one that is written as `/** ... */` counts. Tags (`@param`) and directives to tools
    end a paragraph.
    """
    opened = [number for number, line in enumerate(lines) if line.lstrip().startswith("/**")]
    words: list[str] = []
    for line in lines[opened[-1] :] if opened else lines:
        text = _XML.sub("", _MARKS.sub("", _MARKS.sub("", line))).strip()
        text = _TITLE_TAG.sub("", text)
        if _DIRECTIVE.match(text):
            continue
        if (words and not text) or _TAG.match(text):
            break
        if text:
            words.append(text)
    return " ".join(" ".join(words).split()) or None
