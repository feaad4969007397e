"""What can be seen of a piece of code in any language: the names that it calls, and what it defines."""

from __future__ import annotations

import re
from typing import Literal

SnippetKind = Literal["class", "function"]

MAX_SCANNED_CHARS = 40_000
_CALL = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*)[ \t]*\(")
# What stands before a name that is defined and not called.
_DEFINES = re.compile(r"\b(?:def|function|func|fn|class|interface|struct)[ \t*]+\Z")
# Words that brackets follow without being called, in the languages that are indexed.
_CONTROL = frozenset(
    ("if", "elif", "else", "for", "while", "switch", "match", "case", "when", "with", "catch", "except")
)
_OPERATORS = frozenset(
    ("and", "or", "not", "in", "is", "await", "yield", "return", "raise", "assert", "del", "typeof", "async", "super")
)
_DEFINERS = frozenset(("def", "function", "func", "fn", "class", "lambda", "constructor"))
_KEYWORDS = _CONTROL | _OPERATORS | _DEFINERS
_EXPORTED = r"^[ \t]*(?:(?:export|default|abstract|public|private|static|async)[ \t]+)*"
_CLASS = re.compile(rf"{_EXPORTED}(?:class|interface|struct)\b", re.MULTILINE)
_FUNCTION = re.compile(
    rf"{_EXPORTED}(?:def|function|func|fn)\b"
    r"|^[ \t]*(?:const|let|var)[ \t]+[\w$]+[ \t]*=[ \t]*(?:async[ \t]*)?(?:function\b|\([^()\n]*\)[ \t]*=>)"
    r"|^[ \t]*[\w.]+[ \t]*(?:<-|=)[ \t]*function\b",
    re.MULTILINE,
)


def called_names(code: str) -> tuple[str, ...]:
    """The unqualified names that a piece of code calls, each once, in order."""
    text = code[:MAX_SCANNED_CHARS]
    names: dict[str, None] = {}
    for match in _CALL.finditer(text):
        name = match["name"]
        if name not in _KEYWORDS and not _DEFINES.search(text[max(0, match.start() - 24) : match.start()]):
            names.setdefault(name)
    return tuple(names)


def snippet_kind(code: str) -> SnippetKind | None:
    """What a piece of code defines first."""
    text = code[:MAX_SCANNED_CHARS]
    a_class, a_function = _CLASS.search(text), _FUNCTION.search(text)
    if a_class and (not a_function or a_class.start() < a_function.start()):
        return "class"
    return "function" if a_function else None


def same_text(first: str, second: str) -> bool:
    """Whether two texts are the same but for white space."""
    return first.split() == second.split()
