"""Our own golden sets are well-formed; whether their spans are right, people have read or a script has looked up."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from adk_evidence.paths import config_file
from adk_evidence_eval.golden import read_golden
from adk_evidence_eval.score import set_kind


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in config_file(f"golden/{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["adk", "names", "howto"])
def test_questions_differ_and_expect_graded_lines_of_files_of_the_two_corpora(name):
    questions = rows(name)
    assert len({question["id"] for question in questions}) == len(questions)
    assert len({" ".join(question["query"].lower().split()) for question in questions}) == len(questions)
    for question in questions:
        spans = question["expected"]
        assert bool(spans) == question.get("answerable", True), question["id"]
        assert not spans or any(span["grade"] == 2 for span in spans), question["id"]
        for span in spans:
            assert span["path"].startswith("docs/" if span["corpus"] == "adk_docs" else "src/google/adk/")
            assert 1 <= span["start_line"] <= span["end_line"] and span["grade"] in (1, 2), question["id"]


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
