from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.search import gates
from adk_evidence.settings import load_settings
from tests.core.factories import payload, ranked

PACK = load_settings().pack


def _kinds(items):
    return [item.kind for item in items]


def test_modes_that_build_need_docs_and_code_but_explaining_does_not():
    both = ("doc", "code")
    assert gates.required_kinds("build", PACK, both, 12) == {"doc": 3, "code": 3}
    assert gates.required_kinds("explain", PACK, both, 12) == {}


def test_a_request_for_one_kind_requires_nothing_of_the_other():
    assert gates.required_kinds("build", PACK, ("code",), 12) == {}


def test_a_short_list_is_shared_evenly():
    assert gates.required_kinds("debug", PACK, ("doc", "code"), 2) == {"doc": 1, "code": 1}


def test_missing_code_is_taken_from_the_buffer_and_the_last_docs_make_room():
    items = [ranked("doc", place) for place in range(1, 13)] + [ranked("code", place) for place in range(13, 21)]
    selection = gates.select(items, 12, 20, {"doc": 3, "code": 3})
    assert _kinds(selection.items) == ["doc"] * 9 + ["code"] * 3
    assert [item.pool_rank for item in selection.items] == [*range(1, 10), 13, 14, 15]
    assert selection.missing == ()


def test_what_the_buffer_cannot_fill_is_reported_missing():
    items = [ranked("doc", place) for place in range(1, 21)]
    selection = gates.select(items, 12, 20, {"doc": 3, "code": 3})
    assert _kinds(selection.items) == ["doc"] * 12
    assert selection.missing == ("code",)


def test_results_beyond_the_buffer_are_not_promoted():
    items = [ranked("doc", place) for place in range(1, 21)] + [ranked("code", 21)]
    assert gates.select(items, 12, 20, {"code": 1}).missing == ("code",)


@given(
    kinds=st.lists(st.sampled_from(["doc", "code"]), max_size=30),
    size=st.integers(1, 15),
    buffer=st.integers(1, 25),
    minimum=st.integers(0, 5),
)
def test_selection_keeps_order_size_and_never_trades_a_required_result(kinds, size, buffer, minimum):
    items = [ranked(kind, place) for place, kind in enumerate(kinds, 1)]
    required = {"doc": min(minimum, size // 2), "code": min(minimum, size // 2)}
    selection = gates.select(items, size, buffer, required)
    places = [item.pool_rank for item in selection.items]
    assert places == sorted(places)
    assert len(selection.items) == min(size, len(items))
    for kind in ("doc", "code"):
        reachable = _kinds(items[: max(size, buffer)]).count(kind)
        have = _kinds(selection.items).count(kind)
        assert have >= min(required[kind], reachable)
        assert (kind in selection.missing) == (have < required[kind])


def test_docs_need_an_address_and_code_a_path():
    assert gates.provenance_complete(payload("doc"))
    assert not gates.provenance_complete(payload("doc", uri=None))
    assert gates.provenance_complete(payload("code", path="src/a.py"))
