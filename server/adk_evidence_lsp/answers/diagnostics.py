"""Gentle diagnostics where a document does not fit the ADK of its project, and what mends that."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from adk_evidence.admission import BusyError
from adk_evidence.errors import EvidenceError
from adk_evidence.services.eventloop import Cancelled
from adk_evidence_lsp.documents import Snapshot
from adk_evidence_lsp.projects import Project
from adk_evidence_lsp.server import EvidenceServer

if TYPE_CHECKING:
    from adk_evidence.checks.calls import Remark
    from adk_evidence.checks.drift import DriftChecker
    from adk_evidence.documents.document import Mention, PythonDocument
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.symbols.lookup import SymbolInfo, Symbols

SOURCE = "ADK Evidence"
# What a diagnostic is about, by the kind of the remark.
CODES = {
    "keyword": "unknown-keyword",
    "import": "unknown-import",
    "name": "unknown-name",
    "argument": "missing-argument",
    "override": "unfit-override",
}
# Nobody reads more.
MAX_REMARKS = 100


async def diagnose(
    server: EvidenceServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport:
    """Where an open Python document does not fit the ADK of its project: names, calls and overrides."""
    none = types.RelatedFullDocumentDiagnosticReport(items=[])
    if not server.configuration.client.diagnostics.enabled:
        return none
    uri = params.text_document.uri
    try:
        snapshot = server.snapshot(uri)
    except JsonRpcInvalidParams:
        # Editors ask about the documents of all tabs, also of those that they have not opened.
        return none
    # Most Python files import nothing of the ADK, and need not be parsed.
    if snapshot.language != "python" or "google" not in snapshot.text:
        return none
    project = server.project(uri)

    def look(cancelled: Cancelled) -> list[types.Diagnostic]:
        return [] if cancelled() else _diagnostics(server, snapshot, project)

    try:
        items = await server.executor.run(look, lane="lookup", key=f"diagnostics:{uri}")
    except BusyError as exc:
        # The client then asks again by itself.
        again = {"retriggerRequest": True}
        raise JsonRpcException(exc.message, types.LSPErrorCodes.ServerCancelled.value, again) from exc
    return types.RelatedFullDocumentDiagnosticReport(items=items)


def citation_of(remark: Remark, checker: DriftChecker, chosen: ChosenIndex, symbols: Symbols) -> SymbolInfo | None:
    """The definition that a remark leads to, where the index is of the version that lacks the name."""
    path = remark.cited if chosen.version == checker.version else ""
    while path:
        if (entry := symbols.resolve(path)) is not None:
            # A module that lacks a name shows nothing of it.
            return symbols.info(entry) if entry.symbol else None
        # A parameter is shown with its function.
        path = path.rpartition(".")[0]
    return None


def _diagnostics(server: EvidenceServer, snapshot: Snapshot, project: Project | None) -> list[types.Diagnostic]:
    from adk_evidence.checks.drift import checker_of
    from adk_evidence.checks.remarks import all_remarks
    from adk_evidence.targets.about import code_corpus_name

    document = server.documents.parsed(snapshot)
    # `adk/status` says what is wrong with the settings.
    with suppress(EvidenceError), server.desk.open() as indexes, ExitStack() as stack:
        chosen = indexes.choose(project)
        checker = checker_of(chosen)
        remarks = list(islice(all_remarks(checker, document), MAX_REMARKS)) if checker is not None else []
        symbols = None
        if remarks:
            # The table of versions needs no index.
            with suppress(EvidenceError):
                session = stack.enter_context(indexes.service(chosen.settings).session())
                index, symbols = session.index, session.symbols
        found = []
        for remark in remarks:
            info = citation_of(remark, checker, chosen, symbols) if checker and symbols else None
            file = index.file_of(code_corpus_name(index.manifest), info.path) if info else None
            found.append(_diagnostic(snapshot, remark, info, file))
        return found
    return []


def _diagnostic(snapshot: Snapshot, remark: Remark, info: SymbolInfo | None, file: Path | None) -> types.Diagnostic:
    data: dict[str, Any] = {"replacement": remark.replacement}
    related = None
    if info is not None:
        data["asked"] = info.symbol
        # Parameters of `adk/source`, for clients that show the file read-only.
        data["source"] = {"repo": info.repo, "commit": info.commit, "path": info.path}
        if file is not None:
            start = types.Position(info.lines.start - 1, 0)
            place = types.Location(file.as_uri(), types.Range(start, start))
            related = [types.DiagnosticRelatedInformation(place, f"{info.symbol}: {info.citation}")]
    return types.Diagnostic(
        range=_range_of(snapshot, remark),
        message=remark.text,
        severity=types.DiagnosticSeverity.Information,
        code=CODES[remark.kind],
        source=SOURCE,
        related_information=related,
        data=data,
    )


def _range_of(snapshot: Snapshot, name: Remark | Mention) -> types.Range:
    return types.Range(snapshot.position(name.line, name.start), snapshot.position(name.line, name.end))


def replacement_action(
    snapshot: Snapshot, document: PythonDocument, diagnostic: types.Diagnostic
) -> types.CodeAction | None:
    """The quick fix of a diagnostic of this server that knows a nearer name; None where the name is gone."""
    from adk_evidence.checks.remarks import renamed

    match diagnostic.source, diagnostic.data:
        case str(source), {"replacement": str(name)} if source == SOURCE and name.isidentifier():
            changes = renamed(document, *snapshot.place(diagnostic.range.start), name)
            edits = [types.TextEdit(_range_of(snapshot, mention), text) for mention, text in changes]
            if not edits or edits[0].range != diagnostic.range:
                return None
            return types.CodeAction(
                title=f"Change to {name}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                is_preferred=True,
                edit=types.WorkspaceEdit(changes={snapshot.uri: [*edits]}),
            )
    return None


def asked_name(diagnostic: types.Diagnostic) -> str | None:
    """What to find evidence for where this server found a wrong name: the nearer name, or what lacks the name."""
    match diagnostic.source, diagnostic.data:
        case str(source), {"asked": str(name)} if source == SOURCE and all(map(str.isidentifier, name.split("."))):
            return name
    return None
