"""Runs of queries through the pipeline, one JSON line each, for any scorer to measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.lines import runs
from adk_evidence.models.pack import EvidencePack, QualityLevel
from adk_evidence.render.prompt import to_prompt
from adk_evidence.search.context import Context
from adk_evidence.search.pack.assemble import assemble
from adk_evidence.search.session import EvidenceService
from adk_evidence.search.stages import Hit, Ranking
from adk_evidence.store.manifest import checkout_name
from adk_evidence_eval.golden import Question, Read, Row, Span, read_rows

Order = Callable[[Ranking], Sequence[Hit]]


class Result(Read):
    """One piece of evidence in a run; lines are 1-based and inclusive, 0 where they are not known."""

    corpus: str
    path: str
    start_line: int
    end_line: int
    score: float = 0.0
    text_tokens: int = 0


class Prompted(Read):
    """What a reader of a prompt is shown: its tokens, fixed words included, and the cited lines in it."""

    tokens: int
    lines: tuple[Span, ...] = ()


class Answer(Row):
    """A run's answer to one question, best first. The optional parts exist only if details were requested.

    `pool` is the order before the reranker. `prompt` is the pack's prompt within the default budget. `latency_ms` is
    the time from the request to the pack, and `cpu_ms` what the processors spend on the pack, in all threads.
    """

    results: tuple[Result, ...]
    pool: tuple[Result, ...] | None = None
    quality: QualityLevel | None = None
    prompt: Prompted | None = None
    latency_ms: float | None = None
    cpu_ms: float | None = None


def ask(service: EvidenceService, question: Question) -> Ranking:
    """The ranking for a question, which is not logged."""
    with service.session(Context(logged=False)) as session:
        return session.rank(question.request(session))


def run_queries(
    service: EvidenceService,
    queries: Sequence[Question],
    top_k: int,
    *,
    details: bool = False,
    order: Order = Ranking.order,
) -> Iterator[Answer]:
    """Answer every question with its first `top_k` results: the reranked order first, then the rest of the pool.

    Args:
        details: Whether the answers also carry pool, quality, prompt and times.
        order: Another order of what was found.
    """
    for query in queries:
        begin, busy = time.perf_counter(), time.process_time()
        outcome, pack = _packed(service, query) if details else (ask(service, query), None)
        spent, used = time.perf_counter() - begin, time.process_time() - busy
        reranked = {hit.payload.candidate_id: hit.rerank_score for hit in outcome.ranked}
        hits = order(outcome)[:top_k]
        scores = ((hit, reranked.get(hit.payload.candidate_id)) for hit in hits)
        results = tuple(result_of(hit.payload, hit.fused_score if score is None else score) for hit, score in scores)
        if pack is None:
            yield Answer(id=query.id, results=results)
            continue
        yield Answer(
            id=query.id,
            results=results,
            pool=tuple(result_of(hit.payload, hit.fused_score) for hit in outcome.candidates.merged[:top_k]),
            quality=outcome.quality.level,
            # A pack has the pipeline's own order.
            prompt=_prompted(outcome, pack) if order is Ranking.order else None,
            latency_ms=round(spent * 1000, 2),
            cpu_ms=round(used * 1000, 2),
        )


def _packed(service: EvidenceService, question: Question) -> tuple[Ranking, EvidencePack]:
    """The ranking for a question and its pack, neither of them logged."""
    with service.session(Context(logged=False)) as session:
        outcome = session.rank(question.request(session))
        return outcome, assemble(outcome, service.symbols.imports())


def _prompted(outcome: Ranking, pack: EvidencePack) -> Prompted:
    block = to_prompt(pack)
    lines = []
    for rank, shown in zip(block.ranks, block.lines, strict=True):
        payload = outcome.final[rank - 1].payload
        for start, end in runs(shown):
            lines.append(Span(corpus=checkout_name(payload.corpus), path=payload.path, start_line=start, end_line=end))
    return Prompted(tokens=block.tokens, lines=tuple(lines))


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


def read_run(path: Path) -> dict[str, Answer]:
    return read_rows(path, Answer, "Write the run with `adk-evidence eval run`.")
