"""What a service says, without what must not be passed on."""

from __future__ import annotations

import re
import traceback

_MAX_CHARS = 200
_KEY_LIKE = re.compile(r"\b(?:pa|al|sk)-[\w-]{6,}|\bBearer\s+\S+", re.IGNORECASE)


def where_raised(exc: BaseException) -> str:
    """The calls that led to an unexpected exception, and its type; its text may quote a document or a key."""
    return f"{''.join(traceback.format_tb(exc.__traceback__))}{type(exc).__name__}"


def without_key(text: str, key: str) -> str:
    """The beginning of a service's message as one line without a full stop; a key and anything like one are hidden.

    Args:
        text: The message.
        key: The key that was sent; empty where none was.
    """
    hidden = _KEY_LIKE.sub("***", text.replace(key, "***") if key else text)
    plain = "".join(char if char.isprintable() else " " for char in hidden)
    return plain[:_MAX_CHARS].strip().rstrip(".")
