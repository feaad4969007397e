from __future__ import annotations

import uuid
from pathlib import Path

import pytest
import qdrant_edge as edge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_evidence.store.base import Fusion, Hit, fused


@pytest.mark.parametrize("branch", [[Hit("a", 7.0)], [Hit("a", 7.0), Hit("b", 7.0)]])
def test_a_branch_whose_scores_say_nothing_counts_half(branch: list[Hit]) -> None:
    assert {hit.score for hit in fused([branch], Fusion("dbsf"))} == {0.5}


@pytest.mark.parametrize("method", ["rrf", "dbsf"])
def test_equal_scores_are_ordered_by_id(method: str) -> None:
    branches = [[Hit(one, 1.0)] for one in "cab"]
    assert [hit.id for hit in fused(branches, Fusion(method))] == ["a", "b", "c"]  # type: ignore[arg-type]


BRANCHES = ("first", "second", "third")
POINTS = 12


@pytest.mark.parametrize("fusion", [Fusion("rrf", k=60), Fusion("rrf", k=2), Fusion("dbsf")])
@given(scores=st.lists(st.permutations(range(1, POINTS + 1)), min_size=3, max_size=3), limit=st.integers(2, POINTS))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_is_what_the_engine_computes(
    fusion: Fusion, scores: list[list[int]], limit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shard = a_shard(tmp_path_factory.mktemp("shard"), scores)
    alone = [edge.QueryRequest(limit=limit, query=edge.Query.Nearest([1.0], using=name)) for name in BRANCHES]
    branches = [
        [Hit(str(hit.id), hit.score) for hit in found] for found in shard.query_batch(edge.QueryBatchRequest(alone))
    ]
    method = edge.Fusion.Rrf(k=fusion.k) if fusion.method == "rrf" else edge.Fusion.Dbsf()
    together = edge.QueryRequest(
        limit=len(BRANCHES) * POINTS,
        query=method,
        prefetches=[edge.Prefetch(limit=limit, query=edge.Query.Nearest([1.0], using=name)) for name in BRANCHES],
    )
    expected = {str(hit.id): hit.score for hit in shard.query(together)}
    assert {hit.id: hit.score for hit in fused(branches, fusion)} == pytest.approx(expected, rel=1e-5)


def a_shard(folder: Path, scores: list[list[int]]) -> edge.EdgeShard:
    """Points whose score in every branch is what is given for it."""
    vectors = {name: edge.EdgeVectorParams(size=1, distance=edge.Distance.Dot) for name in BRANCHES}
    shard = edge.EdgeShard.create(str(folder), edge.EdgeConfig(vectors=vectors))
    points = [
        edge.Point(
            uuid.UUID(int=number + 1),
            {name: [float(row[number])] for name, row in zip(BRANCHES, scores, strict=True)},
            {},
        )
        for number in range(POINTS)
    ]
    shard.update(edge.UpdateOperation.upsert_points(points))
    return shard
