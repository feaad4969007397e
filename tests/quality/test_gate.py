"""The ranking on a small fixed set must not get worse: a fall beyond the bootstrap interval fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from adk_evidence.embedding.minilm.model import MiniLmEmbedder
from adk_evidence.search.session import EvidenceService
from adk_evidence.search.stages import Hit, Ranking
from adk_evidence.settings import load_settings
from adk_evidence_eval.check import check_golden
from tests.corpora import HashEmbedder
from tests.quality.gate import FLOOR, HERE, Floor, build, falls, golden, measure


@pytest.fixture(scope="module")
def floor() -> Floor:
    return json.loads(FLOOR.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def keywords(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvidenceService]:
    service = build(tmp_path_factory.mktemp("keywords"), "keywords", HashEmbedder()).service()
    yield service
    service.close()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Iterator[EvidenceService]:
    dense = MiniLmEmbedder(load_settings().embedding.dense, models)
    service = build(tmp_path_factory.mktemp("model"), "model", dense).service(dense)
    yield service
    service.close()


@pytest.mark.model
def test_with_the_model_the_ranking_is_not_below_its_floor(model: EvidenceService, floor: Floor):
    assert falls(floor["model"], measure(model)) == []


def test_by_keywords_the_ranking_is_not_below_its_floor(keywords: EvidenceService, floor: Floor):
    assert falls(floor["keywords"], measure(keywords)) == []


def best_one_last(outcome: Ranking) -> list[Hit]:
    best, *others = outcome.order()
    return [*others, best]


def test_the_gate_sees_a_broken_order(keywords: EvidenceService, floor: Floor):
    assert "ndcg@12" in [fall.metric for fall in falls(floor["keywords"], measure(keywords, best_one_last))]


@pytest.mark.model
def test_the_gate_sees_that_the_model_is_not_used(keywords: EvidenceService, model: EvidenceService, floor: Floor):
    assert [fall.metric for fall in falls(floor["model"], measure(keywords))] == ["ndcg@12", "recall@5", "recall@2k"]


def test_one_question_that_fell_is_no_alarm(floor: Floor):
    name, row = next((name, row) for name, row in floor["keywords"].items() if row["ndcg@12"] > 0)
    assert falls(floor["keywords"], {**floor["keywords"], name: {**row, "ndcg@12": 0.0}}) == []


def test_the_spans_stand_where_the_questions_say(floor: Floor):
    def text_of(corpus: str, path: str) -> str:
        return (HERE / "corpus" / path).read_text(encoding="utf-8")

    questions = golden()
    findings = check_golden(list(questions.values()), text_of)
    assert {finding.state for finding in findings} == {"ok"}
    assert all(set(scores) == set(questions) for scores in floor.values())
