"""Runs of queries through the pipeline, one JSON line each, for any scorer to measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import QualityLevel
from adk_evidence.search.passages import Excerpt, choose_passages
from adk_evidence.search.passages import Question as PassageQuestion
from adk_evidence.search.run import Hit, Run
from adk_evidence.search.session import EvidenceService
from adk_evidence.store.manifest import checkout_name
from adk_evidence_eval.golden import Question, Row, read_rows

Order = Callable[[Run], Sequence[Hit]]


class Result(BaseModel):
    """One piece of evidence in a run; lines are 1-based and inclusive, 0 where they are not known.

    `shown` are the lines of its passages, and `shown_tokens` their tokens; null in runs without details.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    corpus: str
    path: str
    start_line: int
    end_line: int
    score: float = 0.0
    text_tokens: int = 0
    shown: tuple[tuple[int, int], ...] | None = None
    shown_tokens: int | None = None


class Answer(Row):
    """A run's answer to one question, best first. The optional parts exist only if details were requested.

    `pool` is the order before the reranker, `latency_ms` the time of the retrieval without checking citations.
    """

    results: tuple[Result, ...]
    pool: tuple[Result, ...] | None = None
    quality: QualityLevel | None = None
    latency_ms: float | None = None


def run_queries(
    service: EvidenceService,
    queries: Sequence[Question],
    top_k: int,
    *,
    details: bool = False,
    order: Order = Run.order,
) -> Iterator[Answer]:
    """Answer every question with its first `top_k` results: the reranked order first, then the rest of the pool.

    Args:
        details: Whether the answers also carry passages, pool, quality and latency; the model is then loaded first.
        order: Another order of what was found.
    """
    if details and queries:
        service.rank(queries[0].request())
    for query in queries:
        begin = time.perf_counter()
        outcome = service.rank(query.request())
        spent = (time.perf_counter() - begin) * 1000
        reranked = {hit.payload.candidate_id: hit.rerank_score for hit in outcome.ranked}
        hits = order(outcome)[:top_k]
        scores = ((hit, reranked.get(hit.payload.candidate_id)) for hit in hits)
        results = tuple(result_of(hit.payload, hit.fused_score if score is None else score) for hit, score in scores)
        if not details:
            yield Answer(id=query.id, results=results)
            continue
        excerpts = choose_passages(outcome, PassageQuestion.of(outcome), hits)
        results = tuple(_shown(result, excerpts[hit.point_id]) for result, hit in zip(results, hits, strict=True))
        pool = tuple(result_of(hit.payload, hit.fused_score) for hit in outcome.merged[:top_k])
        quality = outcome.quality.level
        yield Answer(id=query.id, results=results, pool=pool, quality=quality, latency_ms=round(spent, 2))


def _shown(result: Result, excerpt: Excerpt) -> Result:
    lines = tuple((passage.lines.start, passage.lines.end) for passage in excerpt.passages)
    return result.model_copy(update={"shown": lines, "shown_tokens": excerpt.tokens})


def result_of(payload: ChunkPayload, score: float = 0.0) -> Result:
    """A chunk as a run shows it. Golden sets name checkouts, so the uncommitted files of one count as its own."""
    return Result(
        corpus=checkout_name(payload.corpus),
        path=payload.path,
        start_line=payload.start_line,
        end_line=payload.end_line,
        score=round(score, 6),
        text_tokens=payload.text_tokens,
    )


def write_run(answers: Iterable[Answer], path: Path) -> int:
    """Write a run as JSON lines. The file replaces an older run only when it is complete.

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
            for count, answer in enumerate(answers, 1):  # noqa: B007
                stream.write(answer.model_dump_json(exclude_none=True) + "\n")
        temporary.replace(path)
    except OSError as exc:
        raise InvalidRequestError(
            f"The run cannot be written to {path}: {exc.strerror or exc}.", "Name another file with --out."
        ) from exc
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return count


def read_run(path: Path) -> dict[str, Answer]:
    return read_rows(path, Answer, "Write the run with `adk-evidence eval run`.")
