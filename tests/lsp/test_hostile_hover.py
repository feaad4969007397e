"""Corpus text in a hover is text: nothing of it becomes markup, a link or an instruction to a terminal."""

from __future__ import annotations

import pytest
from lsprotocol import types
from markdown_it import MarkdownIt

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
LINES = LineSpan(start=1, end=2)


def known(text: str, *, parameter: bool) -> About:
    """Something known of a name, of which everything that comes from a corpus is hostile."""
    reference = DocReference(
        citation=f"adk-docs@c:{text}", url=text, path=text, origin="repository", headings=(text, text), lines=LINES
    )
    texts = ("name", "symbol", "fqn", "signature", "doc", "repo", "commit", "ref", "path")
    info = SymbolInfo.model_validate(
        {
            **dict.fromkeys(texts, text),
            "kind": "class",
            "lines": LINES,
            "citation": f"adk-python@c:{text}#L1-L2",
            "documentation": reference,
        }
    )
    entry = SymbolEntry(fqn=text, symbol=text, point="p", kind="class")
    return About(entry, info, Parameter(text, text) if parameter else None, Lifetime(text, text), text)


@pytest.mark.parametrize("parameter", [False, True], ids=["symbol", "parameter"])
@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_nothing_in_any_field_of_a_symbol_becomes_markup(payload: str, parameter: bool) -> None:
    place = types.HoverParams(types.TextDocumentIdentifier(payload), types.Position(0, 0))
    changed = Verification(state="changed", lines=LINES, path=payload, reason=payload)
    shown = as_markdown(known(payload, parameter=parameter), Links(place, lambda _: True), changed, payload)
    # A reader that obeys as much as readers of Markdown do.
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    found = [one for token in parser.parse(shown) for one in (token, *(token.children or ()))]
    links = [str(token.attrs["href"]) for token in found if token.type == "link_open"]
    # Nothing but our own layout, our own links, and no hidden character.
    assert [one.partition("?")[0] for one in links] == [
        *["command:adkEvidence.openCitation"] * 3,
        "command:adkEvidence.findEvidence",
    ]
    assert all(set(one) <= ADDRESS for one in links) and {token.type for token in found} <= ALLOWED
    assert not any(char in shown for char in HIDDEN)
    outside = " ".join(token.content for token in found if token.type == "text")
    assert "<script" not in outside or "\\<script" in shown
    for raw in ("https://", "http://", "ftp://", "www.evil", "someone@evil", "mailto:s"):
        harmless = sum(token.content.count(raw) for token in found if token.type in ("fence", "code_inline"))
        assert shown.count(raw) <= harmless + sum(link.count(raw) for link in links), raw
