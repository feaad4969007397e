"""Which tasks are near a question."""

from __future__ import annotations

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.search.candidates.tasks import MOST, NEAR, task_of, tasks_near
from adk_evidence.search.stages import BranchPlace, Hit
from tests.core.factories import hit, payload


def of_tasks(similarity: float | None, *titles: str) -> Hit:
    chunk = payload("doc", tasks=tuple((title, "how-to", 2) for title in titles))
    branches = () if similarity is None else (BranchPlace("asked", 1, similarity),)
    return hit(chunk, branches=branches)


def test_a_task_is_as_near_as_the_least_similar_of_its_hits() -> None:
    # One of the two has a nearer question of its own.
    assert tasks_near([of_tasks(0.9, "a"), of_tasks(0.7, "a")]) == {"a": 0.7}


def test_one_hit_alone_or_hits_of_other_branches_say_nothing_of_a_task() -> None:
    assert tasks_near([of_tasks(0.9, "a"), of_tasks(None, "a"), of_tasks(0.9)]) == {}


def test_most_chunks_of_a_task_must_be_found() -> None:
    def of_five(similarity: float) -> Hit:
        return hit(payload("doc", tasks=(("a", "how-to", 5),)), branches=(BranchPlace("asked", 1, similarity),))

    assert tasks_near([of_five(0.9)] * 3) == {} and tasks_near([of_five(0.9)] * 4) == {"a": 0.9}


def test_only_what_is_near_and_about_as_near_as_the_nearest_counts() -> None:
    far, near = NEAR - 0.01, NEAR + 0.01
    assert tasks_near([of_tasks(far, "a"), of_tasks(far, "a")]) == {}
    both = [of_tasks(0.95, "b"), of_tasks(0.95, "b"), of_tasks(near, "a"), of_tasks(near, "a")]
    assert list(tasks_near(both)) == ["b"]
    many = [of_tasks(0.9, *"dcbaefg"), of_tasks(0.9, *"gfeabcd")]
    assert list(tasks_near(many)) == list("abcdefg")[:MOST]


def test_a_chunk_of_several_tasks_is_named_by_the_nearest() -> None:
    chunk: ChunkPayload = payload("doc", tasks=(("far", "code", 2), ("near", "caveat", 2)))
    assert task_of(chunk, {"near": 0.9, "far": 0.8}) == ("near", "caveat")
    assert task_of(chunk, {"other": 0.9}) is None
