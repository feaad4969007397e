"""R source, one chunk a function or class.

No parser package has a maintained grammar of R, and none is needed: a definition is a statement at the top of the file
that assigns a function or calls one of a few functions that make classes and methods. So the text is read token by
token, which keeps strings, comments and brackets apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from adk_evidence.models.chunk import SymbolKind
from adk_evidence.readers.licences import strip_licence
from adk_evidence.readers.python import MAX_SIGNATURE_CHARS, clip
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import SourceFile
from adk_ingest.chunking.comments import first_paragraph, licence_end, module_doc
from adk_ingest.chunking.outline import INSIDE_STATEMENT, Definition, Outline

_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)|(?P<string>[rR][\"']-*[(\[{]|[\"'`])|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<newline>\n)"
    r"|(?P<operator>%[^%\n]*%|<<?-|->>?|\|>|[-+*/^=<>!&|~,?:$@]+|\b(?:else|in|repeat)\b)"
    r"|(?P<word>[\w.]+|\\(?=\()|[^\s\w])"
)
_REST_OF_STRING = {quote: re.compile(rf"(?:\\.|[^{quote}\\])*{quote}", re.DOTALL) for quote in "\"'`"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_ASSIGNED = re.compile(r"\s*(?P<name>[\w.]+|`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+')\s*(?:<<?-|=)\s*(?P<value>\S[^\n]*)")
_CALLS: Mapping[str, SymbolKind] = {
    **dict.fromkeys(("setClass", "setRefClass", "setClassUnion", "R6Class", "new_class"), "class"),
    **dict.fromkeys(("setMethod", "setReplaceMethod", "setValidity"), "method"),
    "setGeneric": "function",
}
_CALLED = re.compile(
    r"\s*(?:[\w.]+\s*(?:<<?-|=)\s*)?(?:[\w.]+::)?"
    rf"(?P<call>{'|'.join(_CALLS)})"
    r"\s*\(\s*(?:Class\s*=\s*|name\s*=\s*|f\s*=\s*)?[\"'](?P<name>[^\"'\n]+)[\"']"
)
_FUNCTION = re.compile(r"(?:function\b|\\)\s*\(")
_MEMBER = re.compile(r"[ \t]*(?P<name>[\w.]+|`[^`\n]+`)\s*=\s*function\s*\(")
# Before their parenthesis; what follows it is part of the statement.
_HEADS = {"function", "\\", "if", "for", "while"}
_MAX_NAME_CHARS = 200
_MAX_DEPTH = 480


def read_r(file: SourceFile, chunking: ChunkingSettings) -> Outline | None:
    """Functions and classes (S4, reference classes, R6, S7) of a file; None where the file only holds a licence."""
    if not strip_licence(file.text).strip():
        return None
    return _Reader(file.text, chunking.max_chunk_chars).outline()


class _Reader:
    def __init__(self, text: str, max_line_chars: int) -> None:
        self._lines = text.split("\n")
        self._max_line_chars = max_line_chars
        # Depth of brackets where a line begins; None inside a string.
        self._depths: list[int | None] = [0]
        self._comments: dict[int, int] = {}  # lines that are comments, in the form that comments.py takes
        self._statements = list(self._read(text))
        self._licence_end = licence_end(self._lines, self._comments)

    def outline(self) -> Outline:
        names: dict[int, list[str]] = {}
        definitions = []
        for start, end in self._statements:
            name, kind = self._defined(start, end)
            if name:
                names.setdefault(start, []).append(name)
            if name and kind:
                definition = self._definition(start, end, name, kind)
                definitions.append(definition)
                for member in definition.members:
                    names.setdefault(member.header, []).append(member.name)
        first = definitions[0].start if definitions else len(self._lines) + 1
        doc = module_doc(self._lines, self._comments, self._licence_end, first)
        return Outline("r", tuple(definitions), names, doc, self._cut_cost)

    # Reading tokens

    def _read(self, text: str) -> Iterator[tuple[int, int]]:
        """First and last lines of the statements at the top of the file, 1-based."""
        heads: list[bool] = []  # for each open bracket whether the statement goes on behind it
        start: int | None = None
        before, goes_on = "", False
        line = 1
        for kind, token in _tokens(text):
            if kind == "newline":
                line += 1
                self._depths.append(len(heads))
                if start is not None and not heads and not goes_on:
                    yield start, line - 1
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
            yield start, line

    def _note_comment(self, line: int, token: str) -> None:
        if len(token) <= self._max_line_chars and self._lines[line - 1].strip() == token.strip():
            self._comments[line] = line

    # Finding definitions

    def _defined(self, start: int, end: int) -> tuple[str | None, SymbolKind | None]:
        """The name that a statement defines, and what kind of definition it is; a variable has no kind."""
        if len(self._lines[start - 1]) > self._max_line_chars:
            return None, None
        text = "\n".join(self._lines[start - 1 : min(end, start + 3)])
        if (called := _CALLED.match(text)) is not None:
            return _plain(called["name"]), _CALLS[called["call"]]
        if (assigned := _ASSIGNED.match(text)) is None:
            return None, None
        return _plain(assigned["name"]), "function" if _FUNCTION.match(assigned["value"]) else None

    def _definition(self, header: int, end: int, name: str, kind: SymbolKind) -> Definition:
        start = header
        while start - 1 in self._comments and start - 1 > self._licence_end:
            start -= 1
        return Definition(
            name,
            kind,
            start,
            end,
            header,
            self._signature(header, end, kind),
            first_paragraph(self._lines[start - 1 : header - 1]),
            tuple(self._members(header, end, name)) if kind == "class" else (),
        )

    def _members(self, start: int, end: int, owner: str) -> Iterator[Definition]:
        """Functions that a class is given by name, which lie inside its lists."""
        lines = range(start + 1, end + 1)
        inner = min((self._depth(line) for line in lines if _MEMBER.match(self._lines[line - 1])), default=0)
        starts = [line for line in lines if self._depth(line) == inner]
        for first, following in pairwise([*starts, end + 1]):
            match = _MEMBER.match(self._lines[first - 1])
            if match is None:
                continue
            last = next((line for line in range(first + 1, following) if self._depth(line) < inner), following) - 1
            while last > first and (not self._lines[last - 1].strip() or last in self._comments):
                last -= 1
            yield self._definition(first, last, f"{owner}.{match['name'].strip('`')}", "method")

    def _depth(self, line: int) -> int:
        """Depth of brackets where a line begins; large inside a string."""
        depth = self._depths[line - 1]
        return INSIDE_STATEMENT if depth is None else depth

    def _signature(self, start: int, end: int, kind: SymbolKind) -> str | None:
        text = "\n".join(self._lines[start - 1 : start if kind == "class" else min(end, start + 19)])
        match = _FUNCTION.search(text)
        if match is not None:
            text = text[: _end_of_brackets(text, match.end() - 1)]
        return clip(" ".join(text.rstrip(" \t\r\n{(,")[: 8 * 1024].split()), MAX_SIGNATURE_CHARS) or None

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


def _plain(name: str) -> str | None:
    plain = name.strip("`\"'")
    return plain if plain and len(plain) <= _MAX_NAME_CHARS else None
