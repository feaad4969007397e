"""What the dense encoder sees of a chunk: a short choice for small models, or all of it.

Neither holds the commit or line numbers, so that a chunk that did not change keeps its vector.
"""

from __future__ import annotations

import re

from adk_evidence.identifiers import split_identifier
from adk_evidence.models.chunk import Kind
from adk_ingest.chunking.base import RawChunk
from adk_ingest.lexical import path_words, strip_licence, strip_markup

# About 128 tokens of MiniLM, with room for text that it splits more coarsely; it cuts off the rest itself.
BRIEF_CHARS = 700
_DOC_CHARS = 300
_SIGNATURE_CHARS = 160

_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}(?:\s+\"[^\"\n]{0,200}\")?\)(?:\{[^{}\n]{0,200}\})?")
_SIGNS = re.compile(
    r"^\s*(?:#{1,6}\s+|```+\S*|~~~+\S*|>\s?|--8<--.*$|:?-{3,}:?$)|\{:?[#.][^{}\n]{0,200}\}|[*`|]+",
    re.MULTILINE,
)
# Lines up to the end of the first definition's signature, and its docstring.
_HEADER = re.compile(
    r"\A(?:.*\n)*?[ \t]*(?:async[ \t]+def|def|class)[ \t](?:.*\n)*?.*:[ \t]*(?:#.*)?\n"
    r"(?:\s*[rRuU]?(?P<quotes>\"{3}|'{3})(?P<doc>[\s\S]*?)(?P=quotes))?"
)
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:[\w., \t]*\([^()]*\)|[^\n]*)", re.MULTILINE)


_NOT_ITS_OWN = re.compile(r" ?\[(?:COMMIT|LINES)=[^\]\n]*\]")
# Part of an index's fingerprint: change it when the same chunk would give another text.
FULL_VERSION = "full-1"
BRIEF_VERSION = "brief-1"


def full_text(text: str, header_chars: int) -> str:
    """A chunk's text without the COMMIT and LINES fields of its header.

    Args:
        text: The chunk's text as the store keeps it.
        header_chars: Length of its header, the only part that is changed.
    """
    return _NOT_ITS_OWN.sub("", text[:header_chars]) + text[header_chars:]


def brief_text(raw: RawChunk, *, path: str, title: str | None, kind: Kind) -> str:
    """The part of a chunk that a model of 128 tokens should see, at most `BRIEF_CHARS` characters.

    For docs: title and heading trail, then the text without markup. For code: symbol and path in words, the
    docstring's first paragraph, the signature, then what follows without licence and imports.
    """
    if kind == "doc":
        trail = " > ".join(dict.fromkeys(text for text in (title, *raw.headings) if text))
        parts = [trail or " ".join(path_words(path)), _plain_docs(raw.body)]
    else:
        symbol = "" if raw.symbol_kind == "module" else " ".join(split_identifier(raw.symbol or ""))
        parts = [
            " | ".join(text for text in (symbol, " ".join(path_words(path))) if text),
            _shorten(raw.doc or "", _DOC_CHARS),
            _shorten(raw.signature or "", _SIGNATURE_CHARS),
            _code_lines(raw),
        ]
    return "\n".join(part for part in parts if part)[:BRIEF_CHARS].rstrip()


def _plain_docs(body: str) -> str:
    # Links keep their words only; what is far beyond the limit need not be cleaned.
    text = _LINK.sub(r"\1", body[: 4 * BRIEF_CHARS])
    text = _SIGNS.sub(" ", strip_markup(text))
    return " ".join(text.split())


def _code_lines(raw: RawChunk) -> str:
    body = strip_licence(raw.body)[: 8 * BRIEF_CHARS]
    if raw.symbol_kind == "module":
        body = _IMPORT.sub("", body)
    elif raw.signature and (header := _HEADER.match(body)):
        # The signature and the docstring's first paragraph were said already.
        rest_of_doc = (header["doc"] or "").partition("\n\n")[2]
        body = f"{rest_of_doc} {body[header.end() :]}"
    return " ".join(body.split())


def _shorten(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"
