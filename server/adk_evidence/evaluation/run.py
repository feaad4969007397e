"""Runs of queries through the pipeline, one JSON line each, for any scorer to measure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.evaluation.lines import Row, bad_row, read_rows
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.request import EvidenceRequest, TaskMode
from adk_evidence.retrieval.pipeline import EvidenceService

_EXAMPLE = 'Each line is {"id": "...", "query": "..."}.'


class EvalQuery(Row):
    """One question of a query file; other keys, such as labels, are not read."""

    query: str
    task_mode: TaskMode = "build"

    def request(self) -> EvidenceRequest:
        """The request that asks it.

        Raises:
            ValidationError: The query is empty or too long.
        """
        return EvidenceRequest(query=self.query, task_mode=self.task_mode)


def read_queries(path: Path) -> list[EvalQuery]:
    """Read a JSON-lines file of questions.

    Raises:
        InvalidRequestError: The file cannot be read, or a line is not a question of its own; the line is named.
    """
    queries = read_rows(path, EvalQuery, _EXAMPLE)
    for number, query in queries.items():
        try:
            query.request()
        except ValidationError as exc:
            raise bad_row(path, number, exc, _EXAMPLE) from exc
    return list(queries.values())


def run_queries(service: EvidenceService, queries: list[EvalQuery], top_k: int) -> Iterator[dict[str, Any]]:
    """Answer every question: `{"id", "results": [...]}` with the reranked order first, then the rest of the pool."""
    for query in queries:
        outcome = service.retrieve(query.request())
        scores = {item.hit.payload.candidate_id: item.rerank_score for item in outcome.ranked}
        results = [
            _result(hit.payload, scores.get(hit.payload.candidate_id), hit.fused_score)
            for hit in outcome.order()[:top_k]
        ]
        yield {"id": query.id, "results": results}


def write_run(lines: Iterator[dict[str, Any]], path: Path) -> int:
    """Write a run as JSON lines in place of an older one, which stays if the run does not end.

    Returns:
        The number of lines.

    Raises:
        InvalidRequestError: The file cannot be written.
    """
    temporary = path.with_name(f"{path.name}.tmp")
    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8") as stream:
            for line in lines:
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += 1
        temporary.replace(path)
    except OSError as exc:
        raise InvalidRequestError(
            f"The run cannot be written to {path}: {exc.strerror or exc}.", "Name another file with --out."
        ) from exc
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
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
