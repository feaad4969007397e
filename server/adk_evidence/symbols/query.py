"""The question that a selection asks, made of the selection, the code around it and the symbols in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from adk_evidence.documents.document import PythonDocument
from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.base import Frozen
from adk_evidence.models.request import MAX_SYMBOLS
from adk_evidence.symbols.lookup import Symbols
from adk_evidence.symbols.resolution import Named, named_in, resolve_at
from adk_evidence.text.identifiers import code_identifiers

MAX_SELECTION_CHARS = 1500
# Names are looked up in more lines than the question quotes, but not in those of a whole long file.
MAX_SELECTED_LINES = 200
MAX_NAMES = 8
_COMMENT = re.compile(r"\s*#+:?\s?")
_WORD = re.compile(r"\w+")

Position = tuple[int, int]


class QueryUsed(Frozen):
    """The question that was asked, and where it comes from.

    `origin` is `given`, or what the question was made of: the `selection`, the `name` at the cursor or its `line`.
    `symbols` are the indexed symbols that the place names, the most important first. `own_names` are names in the text
    that the document means something of its own by.
    """

    text: str
    origin: Literal["given", "selection", "name", "line"]
    selection: str | None = None
    enclosing: str | None = None
    symbols: tuple[str, ...] = ()
    own_names: tuple[str, ...] = Field(default=(), exclude=True)


def build_query(
    document: PythonDocument, language: str, start: Position, end: Position, symbols: Symbols | None = None
) -> QueryUsed:
    """The question of a selection; the same selection in the same document gives the same question.

    A question about code names the function around it and the indexed symbols in it. A comment is a question in words
    already: where most selected words are those of comments, these are the question, and the code beside them is left
    out. An empty selection means the name at the cursor, else its line.

    Args:
        document: The document, whatever its language.
        language: The document's language id; names are resolved in `python` alone.
        start: Line and column in characters, from 0.
        end: The same; equal to `start` for a cursor.
        symbols: Of the index; None leaves names unresolved.

    Raises:
        InvalidRequestError: There is nothing at this place to ask about.
    """
    is_python = language == "python"
    start, end = min(start, end), max(start, end)
    if start == end and is_python and symbols is not None:
        entry = resolve_at(document, symbols, *start)
        if entry is not None:
            enclosing = document.enclosing(start[0]) or None
            return QueryUsed(text=entry.symbol or entry.fqn, origin="name", enclosing=enclosing, symbols=(entry.fqn,))
    origin: Literal["selection", "line"] = "selection"
    if not document.text_in(start, end).strip():
        origin = "line"
        line = min(start[0], len(document.lines) - 1)
        start, end = (line, 0), (line, len(document.lines[line]))
    selection = document.text_in(start, end).strip()[:MAX_SELECTION_CHARS]
    words, said = _words(selection.splitlines()), _words(filter(_is_comment, selection.splitlines()))
    if not words:
        raise InvalidRequestError("There is no text at this place to ask about.", "Select code or type a question.")
    if not is_python:
        return QueryUsed(text=words, origin=origin, selection=selection)
    if 2 * len(_WORD.findall(said)) > len(_WORD.findall(words)):
        return QueryUsed(text=said, origin=origin, selection=selection)
    enclosing = document.enclosing(start[0]) or None
    looked_at = min(end, (start[0] + MAX_SELECTED_LINES, 0))
    named = named_in(document, symbols, start, looked_at) if symbols is not None else Named((), frozenset())
    context = [f"in {enclosing}"] if enclosing else []
    first = [entry.symbol or entry.fqn for entry in named.entries[:MAX_NAMES]]
    context += [f"using {', '.join(first)}"] if first else []
    text = f"{words} ({'; '.join(context)})" if context else words
    known = {*named.claimed, *(entry.name for entry in named.entries)}
    mentioned = dict.fromkeys(name.rpartition(".")[2] for name in code_identifiers(text))
    return QueryUsed(
        text=text,
        origin=origin,
        selection=selection,
        enclosing=enclosing,
        symbols=tuple(entry.fqn for entry in named.entries[:MAX_SYMBOLS]),
        own_names=tuple(name for name in mentioned if name not in known),
    )


def symbols_at(document: PythonDocument, start: Position, end: Position, symbols: Symbols) -> tuple[str, ...]:
    """The indexed symbols that a place names, the most important first; places are as in `build_query`."""
    start, end = min(start, end), max(start, end)
    if start == end:
        entry = resolve_at(document, symbols, *start)
        return (entry.fqn,) if entry else ()
    return tuple(entry.fqn for entry in named_in(document, symbols, start, end).entries[:MAX_SYMBOLS])


def names_at(document: PythonDocument, start: Position, end: Position, symbols: Symbols) -> tuple[str, ...]:
    """The indexed symbols that a place names, as people write them; places are as in `build_query`."""
    found = (symbols.resolve(fqn) for fqn in symbols_at(document, start, end, symbols))
    return tuple(dict.fromkeys(entry.symbol or entry.fqn for entry in found if entry is not None))


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _words(lines: Iterable[str]) -> str:
    return " ".join(" ".join(_COMMENT.sub("", line, count=1) if _is_comment(line) else line for line in lines).split())
