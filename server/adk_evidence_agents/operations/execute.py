"""Carries out a request: whatever goes wrong is a record in the response, never an exception."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from pydantic import ValidationError

from adk_evidence.errors import EvidenceError
from adk_evidence.index.indexer import Cancelled, Progress
from adk_evidence.telemetry import EventLog
from adk_evidence_agents.operations.analysis import analyze
from adk_evidence_agents.operations.context import get_context
from adk_evidence_agents.operations.embedding import note_batch_size
from adk_evidence_agents.operations.managing import delete_index, index_codebase, update_codebase
from adk_evidence_agents.operations.records import invalid_request
from adk_evidence_agents.operations.requests import (
    TASKS,
    Analyze,
    Delete,
    FindSimilar,
    GetContext,
    IndexCodebase,
    OperationRequest,
    SearchCode,
    SearchDocs,
    TaskType,
    Update,
)
from adk_evidence_agents.operations.responses import (
    ErrorRecord,
    Metrics,
    OperationResponse,
    ResponseStatus,
    Results,
)
from adk_evidence_agents.operations.run import MakeIndexer, Run
from adk_evidence_agents.operations.searching import search
from adk_evidence_agents.operations.similar import find_similar
from adk_evidence_agents.session import AgentSession

Request = OperationRequest | Mapping[str, Any] | str | bytes


def never() -> bool:
    """Nobody cancels."""
    return False


def silent(done: float, total: float | None, message: str) -> None:
    """Progress that nobody asked for."""


def execute(
    request: Request,
    session: AgentSession,
    *,
    make_indexer: MakeIndexer | None = None,
    cancelled: Cancelled = never,
    progress: Progress = silent,
) -> OperationResponse:
    """Carry out one request. Never raises: what goes wrong is in the response's `errors`.

    Args:
        request: A request, or its JSON as text or as a mapping.
        session: Opens the indexes.
        make_indexer: Makes what writes indexes, from the settings; None: indexes can only be read.
        cancelled: Asked while the operation runs; when it says yes, the operation ends with a record `cancelled`.
        progress: Told how far an indexing run is.
    """
    begin = time.perf_counter()
    try:
        parsed = request if isinstance(request, OperationRequest) else _parse(request)
    except ValidationError as exc:
        return _refused(request, invalid_request(exc), begin)
    # What a caller hands over may be no JSON in many ways: cycles, bytes, objects, keys that are no texts.
    except (TypeError, ValueError, RecursionError, OverflowError):
        record = ErrorRecord(type="request_error", message="The request is not valid JSON.", severity="critical")
        return _refused(request, [record], begin)
    run = Run(session, parsed, cancelled, progress, make_indexer)
    try:
        with session.one_state():
            results = _carry_out(run)
    except Exception as exc:
        run.notes.fail(exc, "critical")
        results = Results()
    response = _response(run, results, begin)
    _log(run, response)
    return response


def _parse(request: Mapping[str, Any] | str | bytes) -> OperationRequest:
    text = request if isinstance(request, str | bytes) else json.dumps(dict(request))
    # As JSON, strictly: what the schema calls an integer is no text that looks like one.
    return OperationRequest.model_validate_json(text, strict=True)


def _carry_out(run: Run) -> Results:
    run.stop_if_cancelled()
    note_batch_size(run.config, run.session.settings, run.notes)
    match run.request.operation:
        case SearchCode(parameters=asked):
            return Results(search_results=search(run, asked, ("code",)))
        case SearchDocs(parameters=asked):
            return Results(search_results=search(run, asked, ("docs",)))
        case FindSimilar(parameters=asked):
            return Results(similar_items=find_similar(run, asked))
        case GetContext(parameters=asked):
            return Results(context_bundle=get_context(run, asked))
        case IndexCodebase(parameters=asked):
            return Results(indexed_items=index_codebase(run, asked))
        case Update(parameters=asked):
            return Results(indexed_items=update_codebase(run, asked))
        case Delete(parameters=asked):
            return Results(deleted_collection=delete_index(run, asked))
        case Analyze(parameters=asked):
            return Results(analysis=analyze(run, asked))


def _response(run: Run, results: Results, begin: float) -> OperationResponse:
    seconds = time.perf_counter() - begin
    errors = tuple(run.notes.errors)
    return OperationResponse(
        request_id=run.request.request_id,
        status=_status(errors),
        execution_time_seconds=round(seconds, 6),
        operation_type=run.request.task_type,
        results=results,
        metrics=Metrics(
            query_time_ms=round(seconds * 1000, 3),
            vectors_searched=run.vectors_searched,
            cache_hit=run.cache_hit,
            embedding_time_ms=round(run.embedding_ms, 3),
        ),
        recommendations=tuple(run.notes.recommendations),
        errors=errors,
    )


def _status(errors: tuple[ErrorRecord, ...]) -> ResponseStatus:
    severities = {error.severity for error in errors}
    if "critical" in severities:
        return "failed"
    return "partial" if "warning" in severities else "success"


def _refused(request: Request, errors: list[ErrorRecord], begin: float) -> OperationResponse:
    """The answer to what is no request, under its id if it has one."""
    given = _as_mapping(request)
    return OperationResponse(
        request_id=_id_of(given),
        status="failed",
        execution_time_seconds=round(time.perf_counter() - begin, 6),
        operation_type=_task_of(given),
        errors=tuple(errors),
    )


def _as_mapping(request: Request) -> Mapping[str, Any]:
    if isinstance(request, str | bytes):
        try:
            request = json.loads(request)
        except (ValueError, RecursionError):
            return {}
    return request if isinstance(request, Mapping) else {}


def _id_of(given: Mapping[str, Any]) -> UUID:
    try:
        return UUID(given.get("request_id", ""))
    except (ValueError, TypeError, AttributeError):
        return uuid4()


def _task_of(given: Mapping[str, Any]) -> TaskType | None:
    return next((task for task in TASKS if task == given.get("task_type")), None)


def _log(run: Run, response: OperationResponse) -> None:
    """One line for the operation (vector-agent.md section 9.2): no text of the request and none of the corpora."""
    try:
        settings = run.session.settings
    except EvidenceError:
        return
    if not settings.telemetry.event_log:
        return
    operation = run.request.operation
    context = run.request.context
    EventLog(settings.paths.event_log, settings.telemetry.max_bytes).write(
        {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "event": "operation",
            "request_id": str(response.request_id),
            "action": operation.type,
            "collection_name": operation.parameters.collection_name,
            "status": response.status,
            "execution_time_seconds": response.execution_time_seconds,
            "vectors_searched": response.metrics.vectors_searched,
            "cache_hit": response.metrics.cache_hit,
            "errors": [error.type for error in response.errors],
            "project_name": context.project_name,
            "project_type": context.project_type,
            "priority": context.priority,
        }
    )
