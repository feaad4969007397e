"""Hover over ADK symbols in Python files, from the symbol table alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from lsprotocol import types

from adk_evidence.errors import EvidenceError
from adk_evidence.render.sanitize import code_span, fenced, inline
from adk_evidence.services.eventloop import Cancelled
from adk_evidence_lsp.protocol import CLIENT_FIND_EVIDENCE
from adk_evidence_lsp.server import EvidenceServer

if TYPE_CHECKING:
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.symbols.lookup import SymbolInfo

# What readers of Markdown turn into links or entities without any brackets.
_AUTOLINKS = re.compile(r"(?<=www)\.|[:@&]")


async def hover(server: EvidenceServer, params: types.HoverParams) -> types.Hover | None:
    """What the index knows of the name under the mouse, or that the indexed version lacks the name.

    None for names that are not ADK's.
    """
    if not server.configuration.client.hover.enabled:
        return None
    snapshot = server.snapshot(params.text_document.uri)
    if snapshot.language != "python":
        return None

    project = server.project(snapshot.uri)

    def look_up(cancelled: Cancelled) -> tuple[SymbolInfo | str, ChosenIndex] | None:
        from adk_evidence.index.versions import version_of_code
        from adk_evidence.search.drift import checker_for
        from adk_evidence.symbols.resolution import resolve_at

        document = server.documents.parsed(snapshot)
        try:
            with server.backend.session(project) as pinned:
                session, place = pinned.session, snapshot.place(params.position)
                entry = resolve_at(document, session.symbols, *place)
                if entry is not None:
                    return session.symbols.info(entry), pinned.chosen
                checker = checker_for(session.settings, version_of_code(session.index.manifest, session.settings))
                lack = checker.at(document, *place) if checker else None
                return (lack.text, pinned.chosen) if lack else None
        except EvidenceError:
            # The index is missing, or other models built it: `adk/status` says so; a hover stays silent.
            return None

    found = await server.executor.run(look_up, quick=True)
    if found is None:
        return None
    info, chosen = found
    other = chosen.wanted.version if chosen.wanted is not None and not chosen.exact else ""
    linked = params if server.client_runs(CLIENT_FIND_EVIDENCE) else None
    # A sentence names what the document itself names, and nothing of the corpora.
    value = info if isinstance(info, str) else as_markdown(info, linked, other)
    return types.Hover(types.MarkupContent(kind=types.MarkupKind.Markdown, value=value))


def as_markdown(info: SymbolInfo, linked: types.HoverParams | None, project: str = "") -> str:
    """A symbol as Markdown, in which texts from the corpora cannot be markup.

    Args:
        info: The symbol.
        linked: The place of the symbol, to end with a link to the client's command that finds evidence; None for no
            link.
        project: The version that the project uses, where that is another one.
    """
    parts = [fenced(info.signature or info.fqn, "python")]
    if info.doc:
        parts.append(_prose(info.doc))
    version = _prose(info.ref or info.commit)
    also = f" (the project uses google-adk {_prose(project)}, which is not indexed)" if project else ""
    parts.append(f"{code_span(info.fqn)} · {version}{also}")
    citations = f"- Code: {_cited(info.citation)}"
    if info.documentation is not None:
        trail = " \u203a ".join(info.documentation.headings)
        citations += f"\n- Docs: {_prose(trail)} {_cited(info.documentation.citation)}"
    parts.append(citations)
    if linked is not None:
        parts.append(f"[Find evidence]({command_link(info.symbol, linked)})")
    return "\n\n".join(parts)


def _cited(citation: str) -> str:
    """A citation in two pieces, with room for a line break between them: a whole one is wider than a hover."""
    corpus, _, where = citation.partition(":")
    return f"{code_span(corpus)} {code_span(where)}"


def _prose(text: str) -> str:
    """A text as one line of Markdown in which nothing is markup, a link or an entity."""
    return _AUTOLINKS.sub(r"\\\g<0>", inline(text))


def command_link(query: str, place: types.HoverParams) -> str:
    """The address of the client's command that finds evidence for a query about the name at a place."""
    position = {"line": place.position.line, "character": place.position.character}
    request = {
        "query": query,
        "taskMode": "explain",
        "textDocument": {"uri": place.text_document.uri},
        "range": {"start": position, "end": position},
    }
    return f"command:{CLIENT_FIND_EVIDENCE}?{quote(json.dumps([request], separators=(',', ':')), safe='')}"
