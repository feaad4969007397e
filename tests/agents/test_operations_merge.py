"""Results of several indexes in one order."""

from __future__ import annotations

from typing import Any

from adk_evidence.models.named import Named
from adk_evidence_agents.operations.searching import Found, merged
from tests.core.factories import hit, payload

SESSION: Any = None


def found(index: str, place: int, score: float, named: Named | None = None, model: str = "minilm") -> Found:
    return Found(index, SESSION, hit(payload(body=f"{index} {place}"), named=named), place, score, model)


def order(*results: list[Found]) -> list[tuple[str, int]]:
    return [(item.name, item.place) for item in merged(results)]


def test_what_is_near_the_question_comes_before_what_is_far():
    assert order([found("a", 1, 0.1), found("a", 2, 0.1)], [found("b", 1, 0.9), found("b", 2, 0.8)])[0] == ("b", 1)


def test_what_the_question_names_leads_whatever_its_index_and_its_likeness():
    near = [found("a", 1, 0.9), found("a", 2, 0.8)]
    site = [found("b", 1, 0.1, Named("raises")), found("b", 2, 0.7)]
    assert order(near, site)[:2] == [("b", 1), ("a", 1)]


def test_likeness_by_two_models_does_not_decide_between_two_indexes():
    static = [found("b", 1, 0.9, model="static"), found("b", 2, 0.8, model="static")]
    assert order([found("a", 1, 0.1), found("a", 2, 0.1)], static)[:3] == [("a", 1), ("b", 1), ("a", 2)]
