"""What stands behind the evaluation commands: intervals, comparisons, variants, checks of golden sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from adk_evidence.settings import load_settings
from adk_evidence.store.manifest import uncommitted_name
from adk_evidence_eval import variants
from adk_evidence_eval.ablation import VARIANTS, by_raw_score
from adk_evidence_eval.bootstrap import mean_interval
from adk_evidence_eval.check import check_golden, indexed_texts, reanchored
from adk_evidence_eval.golden import GoldenQuestion, Target
from adk_evidence_eval.run import result_of
from adk_evidence_eval.score import compare_scores
from adk_evidence_eval.variants import Bench, Variant
from tests.corpora import HashEmbedder, Workplace, shared_sparse

pytestmark = pytest.mark.slow

RETRY = Target(corpus="adk_docs", path="docs/tools/retry.md", start_line=5, end_line=14, heading="Reflect and retry")


def question(*targets: Target, query: str = "reflect and retry") -> GoldenQuestion:
    return GoldenQuestion(id="a", query=query, expected=targets)


@pytest.fixture
def bench(indexed: Workplace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(variants, "make_dense", lambda settings: HashEmbedder())
    monkeypatch.setattr(variants, "make_sparse", lambda settings: shared_sparse())
    made = Bench(lambda more: load_settings({"home": indexed.home, **more}, user_file=indexed.root / "none.yaml"))
    with closing(made):
        yield made


# Intervals and comparisons


def test_an_interval_holds_the_mean_and_narrows_with_the_number_of_questions():
    few, many = mean_interval([0.0, 1.0] * 5), mean_interval([0.0, 1.0] * 50)
    assert few.mean == many.mean == 0.5
    assert few.low < many.low < 0.5 < many.high < few.high
    assert mean_interval([0.0, 1.0] * 5) == few, "the same values give the same interval"


def test_runs_are_compared_question_by_question():
    first = {"a": {"mrr@12": 0.5}, "b": {"mrr@12": 1.0}, "c": {"mrr@12": 0.0, "only": 1.0}, "d": {"mrr@12": 1.0}}
    second = {"a": {"mrr@12": 1.0}, "b": {"mrr@12": 0.5}, "c": {"mrr@12": 1.0}}
    (compared,) = compare_scores(first, second)
    assert (compared.metric, compared.questions, compared.gained, compared.lost) == ("mrr@12", 3, 2, 1)
    assert compared.difference.mean == pytest.approx(1 / 3)


# Variants


def test_every_variant_of_the_ablation_can_be_measured(bench: Bench):
    told: list[int] = []
    measured = bench.measure(VARIANTS, {"a": question(RETRY)}, told.append)
    assert [one.variant for one in measured] == list(VARIANTS) and told == [1]
    for one in measured:
        assert one.means["recall@20"] == 1.0, one.variant.name
        assert 0 <= one.interval("ndcg@12").low <= one.means["ndcg@12"] <= 1
        assert one.gain("ndcg@12", one).mean == 0
    names = [one.variant.name for one in measured]
    assert len(set(names)) == len(names)


def test_what_a_reader_is_shown_counts_lines_and_tokens_of_the_prompt(bench: Bench):
    golden = {"a": question(RETRY.model_copy(update={"grade": 2}))}
    (many, few) = bench.measure([Variant("many"), Variant("few", {"pack.max_results_final": 1})], golden)
    assert 0 < few.means["lines@8k"] <= many.means["lines@8k"] <= 0.9
    assert 0 < few.means["tokens@8k"] < many.means["tokens@8k"] <= 8000
    assert few.gain("tokens@8k", many).mean == few.means["tokens@8k"] - many.means["tokens@8k"]
    assert {"cpu_p50_ms", "cpu_p95_ms"} <= few.means.keys()
    # An order of its own is not that of a pack.
    (other,) = bench.measure([Variant("other", order=by_raw_score)], golden)
    assert "lines@8k" not in other.means and "recall@12" in other.means


def test_uncommitted_files_count_as_those_of_their_checkout(indexed: Workplace) -> None:
    payload = next(chunk for chunk in indexed.points().values() if chunk.corpus == "adk_docs")
    found = result_of(payload.model_copy(update={"corpus": uncommitted_name(payload.corpus)}))
    assert (found.corpus, found.path) == ("adk_docs", payload.path)


# Golden sets and newer corpora

PAGE = "# Tools\n\n## Retry\n\nSay how often.\n\n## Stop\n\nSay when.\n"
MODULE = "class Tool:\n  limit = 3\n\n  def run(self):\n    return 1\n\n  def stop(self):\n    return 2\n"


def states(text: str, *targets: Target) -> list[tuple[str, int, int]]:
    findings = check_golden([question(*targets)], lambda corpus, path: text if path == "there" else None)
    return [(found.state, found.target.start_line, found.target.end_line) for found in findings]


def span(start: int, end: int, **more: str) -> Target:
    return Target(corpus="adk_docs", path="there", start_line=start, end_line=end, **more)


def hashed(text: str, *targets: Target) -> list[Target]:
    asked = [question(*targets)]
    return list(reanchored(asked, check_golden(asked, lambda corpus, path: text))[0].expected)


(SECTION,) = hashed(PAGE, span(3, 5, heading="Retry"))
(METHOD,) = hashed(MODULE, span(4, 5, symbol="Tool.run"))


def test_spans_that_stand_where_the_set_says_are_ok_and_get_a_hash():
    good = [span(3, 5, heading="Retry"), span(1, 2)]
    assert states(PAGE, *good) == [("ok", 3, 5), ("ok", 1, 2)]
    assert all(target.sha256 for target in hashed(PAGE, *good))
    code = [span(4, 5, symbol="Tool.run"), span(2, 2, symbol="Tool.limit")]
    assert states(MODULE, *code) == [("ok", 4, 5), ("ok", 2, 2)]


@pytest.mark.parametrize(
    ("text", "known", "state"),
    [
        ("New\n\n" + PAGE, SECTION, ("moved", 5, 7)),
        # What changed is found by its name.
        ("\n" + PAGE.replace("how often", "how long"), SECTION, ("changed", 4, 6)),
        ("import x\n" + MODULE.replace("return 1", "return 9"), METHOD, ("changed", 5, 6)),
        ("# Other\n", SECTION, ("gone", 3, 5)),
        (PAGE, SECTION.model_copy(update={"path": "elsewhere"}), ("gone", 3, 5)),
        (PAGE, SECTION.model_copy(update={"heading": "Stop"}), ("misnamed", 3, 5)),
    ],
)
def test_a_span_is_followed_into_another_text(text: str, known: Target, state: tuple[str, int, int]):
    assert states(text, known) == [state]


def test_the_indexed_files_are_read_from_their_sources(indexed: Workplace):
    with indexed_texts(indexed.settings) as text_of:
        text = text_of("adk_docs", "docs/tools/retry.md")
        assert text is not None and text.startswith("# Retry a tool")
        assert text_of("adk_docs", "docs/none.md") is None and text_of("nothing", "docs/index.md") is None
