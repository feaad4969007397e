"""What two pieces of code in any language have in common: the names that they call."""

from __future__ import annotations

import re

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.render.sanitize import code_span

MAX_NAMED_CALLS = 5
MAX_SCANNED_CHARS = 40_000
_CALL = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*)[ \t]*\(")
# What stands before a name that is defined, not called.
_DEFINES = re.compile(r"\b(?:def|function|func|fn|class|interface|struct)[ \t*]+\Z")
# Words before brackets that are not calls, in the languages that are indexed.
_CONTROL = ("if", "elif", "else", "for", "while", "switch", "match", "case", "when", "with", "catch", "except")
_OPERATORS = ("and", "or", "not", "in", "is", "await", "yield", "return", "raise", "assert", "del", "typeof", "async")
_DEFINERS = ("def", "function", "func", "fn", "class", "lambda", "constructor", "super")
_KEYWORDS = frozenset((*_CONTROL, *_OPERATORS, *_DEFINERS))


def called_names(code: str) -> tuple[str, ...]:
    """The unqualified names that a piece of code calls, each once, in order."""
    text = code[:MAX_SCANNED_CHARS]
    calls = [
        match["name"]
        for match in _CALL.finditer(text)
        if match["name"] not in _KEYWORDS and not _DEFINES.search(text[max(0, match.start() - 24) : match.start()])
    ]
    return tuple(dict.fromkeys(calls))


def same_text(first: str, second: str) -> bool:
    """Whether two texts are the same but for white space."""
    return first.split() == second.split()


def explanation(code: str, payload: ChunkPayload, similarity: float) -> str:
    """Why a chunk is like a snippet: only what was measured or stands in both."""
    if same_text(code, payload.body):
        return "The same text."
    reasons = [f"Similarity {similarity:.2f}"]
    there = set(called_names(payload.body))
    if shared := [name for name in called_names(code) if name in there]:
        more = f" and {len(shared) - MAX_NAMED_CALLS} more" if len(shared) > MAX_NAMED_CALLS else ""
        reasons.append(f"both call {', '.join(map(code_span, shared[:MAX_NAMED_CALLS]))}{more}")
    return f"{'; '.join(reasons)}."
