"""Code actions: quick fixes of wrong names, and evidence for errors, names and selections that concern the ADK."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lsprotocol import types

from adk_evidence.errors import EvidenceError
from adk_evidence.services.eventloop import Cancelled
from adk_evidence.text.identifiers import code_identifiers, extract_identifiers
from adk_evidence_lsp.answers.diagnostics import asked_name, checked
from adk_evidence_lsp.documents import Snapshot
from adk_evidence_lsp.projects import Project
from adk_evidence_lsp.protocol import CLIENT_FIND_EVIDENCE, SHOW_EVIDENCE
from adk_evidence_lsp.remarks import SOURCE, Said, fix_all, quick_fix, wants_fix_all
from adk_evidence_lsp.server import EvidenceServer

if TYPE_CHECKING:
    from adk_evidence.documents.document import PythonDocument
    from adk_evidence.symbols.lookup import Symbols

TITLE = "Explain this error with ADK evidence"
MAX_MESSAGE_CHARS = 1000
# A file may have very many diagnostics; only the first are looked at.
MAX_DIAGNOSTICS = 50
# How many names of a selection the title of an action lists.
MAX_SHOWN_NAMES = 2

_NAMES_PACKAGE = re.compile(r"\bgoogle[-./\\]adk(?![\w-])")
_IMPORT = re.compile(r"(?:(?:from|import)[ \t]+)?google\.adk(?!\w)")
_FILE_OF_THE_ADK = re.compile(r"/(?:site|dist)-packages/google/adk/")


async def code_action(server: EvidenceServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The actions for a range of a Python file and its diagnostics.

    Names and selections without a diagnostic get an action only where somebody asks for actions: the editor shall not
    offer one beside every line.
    """
    only, uri = params.context.only, params.text_document.uri
    snapshot = server.snapshot(uri)
    if snapshot.language != "python":
        return []
    if (wanted := wants_fix_all(only)) is not None:
        return await _fix_all(server, snapshot) if wanted else []
    given = [diagnostic for diagnostic in params.context.diagnostics[:MAX_DIAGNOSTICS] if _message(diagnostic)]
    own = [diagnostic for diagnostic in given if diagnostic.source == SOURCE]
    others = [diagnostic for diagnostic in given if diagnostic.source != SOURCE]
    actions = [*await _mended(server, snapshot, own), *await _for_errors(server, snapshot, others)]
    if not actions and params.context.trigger_kind == types.CodeActionTriggerKind.Invoked:
        actions = await _for_names(server, snapshot, params.range)
    return actions


async def _mended(server: EvidenceServer, snapshot: Snapshot, own: list[types.Diagnostic]) -> list[types.CodeAction]:
    """What mends the diagnostics of this server, and the evidence for it."""
    project = server.project(snapshot.uri)

    def found() -> Iterator[types.CodeAction]:
        said = _said(server, snapshot, project)
        for diagnostic in own:
            fix = quick_fix(said, diagnostic.range.start, diagnostic.code) if said else None
            if fix is not None:
                action = server.structured(fix, types.CodeAction)
                action.diagnostics = [diagnostic]
                yield action
            if name := asked_name(diagnostic):
                request = {"query": name, **_at(snapshot.uri, diagnostic.range)}
                yield _find(server, f"Find evidence for {name}", [diagnostic], request)

    return await server.executor.run(lambda cancelled: list(found()), lane="lookup") if own else []


async def _fix_all(server: EvidenceServer, snapshot: Snapshot) -> list[types.CodeAction]:
    project = server.project(snapshot.uri)

    def look(cancelled: Cancelled) -> list[types.CodeAction]:
        said = _said(server, snapshot, project)
        return [server.structured(one, types.CodeAction) for one in fix_all(said)] if said else []

    enabled = server.configuration.client.diagnostics.enabled
    return await server.executor.run(look, lane="lookup") if enabled else []


def _said(server: EvidenceServer, snapshot: Snapshot, project: Project | None) -> Said | None:
    with suppress(EvidenceError), server.desk.open() as indexes:
        return checked(server, snapshot, indexes.choose(project))
    return None


async def _for_errors(
    server: EvidenceServer, snapshot: Snapshot, found: list[types.Diagnostic]
) -> list[types.CodeAction]:
    """One action for the errors of other tools that have to do with the ADK: evidence for the gravest message."""
    project = server.project(snapshot.uri)

    def about_the_adk(cancelled: Cancelled) -> list[types.Diagnostic]:
        document = server.documents.parsed(snapshot)
        try:
            with server.desk.session(project) as (session, _):
                symbols = session.symbols
                return [each for each in found if _is_about_the_adk(each, snapshot, document, symbols)]
        except EvidenceError:
            # Without an index no names of the ADK are known, but the name of the package is.
            return [each for each in found if _is_about_the_adk(each, snapshot, document, None)]

    about = await server.executor.run(about_the_adk, lane="lookup") if found else []
    if not about:
        return []
    # A diagnostic without a severity counts as an error.
    gravest = min(about, key=lambda each: each.severity or types.DiagnosticSeverity.Error)
    request = {"query": _message(gravest), "taskMode": "debug", **_at(snapshot.uri, gravest.range)}
    return [_find(server, TITLE, about, request)]


async def _for_names(server: EvidenceServer, snapshot: Snapshot, range_: types.Range) -> list[types.CodeAction]:
    """An action that finds evidence for the ADK's names in a range, and names them."""
    project = server.project(snapshot.uri)

    def names_of_the_adk(cancelled: Cancelled) -> tuple[str, ...]:
        from adk_evidence.symbols.query import names_at

        try:
            with server.desk.session(project) as (session, _):
                start, end = snapshot.place(range_.start), snapshot.place(range_.end)
                return names_at(server.documents.parsed(snapshot), start, end, session.symbols)
        except EvidenceError:
            return ()

    names = await server.executor.run(names_of_the_adk, lane="lookup")
    if not names:
        return []
    shown = " and ".join(names[:MAX_SHOWN_NAMES])
    return [_find(server, f"Find evidence for {shown}", None, _at(snapshot.uri, range_))]


def _find(
    server: EvidenceServer, title: str, diagnostics: list[types.Diagnostic] | None, request: dict[str, Any]
) -> types.CodeAction:
    command = CLIENT_FIND_EVIDENCE if server.client_runs(CLIENT_FIND_EVIDENCE) else SHOW_EVIDENCE
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=diagnostics,
        command=types.Command(title=title, command=command, arguments=[request]),
    )


def _at(uri: str, range_: types.Range) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "range": {"start": _place(range_.start), "end": _place(range_.end)}}


def _is_about_the_adk(
    diagnostic: types.Diagnostic, snapshot: Snapshot, document: PythonDocument, symbols: Symbols | None
) -> bool:
    """Whether a diagnostic comes from the ADK's files, or names something of the ADK.

    It names what its message names, and the name with which the marked text begins. A name elsewhere on the line does
    not count, or each remark about the line's form would have an action.
    """
    if types.DiagnosticTag.Unnecessary in (diagnostic.tags or ()):
        # Text that the editor shows faded is no error.
        return False
    related = (each.location.uri for each in diagnostic.related_information or ())
    if any(_FILE_OF_THE_ADK.search(unquote(uri)) for uri in (snapshot.uri, *related)):
        return True
    message = _message(diagnostic)
    return (
        _NAMES_PACKAGE.search(message) is not None
        or _mentions_the_adk(message, document, symbols)
        or _marks_the_adk(snapshot.place(diagnostic.range.start), document, symbols)
    )


def _mentions_the_adk(message: str, document: PythonDocument, symbols: Symbols | None) -> bool:
    """Whether a message has a name that the document imports from the ADK, or that of a class of the ADK."""
    bound = document.module.bindings
    if any(_is_of_the_adk(each.imported) for name in extract_identifiers(message) for each in bound.get(name, ())):
        return True
    if symbols is None:
        return False
    # A name that the document binds is not the ADK's of the same name.
    named = (symbols.table.find(name) for name in code_identifiers(message) if name.partition(".")[0] not in bound)
    return any(found and symbols.is_class(found[0]) for found in named)


def _marks_the_adk(start: tuple[int, int], document: PythonDocument, symbols: Symbols | None) -> bool:
    """Whether a name at a place is the ADK's, or one that only the ADK can define, such as a keyword of its classes."""
    from adk_evidence.symbols.resolution import named_in

    line, column = start
    if _IMPORT.match(document.lines[line], column):
        return True
    end = (line, column + 1)
    begun = [mention for mention in document.mentions_in(start, end) if mention.start == column]
    if any(_is_of_the_adk(mention.imported) for mention in begun):
        return True
    if not begun or symbols is None:
        return False
    named = named_in(document, symbols, start, end)
    return bool(named.entries or named.claimed)


def _is_of_the_adk(imported: str | None) -> bool:
    return imported is not None and f"{imported}.".startswith("google.adk.")


def _place(position: types.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}


def _message(diagnostic: types.Diagnostic) -> str:
    # A lone surrogate cannot be sent as text again.
    text = diagnostic.message.encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())[:MAX_MESSAGE_CHARS]
