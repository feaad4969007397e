"""The tools of whoever develops the search: grids of settings, misses, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from adk_evidence.errors import InvalidRequestError
from adk_evidence.search import session as door
from adk_evidence.search.calibration import Measures
from adk_evidence_eval import variants
from tests.corpora import HashEmbedder, shared_sparse
from tests.quality import abstention as refusals
from tests.quality import misses, sweep
from tests.quality.abstention import Judged, fit_support

pytestmark = pytest.mark.slow

EXPECTED = {"corpus": "adk_docs", "path": "docs/tools/retry.md", "start_line": 5, "end_line": 14, "grade": 2}


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, without_user_settings: None) -> None:
    """No test looks for a model."""
    for module in (door, variants):
        monkeypatch.setattr(module, "make_dense", lambda settings: HashEmbedder())
    monkeypatch.setattr(variants, "make_sparse", lambda settings: shared_sparse())


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A golden set of one question with an answer and one without."""
    path = tmp_path / "small.jsonl"
    rows = [
        {"id": "a", "query": "reflect and retry", "category": "tools", "expected": [EXPECTED]},
        {"id": "b", "query": "bake bread", "answerable": False, "expected": []},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def call(module: Any, *arguments: object) -> Result:
    """What `python -m` makes of a module with some arguments."""
    return CliRunner().invoke(module.app, [str(argument) for argument in arguments])


def read(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_sweep_is_a_table(indexed, golden):
    swept = ("--golden", golden, "--home", indexed.home, "--set", "retrieval.fusion=rrf,dbsf")
    shown = call(sweep, *swept, "--set", "retrieval.hnsw_ef=64,256")
    assert shown.exit_code == 0 and "fusion=dbsf hnsw_ef=256" in shown.stdout
    wrong = call(sweep, "--set", "retrieval.fusion=rff", "--golden", golden, "--home", indexed.home)
    assert wrong.exit_code == 2 and "retrieval.fusion" in wrong.stderr and "Traceback" not in wrong.stderr


def _judged(number, group, coverage, level="high", weighed=True):
    measures = Measures(coverage=coverage, pairs=coverage, similarity=coverage, words=1.0, absent=0.0)
    return Judged(str(number), group, "fit", level, measures, weighed)


def test_the_fitted_weights_tell_answerable_questions_from_others():
    answerable = [_judged(n, "answerable", 0.7 + n / 100) for n in range(20)]
    others = [_judged(n, "near the subject", 0.2 + n / 100, "mixed") for n in range(20)]
    # What an unknown name decided does not count.
    weights = fit_support([*answerable, *others, _judged(99, "near the subject", 1.0, weighed=False)], nearest=0.1)
    assert weights.coverage > 0 and weights.nearest == 0.1
    passed = [one.measures.score(weights) >= weights.high for one in answerable]
    assert sum(passed) == 19
    assert not any(one.measures.score(weights) >= weights.high for one in others)
    with pytest.raises(InvalidRequestError, match="both answerable and unanswerable"):
        fit_support(answerable, nearest=0.1)


def test_every_missed_span_is_explained(indexed, golden, tmp_path):
    missing = tmp_path / "missing.jsonl"
    row = {"id": "a", "query": "reflect and retry", "expected": [EXPECTED, {**EXPECTED, "path": "docs/none.md"}]}
    missing.write_text(json.dumps(row) + "\n")
    missed, counts = read(call(misses, "--golden", missing, "--home", indexed.home))
    assert missed["fate"] == "not_chunked" and missed["target"].endswith("docs/none.md:5-14")
    assert counts == {"found": 1, "not_chunked": 1}


def test_levels_are_counted_for_each_group(indexed, golden):
    found = read(call(refusals, "--golden", golden, "--home", indexed.home))
    assert {(row["group"], row["asked"]) for row in found} == {("answerable", 1), ("near the subject", 1)}
