"""Signatures and fields cut to a token budget between whole parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adk_evidence.tokens import estimate_tokens, truncate_tokens

# Ends a signature that was cut when it was read.
_CUT = "…"
_MORE = ", ..."
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def takes(signature: str, name: str) -> bool:
    """Whether a signature has a parameter of that name."""
    return re.search(rf"[(,*]\s*{re.escape(name)}\s*[:=,)]", signature) is not None


def limited_signature(signature: str, tokens: int) -> str:
    """A signature of at most so many tokens; what does not fit goes from the last parameter on, each as a whole.

    What a function returns stays where it is known.
    """
    if not signature.endswith(_CUT) and estimate_tokens(signature) <= tokens:
        return signature
    start = signature.find("(") + 1
    if not start:
        return truncate_tokens(signature, tokens)
    commas, end = _parameters(signature, start)
    returned = "" if signature.endswith(_CUT) else signature[end + 1 :]
    for tail in dict.fromkeys((returned, "")):
        for comma in reversed(commas):
            shown = f"{signature[:comma]}{_MORE}){tail}"
            if estimate_tokens(shown) <= tokens:
                return shown
        without = f"{signature[:start]}...){tail}"
        if tail and estimate_tokens(without) <= tokens:
            return without
    return truncate_tokens(f"{signature[:start]}...)", tokens)


def listed_fields(fields: Sequence[str], tokens: int) -> str:
    """Fields in at most so many tokens: whole as far as half of the budget goes, then their names alone."""
    shown: list[str] = []
    spent = 0
    for place, field in enumerate(fields):
        spent += estimate_tokens(field) + 1
        rest = fields[place + 1 :]
        if spent > (tokens // 2 if rest else tokens):
            break
        shown.append(field)
    names = [field.partition(":")[0].partition("=")[0].strip() for field in fields[len(shown) :]]
    written = "; ".join(shown)
    if names:
        written = f"{written}; also " if written else "also "
        written += ", ".join(names)
    if estimate_tokens(written) <= tokens:
        return written
    return truncate_tokens(written, tokens - estimate_tokens(_MORE)).rstrip(", ") + _MORE


def _parameters(signature: str, start: int) -> tuple[list[int], int]:
    """Places of the commas between the parameters behind `start`, and of the bracket that closes them."""
    depth, quote = 0, ""
    found: list[int] = []
    for place in range(start, len(signature)):
        char = signature[place]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in _BRACKETS:
            depth += _BRACKETS[char]
            if depth < 0:
                return found, place
        elif char == "," and depth == 0:
            found.append(place)
    return found, len(signature)
