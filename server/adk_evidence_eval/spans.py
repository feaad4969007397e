"""When a result is a hit: its lines overlap a target's by half of the shorter of the two."""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence_eval.golden import Span, Target
from adk_evidence_eval.run import Result

MIN_OVERLAP = 0.5


def hits(result: Result, target: Target) -> bool:
    """Whether a result covers a target."""
    if (result.corpus, result.path) != (target.corpus, target.path):
        return False
    shared = min(result.end_line, target.end_line) - max(result.start_line, target.start_line) + 1
    shorter = min(result.end_line - result.start_line, target.end_line - target.start_line) + 1
    return shared >= MIN_OVERLAP * shorter


def counted(results: Sequence[Result], source: Span | None) -> Sequence[Result]:
    """The results but for those that overlap what the question's own words were taken from."""
    return results if source is None else [result for result in results if not _overlaps(result, source)]


def _overlaps(result: Result, source: Span) -> bool:
    same = (result.corpus, result.path) == (source.corpus, source.path)
    return same and result.start_line <= source.end_line and source.start_line <= result.end_line


def first_hits(results: Sequence[Result], targets: Sequence[Target]) -> dict[int, int]:
    """The rank, from 0, of the first result that hits each target, by the target's number; missed ones are left out."""
    first: dict[int, int] = {}
    for rank, result in enumerate(results):
        for number, target in enumerate(targets):
            if number not in first and hits(result, target):
                first[number] = rank
    return first
