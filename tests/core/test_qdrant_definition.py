"""The stand-in of Qdrant is held against Qdrant's own definition in every test that asks it; here: how."""

from __future__ import annotations

import json

import pytest

from tests.standins.qdrant import _ROUTES
from tests.standins.qdrant_definition import MISSING, Definition, Exchange, definition, note, take_deviations

POINTS = "/collections/docs/points"
POINT = {"id": "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "vector": {"dense": [0.5] * 384}, "payload": {"path": "a.md"}}


@pytest.fixture(scope="module")
def defined() -> Definition:
    found = definition()
    if found is None:
        pytest.skip(MISSING)
    return found


def asked(defined: Definition, method: str, path: str, body: object, **query: str) -> list[str]:
    values = {name: [value] for name, value in query.items()}
    return defined.of_request(method, path, values, json.dumps(body).encode(), "application/json")


def test_what_the_stand_in_answers_is_defined(defined: Definition) -> None:
    for verb, pattern, _ in _ROUTES:
        path = pattern.pattern.replace("([^/]+)", "docs")
        assert any(verb == method and each.fullmatch(path) for method, each, _ in defined._parameters), path


def test_a_sound_request_and_answer_pass(defined: Definition) -> None:
    assert asked(defined, "PUT", POINTS, {"points": [POINT]}, wait="true") == []
    done = {"result": {"operation_id": 1, "status": "wait_timeout"}, "status": "ok", "time": 0.1}
    assert defined.of_answer("PUT", POINTS, 200, json.dumps(done).encode()) == []


@pytest.mark.parametrize(
    ("method", "path", "body", "query"),
    [
        ("PUT", "/collections/docs/pints", {"points": [POINT]}, {}),
        ("PUT", POINTS, {"points": [POINT]}, {"await": "true"}),
        ("PUT", POINTS, {"points": [{"id": POINT["id"]}]}, {}),
        ("POST", POINTS + "/count", {"filter": {"must": [{"key": "path", "match": {"anyy": ["a"]}}]}}, {}),
    ],
)
def test_a_request_that_deviates_is_noticed(
    defined: Definition, method: str, path: str, body: object, query: dict[str, str]
) -> None:
    assert asked(defined, method, path, body, **query)


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, {"result": {"status": "done"}, "status": "ok", "time": 0.1}),
        (200, {"status": "ok", "time": 0.1}),
        (503, {"error": "down"}),
    ],
)
def test_an_answer_that_deviates_is_noticed(defined: Definition, status: int, answer: object) -> None:
    assert defined.of_answer("PUT", POINTS, status, json.dumps(answer).encode())


def test_a_value_out_of_range_is_noticed_after_a_good_one(defined: Definition) -> None:
    for limit in (10, 0, 10):
        body = json.dumps({"limit": limit, "offset": POINT["id"]}).encode()
        note(Exchange("POST", POINTS + "/scroll", {}, body, "application/json"))
    [deviation] = take_deviations()
    assert "less than the minimum of 1" in deviation
