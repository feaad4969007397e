"""Texts of services and exceptions without keys and contents."""

from __future__ import annotations

import re
import traceback

_MAX_CHARS = 200
_KEY_LIKE = re.compile(r"\b(?:pa|al|sk)-[\w-]{6,}|\bBearer\s+\S+", re.IGNORECASE)


def where_raised(exc: BaseException) -> str:
    """The calls that led to an unexpected exception, and its type; its text may quote a document or a key."""
    return f"{''.join(traceback.format_tb(exc.__traceback__))}{type(exc).__name__}"


def without_keys(text: str) -> str:
    """A text with `***` in the place of all that looks like a key."""
    return _KEY_LIKE.sub("***", text)


def without_key(text: str, key: str) -> str:
    """The beginning of a service's message as one line without a full stop and without keys.

    The key that was sent (empty: none) is hidden, and so is all that looks like a key.
    """
    hidden = without_keys(text.replace(key, "***") if key else text)
    plain = "".join(char if char.isprintable() else " " for char in hidden)
    return plain[:_MAX_CHARS].strip().rstrip(".")
