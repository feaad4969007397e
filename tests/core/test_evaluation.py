"""Runs of questions, and their scores against graded spans."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.errors import InvalidRequestError
from adk_evidence.evaluation.run import read_queries, run_queries, write_run
from adk_evidence.evaluation.score import Result, Target, hits, read_golden, read_run, score_query, score_run
from tests.corpora import Workplace


def target(start: int, end: int, grade: int = 1, path: str = "a.py", corpus: str = "adk_python") -> Target:
    return Target(corpus=corpus, path=path, start_line=start, end_line=end, grade=grade)


def result(start: int, end: int, path: str = "a.py", corpus: str = "adk_python", tokens: int = 100) -> Result:
    return Result(corpus=corpus, path=path, start_line=start, end_line=end, text_tokens=tokens)


MISS = result(1, 9, path="other.py")


# Hits


@pytest.mark.parametrize(
    ("found", "wanted", "hit"),
    [
        ((1, 10), (1, 10), True),
        ((1, 10), (6, 15), True),  # 5 of 10
        ((1, 10), (7, 16), False),  # 4 of 10
        ((1, 100), (50, 51), True),  # the shorter one is inside
        ((5, 5), (1, 100), True),
        ((1, 4), (5, 9), False),
        ((0, 0), (1, 1), False),  # lines are not known
    ],
)
def test_half_of_the_shorter_span_is_a_hit(found, wanted, hit):
    assert hits(result(*found), target(*wanted)) is hit


def test_another_file_or_corpus_is_no_hit():
    assert not hits(result(1, 9, path="b.py"), target(1, 9))
    assert not hits(result(1, 9, corpus="adk_docs"), target(1, 9))


# Scores


def test_grades_weigh_and_late_hits_count_less():
    targets = [target(1, 10, grade=2), target(21, 30, grade=1)]
    perfect = score_query([result(1, 10), result(21, 30)], targets)
    swapped = score_query([result(21, 30), result(1, 10)], targets)
    assert perfect["ndcg@12"] == 1.0 and perfect["mrr@12"] == 1.0
    best = 3 + 1 / math.log2(3)
    assert swapped["ndcg@12"] == pytest.approx((1 + 3 / math.log2(3)) / best)


def test_a_target_counts_once():
    twice = score_query([MISS, result(1, 10), result(1, 10)], [target(1, 10)])
    assert twice["ndcg@12"] == pytest.approx(1 / math.log2(3))
    assert twice["mrr@12"] == 0.5 and twice["recall@5"] == 1.0


def test_the_cut_is_where_the_name_says():
    at_thirteen = score_query([MISS] * 12 + [result(1, 10)], [target(1, 10)])
    assert (at_thirteen["ndcg@12"], at_thirteen["mrr@12"], at_thirteen["recall@12"]) == (0.0, 0.0, 0.0)
    assert at_thirteen["recall@20"] == at_thirteen["recall@50"] == 1.0


def test_recall_within_a_budget_counts_the_tokens_that_were_read():
    fits = score_query([result(50, 60, tokens=1500), result(1, 10, tokens=500)], [target(1, 10)])
    over = score_query([result(50, 60, tokens=1501), result(1, 10, tokens=500)], [target(1, 10)])
    assert (fits["recall@2k"], over["recall@2k"], over["recall@4k"]) == (1.0, 0.0, 1.0)


def test_recall_is_also_given_by_corpus_where_something_is_expected():
    scores = score_query([result(1, 10)], [target(1, 10), target(1, 5, path="d.md", corpus="adk_docs")])
    assert (scores["adk_python:recall@12"], scores["adk_docs:recall@12"]) == (1.0, 0.0)
    assert "adk_docs:recall@12" not in score_query([], [target(1, 10)])


def test_an_unanswered_question_counts_zero_and_one_without_targets_not_at_all():
    golden = {"a": [target(1, 10)], "b": [target(1, 10)], "c": []}
    assert score_run({"a": [result(1, 10)], "c": []}, golden)["mrr@12"] == 0.5


SPANS = st.tuples(st.integers(1, 60), st.integers(0, 30)).map(lambda pair: (pair[0], sum(pair)))


@given(st.lists(SPANS, max_size=20), st.lists(st.tuples(SPANS, st.integers(1, 3)), min_size=1, max_size=6))
def test_every_score_is_between_nothing_and_all(found, wanted):
    scores = score_query([result(*span) for span in found], [target(*span, grade) for span, grade in wanted])
    assert all(0.0 <= value <= 1.0 for value in scores.values())
    assert scores["recall@5"] <= scores["recall@12"] <= scores["recall@20"] <= scores["recall@50"]
    assert scores["recall@2k"] <= scores["recall@4k"] <= scores["recall@8k"]


# Files


def test_questions_are_read_with_their_mode_and_without_their_labels(tmp_path: Path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"id": "a", "query": "one", "expected": []}\n\n{"id": "b", "query": "two", "task_mode": "debug"}\n'
    )
    assert [(q.id, q.query, q.task_mode) for q in read_queries(path)] == [("a", "one", "build"), ("b", "two", "debug")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("not json", "Line 2 of"),
        ('{"id": "b"}', "query: Field required"),
        ('{"query": "x"}', "id: Field required"),
        ('{"id": "b", "query": "  "}', "query is empty"),
        ('{"id": "b", "query": "x", "task_mode": "guess"}', "task_mode"),
        ('{"id": "a", "query": "x"}', "has the id of line 1"),
        ("[]", "Line 2 of"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str, problem: str):
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "a", "query": "one"}\n' + line)
    with pytest.raises(InvalidRequestError, match="Line 2 of") as caught:
        read_queries(path)
    assert problem in caught.value.message and "\n" not in caught.value.message


def test_files_that_are_missing_empty_or_no_text_are_one_sentence(tmp_path: Path):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing", "empty", "binary"):
        for read in (read_queries, read_golden, read_run):
            with pytest.raises(InvalidRequestError, match=name):
                read(tmp_path / name)


def test_a_golden_set_that_expects_nothing_is_refused(tmp_path: Path):
    path = tmp_path / "g.jsonl"
    path.write_text('{"id": "a", "query": "x"}\n')
    with pytest.raises(InvalidRequestError, match="No question"):
        read_golden(path)


def test_a_run_has_one_line_a_question_in_the_agreed_form(workplace: Workplace, tmp_path: Path):
    workplace.ingest()
    questions = tmp_path / "q.jsonl"
    questions.write_text(
        '{"id": "a", "query": "retry a tool"}\n{"id": "b", "query": "session", "task_mode": "explain"}\n'
    )
    out = tmp_path / "new" / "run.jsonl"
    service = workplace.service()
    try:
        assert write_run(run_queries(service, read_queries(questions), 60), out) == 2
        assert write_run(run_queries(service, read_queries(questions), 2), tmp_path / "short.jsonl") == 2
    finally:
        service.close()
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["a", "b"]
    for row in rows:
        assert set(row) == {"id", "results"}
        assert row["results"]
        for item in row["results"]:
            assert set(item) == {"corpus", "path", "start_line", "end_line", "score", "text_tokens"}
            assert item["corpus"] in ("adk_docs", "adk_python") and item["start_line"] >= 1
    explained = [item["score"] for item in rows[1]["results"]]
    assert explained == sorted(explained, reverse=True), "the reranker's order"
    assert all(len(answers) == 2 for answers in read_run(tmp_path / "short.jsonl").values())
    assert not workplace.settings.paths.event_log.exists()


def test_a_run_that_breaks_off_leaves_the_older_one(tmp_path: Path):
    out = tmp_path / "run.jsonl"
    out.write_text("old")

    def lines():
        yield {"id": "a", "results": []}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_run(lines(), out)
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


def test_a_run_that_cannot_be_written_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidRequestError, match="cannot be written"):
        write_run(iter([]), tmp_path / "file" / "run.jsonl")
