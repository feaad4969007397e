"""Which written question of a result is near to what was asked."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from adk_evidence.search.pack.questions import near_questions
from adk_evidence.search.stages import Candidates, Hit, QueryVectors
from tests.core.factories import SETTINGS, encoded, hit, payload, question, ranking

QUESTIONS = ("how do I bake?", "how do I boil?")


def stored(score: float) -> tuple[Hit, Any]:
    """A hit whose nearest question has a score, and an index with the vectors of its questions."""
    found = hit(payload(questions=QUESTIONS), scores={"asked": score})
    name = SETTINGS.store.questions_vector("doc")

    def scroll(*_: Any, **__: Any) -> Any:
        return [SimpleNamespace(id=found.point_id, vectors={name: [[1.0, 0.0], [0.6, 0.8]]})], None

    return found, SimpleNamespace(store=SimpleNamespace(scroll=scroll))


@pytest.mark.parametrize(
    ("score", "first", "relevant", "near"),
    [
        (0.9, None, (), True),
        (0.1, None, (), False),
        (0.9, None, ("moved",), True),
        (0.1, None, ("moved",), True),
        (0.1, 0.9, ("moved",), True),
        (0.9, 0.1, ("moved",), False),
    ],
)
def test_only_the_stores_score_of_what_was_asked_leaves_results_out(
    score: float, first: float | None, relevant: tuple[str, ...], near: bool
) -> None:
    found, index = stored(score)
    asked = QueryVectors("boil", {"doc": [0.0, 1.0]}, None)  # type: ignore[arg-type]
    scores = {found.point_id: {"asked": first}} if first is not None else {}
    candidates = Candidates(encoded(asked), relevant=relevant, asked_scores=scores)
    told = near_questions(ranking(question(index=index), found, candidates=candidates))
    assert [(one.text, one.similarity) for one in told.values()] == (
        [(QUESTIONS[1], pytest.approx(0.8))] if near else []
    )


@pytest.mark.parametrize(("score", "near"), [(0.8, True), (0.3, False)])
def test_an_adapted_question_is_compared_with_written_ones_as_it_was_asked(score: float, near: bool) -> None:
    # The score for the adapted question would leave the result out.
    found, index = stored(0.1)
    name = SETTINGS.store.questions_vector("doc")

    def score_points(collection: str, points: Any, queries: Any) -> Any:
        assert queries == {name: [0.0, 1.0]}
        return {name: dict.fromkeys(points, score)}

    index.store.score_points = score_points
    asked = QueryVectors("boil", {"doc": [1.0, 0.0]}, None)  # type: ignore[arg-type]
    unadapted: Future[list[float]] = Future()
    unadapted.set_result([0.0, 1.0])
    candidates = Candidates(encoded(asked, unadapted=unadapted))
    told = near_questions(ranking(question(index=index), found, candidates=candidates))
    # The adapted vector is that of the other question.
    assert [(one.text, one.similarity) for one in told.values()] == (
        [(QUESTIONS[1], pytest.approx(0.8))] if near else []
    )
