"""A code action on each diagnostic: find evidence for its message, in debug mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from adk_evidence_lsp.protocol import CLIENT_FIND_EVIDENCE

if TYPE_CHECKING:
    from adk_evidence_lsp.server import EvidenceServer

TITLE = "Find ADK evidence for this error"
MAX_ACTIONS = 10
MAX_MESSAGE_CHARS = 1000


class CodeActionsFeature:
    """Offers evidence for errors."""

    def __init__(self, server: EvidenceServer) -> None:
        async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
            return offer(params)

        options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(code_action)


def offer(params: types.CodeActionParams) -> list[types.CodeAction]:
    """One action for each diagnostic that says something; none where the client asks for other kinds."""
    only = params.context.only
    if only is not None and not any(kind in ("", types.CodeActionKind.QuickFix) for kind in only):
        return []
    spoken = [diagnostic for diagnostic in params.context.diagnostics if _message(diagnostic)]
    return [_action(params.text_document.uri, diagnostic) for diagnostic in spoken[:MAX_ACTIONS]]


def _action(uri: str, diagnostic: types.Diagnostic) -> types.CodeAction:
    start, end = diagnostic.range.start, diagnostic.range.end
    request = {
        "query": _message(diagnostic),
        "taskMode": "debug",
        "textDocument": {"uri": uri},
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
    }
    return types.CodeAction(
        title=TITLE,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        command=types.Command(title=TITLE, command=CLIENT_FIND_EVIDENCE, arguments=[request]),
    )


def _message(diagnostic: types.Diagnostic) -> str:
    # A lone surrogate cannot be sent as text again.
    text = diagnostic.message.encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())[:MAX_MESSAGE_CHARS]
