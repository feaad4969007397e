"""`adk/evidence`: a question, or a selection to make one of, answered with a pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pygls.exceptions import JsonRpcInvalidParams

from adk_evidence.models.request import EvidenceRequest
from adk_evidence.services.eventloop import Cancelled
from adk_evidence.validation import first_problem
from adk_evidence_lsp.progress import WorkDone
from adk_evidence_lsp.protocol import EVIDENCE, ClientSettings, EvidenceParams, Position

if TYPE_CHECKING:
    from adk_evidence.search.session import Session
    from adk_evidence.symbols.query import QueryUsed
    from adk_evidence_lsp.documents import Snapshot
    from adk_evidence_lsp.server import EvidenceServer


class EvidenceFeature:
    """Answers questions."""

    def __init__(self, server: EvidenceServer) -> None:
        self._server = server
        server.on_request(EVIDENCE, EvidenceParams, self.answer)

    async def answer(self, params: EvidenceParams) -> dict[str, Any]:
        """The pack as JSON, with `queryUsed`."""
        server = self._server
        snapshot = None
        if params.query is None and params.text_document is not None:
            snapshot = server.documents.snapshot(server.workspace, params.text_document.uri)
        client = server.configuration.client
        with (
            server.superseding.alone(_supersede_key(params)),
            WorkDone(server, params.work_done_token).running("Finding ADK evidence"),
        ):
            return await server.executor.run(lambda cancelled: self._find(params, snapshot, client, cancelled))

    def _find(
        self, params: EvidenceParams, snapshot: Snapshot | None, client: ClientSettings, cancelled: Cancelled
    ) -> dict[str, Any]:
        with self._server.backend.session(cancelled) as session:
            used = self._query(params, snapshot, session)
            pack = session.find(_request(params, used.text, client))
        return {**pack.model_dump(mode="json"), "queryUsed": used.model_dump(mode="json")}

    def _query(self, params: EvidenceParams, snapshot: Snapshot | None, session: Session) -> QueryUsed:
        from adk_evidence.symbols.query import QueryUsed, build_query

        if snapshot is None:
            return QueryUsed(text=params.query or "", origin="given")
        start, end = _ends(params)
        document = self._server.documents.parsed(snapshot)
        places = snapshot.place(start), snapshot.place(end)
        return build_query(document, snapshot.language, *places, session.symbols)


def _supersede_key(params: EvidenceParams) -> str | None:
    if params.supersede_key is not None:
        return f"key:{params.supersede_key}"
    return f"document:{params.text_document.uri}" if params.text_document else None


def _ends(params: EvidenceParams) -> tuple[Position, Position]:
    if params.range is not None:
        return params.range.start, params.range.end
    place = params.position or Position(line=0, character=0)
    return place, place


def _request(params: EvidenceParams, query: str, client: ClientSettings) -> EvidenceRequest:
    try:
        return EvidenceRequest(
            query=query,
            task_mode=params.task_mode or client.task_mode,
            max_results_final=params.max_results or client.max_results,
            time_budget_ms=params.time_budget_ms or client.time_budget_ms,
            filters=params.filters,
            strict=params.strict,
        )
    except ValidationError as exc:
        raise JsonRpcInvalidParams(f"The parameters are not valid: {first_problem(exc)}.") from None
