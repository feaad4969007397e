"""Diagnostics where a document does not fit the ADK of its project, and the remarks behind them."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from adk_evidence.admission import BusyError
from adk_evidence.errors import EvidenceError
from adk_evidence.services.eventloop import Cancelled
from adk_evidence_lsp.documents import Snapshot
from adk_evidence_lsp.projects import Project
from adk_evidence_lsp.remarks import SOURCE, Said, diagnostic_of, may_concern, said_of
from adk_evidence_lsp.server import EvidenceServer

if TYPE_CHECKING:
    from adk_evidence.checks.calls import Remark
    from adk_evidence.checks.drift import DriftChecker
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.symbols.lookup import SymbolInfo, Symbols


async def diagnose(
    server: EvidenceServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport:
    """Where an open Python document does not fit the ADK of its project, as `lint` says it."""
    none = types.RelatedFullDocumentDiagnosticReport(items=[])
    if not server.configuration.client.diagnostics.enabled:
        return none
    uri = params.text_document.uri
    try:
        snapshot = server.snapshot(uri)
    except JsonRpcInvalidParams:
        # Editors ask about the documents of all tabs, also of those that they have not opened.
        return none
    if not may_concern(snapshot):
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


def checked(server: EvidenceServer, snapshot: Snapshot, chosen: ChosenIndex) -> Said | None:
    """What is said of a document; None where the ADK of its project is not known."""
    from adk_evidence.checks.drift import checker_of

    if (checker := checker_of(chosen)) is None:
        return None
    severity = server.configuration.client.diagnostics.severity
    return said_of(snapshot, server.documents.parsed(snapshot), checker, severity)


def _diagnostics(server: EvidenceServer, snapshot: Snapshot, project: Project | None) -> list[types.Diagnostic]:
    severity = server.configuration.client.diagnostics.severity
    # `adk/status` says what is wrong with the settings.
    with suppress(EvidenceError), server.desk.open() as indexes, ExitStack() as stack:
        chosen = indexes.choose(project)
        said = checked(server, snapshot, chosen)
        if said is None or not said.remarks:
            return []
        from adk_evidence.targets.about import code_corpus_name

        symbols = None
        # The table of versions needs no index.
        with suppress(EvidenceError):
            session = stack.enter_context(indexes.service(chosen.settings).session())
            index, symbols = session.index, session.symbols
        found = []
        for remark in said.remarks:
            told = diagnostic_of(snapshot, remark, severity)
            info = citation_of(remark, said.checker, chosen, symbols) if symbols else None
            if info is not None:
                told |= _leading_to(info, index.file_of(code_corpus_name(index.manifest), info.path))
            found.append(server.structured(told, types.Diagnostic))
        return found
    return []


def _leading_to(info: SymbolInfo, file: Path | None) -> dict[str, Any]:
    """What leads from a diagnostic to a definition."""
    # Parameters of `adk/source`, for clients that show the file read-only.
    data = {"asked": info.symbol, "source": {"repo": info.repo, "commit": info.commit, "path": info.path}}
    if file is None:
        return {"data": data}
    start = {"line": info.lines.start - 1, "character": 0}
    related = {"uri": file.as_uri(), "range": {"start": start, "end": start}}
    message = f"{info.symbol}: {info.citation}"
    return {"data": data, "relatedInformation": [{"location": related, "message": message}]}


def asked_name(diagnostic: types.Diagnostic) -> str | None:
    """What to find evidence for where this server found a wrong name: the nearer name, or what lacks the name."""
    match diagnostic.source, diagnostic.data:
        case str(source), {"asked": str(name)} if source == SOURCE and all(map(str.isidentifier, name.split("."))):
            return name
    return None
