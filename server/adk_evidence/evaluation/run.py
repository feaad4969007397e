"""Runs of queries through the pipeline, one JSON line each, for any scorer to measure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.request import EvidenceRequest, TaskMode
from adk_evidence.retrieval.pipeline import EvidenceService


class EvalQuery(BaseModel):
    """One question of a query file; other keys, such as labels, are not read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    task_mode: TaskMode = "build"


def read_queries(path: Path) -> list[EvalQuery]:
    """Read a JSON-lines file of questions.

    Raises:
        InvalidRequestError: The file cannot be read, or a line is not a question; the line is named.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidRequestError(f"The query file {path} cannot be read.", "Give a JSON-lines file in UTF-8.") from exc
    queries = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            queries.append(EvalQuery.model_validate_json(line))
        except ValidationError as exc:
            problem = exc.errors(include_url=False)[0]["msg"]
            raise InvalidRequestError(
                f"Line {number} of {path} is not a question: {problem}.", 'Each line is {"id": "...", "query": "..."}.'
            ) from exc
    if not queries:
        raise InvalidRequestError(f"The query file {path} holds no question.", "Give at least one line.")
    return queries


def run_queries(service: EvidenceService, queries: list[EvalQuery], top_k: int) -> Iterator[dict[str, Any]]:
    """Answer every question: `{"id", "results": [...]}` with the reranked order first, then the rest of the pool."""
    for query in queries:
        outcome = service.retrieve(EvidenceRequest(query=query.query, task_mode=query.task_mode))
        scores = {item.hit.payload.candidate_id: item.rerank_score for item in outcome.ranked}
        results = [
            _result(hit.payload, scores.get(hit.payload.candidate_id), hit.fused_score)
            for hit in outcome.order()[:top_k]
        ]
        yield {"id": query.id, "results": results}


def write_run(lines: Iterator[dict[str, Any]], path: Path) -> int:
    """Write a run as JSON lines in place of an older one; returns the number of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    count = 0
    with temporary.open("w", encoding="utf-8") as stream:
        for line in lines:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    temporary.replace(path)
    return count


def _result(payload: ChunkPayload, rerank_score: float | None, fused_score: float) -> dict[str, Any]:
    return {
        "corpus": payload.corpus,
        "path": payload.path,
        "start_line": payload.start_line,
        "end_line": payload.end_line,
        "score": round(fused_score if rerank_score is None else rerank_score, 6),
        "text_tokens": payload.text_tokens,
    }
