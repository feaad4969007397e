"""Everything that the server answers, in one place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from lsprotocol import types
from pydantic import BaseModel

from adk_evidence.desk import OpenService, open_service
from adk_evidence_lsp import protocol
from adk_evidence_lsp.answers import requests
from adk_evidence_lsp.answers.code_actions import code_action
from adk_evidence_lsp.answers.definition import definition
from adk_evidence_lsp.answers.diagnostics import diagnose
from adk_evidence_lsp.answers.hover import hover
from adk_evidence_lsp.answers.ingest import INGEST_COMMAND, Ingestion
from adk_evidence_lsp.answers.show import ShownDocuments
from adk_evidence_lsp.remarks import FIX_ALL
from adk_evidence_lsp.server import EvidenceServer

Answer = Callable[[Any], Awaitable[Any]]


def make_server(
    open_service: OpenService = open_service, ingest_command: Iterable[str] = INGEST_COMMAND
) -> EvidenceServer:
    """The language server with all that it answers.

    Args:
        open_service: Makes the service behind the server.
        ingest_command: The program that ingests, to which the mode and options are added.
    """
    server = EvidenceServer(open_service)
    ingestion = Ingestion(server, tuple(ingest_command))
    own: dict[str, Answer] = {
        protocol.EVIDENCE: partial(requests.evidence, server),
        protocol.SYMBOL: partial(requests.symbol, server),
        protocol.TARGETS: partial(requests.targets, server),
        protocol.SOURCE: partial(requests.source, server),
        protocol.STATUS: partial(requests.status, server),
        protocol.INGEST: ingestion.answer,
        protocol.INDEX: ingestion.index,
        protocol.RENDER: partial(requests.render, server),
        protocol.CHECK: partial(requests.check, server),
        protocol.CHECK_CODE: partial(requests.check_code, server),
    }
    answers = {method: _checked(server, protocol.PARAMS[method], answer) for method, answer in own.items()}
    for method, answer in answers.items():
        server.feature(method)(answer)
    shown = ShownDocuments(server, answers[protocol.EVIDENCE])
    # pygls sets attributes on what it registers, which a bound method does not take.
    server.command(protocol.SHOW_EVIDENCE)(partial(shown.show))

    for method, standard, options in (
        (types.TEXT_DOCUMENT_HOVER, hover, None),
        (types.TEXT_DOCUMENT_DEFINITION, definition, None),
        (
            types.TEXT_DOCUMENT_CODE_ACTION,
            code_action,
            types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]),
        ),
        (types.TEXT_DOCUMENT_DIAGNOSTIC, diagnose, types.DiagnosticOptions(False, False, identifier="adk-evidence")),
        (types.WORKSPACE_SYMBOL, requests.workspace_symbols, None),
    ):
        server.feature(method, options)(_checked(server, None, partial(standard, server)))

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await server.configuration.start()
        server.in_background(server.configuration.register())
        server.warm_up()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def changed(params: types.DidChangeConfigurationParams) -> None:
        await server.configuration.changed(params.settings)
        server.refresh_diagnostics()
        server.warm_up()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.documents.forget(params.text_document.uri)

    # The end of the server calls these from the last to the first.
    for stop in (server.desk.close, shown.clear, server.executor.stop, ingestion.kill):
        server.at_end.callback(stop)
    return server


def _checked(server: EvidenceServer, model: type[BaseModel] | None, answer: Answer) -> Answer:
    """The answer to a request whose parameters are valid, once the client's settings are known."""

    async def handle(params: Any) -> Any:
        parsed = params if model is None else protocol.parse_params(model, params)
        await server.configuration.settled()
        return await answer(parsed)

    return handle
