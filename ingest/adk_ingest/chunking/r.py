"""R source, one chunk a function or class.

R has no maintained grammar among the parsers' packages, and needs none: a definition is a statement at the top of the
file that assigns a function or calls one of a few functions that make classes and methods. So the text is read token
by token, which keeps strings, comments and brackets apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from adk_evidence.models.chunk import SymbolKind
from adk_evidence.readers.python import MAX_SIGNATURE_CHARS, clip
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import SourceFile
from adk_ingest.chunking.comments import first_paragraph, is_licence
from adk_ingest.chunking.outline import INSIDE_STATEMENT, Definition, Outline
from adk_ingest.lexical import strip_licence

_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)|(?P<string>[rR][\"']-*[(\[{]|[\"'`])|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<newline>\n)"
    r"|(?P<operator>%[^%\n]*%|<<?-|->>?|\|>|[-+*/^=<>!&|~,?:$@]+|\b(?:else|in|repeat)\b)"
    r"|(?P<word>[\w.]+|\\(?=\()|[^\s\w])"
)
_REST_OF_STRING = {quote: re.compile(rf"(?:\\.|[^{quote}\\])*{quote}", re.DOTALL) for quote in "\"'`"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_ASSIGNED = re.compile(r"\s*(?P<name>[\w.]+|`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+')\s*(?:<<?-|=)\s*(?P<value>\S[^\n]*)")
_CALLED = re.compile(
    r"\s*(?:[\w.]+\s*(?:<<?-|=)\s*)?(?:[\w.]+::)?"
    r"(?P<call>setClass|setRefClass|setClassUnion|setGeneric|setMethod|setReplaceMethod|setValidity|R6Class|new_class)"
    r"\s*\(\s*(?:Class\s*=\s*|name\s*=\s*|f\s*=\s*)?[\"'](?P<name>[^\"'\n]+)[\"']"
)
_CLASS_CALLS = {"setClass", "setRefClass", "setClassUnion", "R6Class", "new_class"}
_FUNCTION = re.compile(r"(?:function\b|\\)\s*\(")
_MEMBER = re.compile(r"[ \t]*(?P<name>[\w.]+|`[^`\n]+`)\s*=\s*function\s*\(")
# Before their parenthesis; what follows it is part of the statement.
_HEADS = {"function", "\\", "if", "for", "while"}
_MAX_NAME_CHARS = 200
_MAX_DEPTH = 480


def read_r(file: SourceFile, chunking: ChunkingSettings) -> Outline | None:
    """What a file defines: functions and classes (S4, reference classes, R6, S7); None of no more than a licence."""
    if not strip_licence(file.text).strip():
        return None
    return _Reader(file.text, chunking.max_chunk_chars).outline()


class _Statement(NamedTuple):
    """Lines of a statement at the top of a file, 1-based and inclusive."""

    start: int
    end: int


@dataclass(frozen=True)
class _Found:
    name: str
    kind: SymbolKind
    is_variable: bool = False


class _Reader:
    def __init__(self, text: str, max_line_chars: int) -> None:
        self._lines = text.split("\n")
        self._max_line_chars = max_line_chars
        # Depth of brackets where a line begins; None inside a string.
        self._depths: list[int | None] = [0]
        self._comments: set[int] = set()
        self._statements = list(self._read(text))

    def outline(self) -> Outline:
        names: dict[int, list[str]] = {}
        definitions = []
        for statement in self._statements:
            found = self._defined(statement)
            if found is None:
                continue
            names.setdefault(statement.start, []).append(found.name)
            if found.is_variable:
                continue
            definition = self._definition(statement, found)
            definitions.append(definition)
            for member in definition.members:
                names.setdefault(member.header, []).append(member.name)
        by_line = {line: tuple(dict.fromkeys(found)) for line, found in names.items()}
        first = definitions[0].start if definitions else len(self._lines) + 1
        return Outline("r", tuple(definitions), by_line, self._module_doc(first), self._cut_cost)

    # Reading tokens

    def _read(self, text: str) -> Iterator[_Statement]:
        """The statements at the top of the file, by lines."""
        heads: list[bool] = []  # for each open bracket whether the statement goes on behind it
        start: int | None = None
        before, goes_on = "", False
        line = 1
        for kind, token in _tokens(text):
            if kind == "newline":
                line += 1
                self._depths.append(len(heads))
                if start is not None and not heads and not goes_on:
                    yield _Statement(start, line - 1)
                    start = None
                continue
            if kind == "comment":
                self._note_comment(line, token)
                continue
            start = line if start is None else start
            goes_on = kind == "operator"
            if kind == "open":
                heads.append(token == "(" and before in _HEADS)  # noqa: S105 (a bracket, no secret)
            elif kind == "close" and heads:
                goes_on = heads.pop()
            elif token.count("\n"):
                self._depths += [None] * token.count("\n")
                line += token.count("\n")
            before = token
        if start is not None:
            yield _Statement(start, line)

    def _note_comment(self, line: int, token: str) -> None:
        if len(token) <= self._max_line_chars and self._lines[line - 1].strip() == token.strip():
            self._comments.add(line)

    # Finding definitions

    def _defined(self, statement: _Statement) -> _Found | None:
        first = self._lines[statement.start - 1]
        if len(first) > self._max_line_chars:
            return None
        text = "\n".join(self._lines[statement.start - 1 : min(statement.end, statement.start + 3)])
        if (called := _CALLED.match(text)) is not None:
            kind: SymbolKind = "class" if called["call"] in _CLASS_CALLS else "method"
            return _named(called["name"], "function" if called["call"] == "setGeneric" else kind)
        if (assigned := _ASSIGNED.match(text)) is None:
            return None
        is_function = _FUNCTION.match(assigned["value"]) is not None
        return _named(assigned["name"], "function", is_variable=not is_function)

    def _definition(self, statement: _Statement, found: _Found) -> Definition:
        start = statement.start
        while start - 1 in self._comments and start - 1 > self._licence_end:
            start -= 1
        return Definition(
            found.name,
            found.kind,
            start,
            statement.end,
            statement.start,
            self._signature(statement, found),
            first_paragraph(self._lines[start - 1 : statement.start - 1]),
            tuple(self._members(statement, found.name)) if found.kind == "class" else (),
        )

    def _members(self, statement: _Statement, owner: str) -> Iterator[Definition]:
        """Functions that a class is given by name, which lie inside its lists."""
        lines = range(statement.start + 1, statement.end + 1)
        inner = min((self._depth(line) for line in lines if _MEMBER.match(self._lines[line - 1])), default=0)
        starts = [line for line in lines if self._depth(line) == inner]
        for start, following in pairwise([*starts, statement.end + 1]):
            match = _MEMBER.match(self._lines[start - 1])
            if match is None:
                continue
            end = next((line for line in range(start + 1, following) if self._depth(line) < inner), following) - 1
            while end > start and (not self._lines[end - 1].strip() or end in self._comments):
                end -= 1
            name = f"{owner}.{match['name'].strip('`')}"
            yield self._definition(_Statement(start, end), _Found(name, "method"))

    def _depth(self, line: int) -> int:
        """Depth of brackets where a line begins; large inside a string."""
        depth = self._depths[line - 1]
        return INSIDE_STATEMENT if depth is None else depth

    def _signature(self, statement: _Statement, found: _Found) -> str | None:
        first = self._lines[statement.start - 1 : statement.end]
        text = "\n".join(first[:20])
        if found.kind == "class":
            text = first[0]
        match = _FUNCTION.search(text)
        if match is not None:
            text = text[: _end_of_brackets(text, match.end() - 1)]
        return clip(" ".join(text.rstrip(" \t\r\n{(,")[: 8 * 1024].split()), MAX_SIGNATURE_CHARS) or None

    # Comments and cuts

    @cached_property
    def _licence_end(self) -> int:
        end = 0
        while end + 1 in self._comments:
            end += 1
        return end if is_licence("\n".join(self._lines[:end])) else 0

    def _module_doc(self, first: int) -> str | None:
        start = self._licence_end + 1
        while start <= len(self._lines) and not self._lines[start - 1].strip():
            start += 1
        end = start - 1
        while end + 1 in self._comments:
            end += 1
        return first_paragraph(self._lines[start - 1 : end]) if end < first else None

    def _cut_cost(self, line: int) -> int:
        depth = self._depth(line)
        closes = self._lines[line - 1].lstrip()[:1] in ")]}"
        if depth == INSIDE_STATEMENT or closes or line - 1 in self._comments:
            return INSIDE_STATEMENT
        return 2 * min(depth, _MAX_DEPTH) + (1 if self._lines[line - 2].strip() else 0)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Kinds and texts of tokens. A quote that nothing closes counts as a word, and so do all like it behind it."""
    unclosed: set[str] = set()  # so that no text is searched to its end again and again
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        kind, end = match.lastgroup or "word", match.end()
        if kind == "string":
            closed = None if match[0] in unclosed else _end_of_string(text, match)
            if closed is None:
                unclosed.add(match[0])
                kind, end = "word", match.start() + 1
            else:
                end = closed
        yield kind, text[match.start() : end]
        position = end


def _end_of_string(text: str, match: re.Match[str]) -> int | None:
    opening = match[0]
    if opening in _REST_OF_STRING:
        rest = _REST_OF_STRING[opening].match(text, match.end())
        return rest.end() if rest is not None else None
    closing = f"{_CLOSING[opening[-1]]}{opening[2:-1]}{opening[1]}"
    found = text.find(closing, match.end())
    return found + len(closing) if found >= 0 else None


def _end_of_brackets(text: str, start: int) -> int:
    """The place behind the bracket that closes the one at `start`, or the text's end."""
    depth, position = 0, start
    for kind, token in _tokens(text[start:]):
        position = text.index(token, position) + len(token)
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if not depth:
            return position
    return len(text)


def _named(name: str, kind: SymbolKind, *, is_variable: bool = False) -> _Found | None:
    plain = name.strip("`\"'")
    return _Found(plain, kind, is_variable) if plain and len(plain) <= _MAX_NAME_CHARS else None
