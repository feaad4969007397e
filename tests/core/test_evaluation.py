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

WANTED = target(1, 10)
HIT = result(1, 10)
PAGES = [result(1, 2, path="d.md", corpus="adk_docs")] * 3
PROMPT = Prompted(tokens=700, lines=(Span(corpus="adk_python", path="a.py", start_line=6, end_line=20),))


@pytest.mark.parametrize(
    ("results", "targets", "more", "expected"),
    [
        # Grades weigh, and late hits count less.
        ([HIT, result(21, 30)], [target(1, 10, grade=2), target(21, 30)], {}, {"ndcg@12": 1, "mrr@12": 1}),
        (
            [result(21, 30), HIT],
            [target(1, 10, grade=2), target(21, 30)],
            {},
            {"ndcg@12": (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))},
        ),
        # A target counts once, and a result that carries two targets counts as both.
        ([MISS, HIT, HIT], [WANTED], {}, {"ndcg@12": 1 / math.log2(3), "mrr@12": 0.5, "recall@5": 1}),
        ([result(1, 30)], [WANTED, target(21, 30)], {}, {"recall@5": 1, "ndcg@12": 1}),
        (
            [MISS] * 12 + [HIT],
            [WANTED],
            {},
            {"ndcg@12": 0, "mrr@12": 0, "recall@12": 0, "recall@20": 1},
        ),
        # Within a budget, the tokens count that were read before.
        ([result(50, 60, tokens=1500), result(1, 10, tokens=500)], [WANTED], {}, {"recall@2k": 1}),
        ([result(50, 60, tokens=1501), result(1, 10, tokens=500)], [WANTED], {}, {"recall@2k": 0, "recall@4k": 1}),
        (
            [HIT],
            [WANTED, target(1, 5, path="d.md", corpus="adk_docs")],
            {},
            {"adk_python:recall@12": 1, "adk_docs:recall@12": 0},
        ),
        ([HIT], [WANTED], {}, {"adk_docs:recall@12": None, "pool:mrr@12": None, "direct:recall@5": None}),
        # Three of each kind among the first twelve.
        ([*PAGES, MISS, MISS, MISS], [WANTED], {}, {"coverage@12": 1}),
        ([*PAGES, MISS, MISS], [WANTED], {}, {"docs@12": 3, "code@12": 2, "coverage@12": 0}),
        ([*PAGES * 4, MISS, MISS, MISS], [WANTED], {}, {"coverage@12": 0}),
        ([HIT], [WANTED], {"pool": (MISS, HIT), "latency_ms": 7.0}, {"mrr@12": 1, "pool:mrr@12": 0.5, "latency_ms": 7}),
        ([HIT], [target(1, 10, grade=2), target(50, 60)], {}, {"recall@5": 0.5, "direct:recall@5": 1}),
        # Of a prompt, the lines of what answers directly.
        ([HIT], [target(1, 10, grade=2), target(40, 50)], {"prompt": PROMPT}, {"lines@8k": 0.5, "tokens@8k": 700}),
        ([HIT], [WANTED], {"prompt": PROMPT}, {"lines@8k": None}),
    ],
)
def test_results_are_scored_against_graded_targets(results, targets, more, expected):
    scores = score_one(results, targets, **more)
    assert {name: scores.get(name) for name in expected} == pytest.approx(expected)


def test_any_line_of_the_raising_function_is_a_hit_for_a_traceback_alone():
    run = {"a": Answer(id="a", results=(result(9, 30),))}
    asked, pasted = question("a", WANTED), question("a", WANTED, last_line="ValueError: no")
    assert [score_run(run, {"a": one})["a"]["recall@5"] for one in (asked, pasted)] == [0, 1]


def test_an_unanswered_question_counts_zero_and_one_without_targets_not_at_all():
    golden = {
        name: question(name, *targets) for name, targets in (("a", [target(1, 10)]), ("b", [target(1, 10)]), ("c", []))
    }
    run = {name: Answer(id=name, results=results) for name, results in (("a", (result(1, 10),)), ("c", ()))}
    scores = score_run(run, golden)
    assert list(scores) == ["a", "b"]
    assert mean_scores(scores)["mrr@12"] == 0.5


def test_latency_is_given_as_percentiles():
    means = mean_scores({str(number): {"latency_ms": float(number)} for number in range(101)})
    assert means == {"latency_p50_ms": 50.0, "latency_p95_ms": 95.0}


def test_golden_sets_of_one_name_are_told_apart_by_their_paths():
    paths = [Path("a/dev.jsonl"), Path("b/dev.jsonl"), Path("b/test.jsonl")]
    assert set_names(paths) == ["a/dev.jsonl", "b/dev.jsonl", "test"]


def test_the_kind_of_a_set_is_that_of_all_its_questions():
    pasted = question("a", last_line="ValueError: no")
    chosen = question("b", selection=Selection(document="x = 1", start=(0, 0), end=(0, 5)))
    daily = question("d", first=("docs/a.md",))
    assert set_kind({"a": pasted}) == "traceback" and set_kind({"b": chosen}) == "selection"
    assert set_kind({"d": daily}) == "everyday"
    assert set_kind({"a": pasted, "b": chosen}) == set_kind({"c": question("c")}) == "question"
    assert set(TABLE_METRICS) == {"question", "everyday", "traceback", "selection"}


def test_an_everyday_question_wants_its_page_or_a_page_of_its_folder_first():
    found = Answer(id="a", results=tuple(result(1, 9, path=path) for path in ("x.md", "docs/tools/b.md", "docs/a.md")))

    def first(*places: str) -> list[float]:
        row = score_run({"a": found}, {"a": question("a", first=places)})["a"]
        return [row["first@1"], row["first@3"]]

    assert first("docs/a.md") == first("docs/tools/") == [0.0, 1.0] and first("x.md", "y.md") == [1.0, 1.0]
    assert first("docs/tools") == first("a.md") == [0.0, 0.0]
    assert score_run({}, {"a": question("a", first=("x.md",))})["a"]["first@1"] == 0.0


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


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("not json", "Line 2 of"),
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


def test_a_line_may_have_other_wordings_of_its_question(tmp_path: Path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "a", "query": "one", "wordings": ["two", "three"]}')
    (question,) = read_queries(path)
    assert question.request().wordings == ("two", "three")


def test_files_that_are_missing_empty_or_no_text_are_one_sentence(tmp_path: Path):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing", "empty", "binary"):
        for read in (read_queries, read_golden, read_run):
            with pytest.raises(InvalidRequestError, match=name):
                read(tmp_path / name)


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
        write_file(tmp_path / "details.jsonl", written(run_queries(service, [question("a")], 60, details=True)))
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
    detailed = read_run(tmp_path / "details.jsonl")["a"]
    assert detailed.pool and len(detailed.pool) == len(detailed.results) and detailed.quality and detailed.latency_ms
    assert detailed.prompt is not None and detailed.prompt.tokens > 0
    shown = {(one.corpus, one.path) for one in detailed.prompt.lines}
    assert shown and shown <= {(one.corpus, one.path) for one in detailed.results}
    assert not workplace.settings.paths.event_log.exists()
