"""Our own golden set is well-formed; whether its spans are right, people have read."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from adk_evidence.settings import config_file


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in config_file("golden/adk.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_question_has_an_id_and_wording_of_its_own(questions):
    assert len({question["id"] for question in questions}) == len(questions)
    assert len({" ".join(question["query"].lower().split()) for question in questions}) == len(questions)


def test_answerable_questions_have_three_to_eight_spans_and_the_others_none(questions):
    for question in questions:
        assert question["task_mode"] in ("build", "debug", "explain", "refactor"), question["id"]
        count = len(question["expected"])
        assert 3 <= count <= 8 if question["answerable"] else count == 0, question["id"]
    assert Counter(question["answerable"] for question in questions) == {True: 78, False: 16}


def test_spans_are_graded_lines_of_files_of_the_two_corpora(questions):
    starts = {"adk_docs": "docs/", "adk_python": "src/google/adk/"}
    for question in questions:
        for span in question["expected"]:
            assert span["path"].startswith(starts[span["corpus"]]), question["id"]
            assert 1 <= span["start_line"] <= span["end_line"], question["id"]
            assert span["grade"] in (1, 2), question["id"]
        assert not question["expected"] or any(span["grade"] == 2 for span in question["expected"])
