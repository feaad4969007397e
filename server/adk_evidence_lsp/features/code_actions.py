"""A code action on errors that have to do with the ADK: find evidence for the message, in debug mode."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from adk_evidence.errors import EvidenceError
from adk_evidence.identifiers import code_identifiers
from adk_evidence_lsp.protocol import CLIENT_FIND_EVIDENCE, SHOW_EVIDENCE, Position

if TYPE_CHECKING:
    from adk_evidence.symbols.document import PythonDocument
    from adk_evidence.symbols.lookup import Symbols
    from adk_evidence_lsp.documents import Snapshot
    from adk_evidence_lsp.server import EvidenceServer

TITLE = "Find ADK evidence for this error"
MAX_MESSAGE_CHARS = 1000
# Of more, such as all those of a file, only the first are looked at.
MAX_DIAGNOSTICS = 50
# An error on a whole class is told by how the class begins.
MAX_LINES = 20

_PACKAGE = "google.adk"
_NAMES_PACKAGE = re.compile(r"\bgoogle[./\\]adk\b")


class CodeActionsFeature:
    """Offers evidence for errors."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server

        async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
            return await self.offer(params)

        options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(code_action)

    async def offer(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """One action for the diagnostics of a Python file that have to do with the ADK, or none."""
        server = self._server
        if not _wanted(params.context.only):
            return []
        spoken = [found for found in params.context.diagnostics[:MAX_DIAGNOSTICS] if _message(found)]
        snapshot = server.documents.snapshot(server.workspace, params.text_document.uri)
        if snapshot.language != "python" or not spoken:
            return []
        await server.configuration.settled()
        about = await server.executor.run(lambda _: self._about_the_adk(snapshot, spoken), quick=True)
        command = CLIENT_FIND_EVIDENCE if server.client_runs(CLIENT_FIND_EVIDENCE) else SHOW_EVIDENCE
        return [_action(params.text_document.uri, about, command)] if about else []

    def _about_the_adk(self, snapshot: Snapshot, found: Sequence[types.Diagnostic]) -> list[types.Diagnostic]:
        document = self._server.documents.parsed(snapshot)
        try:
            with self._server.backend.session() as session:
                return [each for each in found if _is_about_the_adk(each, snapshot, document, session.symbols)]
        except EvidenceError:
            # Without an index no names of the ADK are known, but the name of the package is.
            return [each for each in found if _is_about_the_adk(each, snapshot, document, None)]


def _wanted(only: Sequence[str] | None) -> bool:
    return only is None or any(kind in ("", types.CodeActionKind.QuickFix) for kind in only)


def _is_about_the_adk(
    diagnostic: types.Diagnostic, snapshot: Snapshot, document: PythonDocument, symbols: Symbols | None
) -> bool:
    """Whether the message names the ADK or a class of it, or the lines hold a name that comes from the ADK."""
    from adk_evidence.symbols.resolution import resolve_in

    message = _message(diagnostic)
    if _NAMES_PACKAGE.search(message):
        return True
    start = snapshot.place(_position(diagnostic.range.start))[0]
    end = min(snapshot.place(_position(diagnostic.range.end))[0], start + MAX_LINES)
    # Up to the beginning of the line that follows.
    lines = ((start, 0), (end + 1, 0))
    for mention in document.mentions_in(*lines):
        if mention.imported is not None and f"{mention.imported}.".startswith(f"{_PACKAGE}."):
            return True
    if symbols is None:
        return False
    if next(resolve_in(document, symbols, *lines), None) is not None:
        return True
    named = (symbols.table.find(name) for name in code_identifiers(message))
    return any(found and symbols.is_class(found[0]) for found in named)


def _action(uri: str, diagnostics: Sequence[types.Diagnostic], command: str) -> types.CodeAction:
    # A diagnostic without a severity is for the client to interpret: as an error.
    gravest = min(diagnostics, key=lambda each: each.severity or types.DiagnosticSeverity.Error)
    request: dict[str, Any] = {
        "query": _message(gravest),
        "taskMode": "debug",
        "textDocument": {"uri": uri},
        "range": {"start": _place(gravest.range.start), "end": _place(gravest.range.end)},
    }
    return types.CodeAction(
        title=TITLE,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=list(diagnostics),
        command=types.Command(title=TITLE, command=command, arguments=[request]),
    )


def _place(position: types.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}


def _position(position: types.Position) -> Position:
    return Position(line=position.line, character=position.character)


def _message(diagnostic: types.Diagnostic) -> str:
    # A lone surrogate cannot be sent as text again.
    text = diagnostic.message.encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())[:MAX_MESSAGE_CHARS]
