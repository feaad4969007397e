"""Our own golden sets are well-formed; whether their spans are right, people have read or a script has looked up."""

from __future__ import annotations

import ast
import json
from collections import Counter
from typing import Any

import pytest

from adk_evidence.settings import config_file
from adk_evidence_eval.golden import read_golden
from adk_evidence_eval.score import set_kind


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in config_file(f"golden/{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    return rows("adk")


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


def test_questions_about_names_expect_definitions_of_names_that_they_mention():
    names = rows("names")
    assert Counter(question["category"] for question in names) == {"unique": 15, "ambiguous": 15}
    assert len({question["query"] for question in names}) == len(names)
    for question in names:
        for span in question["expected"]:
            assert span["path"].startswith("src/google/adk/") and span["start_line"] <= span["end_line"]
            name = span["symbol"].rpartition(".")[2]
            assert name == "__init__" or name in question["query"], question["id"]


def test_questions_for_reading_have_direct_answers_in_docs_or_code():
    howto = rows("howto")
    assert Counter(question["category"] for question in howto) == {
        "how_to": 25,
        "api_detail": 5,
        "why": 5,
        "comparison": 5,
    }
    known = {question["query"] for question in rows("adk")}
    for question in howto:
        assert question["query"] not in known
        assert any(span["grade"] == 2 for span in question["expected"]), question["id"]
        assert all(span["sha256"] and (span.get("symbol") or span.get("heading")) for span in question["expected"])


def test_tracebacks_end_in_an_error_of_the_adk_and_come_in_many_forms():
    golden = read_golden(config_file("golden/tracebacks.jsonl"), ask=True)
    assert len(golden) == 40 and set_kind(golden) == "traceback"
    assert len({question.category for question in golden.values()}) >= 10
    sites = {(target.path, target.symbol) for question in golden.values() for target in question.expected}
    assert len(sites) == 40
    for question in golden.values():
        message = (question.last_line or "").partition(": ")[2][:40]
        assert message in question.query or json.dumps(message)[1:-1] in question.query, question.id


def test_selections_are_code_of_whole_programs_some_of_which_do_not_parse():
    golden = read_golden(config_file("golden/selections.jsonl"), ask=True)
    assert len(golden) == 60 and set_kind(golden) == "selection"
    broken = 0
    for question in golden.values():
        assert question.selection is not None and question.expected
        lines = question.selection.document.split("\n")
        (first, column), (last, end) = question.selection.start, question.selection.end
        assert column == 0 and end == len(lines[last]) and 1 <= last - first + 1 <= 40, question.id
        assert last < len(lines) - 1 or first > 0, "the document is more than the selection"
        try:
            ast.parse(question.selection.document)
        except SyntaxError:
            broken += 1
    assert broken >= 5
