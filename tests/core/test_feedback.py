from __future__ import annotations

import math
from typing import Any

import pytest

from adk_evidence.embedding.base import SparseVector
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.retrieval.feedback import moved_query, with_first_similarity
from adk_evidence.retrieval.hybrid import QueryVectors
from adk_evidence.settings import load_settings
from adk_evidence.store.base import HasId, Record, Vector
from tests.core.factories import hit, payload
from tests.corpora import HashEmbedder, Workplace

STORE = load_settings().store
QUERY = QueryVectors("q", {"doc": [1.0, 0.0, 0.0], "code": [1.0, 0.0, 0.0]}, SparseVector((1,), (1.0,)))


class Vectors:
    """A store that knows the dense vectors of points."""

    def __init__(self, by_id: dict[str, Vector]) -> None:
        self._by_id = by_id

    def scroll(self, collection: str, *, filter: Any, limit: int, with_vectors: bool) -> Any:
        (condition,) = filter.must
        assert isinstance(condition, HasId)
        name = "dense_docs" if collection == "adk_docs" else "dense_code"
        return [Record(one, {}, {name: self._by_id[one]}) for one in condition.ids if one in self._by_id], None


def _moved(weight: float, *, shared: bool = True, **vectors: Vector) -> QueryVectors:
    hits = {kind: hit(payload(kind, body=kind)) for kind in vectors}
    reader = Vectors({hits[kind].point_id: vector for kind, vector in vectors.items()})
    return moved_query(QUERY, list(hits.values()), reader, STORE, weight, shared_space=shared)  # type: ignore[arg-type]


def test_the_query_moves_towards_the_mean_of_docs_and_code_and_keeps_its_length():
    moved = _moved(0.5, doc=[0.0, 1.0, 0.0], code=[0.0, 0.0, 1.0])
    expected = pytest.approx([value / math.sqrt(1.125) for value in (1.0, 0.25, 0.25)])
    assert moved.dense == {"doc": expected, "code": expected}
    assert moved.sparse == QUERY.sparse


def test_without_weight_without_results_or_without_vectors_the_query_stays():
    assert _moved(0.0, doc=[0.0, 1.0, 0.0]) == QUERY
    assert _moved(0.7) == QUERY
    assert moved_query(QUERY, [hit(payload())], Vectors({}), STORE, 0.7, shared_space=True) == QUERY  # type: ignore[arg-type]
    keywords = QueryVectors("q", {}, QUERY.sparse)
    assert moved_query(keywords, [hit(payload())], Vectors({}), STORE, 0.7, shared_space=True) == keywords  # type: ignore[arg-type]


def test_where_docs_and_code_have_two_spaces_each_moves_towards_its_own_results():
    moved = _moved(1.0, shared=False, doc=[0.0, 1.0, 0.0], code=[0.0, 0.0, 1.0])
    side = math.sqrt(0.5)
    assert moved.dense == {"doc": pytest.approx([side, side, 0.0]), "code": pytest.approx([side, 0.0, side])}
    only_docs = _moved(1.0, shared=False, doc=[0.0, 1.0, 0.0])
    assert only_docs.dense == {"doc": pytest.approx([side, side, 0.0]), "code": QUERY.dense["code"]}


def test_of_several_vectors_the_one_nearest_to_the_query_counts():
    passages = [[-1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]
    assert _moved(0.5, doc=passages) == _moved(0.5, doc=[0.6, 0.8, 0.0])
    both = _moved(0.5, doc=passages, code=[0.0, 0.0, 1.0])
    assert both == _moved(0.5, doc=[0.6, 0.8, 0.0], code=[0.0, 0.0, 1.0])


def test_similarity_stays_that_to_the_question_as_it_was_asked():
    known, new = hit(payload(body="known"), similarity=0.9), hit(payload(body="new"), similarity=0.8)
    again = with_first_similarity([known, new], {known.point_id: 0.4})
    assert [one.similarity for one in again] == [0.4, None]


def test_an_answer_says_how_feedback_moved_it_and_repeats(workplace: Workplace):
    workplace.ingest()
    request = EvidenceRequest(query="how do I retry a failing tool")
    packs = {}
    for passages in (0, 3):
        workplace.overrides = {"retrieval": {"feedback_passages": passages}}
        service = workplace.service(HashEmbedder())
        try:
            first, second = service.find(request), service.find(request)
        finally:
            service.close()
        assert first.pack_id == second.pack_id
        packs[passages] = first
    assert packs[0].retrieval_plan.feedback is None
    assert packs[3].retrieval_plan.feedback == {"passages": 3, "weight": 0.7}
    assert "feedback" in packs[3].debug["timings_ms"]
    assert packs[0].pack_id != packs[3].pack_id


def test_keywords_alone_get_no_feedback(workplace: Workplace):
    workplace.ingest()
    pack = workplace.ask("retry", dense=_Missing())
    assert "feedback" not in pack.debug["timings_ms"]


class _Missing(HashEmbedder):
    def embed_query(self, text: str) -> list[float]:
        from adk_evidence.errors import ModelError

        raise ModelError("no model")
