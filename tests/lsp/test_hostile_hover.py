"""Corpus text in a hover is text: nothing of it becomes markup, a link or an instruction to a terminal."""

from __future__ import annotations

import pytest
from lsprotocol import types
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adk_evidence.api.lacks import Lifetime
from adk_evidence.models.pack import LineSpan, Verification
from adk_evidence.symbols.about import About, Parameter
from adk_evidence.symbols.lookup import DocReference, SymbolInfo
from adk_evidence.symbols.table import SymbolEntry
from adk_evidence_lsp.answers.hover import Links, as_markdown
from tests.injection import PAYLOADS

HIDDEN = ("\x1b", "\x00", "\x07", "\x9b", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041")
ADDRESS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%:?")
ALLOWED = {"paragraph_open", "paragraph_close", "bullet_list_open", "bullet_list_close", "list_item_open"}
ALLOWED |= {"list_item_close", "fence", "inline", "text", "code_inline", "softbreak", "link_open", "link_close"}
ALLOWED |= {"text_special"}


def info(text: str) -> SymbolInfo:
    """A symbol of which everything that comes from a corpus is hostile."""
    lines = LineSpan(start=1, end=2)
    reference = DocReference(
        citation=f"adk-docs@c:{text}", url=text, path=text, origin="repository", headings=(text, text), lines=lines
    )
    return SymbolInfo(
        name=text,
        symbol=text,
        fqn=text,
        kind="class",
        signature=text,
        doc=text,
        repo=text,
        commit=text,
        ref=text,
        path=text,
        lines=lines,
        citation=f"adk-python@c:{text}#L1-L2",
        documentation=reference,
    )


def known(text: str, *, parameter: bool = False) -> About:
    """Something known of a name, of which everything is hostile."""
    entry = SymbolEntry(fqn=text, symbol=text, point="p", kind="class")
    more = Parameter(text, text) if parameter else None
    return About(entry, info(text), more, Lifetime(text, text), text)


def where(uri: str, line: int = 0, character: int = 0) -> types.HoverParams:
    return types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))


def asking(query: str, place: types.HoverParams) -> str:
    """The address of the link that finds evidence for a query."""
    link = Links(place, lambda _: True).find("x", query)
    assert link is not None
    return link.removeprefix("[x](").removesuffix(")")


def tokens(markdown: str) -> list[Token]:
    """Every token of a reader that obeys as much as Markdown readers do."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    found = []
    for token in parser.parse(markdown):
        found += [token, *(token.children or ())]
    return found


def check(markdown: str, links: list[str]) -> None:
    """Nothing but our own layout, our own link, and no hidden character."""
    found = tokens(markdown)
    assert {token.type for token in found} <= ALLOWED
    assert [token.attrs["href"] for token in found if token.type == "link_open"] == links
    assert not any(char in markdown for char in HIDDEN)
    outside = " ".join(token.content for token in found if token.type == "text")
    assert "<script" not in outside or "\\<script" in markdown
    for raw in ("https://", "http://", "ftp://", "www.evil", "someone@evil", "mailto:s"):
        harmless = sum(token.content.count(raw) for token in found if token.type in ("fence", "code_inline"))
        harmless += sum(link.count(raw) for link in links)
        assert markdown.count(raw) <= harmless, raw


@pytest.mark.parametrize("parameter", [False, True], ids=["symbol", "parameter"])
@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_nothing_in_any_field_of_a_symbol_becomes_markup(payload: str, parameter: bool) -> None:
    place = where(payload)
    links = Links(place, lambda _: True)
    lines = LineSpan(start=1, end=2)
    changed = Verification(state="changed", lines=lines, path=payload, reason=payload)
    shown = as_markdown(known(payload, parameter=parameter), links, changed, payload)
    addresses = [token.attrs["href"] for token in tokens(shown) if token.type == "link_open"]
    assert [str(one).partition("?")[0] for one in addresses] == [
        *["command:adkEvidence.openCitation"] * 3,
        "command:adkEvidence.findEvidence",
    ]
    assert addresses[-1] == asking(payload, place)
    assert all(set(str(one)) <= ADDRESS for one in addresses)
    check(shown, [str(one) for one in addresses])
