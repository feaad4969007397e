"""Identifiers in questions, prose and code: finding them and splitting them into words.

Ingestion and queries call the same functions, so that a term of a question meets the same term of a chunk.
The BM25 tokeniser turns everything but letters, digits and `_` into spaces and splits no identifier itself
(SPEC 3 section 6.2), hence the expansion here. Every function takes linear time.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

# Part of the index's fingerprint: change it when the same chunk would get other lexical terms.
LEXICAL_VERSION = "lexical-1"

# Longer runs of word characters are keys, hashes or encoded data: their pieces would be noise.
MAX_IDENTIFIER_CHARS = 120

_TERM = re.compile(r"\w+(?:\.\w+)*")
_IDENTIFIER = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]*\b")
# A key of a dict, as in `state['user_name']`, is no name.
_CODE_NAME = re.compile(r"(?<![\w.])(?<!\[['\"])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\)?)?")
# Plural acronyms (URLs), acronyms (HTTP in HTTPServer), words, numbers.
_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_BETWEEN = re.compile(r"[\W_]+")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")


def module_of(path: str, symbol: str | None) -> str:
    """The module in a dotted path that ends with a qualified name: `a.b.C.run` and `C.run` give `a.b`."""
    return path.removesuffix(f".{symbol}") if symbol else path


def split_identifier(identifier: str) -> list[str]:
    """Split a name into its lower-case words.

    `getUserName` -> get, user, name; `HTTPServer` -> http, server; `client.upsert` -> client, upsert. Digits
    stay with the word before them, a single capital with the word after it and a single letter with the
    digits before it, so `OAuth2`, `A2A` and `K8s` are one word each. Names with letters beyond ASCII are
    split at `_` and `.` only.
    """
    words: list[str] = []
    for piece in _BETWEEN.split(identifier):
        if piece:
            words += _split_piece(piece) if piece.isascii() else [piece.lower()]
    return words


def _split_piece(piece: str) -> list[str]:
    words: list[str] = []
    glue = False
    for part in _PART.findall(piece):
        after_digit = bool(words) and words[-1][-1].isdigit()
        if words and (glue or part.isdigit() or (len(part) == 1 and after_digit)):
            words[-1] += part
        else:
            words.append(part)
        glue = len(words[-1]) == 1 and part.isupper()
    return [word.lower() for word in words]


def expand_identifiers(text: str) -> str:
    """The lower-case terms of a text in their order, each name followed or preceded by its words.

    `my_function` -> my function my_function; `ToolContext` -> tool context toolcontext; `client.upsert` ->
    client.upsert client upsert (SPEC 3 section 6.2). Plain words stay as they are; one space parts two terms.
    """
    return " ".join(map(_expand_term, _TERM.findall(text)))


# A corpus says the same few ten thousand terms millions of times.
@functools.lru_cache(maxsize=1 << 16)
def _expand_term(term: str) -> str:
    terms: list[str] = []
    if "." in term and len(term) <= MAX_IDENTIFIER_CHARS:
        terms.append(term.lower())
    for name in term.split("."):
        if len(name) <= MAX_IDENTIFIER_CHARS:
            words = split_identifier(name)
            if len(words) > 1:
                terms += words
        terms.append(name.lower())
    return " ".join(terms)


def query_lexical_text(query: str) -> str:
    """The text of a question that the sparse encoder sees, expanded as chunks are."""
    return expand_identifiers(query)


def extract_identifiers(query: str) -> list[str]:
    """Tokens of the form of an identifier, plain words too, once each in order (SPEC 5 section 5.1)."""
    return list(dict.fromkeys(_IDENTIFIER.findall(query)))


def code_identifiers(query: str) -> list[str]:
    """The names of a question that can only be meant as code, once each in order, without call brackets."""
    names = (match.group() for match in _CODE_NAME.finditer(query))
    return list(dict.fromkeys(name.rstrip("()") for name in names if is_code_like(name)))


def ends_with(name: str, end: str) -> bool:
    """Whether a dotted name is `end` or ends with the parts of `end`."""
    return name == end or name.endswith(f".{end}")


def is_private(name: str) -> bool:
    """Whether a part of a dotted name begins with an underscore, as `__init__` does too."""
    return any(part.startswith("_") for part in name.split("."))


# As often as `is_code_like`.
@functools.lru_cache(maxsize=1 << 14)
def is_internal(name: str) -> bool:
    """Whether a part of a dotted name is for its own module or class; `__init__` is for everybody, `__run` is not."""
    return any(part.startswith("_") and not is_special(part) for part in name.split("."))


def is_special(name: str) -> bool:
    """Whether a bare name has a meaning to Python, as `__init__` has."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


# Each question asks this of the names that hundreds of results define.
@functools.lru_cache(maxsize=1 << 14)
def is_code_like(token: str) -> bool:
    """Whether a token looks like code: snake_case, camelCase, a dotted name or a call such as `run()`."""
    name = token.rstrip("()")
    if not name or not (name[0].isalpha() or name[0] == "_"):
        return False
    if name != token or _CAMEL.search(name):
        return True
    parts = name.split(".")
    # Abbreviations such as e.g. and i.e. are dotted too.
    dotted = len(parts) > 1 and all(parts) and any(len(part) > 1 for part in parts)
    return dotted or bool(re.search(r"[^\W_]", name) and "_" in name)


def to_camel(name: str) -> str:
    """A name in snake case as pydantic writes it in camel case: `modelName` of `model_name`."""
    if re.match("[a-z]+[A-Za-z0-9]*$", name) and not re.search(r"\d[a-z]", name):
        return name
    joined = re.sub("([0-9A-Za-z])_(?=[0-9A-Z])", r"\1", name.title())
    return re.sub("^_*[A-Z]", lambda first: first[0].lower(), joined)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def without_module(symbol: str) -> str:
    """`Runner.run(x=)` of `google.adk.runners.Runner.run(x=)`: the name from its first class on, else its last part."""
    parts = symbol.split(".")
    first = next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return ".".join(parts[first:])
