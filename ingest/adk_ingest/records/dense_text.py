"""The text of a chunk for the dense encoder: its passages one by one, or all of it.

These texts hold neither the commit nor line numbers, so that a chunk that did not change keeps its vectors.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from adk_evidence.models.chunk import Kind
from adk_evidence.readers.licences import licence_lines
from adk_evidence.settings import DenseText
from adk_evidence.text.identifiers import split_identifier
from adk_ingest.chunking.base import RawChunk
from adk_ingest.records.lexical import path_words, strip_markup

# About 128 tokens of MiniLM, with room for text that it splits more coarsely; the model cuts off the rest itself.
MAX_CHARS = 700

# A passage ends with the line that takes it beyond this. Shorter ones lose their context, and a small model cuts
# longer ones off.
PASSAGE_CHARS = 400
# The same for what repeats another text: name, signature and summary of a definition.
BEGINNING_CHARS = 200
# Last lines of a chunk that are shorter than this do not become a passage.
_LEAST_CHARS = 100
# The limit for one chunk. The ADK's chunks have fewer; a chunk of data in very long lines must not fill the index.
MAX_PASSAGES = 24
_TRAIL_CHARS = 120
_WORDS_CHARS = 60

_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}(?:[ \t]+\"[^\"\n]{0,200}\")?\)(?:\{[^{}\n]{0,200}\})?")
# No pattern matches a newline, so that each line keeps its number.
_SIGNS = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|```+\S*|~~~+\S*|>[ \t]?|--8<--.*$|:?-{3,}:?$)|\{:?[#.][^{}\n]{0,200}\}|[*`|]+",
    re.MULTILINE,
)
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:[\w., \t]*\([^()]*\)|[^\n]*)", re.MULTILINE)


_LINES = re.compile(r" ?\[LINES=[^\]\n]*\]")
# Part of an index's fingerprint: change it when the same chunk would give another text.
VERSIONS: Mapping[DenseText, str] = {"passages": "passages-2", "full": "full-1"}


def full_text(text: str, header_chars: int) -> str:
    """A chunk's text as the store keeps it, without the field LINES in the first `header_chars`."""
    return _LINES.sub("", text[:header_chars]) + text[header_chars:]


class Passage(NamedTuple):
    """A text for the dense encoder, and the line of the chunk's file at which it begins, 1-based."""

    text: str
    line: int


def passages(raw: RawChunk, *, path: str, title: str | None, kind: Kind, repeats: bool = False) -> tuple[Passage, ...]:
    """A chunk's lines in passages of about `PASSAGE_CHARS` characters, each below a line that says where it is from.

    That line is title and heading trail of docs, symbol and path in words of code. Docs lose their markup, code its
    licence, the top level of a module its imports. Lines for readers of another language are left out. A line that is
    too long for one passage goes on in the next passage. The files that a page includes follow; their passages begin
    at the line that includes them. Of a chunk that `repeats` another text of the index, the first lines are enough.

    Returns:
        1 to `MAX_PASSAGES` different texts of at most `MAX_CHARS` characters. Lines beyond that many passages are
        left out, and so are last lines that are too short for a passage.
    """
    most, least = (1, BEGINNING_CHARS) if repeats else (MAX_PASSAGES, PASSAGE_CHARS)
    body = "\n".join(raw.searched_lines)
    if kind == "doc":
        head, body = _trail(raw, path, title)[:_TRAIL_CHARS], _plain_docs(body)
    else:
        words = (_symbol_words(raw)[:_WORDS_CHARS], " ".join(path_words(path))[:_WORDS_CHARS])
        head, body = " | ".join(text for text in words if text), _code(body, with_imports=raw.symbol_kind != "module")
    room = MAX_CHARS - len(head) - 1
    own = [(piece, raw.start_line + line) for piece, line in _pieces(body, room, least)] or [("", raw.start_line)]
    included = ((piece, each.line) for each in raw.attachments for piece, _ in _pieces(_code(each.text), room, least))
    found: dict[str, Passage] = {}
    for piece, line in itertools.islice(itertools.chain(own, included), most):
        text = f"{head}\n{piece}".strip()
        found.setdefault(text, Passage(text, line))
    return tuple(found.values())


def _pieces(body: str, room: int, least: int) -> Iterator[tuple[str, int]]:
    """Successive lines with single spaces, of at most `room` characters together, with the place of the first line.

    A piece ends with the line that takes it beyond `least` characters. Last lines that are too short make a piece only
    where there is no other.
    """
    piece, start, first = "", 0, True
    for number, line in enumerate(body.split("\n")):
        rest = " ".join(line.split())
        while rest:
            if not piece:
                start = number
            part, rest = _cut(rest, room - len(piece) - 1)
            piece += f"{part}\n"
            if rest or len(piece) > least:
                yield piece, start
                piece, first = "", False
    if piece and (first or len(piece) > _LEAST_CHARS):
        yield piece, start


def _code(text: str, *, with_imports: bool = False) -> str:
    """Code with its licence's lines empty, and those of imports."""
    lines = text.split("\n")
    first = licence_lines(lines)
    text = "\n".join([""] * first + lines[first:])
    return text if with_imports else _IMPORT.sub(lambda found: "\n" * found[0].count("\n"), text)


def _cut(text: str, chars: int) -> tuple[str, str]:
    """The beginning of a text, up to a space where there is one, and the rest."""
    if len(text) <= chars:
        return text, ""
    end = text.rfind(" ", 1, chars + 1)
    end = chars if end < 0 else end
    return text[:end], text[end:].lstrip()


def _trail(raw: RawChunk, path: str, title: str | None) -> str:
    trail = " > ".join(dict.fromkeys(text for text in (title, *raw.headings) if text))
    return trail or " ".join(path_words(path))


def _symbol_words(raw: RawChunk) -> str:
    return "" if raw.symbol_kind == "module" else " ".join(split_identifier(raw.symbol or ""))


def _plain_docs(body: str) -> str:
    # Links keep their words only.
    return _SIGNS.sub(" ", strip_markup(_LINK.sub(r"\1", body)))
