"""Tasks near a question: what people want or meet, whose answer is in several places (`adk_ingest.records.tasks`).

Each chunk that a task needs is found by the ways to say the task, as by questions that were written for the chunk. So
all chunks of a task are at least as similar to a question as the nearest of its ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.search.stages import Hit

# From which similarity on a task is near a question, and how much less than the nearest task others may have.
NEAR = 0.5
NEAR_BEST = 0.12
MOST = 3
# The share of a task's chunks that must be found. Of an index of another version, some may be missing.
MOST_OF = 0.7


def tasks_near(hits: Iterable[Hit]) -> dict[str, float]:
    """The tasks near the question, by title, nearest first, each with its similarity.

    The similarity is the least one of the task's hits to the questions that were written for them. Where a hit is found
    for another question, some of the task's other chunks are not found: most of a task's chunks, and two at least, must
    be hits.
    """
    found: dict[str, list[float]] = {}
    chunks: dict[str, int] = {}
    for hit in [hit for hit in hits if hit.payload.tasks]:
        asked = next((place.score for place in hit.branches if place.branch == "asked"), None)
        if asked is not None:
            for title, _, count in hit.payload.tasks:
                found.setdefault(title, []).append(asked)
                chunks[title] = count
    near = {title: min(scores) for title, scores in found.items() if len(scores) >= max(2, MOST_OF * chunks[title])}
    least = max(NEAR, max(near.values(), default=0.0) - NEAR_BEST)
    best = sorted((title for title, score in near.items() if score >= least), key=lambda title: (-near[title], title))
    return {title: near[title] for title in best[:MOST]}


def task_of(payload: ChunkPayload, tasks: Mapping[str, float]) -> tuple[str, str] | None:
    """The title and the chunk's role of the nearest task that a chunk is a part of."""
    parts = {title: role for title, role, _ in payload.tasks if title in tasks}
    return next(((title, parts[title]) for title in tasks if title in parts), None)
