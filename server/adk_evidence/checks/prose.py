"""What the prose of a page names and a version of the ADK lacks: definitions of other versions in code style.

Only what is sure is told: a name of several words that another version defines itself and that the version has nowhere,
not even as a parameter. A name that the page's own code defines is the page's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from adk_evidence.checks.drift import Deviation, DriftChecker
from adk_evidence.languages import PROGRAMMING
from adk_evidence.readers.pages.audience import Readers
from adk_evidence.readers.pages.markdown import code_blocks, read_markdown

_SPAN = re.compile(r"(?<!`)`([A-Za-z_]\w*)(?:\(\))?`(?!`)")
_SEVERAL_WORDS = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]")
_PYTHON_READERS = Readers("python", frozenset(PROGRAMMING))


def prose_deviations(
    checker: DriftChecker, lines: Sequence[str], text: str, left_out: Collection[int] = ()
) -> Iterator[Deviation]:
    """What is to say of the names in the prose of Markdown, once each, in their order; lines count from 0.

    Args:
        checker: Knows the version.
        lines: A page, or whole sections of a page.
        text: The page, whose code may define the names.
        left_out: Lines that are for readers of another language.
    """
    told: set[str] = set()
    in_code: set[int] | None = None
    for number, line in enumerate(lines):
        if "`" not in line or number in left_out:
            continue
        for name in _SPAN.findall(line):
            # A constant may hold the name of a variable of the environment.
            if name in told or name.isupper() or not _SEVERAL_WORDS.search(name):
                continue
            deviation = checker.of_name(name)
            if deviation is None:
                continue
            if in_code is None:
                # Few pages get here.
                blocks = code_blocks(lines).values()
                in_code = {place for block in blocks for place in range(block.first, block.end)}
            if number not in in_code:
                told.add(name)
                if not _defines(text, name):
                    yield replace(deviation, first=number, last=number)


def lines_for_others(lines: Sequence[str], path: str) -> frozenset[int]:
    """The lines of a page that are for readers of other languages than Python, from 0."""
    parts = _PYTHON_READERS.parts_for_others(read_markdown(lines), path)
    return frozenset(line for part in parts for line in range(part.start, part.end))


def _defines(text: str, name: str) -> bool:
    begins = rf"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+)?{name}[ \t]*[:=(]"
    return re.search(begins, text, re.MULTILINE) is not None
