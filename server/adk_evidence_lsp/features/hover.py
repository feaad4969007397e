"""Hover over ADK symbols in Python files, from the symbol table alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from lsprotocol import types

from adk_evidence.errors import EvidenceError
from adk_evidence.render.sanitize import code_span, fenced, inline
from adk_evidence_lsp.protocol import CLIENT_FIND_EVIDENCE, Position

if TYPE_CHECKING:
    from adk_evidence.symbols.lookup import SymbolInfo
    from adk_evidence_lsp.documents import Snapshot
    from adk_evidence_lsp.server import EvidenceServer

# What readers of Markdown turn into links or entities without any brackets.
_AUTOLINKS = re.compile(r"(?<=www)\.|[:@&]")


class HoverFeature:
    """Shows what the index knows of the name under the mouse."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server

        async def hover(params: types.HoverParams) -> types.Hover | None:
            return await self.answer(params)

        server.feature(types.TEXT_DOCUMENT_HOVER)(hover)

    async def answer(self, params: types.HoverParams) -> types.Hover | None:
        """The hover, or None for names that are not ADK's."""
        server = self._server
        await server.configuration.settled()
        if not server.configuration.client.hover.enabled:
            return None
        snapshot = server.documents.snapshot(server.workspace, params.text_document.uri)
        if snapshot.language != "python":
            return None
        place = Position(line=params.position.line, character=params.position.character)
        info = await server.executor.run(lambda _: self._look_up(snapshot, place), quick=True)
        if info is None:
            return None
        value = render(info, linked=server.client_runs(CLIENT_FIND_EVIDENCE))
        return types.Hover(types.MarkupContent(kind=types.MarkupKind.Markdown, value=value))

    def _look_up(self, snapshot: Snapshot, place: Position) -> SymbolInfo | None:
        from adk_evidence.symbols.resolution import resolve_at

        document = self._server.documents.parsed(snapshot)
        try:
            with self._server.backend.session() as session:
                entry = resolve_at(document, session.symbols, *snapshot.place(place))
                return session.symbols.info(entry) if entry else None
        except EvidenceError:
            # No index, or one of other models: `adk/status` says so, not every movement of the mouse.
            return None


def render(info: SymbolInfo, *, linked: bool) -> str:
    """A symbol as Markdown. What comes from the corpora cannot be markup.

    Args:
        info: The symbol.
        linked: Whether to end with a link to the client's command that finds evidence.
    """
    parts = [fenced(info.signature or info.fqn, "python")]
    if info.doc:
        parts.append(prose(info.doc))
    parts.append(f"{code_span(info.fqn)} · {prose(info.ref or info.commit)}")
    citations = [f"Code: {cited(info.citation)}"]
    if info.documentation is not None:
        trail = " \u203a ".join(info.documentation.headings)
        citations.append(f"Docs: {prose(trail)} {cited(info.documentation.citation)}")
    parts.append("\n".join(f"- {line}" for line in citations))
    if linked:
        parts.append(f"[Find evidence]({command_link(info.symbol)})")
    return "\n\n".join(parts)


def cited(citation: str) -> str:
    """A citation in two pieces, with room for a line break between: whole, it is wider than a hover."""
    corpus, _, where = citation.partition(":")
    return f"{code_span(corpus)} {code_span(where)}"


def prose(text: str) -> str:
    """A text as one line of Markdown in which nothing is markup, a link or an entity."""
    return _AUTOLINKS.sub(r"\\\g<0>", inline(text))


def command_link(query: str) -> str:
    """The address of the client's command that finds evidence for a query."""
    arguments = json.dumps([{"query": query, "taskMode": "explain"}], separators=(",", ":"))
    return f"command:{CLIENT_FIND_EVIDENCE}?{quote(arguments, safe='')}"
