from __future__ import annotations

from types import SimpleNamespace

from adk_evidence.search.ranking.merge import dedup, merge, pool
from tests.core.factories import hit, payload, question


def _paths(hits):
    return [item.payload.path for item in hits]


def _merged(docs, code):
    asked = question(index=SimpleNamespace(is_published=lambda payload: True))
    return merge(asked, {"doc": docs, "code": code})


def test_two_lists_are_joined_by_rank_with_docs_first_at_equal_rank():
    docs = [hit(payload("doc", f"d{n}.md", f"doc {n}"), n) for n in (1, 2)]
    code = [hit(payload("code", f"c{n}.py", f"code {n}"), n) for n in (1, 2, 3)]
    assert _paths(_merged(docs, code)) == ["d1.md", "c1.py", "d2.md", "c2.py", "c3.py"]


def test_the_same_candidate_is_kept_once_at_its_better_place():
    one = payload("doc", "a.md", "same")
    other = hit(payload("doc", "b.md", "other"), 2)
    assert dedup([hit(one, 1), other, hit(one, 3)]) == [hit(one, 1), other]


def test_the_same_lines_of_a_file_are_kept_once():
    first = payload("code", "a.py", "x = 1", start_line=3, end_line=9)
    second = payload("code", "a.py", "x = 2", start_line=3, end_line=9, chunk_index=1)
    assert dedup([hit(first, 1), hit(second, 2)]) == [hit(first, 1)]


def test_pieces_of_one_long_line_are_not_the_same_lines():
    pieces = [
        payload("code", "a.py", f"piece {n}", start_line=1, end_line=1, start_col=n, end_col=n + 1, chunk_index=n)
        for n in range(3)
    ]
    assert len(dedup([hit(piece, n) for n, piece in enumerate(pieces, 1)])) == 3


def test_of_near_duplicates_the_richer_provenance_takes_the_better_place():
    plain = payload("doc", "a.md", "the   same\ntext", uri=None)
    rich = payload("doc", "b.md", "the same text", headings=("H",))
    between = payload("doc", "c.md", "between")
    found = dedup([hit(plain, 1), hit(between, 2), hit(rich, 3)])
    assert _paths(found) == ["b.md", "c.md"]


def test_the_pool_gives_each_kind_half_and_lends_what_is_left():
    docs = [hit(payload("doc", f"d{n}", f"doc {n}"), n) for n in range(1, 11)]
    code = [hit(payload("code", f"c{n}", f"code {n}"), n) for n in range(1, 4)]
    chosen = pool(_merged(docs, code), 10)
    assert len(chosen) == 10
    assert [item.payload.kind for item in chosen].count("code") == 3


def test_the_pool_is_not_larger_than_what_was_found():
    assert len(pool([hit(payload(), 1)], 180)) == 1
