"""Reads JSON in the answers of language models, whatever stands around the JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_FENCE = re.compile(r"```\w*\s(.*?)```", re.DOTALL)
_START = re.compile(r'\{[ \t\r\n]*["}]')
# Places that look like the beginning of an object and are none. Each may be read to the end of the text.
MAX_FAILURES = 100


def json_objects(answer: str) -> Iterator[Any]:
    """The JSON objects of an answer: those of fenced blocks, then those of the whole text, outermost first.

    Of an object that was cut off, the whole objects inside come. Reading ends after `MAX_FAILURES` places that hold no
    object.
    """
    for part in (*_FENCE.findall(answer), answer):
        yield from _objects(part)


def _objects(text: str) -> Iterator[Any]:
    # Models put line breaks into strings as they are.
    decoder = json.JSONDecoder(strict=False)
    end = failures = 0
    while failures < MAX_FAILURES and (start := _START.search(text, end)):
        try:
            found, end = decoder.raw_decode(text, start.start())
            yield found
        except (ValueError, RecursionError):
            end = start.start() + 1
            failures += 1
