"""Memory of an index that is mapped."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

import pytest

from adk_evidence.store.mapped import give_back_pages

SIZE = 4_000_000
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pages are given back on Linux alone")


def mapped(path: Path, flags: int) -> mmap.mmap:
    """A new file of `SIZE` bytes, all of which are in memory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * SIZE)
    with path.open("r+b") as file:
        found = mmap.mmap(file.fileno(), SIZE, flags=flags)
    assert found[:].count(b"x") == SIZE
    return found


def resident(path: Path) -> int:
    """Bytes of a mapped file that are in the memory of this process."""
    name, total = "", 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if line.split(" ")[0].count("-") == 1:
            name = line.split(maxsplit=5)[-1]
        elif line.startswith("Rss:") and name == str(path):
            total += int(line.split()[1]) * 1024
    return total


def test_pages_of_an_index_are_given_back_and_come_again_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "index" / "generations" / "one.mmap"
    with mapped(path, mmap.MAP_SHARED) as vectors:
        vectors[7] = ord("y")
        assert resident(path) >= SIZE // 2
        give_back_pages(tmp_path / "index")
        assert resident(path) == 0
        assert (vectors[6:9], vectors[:].count(b"x")) == (b"xyx", SIZE - 1)
    assert path.read_bytes()[6:9] == b"xyx"


def test_pages_that_no_file_has_are_kept(tmp_path: Path) -> None:
    with mapped(tmp_path / "index" / "one", mmap.MAP_PRIVATE) as own:
        own[7] = ord("y")
        give_back_pages(tmp_path / "index")
        assert own[6:9] == b"xyx"


def test_pages_of_other_folders_stay(tmp_path: Path) -> None:
    path = tmp_path / "index-of-another" / "one"
    with mapped(path, mmap.MAP_SHARED):
        before = resident(path)
        give_back_pages(tmp_path / "index")
        assert resident(path) == before > 0
