"""Which of the questions that were written for a result is near to what was asked."""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence.errors import CollectionUnavailableError, ModelError
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.models.pack import WrittenQuestion, round_score
from adk_evidence.search.calibration import calibration_of
from adk_evidence.search.candidates.lookup import similarities
from adk_evidence.search.stages import Candidates, Hit, Question, Ranking

# The cosine from which two questions mostly are about the same thing. Of the results of 60 questions of our golden set,
# three in ten have such a question; of the questions between .4 and .5, most only share a word with the one asked.
NEAR = 0.5
# How far a store's cosine may be from ours.
_ROUNDING = 1e-4


def near_questions(ranking: Ranking) -> dict[str, WrittenQuestion]:
    """The nearest question of each final result, by point id, where one is near; of two equally near, the first."""
    found: dict[str, WrittenQuestion] = {}
    question, candidates = ranking.question, ranking.candidates
    encoded, store = candidates.encoded, question.settings.store
    if calibration_of(question.settings) is None:
        # Nobody knows which cosines of the model are near.
        return found
    try:
        # Two questions are alike as they are, and not as one of them was adapted.
        plain = encoded.unadapted.result() if encoded.unadapted is not None else None
    except ModelError:
        return found
    for kind in KINDS:
        having = [hit for hit in ranking.final if hit.kind == kind and hit.payload.questions]
        own = {hit.point_id: hit.payload.questions for hit in having}
        measured = _measured(candidates, having) if plain is None else _scored(question, kind, tuple(own), plain)
        # Reading the vectors of all would take longer.
        near = [point for point in own if measured.get(point, 0.0) >= NEAR - _ROUNDING]
        asked = plain or (encoded.asked.dense.get(kind) if encoded.asked is not None else None)
        for point, cosines in similarities(question, asked, kind, store.questions_vector(kind), near).items():
            # A store may keep the vectors of another model's version; then the questions cannot be told apart.
            if len(cosines) != len(own[point]):
                continue
            scores = [round_score(cosine) for cosine in cosines]
            best = max(scores)
            if best >= NEAR:
                found[point] = WrittenQuestion(text=own[point][scores.index(best)], similarity=best)
    return found


def _measured(candidates: Candidates, hits: Sequence[Hit]) -> dict[str, float]:
    """How near a question of each hit is to what was asked, by point id; `NEAR` where the store was not asked."""
    scores = {
        hit.point_id: candidates.asked_scores.get(hit.point_id, {}) if candidates.relevant else hit.scores
        for hit in hits
    }
    return {point: own.get("asked", NEAR) for point, own in scores.items()}


def _scored(question: Question, kind: Kind, points: Sequence[str], vector: Sequence[float]) -> dict[str, float]:
    """How near a question of each chunk is to a vector, by point id; empty where the collection cannot answer."""
    if not points or kind in question.context.failed.collections:
        return {}
    store = question.settings.store
    name = store.questions_vector(kind)
    try:
        return question.index.store.score_points(store.collection(kind), points, {name: vector})[name]
    except CollectionUnavailableError as exc:
        question.context.without_collection(kind, exc)
        return {}
