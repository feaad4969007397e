"""Which of the questions that were written for a result is near to what was asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.models.pack import WrittenQuestion, round_score
from adk_evidence.search.run import Hit, Run
from adk_evidence.store.base import Filter, HasId

# The cosine from which two questions mostly are about the same thing. Of the results of 60 questions of our golden set,
# three in ten have such a question; of the questions between .4 and .5, most only share a word with the one asked.
NEAR = 0.5


def near_questions(run: Run, hits: Sequence[Hit]) -> dict[str, WrittenQuestion]:
    """The nearest question of each hit, by point id, where one is near; of two that are equally near, the first."""
    found: dict[str, WrittenQuestion] = {}
    for kind in KINDS:
        own = {hit.point_id: hit.payload.questions for hit in hits if hit.kind == kind and _may_be_near(run, hit)}
        asked = run.asked.dense.get(kind) if hasattr(run, "asked") else None
        if asked is None or not own or kind in run.collections_failed:
            continue
        try:
            vectors = _vectors(run, kind, tuple(own))
        except CollectionUnavailableError as exc:
            run.without_collection(kind, exc)
            continue
        for point, rows in vectors.items():
            # A store may keep the vectors of another model's version; then the questions cannot be told apart.
            if rows.ndim != 2 or len(rows) != len(own[point]):
                continue
            scores = [round_score(float(score)) for score in rows @ np.asarray(asked, dtype=np.float32)]
            best = max(scores)
            if best >= NEAR:
                found[point] = WrittenQuestion(text=own[point][scores.index(best)], similarity=best)
    return found


def _may_be_near(run: Run, hit: Hit) -> bool:
    """Whether a hit has a question that may be near: reading the vectors of all would take twice as long.

    The store's score says so unless feedback has moved the question that the score is of.
    """
    return bool(hit.payload.questions) and (bool(run.relevant) or hit.scores.get("asked", NEAR) >= NEAR)


def _vectors(run: Run, kind: Kind, points: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The vectors of the questions of some points, a row each. A score of the store does not say which is nearest."""
    store = run.settings.store
    name = store.questions_vector(kind)
    records, _ = run.index.store.scroll(
        store.collection(kind),
        filter=Filter(must=(HasId(points),)),
        limit=len(points),
        with_payload=False,
        with_vectors=[name],
    )
    return {record.id: np.asarray(record.vectors.get(name, ()), dtype=np.float32) for record in records}
