"""What pages include, and that hostile pages take little time and memory."""

from __future__ import annotations

import time

import pytest

from adk_evidence.readers.pages.includes import Include, find_includes, read_include
from adk_evidence.readers.pages.snippets import MAX_INCLUDED_CHARS, snippets_of


@pytest.mark.parametrize(
    ("reference", "path", "part"),
    [
        ("a.py", "a.py", ""),
        ("a.py:init", "a.py", "init"),
        ("a.py:3", "a.py", "3"),
        ("a.py:1:3,5:-1", "a.py", "1:3,5:-1"),
        ("a.py::3", "a.py", ":3"),
        ("a-2:3", "a-2", "3"),
        ("a:b.py:init-2", "a:b.py", "init-2"),
        ("a:1.py", "a:1.py", ""),
        (":3", ":3", ""),
        # Each range may repeat the whole file.
        ("a.py:" + "," * 400, "a.py:" + "," * 400, ""),
    ],
)
def test_a_reference_is_a_path_with_a_section_or_with_ranges(reference: str, path: str, part: str) -> None:
    assert list(find_includes([f'--8<-- "{reference}"'])) == [(0, Include(path, part))]
    assert list(find_includes([f'--8<-- "{reference * 1001}"'])) == [], "no path is as long"


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(['--8<-- "f:' + ",:" * 20_000 + '!"'], id="one line"),
        pytest.param(['--8<-- "f:' + ",:" * 490 + '!"'] * 2000, id="many lines"),
        pytest.param(['--8<-- "f' + ":" * 980 + '"'] * 2000, id="colons"),
        pytest.param(["--8<--", "f:" + ",:" * 20_000 + "!", "--8<--"], id="block"),
    ],
)
def test_hostile_references_take_linear_time(lines: list[str]) -> None:
    started = time.process_time()
    list(find_includes(lines))
    assert read_include(Include("a.py"), {"a.py": "-" * 100_000}.get) == "-" * 100_000
    assert time.process_time() - started < 2


def test_a_page_that_includes_a_large_file_again_and_again_shows_the_file_a_few_times() -> None:
    page = ['--8<-- "a.py"'] * 50
    shown = list(snippets_of(page, "md", {"a.py": "x" * (MAX_INCLUDED_CHARS // 3)}.get))
    assert len(shown) == 3
