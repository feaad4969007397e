"""Runs of questions, and their scores against graded spans."""

from __future__ import annotations

import json
import math
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.errors import InvalidRequestError
from adk_evidence_eval.golden import (
    GoldenQuestion,
    Selection,
    Span,
    Target,
    golden_lines,
    read_golden,
    read_queries,
    set_names,
    write_file,
    written,
)
from adk_evidence_eval.run import Answer, Prompted, Result, read_run, run_queries
from adk_evidence_eval.score import TABLE_METRICS, Scores, hits, mean_scores, score_run, set_kind
from tests.core.factories import SETTINGS
from tests.corpora import Workplace

pytestmark = pytest.mark.slow


def target(start: int, end: int, grade: int = 1, path: str = "a.py", corpus: str = "adk_python") -> Target:
    return Target(corpus=corpus, path=path, start_line=start, end_line=end, grade=grade)


def result(start: int, end: int, path: str = "a.py", corpus: str = "adk_python", tokens: int = 100) -> Result:
    return Result(corpus=corpus, path=path, start_line=start, end_line=end, text_tokens=tokens)


def question(name: str, *targets: Target, **more) -> GoldenQuestion:
    return GoldenQuestion(id=name, query="x", expected=targets, **more)


def score_one(results: list[Result], targets: list[Target], **more) -> Scores:
    return score_run({"a": Answer(id="a", results=tuple(results), **more)}, {"a": question("a", *targets)})["a"]


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
    perfect = score_one([result(1, 10), result(21, 30)], targets)
    swapped = score_one([result(21, 30), result(1, 10)], targets)
    assert perfect["ndcg@12"] == 1.0 and perfect["mrr@12"] == 1.0
    best = 3 + 1 / math.log2(3)
    assert swapped["ndcg@12"] == pytest.approx((1 + 3 / math.log2(3)) / best)


def test_a_target_counts_once():
    twice = score_one([MISS, result(1, 10), result(1, 10)], [target(1, 10)])
    assert twice["ndcg@12"] == pytest.approx(1 / math.log2(3))
    assert twice["mrr@12"] == 0.5 and twice["recall@5"] == 1.0


def test_the_cut_is_where_the_name_says():
    at_thirteen = score_one([MISS] * 12 + [result(1, 10)], [target(1, 10)])
    assert (at_thirteen["ndcg@12"], at_thirteen["mrr@12"], at_thirteen["recall@12"]) == (0.0, 0.0, 0.0)
    assert at_thirteen["recall@20"] == at_thirteen["recall@50"] == 1.0


def test_recall_within_a_budget_counts_the_tokens_that_were_read():
    fits = score_one([result(50, 60, tokens=1500), result(1, 10, tokens=500)], [target(1, 10)])
    over = score_one([result(50, 60, tokens=1501), result(1, 10, tokens=500)], [target(1, 10)])
    assert (fits["recall@2k"], over["recall@2k"], over["recall@4k"]) == (1.0, 0.0, 1.0)


def test_recall_is_also_given_by_corpus_where_something_is_expected():
    scores = score_one([result(1, 10)], [target(1, 10), target(1, 5, path="d.md", corpus="adk_docs")])
    assert (scores["adk_python:recall@12"], scores["adk_docs:recall@12"]) == (1.0, 0.0)
    assert "adk_docs:recall@12" not in score_one([], [target(1, 10)])


def test_an_unanswered_question_counts_zero_and_one_without_targets_not_at_all():
    golden = {
        name: question(name, *targets) for name, targets in (("a", [target(1, 10)]), ("b", [target(1, 10)]), ("c", []))
    }
    run = {name: Answer(id=name, results=results) for name, results in (("a", (result(1, 10),)), ("c", ()))}
    scores = score_run(run, golden)
    assert list(scores) == ["a", "b"]
    assert mean_scores(scores)["mrr@12"] == 0.5


def test_a_result_that_carries_two_targets_counts_as_both():
    both = score_one([result(1, 30)], [target(1, 10), target(21, 30)])
    assert both["recall@5"] == both["ndcg@12"] == 1.0


def test_the_order_before_the_reranker_is_scored_where_a_run_has_it():
    scores = score_one([result(1, 10)], [target(1, 10)], pool=(MISS, result(1, 10)), latency_ms=7.0)
    assert (scores["mrr@12"], scores["pool:mrr@12"], scores["latency_ms"]) == (1.0, 0.5, 7.0)
    assert not any(name.startswith("pool:") for name in score_one([result(1, 10)], [target(1, 10)]))


def test_coverage_asks_for_three_of_each_kind_in_the_first_twelve():
    pages = [result(1, 2, path="d.md", corpus="adk_docs")] * 3
    assert score_one([*pages, MISS, MISS, MISS], [target(1, 10)])["coverage@12"] == 1.0
    short = score_one([*pages, MISS, MISS], [target(1, 10)])
    assert (short["docs@12"], short["code@12"], short["coverage@12"]) == (3, 2, 0.0)
    assert score_one([*pages * 4, MISS, MISS, MISS], [target(1, 10)])["coverage@12"] == 0.0


def test_golden_sets_of_one_name_are_told_apart_by_their_paths():
    paths = [Path("a/dev.jsonl"), Path("b/dev.jsonl"), Path("b/test.jsonl")]
    assert set_names(paths) == ["a/dev.jsonl", "b/dev.jsonl", "test"]


def test_latency_is_given_as_percentiles():
    means = mean_scores({str(number): {"latency_ms": float(number)} for number in range(101)})
    assert means == {"latency_p50_ms": 50.0, "latency_p95_ms": 95.0}


def test_any_line_of_the_raising_function_is_a_hit_for_a_traceback_alone():
    long, piece = target(1, 10), result(9, 30)
    as_question = score_run({"a": Answer(id="a", results=(piece,))}, {"a": question("a", long)})["a"]
    pasted = question("a", long, last_line="ValueError: no")
    as_traceback = score_run({"a": Answer(id="a", results=(piece,))}, {"a": pasted})["a"]
    assert (as_question["recall@5"], as_traceback["recall@5"], as_traceback["mrr@12"]) == (0, 1, 1)


def test_targets_that_answer_directly_are_also_scored_alone():
    found = [result(1, 10), *[MISS] * 11]
    scores = score_one(found, [target(1, 10, grade=2), target(50, 60)])
    assert (scores["recall@5"], scores["direct:recall@5"], scores["direct:recall@12"]) == (0.5, 1, 1)
    assert "direct:recall@5" not in score_one(found, [target(1, 10)])


def test_the_kind_of_a_set_is_that_of_all_its_questions():
    pasted = question("a", last_line="ValueError: no")
    chosen = question("b", selection=Selection(document="x = 1", start=(0, 0), end=(0, 5)))
    assert set_kind({"a": pasted}) == "traceback" and set_kind({"b": chosen}) == "selection"
    assert set_kind({"a": pasted, "b": chosen}) == set_kind({"c": question("c")}) == "question"
    assert set(TABLE_METRICS) == {"question", "traceback", "selection"}


SPANS = st.tuples(st.integers(1, 60), st.integers(0, 30)).map(lambda pair: (pair[0], sum(pair)))


@given(st.lists(SPANS, max_size=20), st.lists(st.tuples(SPANS, st.integers(1, 3)), min_size=1, max_size=6))
def test_every_score_is_between_nothing_and_all(found, wanted):
    scores = score_one([result(*span) for span in found], [target(*span, grade) for span, grade in wanted])
    counts = {"docs@12", "code@12", "tokens@12"}
    assert all(0.0 <= value <= 1.0 for name, value in scores.items() if name not in counts)
    assert scores["docs@12"] + scores["code@12"] == min(12, len(found))
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
        ('{"id": "b"}', "query"),
        ('{"id": "b", "query": "  "}', "it is empty"),
        ('{"id": "a", "query": "x"}', "has the id of an earlier line"),
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


def test_a_question_that_expects_something_is_answerable(tmp_path: Path):
    path = tmp_path / "g.jsonl"
    span = {"corpus": "adk_docs", "path": "a.md", "start_line": 3, "end_line": 1}
    for row, problem in (
        ({"id": "a", "expected": [{**span, "end_line": 4}], "answerable": False}, "so it is answerable"),
        ({"id": "a", "expected": [span]}, "end_line comes before start_line"),
    ):
        path.write_text(json.dumps(row))
        with pytest.raises(InvalidRequestError, match=problem):
            read_golden(path)


def test_a_golden_set_is_written_as_it_was_read(tmp_path: Path):
    path = tmp_path / "g.jsonl"
    questions = [
        question("a", target(1, 10, grade=2)),
        question("b", category="tools", answerable=False),
        question("c", target(1, 2), last_line="ValueError: no"),
        question("d", target(1, 2), selection=Selection(document="a\nb", start=(0, 0), end=(1, 1))),
    ]
    path.write_text(golden_lines(questions))
    assert list(read_golden(path).values()) == questions


def test_a_selection_is_asked_with_the_symbols_in_it(workplace: Workplace):
    workplace.ingest()
    document = "from google.adk.plugins import RetryPlugin\n\nplugin = RetryPlugin(retries=2)\n"
    chosen = question("a", selection=Selection(document=document, start=(2, 0), end=(2, 31)))
    with closing(workplace.service()) as service, service.session() as session:
        request = chosen.request(session)
        assert [name.rpartition(".")[2] for name in request.symbols] == ["RetryPlugin"]
        assert request.query.startswith("plugin = RetryPlugin(retries=2)") and "RetryPlugin" in request.query[31:]
        assert chosen.request().symbols == ()
        (answer,) = run_queries(service, [chosen], 4)
    assert len(answer.results) == 4


def test_details_are_the_pool_the_quality_and_the_time(workplace: Workplace, tmp_path: Path):
    workplace.ingest()
    with closing(workplace.service()) as service:
        write_file(tmp_path / "run.jsonl", written(run_queries(service, [question("a")], 60, details=True)))
    answer = read_run(tmp_path / "run.jsonl")["a"]
    assert answer.pool and len(answer.pool) == len(answer.results)
    assert answer.quality is not None and answer.latency_ms and answer.latency_ms > 0 and answer.cpu_ms is not None
    assert answer.prompt is not None and answer.prompt.tokens > 0
    shown = {(one.corpus, one.path) for one in answer.prompt.lines}
    first = SETTINGS.pack.max_results_final
    assert shown and shown <= {(one.corpus, one.path) for one in answer.results[:first]}


def test_what_a_prompt_shows_is_scored_by_the_lines_that_are_needed():
    prompt = Prompted(tokens=700, lines=(Span(corpus="adk_python", path="a.py", start_line=6, end_line=20),))
    scores = score_one([result(1, 30)], [target(1, 10, grade=2), target(40, 50)], prompt=prompt, cpu_ms=3.0)
    assert (scores["lines@8k"], scores["tokens@8k"], scores["cpu_ms"]) == (0.5, 700.0, 3.0)
    assert "lines@8k" not in score_one([result(1, 30)], [target(1, 10)], prompt=prompt)
    assert not {"lines@8k", "tokens@8k"} & score_one([result(1, 30)], [target(1, 10, grade=2)]).keys()


def test_a_run_has_one_line_a_question_in_the_agreed_form(workplace: Workplace, tmp_path: Path):
    workplace.ingest()
    questions = tmp_path / "q.jsonl"
    questions.write_text(
        '{"id": "a", "query": "retry a tool"}\n{"id": "b", "query": "session", "task_mode": "explain"}\n'
    )
    out = tmp_path / "new" / "run.jsonl"
    with closing(workplace.service()) as service:
        write_file(out, written(run_queries(service, read_queries(questions), 60)))
        write_file(tmp_path / "short.jsonl", written(run_queries(service, read_queries(questions), 2)))
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
    assert all(len(answer.results) == 2 for answer in read_run(tmp_path / "short.jsonl").values())
    assert not workplace.settings.paths.event_log.exists()
