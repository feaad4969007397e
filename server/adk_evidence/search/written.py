"""Which of the questions that were written for a result is near to what was asked."""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence.errors import ModelError
from adk_evidence.models.chunk import KINDS
from adk_evidence.models.pack import WrittenQuestion, round_score
from adk_evidence.search.lookup import similarities
from adk_evidence.search.run import Hit, Run
from adk_evidence.search.versions import without_versions

# The cosine from which two questions mostly are about the same thing. Of the results of 60 questions of our golden set,
# three in ten have such a question; of the questions between .4 and .5, most only share a word with the one asked.
NEAR = 0.5
# How far a store's cosine may be from ours.
_ROUNDING = 1e-4
# How much further an adapted question may be from a written one that is near to the question as it was asked.
_ADAPTED = 0.25


def near_questions(run: Run, hits: Sequence[Hit]) -> dict[str, WrittenQuestion]:
    """The nearest question of each hit, by point id, where one is near; of two that are equally near, the first."""
    found: dict[str, WrittenQuestion] = {}
    if run.settings.retrieval.relevant_similarity is None:
        # Nobody knows which cosines of the model are near.
        return found
    may_be = {kind: [hit for hit in hits if hit.kind == kind and _may_be_near(run, hit)] for kind in KINDS}
    try:
        # Two questions are alike as they are, and not as one of them was adapted.
        adapted = run.question_model and any(may_be.values())
        asked = run.models.dense.doc.embed_query(without_versions(run.query.text)) if adapted else None
    except ModelError:
        return found
    for kind in KINDS:
        own = {hit.point_id: hit.payload.questions for hit in may_be[kind]}
        name = run.settings.store.questions_vector(kind)
        for point, cosines in similarities(run, kind, name, tuple(own), asked=asked).items():
            # A store may keep the vectors of another model's version; then the questions cannot be told apart.
            if len(cosines) != len(own[point]):
                continue
            scores = [round_score(cosine) for cosine in cosines]
            best = max(scores)
            if best >= NEAR:
                found[point] = WrittenQuestion(text=own[point][scores.index(best)], similarity=best)
    return found


def _may_be_near(run: Run, hit: Hit) -> bool:
    """Whether a hit has a question that may be near, as the store's score says where the store was asked.

    Reading the vectors of all would take twice as long.
    """
    scores = run.asked_scores.get(hit.point_id, {}) if run.relevant else hit.scores
    needed = NEAR - (_ADAPTED if run.question_model else _ROUNDING)
    return bool(hit.payload.questions) and scores.get("asked", NEAR) >= needed
