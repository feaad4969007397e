"""Texts of services and exceptions without keys and contents."""

from __future__ import annotations

import logging
import re
import traceback

from adk_evidence.errors import EvidenceError, MachineError, UnexpectedError

_LOG = logging.getLogger(__name__)

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


def told(exc: Exception) -> EvidenceError:
    """An expected failure as it is; of any other failure only the type, as its message may quote files or a key."""
    if isinstance(exc, EvidenceError):
        return exc
    if isinstance(exc, MemoryError | OSError):
        reason = getattr(exc, "strerror", None) or type(exc).__name__
        return MachineError(f"The machine cannot do this: {reason}.", "Free memory or disk space, then try again.")
    _LOG.error("A request failed:\n%s", where_raised(exc))
    return UnexpectedError(f"This failed unexpectedly ({type(exc).__name__}).", "Run `adk-evidence doctor`.")
