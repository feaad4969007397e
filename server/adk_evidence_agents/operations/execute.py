"""Carries out a request in JSON. Whatever goes wrong is a record in the response, never an exception."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

from pydantic import ValidationError

from adk_evidence.admission import waited_ms
from adk_evidence.errors import EvidenceError, SourceError
from adk_evidence.index.indexer import Progress
from adk_evidence.models.chunk import TYPE_KINDS, SourceType, sha256_text
from adk_evidence.search.context import Context
from adk_evidence.services.eventloop import Cancelled
from adk_evidence.text.textfile import split_lines
from adk_evidence_agents.operations.analysis import analyze
from adk_evidence_agents.operations.context import get_context
from adk_evidence_agents.operations.managing import delete_index, index_codebase, update_codebase
from adk_evidence_agents.operations.notes import invalid_request
from adk_evidence_agents.operations.requests import TASK_OF, FindSimilarParameters, OperationRequest, SearchParameters
from adk_evidence_agents.operations.responses import (
    ErrorRecord,
    Metrics,
    OperationResponse,
    ResultMetadata,
    Results,
    SearchResult,
    SimilarItem,
    Surroundings,
)
from adk_evidence_agents.operations.run import MakeIndexer, Run, codebase_indexer, silent
from adk_evidence_agents.operations.searching import Found, find_similar, search
from adk_evidence_agents.operations.snippets import explanation
from adk_evidence_agents.session import AgentSession

Request = OperationRequest | Mapping[str, Any] | str | bytes


def execute(
    request: Request,
    session: AgentSession,
    *,
    make_indexer: MakeIndexer = codebase_indexer,
    cancelled: Cancelled | None = None,
    progress: Progress = silent,
) -> OperationResponse:
    """Carry out one request. Never raises: the response's `errors` say what went wrong.

    Args:
        request: A request, or its JSON as text or as a mapping.
        session: Opens the indexes.
        make_indexer: Makes the indexer from the settings.
        cancelled: Whether the caller has gone; then the operation ends with a record `cancelled`.
        progress: Hears how far an indexing run is.
    """
    begin = time.perf_counter()
    try:
        parsed = request if isinstance(request, OperationRequest) else _parse(request)
    except ValidationError as exc:
        return _refused(request, invalid_request(exc), begin)
    # A value can fail to be JSON in many ways: cycles, bytes, objects, keys that are not texts.
    except (TypeError, ValueError, RecursionError, OverflowError):
        record = ErrorRecord(type="request_error", message="The request is not valid JSON.", severity="critical")
        return _refused(request, [record], begin)
    operation = parsed.operation
    run = Run(
        session,
        operation.type,
        operation.parameters.collection_name,
        # The log keeps no text of an operation.
        context=Context(cancelled, question_logged=False),
        progress=progress,
        make_indexer=make_indexer,
        request_id=parsed.request_id,
        config=parsed.embedding_config,
        asker=parsed.context,
    )
    results = Results()
    writes = parsed.task_type in ("index", "update", "delete")
    # The budget is that of a question.
    admission, budget = (session.indexing, None) if writes else (session.admission, session.time_budget_ms)
    # The run notes the failure.
    with suppress(EvidenceError), run, admission.turn(cancelled, budget):
        run.context.waited_ms = waited_ms()
        run.context.stop_if_cancelled()
        results = _OPERATIONS[operation.type](run, operation.parameters)
    return OperationResponse(
        request_id=run.request_id,
        status=run.status,
        execution_time_seconds=round(run.seconds, 6),
        operation_type=parsed.task_type,
        results=results,
        metrics=Metrics(
            query_time_ms=round(run.seconds * 1000, 3),
            vectors_searched=run.vectors_searched,
            cache_hit=run.cache_hit,
            embedding_time_ms=round(run.embedding_ms, 3),
        ),
        recommendations=run.notes.recommendations,
        errors=run.notes.errors,
    )


def _parse(request: Mapping[str, Any] | str | bytes) -> OperationRequest:
    text = request if isinstance(request, str | bytes) else json.dumps(dict(request))
    # Strictly, as JSON: a text that looks like an integer is not an integer.
    return OperationRequest.model_validate_json(text, strict=True)


def _search(run: Run, parameters: SearchParameters, source: SourceType) -> Results:
    found = search(run, parameters, (source,))
    return Results(search_results=tuple(_search_result(item, parameters.context_lines) for item in found))


def _similar(run: Run, parameters: FindSimilarParameters) -> Results:
    found = find_similar(run, parameters)
    return Results(similar_items=tuple(_similar_item(item, parameters.reference_code) for item in found))


# What answers the parameters of an operation, by the operation's type.
_OPERATIONS: dict[str, Callable[[Run, Any], Results]] = {
    "search_code": lambda run, asked: _search(run, asked, "code"),
    "search_docs": lambda run, asked: _search(run, asked, "docs"),
    "find_similar": _similar,
    "get_context": lambda run, asked: Results(context_bundle=get_context(run, asked)[0]),
    "index_codebase": lambda run, asked: Results(indexed_items=index_codebase(run, asked)),
    "update": lambda run, asked: Results(indexed_items=update_codebase(run, asked.collection_name)),
    "delete": lambda run, asked: Results(deleted_collection=delete_index(run, asked.collection_name)),
    "analyze": lambda run, asked: Results(analysis=analyze(run, asked), load=run.agents.load()),
}


def _search_result(item: Found, context_lines: int) -> SearchResult:
    payload = item.payload
    owner, _, own = (payload.symbol or "").rpartition(".")
    is_class = payload.symbol_kind in (*TYPE_KINDS, "methods")
    return SearchResult(
        id=item.hit.point_id,
        score=item.score,
        content=payload.shown_body,
        metadata=ResultMetadata(
            file_path=payload.path,
            file_type=payload.lang,
            line_start=payload.start_line,
            line_end=payload.end_line,
            function_name=own if own and payload.symbol_kind in ("function", "method") else None,
            class_name=(payload.symbol if is_class else owner if payload.symbol_kind == "method" else None) or None,
            tags=payload.tags,
        ),
        context=_surroundings(item, context_lines),
        collection_name=item.name,
        citation=item.citation,
        verification=item.verification,
    )


def _similar_item(item: Found, code: str) -> SimilarItem:
    payload, score = item.payload, item.score or 0.0
    return SimilarItem(
        similarity_score=score,
        file_path=payload.path,
        code_snippet=payload.body,
        explanation=explanation(code, payload, score),
        id=item.hit.point_id,
        line_start=payload.start_line,
        line_end=payload.end_line,
        collection_name=item.name,
        citation=item.citation,
        verification=item.verification,
    )


def _surroundings(item: Found, count: int) -> Surroundings | None:
    """The lines around a chunk where it is now, else as they were when it was indexed; None if there are neither."""
    text = _text_around(item)
    if text is None:
        return None
    moved = item.verification.lines if item.holds else None
    span, lines = moved or item.lines, split_lines(text)
    before = lines[max(0, span.start - 1 - count) : span.start - 1]
    return Surroundings(before="\n".join(before), after="\n".join(lines[span.end : span.end + count]))


def _text_around(item: Found) -> str | None:
    payload = item.payload
    reader = item.session.index.source_of(payload)
    if reader is None or item.verification.state == "unverified":
        return None
    try:
        if item.holds:
            return reader.read(item.verification.path or payload.path) or ""
        text = reader.read_at_commit(payload.path)
    except SourceError:
        return None
    return text if text is not None and sha256_text(text) == payload.file_hash else None


def _refused(request: Request, errors: list[ErrorRecord], begin: float) -> OperationResponse:
    """The response to something that is not a valid request, with the id and the task of the request if it has them."""
    given: Any = request
    if isinstance(request, str | bytes):
        with suppress(ValueError, RecursionError):
            given = json.loads(request)
    if not isinstance(given, Mapping):
        given = {}
    request_id = uuid4()
    with suppress(ValueError, TypeError, AttributeError):
        request_id = UUID(given.get("request_id", ""))
    return OperationResponse(
        request_id=request_id,
        status="failed",
        execution_time_seconds=round(time.perf_counter() - begin, 6),
        operation_type=next((task for task in TASK_OF.values() if task == given.get("task_type")), None),
        errors=tuple(errors),
    )
