from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from adk_evidence.embedding.base import SparseVector
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.ranking import feedback
from adk_evidence.search.stages import Candidates, Hit, QueryVectors, Ranking
from adk_evidence.services.resilience import CacheAside
from adk_evidence.store.base import HasId, Record, Vector
from tests.core.factories import SETTINGS, encoded, hit, payload, question
from tests.corpora import Workplace

pytestmark = pytest.mark.slow

STORE = SETTINGS.store
QUERY = QueryVectors("q", {"doc": [1.0, 0.0, 0.0], "code": [1.0, 0.0, 0.0]}, SparseVector((1,), (1.0,)))


class Vectors:
    """A store that knows the vectors of points."""

    def __init__(self, by_id: dict[str, Vector], terms: dict[str, SparseVector] | None = None) -> None:
        self._by_id = by_id
        self._terms = terms or {}

    def scroll(
        self, collection: str, *, filter: Any, limit: int, with_payload: bool, with_vectors: Sequence[str]
    ) -> Any:
        (condition,) = filter.must
        assert isinstance(condition, HasId)
        name = "dense_docs" if collection == "adk_docs" else "dense_code"
        dense = {one: {name: self._by_id[one]} for one in condition.ids if one in self._by_id}
        sparse = {one: {STORE.sparse_vector: self._terms[one]} for one in condition.ids if one in self._terms}
        found = [one for one in condition.ids if one in dense or one in sparse]
        return [Record(one, {}, {**dense.get(one, {}), **sparse.get(one, {})}) for one in found], None


def moved_query(
    query: QueryVectors, relevant: list[Hit], reader: Vectors, weight: float, terms: int = 100, *, shared: bool = True
) -> QueryVectors:
    index = SimpleNamespace(store=reader, point_vectors=CacheAside(9))
    asked = question(index=index, models=SimpleNamespace(dense=SimpleNamespace(shared=shared)))
    with mock.patch.multiple(feedback, WEIGHT=weight, TERMS=terms):
        return feedback.moved_query(asked, query, relevant)


def _moved(weight: float, *, shared: bool = True, **vectors: Vector) -> QueryVectors:
    hits = {kind: hit(payload(kind, body=kind)) for kind in vectors}
    reader = Vectors({hits[kind].point_id: vector for kind, vector in vectors.items()})
    return moved_query(QUERY, list(hits.values()), reader, weight, shared=shared)


def test_the_query_moves_towards_the_mean_of_docs_and_code_and_keeps_its_length():
    moved = _moved(0.5, doc=[0.0, 1.0, 0.0], code=[0.0, 0.0, 1.0])
    expected = pytest.approx([value / math.sqrt(1.125) for value in (1.0, 0.25, 0.25)])
    assert moved.dense == {"doc": expected, "code": expected}
    assert moved.sparse == QUERY.sparse


def test_without_weight_without_results_or_without_vectors_the_query_stays():
    assert _moved(0.0, doc=[0.0, 1.0, 0.0]) == QUERY
    assert _moved(0.7) == QUERY
    assert moved_query(QUERY, [hit(payload())], Vectors({}), 0.7) == QUERY
    keywords = QueryVectors("q", {}, QUERY.sparse)
    assert moved_query(keywords, [hit(payload())], Vectors({}), 0.7) == keywords


def _with_terms(
    weight: float, *relevant: SparseVector, terms: int = 100, own: SparseVector | None = None
) -> SparseVector:
    hits = [hit(payload(body=str(number))) for number in range(len(relevant))]
    reader = Vectors({}, dict(zip((one.point_id for one in hits), relevant, strict=True)))
    query = QueryVectors("q", {}, QUERY.sparse if own is None else own)
    return moved_query(query, hits, reader, weight, terms).sparse


def test_the_terms_of_the_first_results_join_the_query_and_weigh_what_the_weight_says():
    moved = _with_terms(0.5, SparseVector((1, 2), (1.0, 3.0)), own=SparseVector((1, 9), (1.0, 1.0)))
    assert moved.indices == (1, 2, 9)
    assert moved.values == pytest.approx((1.25, 0.75, 1.0))


def test_only_the_heaviest_terms_join_and_they_share_the_whole_weight():
    moved = _with_terms(1.0, SparseVector((2, 3, 4), (1.0, 3.0, 2.0)), terms=2)
    assert moved.indices == (1, 3, 4)
    assert moved.values == pytest.approx((1.0, 0.6, 0.4))


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


def test_the_hits_stay_those_of_the_question_as_it_was_asked(monkeypatch: pytest.MonkeyPatch):
    known, moved = hit(payload(body="known")), QueryVectors("q", {"doc": [0.0, 1.0, 0.0]}, QUERY.sparse)
    monkeypatch.setattr(feedback, "moved_query", lambda question, query, relevant: moved)
    found = feedback.feed_back(question(), Candidates(encoded(QUERY), {"doc": [known]}), [known])
    assert found.hits == {"doc": [known]}
    assert found.encoded.queries == (moved,) and found.encoded.asked == QUERY


def ranked(workplace: Workplace, query: str) -> Ranking:
    with closing(workplace.service()) as service, service.session() as session:
        return session.rank(EvidenceRequest(query=query))


TRACEBACK = 'Traceback (most recent call last):\n  File "/a/b.py", line 3, in f\n    g()\nValueError: no such tool'


@pytest.mark.parametrize("query", [TRACEBACK, "Runner.run_async", "agent = LlmAgent(name='helper')"])
def test_pasted_tracebacks_names_and_code_get_no_feedback(workplace: Workplace, query: str):
    workplace.ingest()
    found = ranked(workplace, query)
    assert found.question.query.kind not in ("question", "error")
    assert found.candidates.relevant == ()


def test_what_was_taken_as_relevant_stays_first_in_its_order():
    hits = [hit(payload("doc", body=name)) for name in "abcd"]
    ranked = feedback.relevant_first((hits[2].point_id, hits[1].point_id, "gone"), hits)
    assert [hit.point_id for hit in ranked] == [hits[place].point_id for place in (2, 1, 0, 3)]
