"""Requests within a service's limits, and a file's chunks in overlapping contexts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.embedding.base import ContextBatch
from adk_evidence.embedding.batching import NOTHING, Size, pack, split_contexts

SIZES = st.lists(st.builds(Size, st.just(1), st.integers(1, 50), st.integers(1, 20)), max_size=40)
LIMITS = st.builds(Size, st.integers(1, 12), st.integers(20, 200), st.integers(5, 80))


def sizes_of(count: int) -> list[Size]:
    return [Size(1, 10, 3)] * count


@given(SIZES, LIMITS)
def test_requests_hold_everything_in_order_within_the_limit(sizes: list[Size], limit: Size):
    requests = list(pack(sizes, limit))
    assert [position for request in requests for position in request] == list(range(len(sizes)))
    for request in requests:
        total = sum((sizes[position] for position in request), NOTHING)
        assert total.within(limit) or len(request) == 1


def test_each_limit_ends_a_request():
    sizes = [Size(1, 10, 3)] * 4
    assert list(pack(sizes, Size(3, 99, 99))) == [[0, 1, 2], [3]]
    assert list(pack(sizes, Size(99, 20, 99))) == [[0, 1], [2, 3]]
    assert list(pack(sizes, Size(99, 99, 5))) == [[0], [1], [2], [3]]


def test_each_chunk_is_taken_from_the_batch_where_it_is_most_central():
    texts = [f"{number}" for number in range(8)]
    batches = split_contexts(texts, sizes_of(8), Size(5, 99, 99), 2)
    assert [batch.texts for batch in batches] == [tuple("01234"), tuple("34567")]
    # 3 is one from the end of the first and at the beginning of the second; 4 the other way round.
    assert [batch.own for batch in batches] == [(0, 1, 2, 3), (1, 2, 3, 4)]


def test_a_large_chunk_pushes_the_overlap_aside():
    sizes = [Size(1, 10, 3), Size(1, 10, 3), Size(1, 90, 3), Size(1, 10, 3)]
    batches = split_contexts(["a", "b", "large", "d"], sizes, Size(9, 95, 99), 2)
    assert [batch.texts for batch in batches] == [("a", "b"), ("large",), ("d",)]


@given(SIZES, LIMITS, st.integers(0, 15))
def test_every_chunk_has_one_home_in_the_files_order(sizes: list[Size], limit: Size, overlap: int):
    texts = [str(number) for number in range(len(sizes))]
    batches = split_contexts(texts, sizes, limit, overlap)
    assert [batch.texts[position] for batch in batches for position in batch.own] == texts
    for batch in batches:
        total = sum((sizes[int(text)] for text in batch.texts), NOTHING)
        assert total.within(limit) or len(batch.texts) == 1


def test_a_vectors_key_depends_on_its_context_and_its_place():
    batch = ContextBatch(("a", "b"), (0, 1))
    assert len(set(batch.keys)) == 2
    assert batch.keys == ContextBatch(("a", "b"), (0, 1)).keys
    for other in (ContextBatch(("a", "c"), (0, 1)), ContextBatch(("ab",), (0,)), ContextBatch(("b", "a"), (0, 1))):
        assert not set(batch.keys) & set(other.keys)
