"""Diagnostics where a document does not fit the ADK of its project, and the remarks behind them."""

from __future__ import annotations

from collections.abc import Mapping
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
    from adk_evidence.documents.document import PythonDocument
    from adk_evidence.index.versions import ChosenIndex
    from adk_evidence.symbols.lookup import SymbolInfo, Symbols

SOURCE = "ADK Evidence"
# Nobody reads more.
MAX_REMARKS = 100


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


def checked(
    server: EvidenceServer, document: PythonDocument, chosen: ChosenIndex
) -> tuple[DriftChecker, list[Remark]] | None:
    """What is said of a document but for rules that the user has switched off; None where its ADK is not known."""
    from adk_evidence.checks.drift import checker_of
    from adk_evidence.checks.remarks import CODES, all_remarks

    if (checker := checker_of(chosen)) is None:
        return None
    severity = server.configuration.client.diagnostics.severity
    shown = (one for one in all_remarks(checker, document) if severity.get(CODES[one.kind]) != "off")
    return checker, list(islice(shown, MAX_REMARKS))


def _diagnostics(server: EvidenceServer, snapshot: Snapshot, project: Project | None) -> list[types.Diagnostic]:
    document = server.documents.parsed(snapshot)
    severity = server.configuration.client.diagnostics.severity
    # `adk/status` says what is wrong with the settings.
    with suppress(EvidenceError), server.desk.open() as indexes, ExitStack() as stack:
        chosen = indexes.choose(project)
        checker, remarks = checked(server, document, chosen) or (None, [])
        symbols = None
        if remarks:
            from adk_evidence.targets.about import code_corpus_name

            # The table of versions needs no index.
            with suppress(EvidenceError):
                session = stack.enter_context(indexes.service(chosen.settings).session())
                index, symbols = session.index, session.symbols
        found = []
        for remark in remarks:
            info = citation_of(remark, checker, chosen, symbols) if checker and symbols else None
            file = index.file_of(code_corpus_name(index.manifest), info.path) if info else None
            found.append(_diagnostic(snapshot, remark, info, file, severity))
        return found
    return []


def _diagnostic(
    snapshot: Snapshot, remark: Remark, info: SymbolInfo | None, file: Path | None, severity: Mapping[str, str]
) -> types.Diagnostic:
    from adk_evidence.checks.remarks import CODES

    data: dict[str, Any] | None = None
    related = None
    if info is not None:
        # Parameters of `adk/source`, for clients that show the file read-only.
        data = {"asked": info.symbol, "source": {"repo": info.repo, "commit": info.commit, "path": info.path}}
        if file is not None:
            start = types.Position(info.lines.start - 1, 0)
            place = types.Location(file.as_uri(), types.Range(start, start))
            related = [types.DiagnosticRelatedInformation(place, f"{info.symbol}: {info.citation}")]
    code, is_deprecated = CODES[remark.kind], remark.kind == "deprecated"
    return types.Diagnostic(
        range=range_of(snapshot, (remark.line, remark.start), (remark.line, remark.end)),
        message=remark.text,
        severity=types.DiagnosticSeverity[severity.get(code, "hint" if is_deprecated else "warning").capitalize()],
        code=code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Deprecated] if is_deprecated else None,
        related_information=related,
        data=data,
    )


def range_of(snapshot: Snapshot, start: tuple[int, int], end: tuple[int, int]) -> types.Range:
    return types.Range(snapshot.position(*start), snapshot.position(*end))


def asked_name(diagnostic: types.Diagnostic) -> str | None:
    """What to find evidence for where this server found a wrong name: the nearer name, or what lacks the name."""
    match diagnostic.source, diagnostic.data:
        case str(source), {"asked": str(name)} if source == SOURCE and all(map(str.isidentifier, name.split("."))):
            return name
    return None
