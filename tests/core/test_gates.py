from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.models.citation import can_be_cited
from adk_evidence.models.named import Named
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.ranking.gates import choose_final, required_kinds
from tests.core.factories import SETTINGS, hit, payload, placed, question, ranked


def _kinds(items):
    return [item.kind for item in items]


def _places(final):
    return [item.pool_rank for item in final]


def _chosen(items, size=12, buffer=20, **required):
    """The final results, and the kinds that are missing."""
    pack = SETTINGS.pack.model_copy(update={"top_k_buffer": buffer})
    settings = SETTINGS.model_copy(update={"pack": pack})
    return choose_final(question(size=size, settings=settings, required=required), items)


def _at(place, kind, path, **changes):
    """A result at a place of the reranker's order."""
    return placed(hit(payload(kind, path, f"text {place}", **changes), place), place, float(-place))


def _sample(place):
    return _at(place, "doc", "examples/a.py", uri=None, lang="py", origin="sample")


def _pages(count):
    """One result of each of many pages."""
    return [_at(place, "doc", f"docs/page{place}.md") for place in range(1, count + 1)]


@pytest.mark.parametrize(
    ("mode", "held", "size", "required"),
    [
        ("build", ("doc", "code"), 12, {"doc": 3, "code": 3}),
        ("explain", ("doc", "code"), 12, {}),
        ("build", ("code",), 12, {}),
        ("debug", ("doc", "code"), 2, {"doc": 1, "code": 1}),
    ],
)
def test_modes_that_build_need_docs_and_code_where_both_are_indexed(mode, held, size, required):
    request = EvidenceRequest(query="retry", task_mode=mode)
    assert required_kinds(request, SETTINGS.pack, size, held) == required


def test_missing_code_is_taken_from_the_buffer_and_the_last_docs_make_room():
    items = [ranked("doc", place) for place in range(1, 13)] + [ranked("code", place) for place in range(13, 21)]
    final, missing = _chosen(items, doc=3, code=3)
    assert _places(final) == [*range(1, 10), 13, 14, 15] and missing == ()
    assert [item.moved_up for item in final] == [None] * 9 + ["kind"] * 3


def test_a_sample_takes_the_last_place_of_docs_without_code_to_start_from():
    items = [ranked("doc", 1), ranked("doc", 2), ranked("code", 3), ranked("doc", 4), _sample(5), _sample(6)]
    final, _ = _chosen(items, size=3)
    assert [(item.pool_rank, item.moved_up) for item in final] == [(1, None), (3, None), (5, "example")]


def test_a_sample_does_not_move_up_beside_an_example_or_where_nothing_is_built():
    items = [_at(1, "doc", "docs/b.md", code_langs=("python",)), ranked("doc", 2), _sample(3)]
    assert _places(_chosen(items, size=2)[0]) == [1, 2]
    explained, _ = choose_final(question(task_mode="explain", size=1), [ranked("doc", 1), _sample(2)])
    assert _places(explained) == [1]
    named = [ranked("doc", 1)._replace(named=Named("raises")), _sample(2)]
    assert _places(_chosen(named, size=1)[0]) == [1]


@given(
    kinds=st.lists(st.sampled_from(["doc", "code"]), max_size=30),
    size=st.integers(1, 15),
    buffer=st.integers(1, 25),
    minimum=st.integers(0, 5),
)
def test_selection_keeps_order_size_and_never_trades_a_required_result(kinds, size, buffer, minimum):
    items = [ranked(kind, place) for place, kind in enumerate(kinds, 1)]
    required = {"doc": min(minimum, size // 2), "code": min(minimum, size // 2)}
    final, missing = _chosen(items, size, buffer, **required)
    assert _places(final) == sorted(_places(final))
    assert len(final) == min(size, len(items))
    for kind in ("doc", "code"):
        reachable = _kinds(items[: max(size, buffer)]).count(kind)
        have = _kinds(final).count(kind)
        assert have >= min(required[kind], reachable)
        assert (kind in missing) == (have < required[kind])


def test_docs_need_an_address_and_code_a_path():
    assert can_be_cited(payload("doc"), published=True)
    assert not can_be_cited(payload("doc", uri=None), published=True)
    assert can_be_cited(payload("doc", uri=None), published=False)
    assert can_be_cited(payload("code", path="src/a.py"), published=True)


def test_the_last_places_of_a_long_list_go_to_pages_that_are_results_already():
    items = _pages(30)
    for place, page in ((20, 3), (25, 12), (29, 3)):
        items[place - 1] = _at(place, "doc", f"docs/page{page}.md")
    final, _ = _chosen(items, size=15)
    assert _places(final) == [*range(1, 13), 20, 25, 29]
    assert [item.moved_up for item in final] == [None] * 12 + ["neighbour"] * 3
    # A short list has the first results alone.
    assert _places(_chosen(items, size=12)[0]) == [*range(1, 13)]


def test_places_without_neighbours_stay_with_the_next_results():
    items = _pages(60)
    items[13], items[49] = _at(14, "doc", "docs/page1.md"), _at(50, "doc", "docs/page2.md")
    final, _ = _chosen(items, size=15)
    # The fourteenth would be there in any case, and the fiftieth is too far behind.
    assert _places(final) == [*range(1, 16)] and not any(item.moved_up for item in final)


def test_methods_are_neighbours_of_their_class_and_functions_of_their_file():
    items = _pages(30)
    for place, path, symbol, kind in (
        (1, "a.py", "Shop.buy", "method"),
        (2, "b.py", "help", "function"),
        (16, "a.py", "Cart.fill", "method"),
        (17, "a.py", "Shop.sell", "method"),
        (18, "b.py", "_help", "function"),
    ):
        items[place - 1] = _at(place, "code", path, symbol=symbol, symbol_kind=kind)
    assert _places(_chosen(items, size=15)[0]) == [*range(1, 14), 17, 18]
