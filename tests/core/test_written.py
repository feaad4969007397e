"""Which written question of a result is near to what was asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from adk_evidence.search.run import QueryVectors
from adk_evidence.search.written import near_questions
from tests.core.factories import SETTINGS, hit, payload, run

QUESTIONS = ("how do I bake?", "how do I boil?")


@pytest.mark.parametrize(
    ("score", "relevant", "near"),
    [(0.9, (), True), (0.1, (), False), (0.9, ("moved",), True), (0.1, ("moved",), True)],
)
def test_the_stores_score_leaves_results_out_only_while_it_is_of_what_was_asked(
    score: float, relevant: tuple[str, ...], near: bool
) -> None:
    found = hit(payload(questions=QUESTIONS), scores={"asked": score})
    name = SETTINGS.store.questions_vector("doc")

    def scroll(*_: Any, **__: Any) -> Any:
        return [SimpleNamespace(id=found.point_id, vectors={name: [[1.0, 0.0], [0.6, 0.8]]})], None

    index: Any = SimpleNamespace(store=SimpleNamespace(scroll=scroll))
    made = run(index=index, asked=QueryVectors("boil", {"doc": [0.0, 1.0]}, None), relevant=relevant)  # type: ignore[arg-type]
    told = near_questions(made, [found])
    assert [(one.text, one.similarity) for one in told.values()] == (
        [(QUESTIONS[1], pytest.approx(0.8))] if near else []
    )
