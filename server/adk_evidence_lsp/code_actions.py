"""A code action on errors that have to do with the ADK: find evidence for the message, in debug mode."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from adk_evidence.errors import EvidenceError
from adk_evidence.identifiers import code_identifiers
from adk_evidence.services.eventloop import Cancelled
from adk_evidence_lsp.documents import Snapshot
from adk_evidence_lsp.protocol import CLIENT_FIND_EVIDENCE, SHOW_EVIDENCE
from adk_evidence_lsp.server import EvidenceServer

if TYPE_CHECKING:
    from adk_evidence.symbols.document import PythonDocument
    from adk_evidence.symbols.lookup import Symbols

TITLE = "Find ADK evidence for this error"
MAX_MESSAGE_CHARS = 1000
# A file may have very many diagnostics; only the first are looked at.
MAX_DIAGNOSTICS = 50
# An error on a whole class is judged by the beginning of the class.
MAX_LINES = 20

_NAMES_PACKAGE = re.compile(r"\bgoogle[./\\]adk\b")


async def code_action(server: EvidenceServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """One action for the diagnostics of a Python file that have to do with the ADK, or none."""
    only, uri = params.context.only, params.text_document.uri
    if only is not None and not any(kind in ("", types.CodeActionKind.QuickFix) for kind in only):
        return []
    found = [diagnostic for diagnostic in params.context.diagnostics[:MAX_DIAGNOSTICS] if _message(diagnostic)]
    snapshot = server.snapshot(uri)
    if snapshot.language != "python" or not found:
        return []

    project = server.project(uri)

    def about_the_adk(cancelled: Cancelled) -> list[types.Diagnostic]:
        document = server.documents.parsed(snapshot)
        try:
            with server.backend.session(project) as pinned:
                symbols = pinned.session.symbols
                return [each for each in found if _is_about_the_adk(each, snapshot, document, symbols)]
        except EvidenceError:
            # Without an index no names of the ADK are known, but the name of the package is.
            return [each for each in found if _is_about_the_adk(each, snapshot, document, None)]

    about = await server.executor.run(about_the_adk, quick=True)
    if not about:
        return []
    # A diagnostic without a severity counts as an error.
    gravest = min(about, key=lambda each: each.severity or types.DiagnosticSeverity.Error)
    request: dict[str, Any] = {
        "query": _message(gravest),
        "taskMode": "debug",
        "textDocument": {"uri": uri},
        "range": {"start": _place(gravest.range.start), "end": _place(gravest.range.end)},
    }
    command = CLIENT_FIND_EVIDENCE if server.client_runs(CLIENT_FIND_EVIDENCE) else SHOW_EVIDENCE
    return [
        types.CodeAction(
            title=TITLE,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=about,
            command=types.Command(title=TITLE, command=command, arguments=[request]),
        )
    ]


def _is_about_the_adk(
    diagnostic: types.Diagnostic, snapshot: Snapshot, document: PythonDocument, symbols: Symbols | None
) -> bool:
    """Whether the message names the ADK or a class of it, or the lines hold a name that comes from the ADK."""
    from adk_evidence.symbols.resolution import resolve_in

    message = _message(diagnostic)
    if _NAMES_PACKAGE.search(message):
        return True
    start = snapshot.place(diagnostic.range.start)[0]
    end = min(snapshot.place(diagnostic.range.end)[0], start + MAX_LINES)
    # Up to the beginning of the line that follows.
    lines = ((start, 0), (end + 1, 0))
    if any(f"{mention.imported}.".startswith("google.adk.") for mention in document.mentions_in(*lines)):
        return True
    if symbols is None:
        return False
    if next(resolve_in(document, symbols, *lines), None) is not None:
        return True
    named = (symbols.table.find(name) for name in code_identifiers(message))
    return any(found and symbols.is_class(found[0]) for found in named)


def _place(position: types.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}


def _message(diagnostic: types.Diagnostic) -> str:
    # A lone surrogate cannot be sent as text again.
    text = diagnostic.message.encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())[:MAX_MESSAGE_CHARS]
