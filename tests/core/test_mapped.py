"""Memory of an index that is mapped, and of one that is closed."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adk_evidence.embedding.base import SparseVector
from adk_evidence.store.base import CollectionSpec, Fusion, NewPoint, Prefetch, Vector
from adk_evidence.store.mapped import give_back_heap, give_back_pages, leave_pages_to_system
from adk_evidence.store.qdrant_edge import EdgeIndexReader, EdgeIndexWriter

SIZE = 4_000_000
PIECES, PIECE = 60_000, 1_000
DOCS = CollectionSpec("docs", {"dense": 256}, {"lexical": True})
GiveBack = Callable[[Path], None]
WAYS: tuple[GiveBack, ...] = (give_back_pages, leave_pages_to_system)
HAS_GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim")
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
    """Bytes of a mapped file, or of those below a folder, that are in the memory of this process."""
    name, total = "", 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if line.split(" ")[0].count("-") == 1:
            name = line.split(maxsplit=5)[-1]
        elif line.startswith("Rss:") and name.startswith(str(path)):
            total += int(line.split()[1]) * 1024
    return total


@pytest.mark.parametrize("give_back", WAYS)
def test_pages_of_an_index_are_given_back_and_come_again_as_they_were(give_back: GiveBack, tmp_path: Path) -> None:
    path = tmp_path / "index" / "generations" / "one.mmap"
    with mapped(path, mmap.MAP_SHARED) as vectors:
        vectors[7] = ord("y")
        assert resident(path) >= SIZE // 2
        give_back(tmp_path / "index")
        assert resident(path) == 0
        assert (vectors[6:9], vectors[:].count(b"x")) == (b"xyx", SIZE - 1)
    assert path.read_bytes()[6:9] == b"xyx"


@pytest.mark.parametrize("give_back", WAYS)
def test_pages_that_no_file_has_are_kept(give_back: GiveBack, tmp_path: Path) -> None:
    with mapped(tmp_path / "index" / "one", mmap.MAP_PRIVATE) as own:
        own[7] = ord("y")
        give_back(tmp_path / "index")
        assert own[6:9] == b"xyx"


def points(start: int, end: int) -> Iterator[NewPoint]:
    for number in range(start, end):
        vectors: dict[str, Vector] = {"dense": [1.0 + number, *[1.0] * 255], "lexical": SparseVector((number,), (1.0,))}
        yield NewPoint(f"00000000-0000-0000-0000-{number:012d}", vectors, {"chunk_id": f"c{number}", "text": "x" * 999})


def test_a_writer_gives_back_the_pages_of_what_it_has_written_and_loses_nothing(tmp_path: Path) -> None:
    with closing(EdgeIndexWriter(tmp_path, [DOCS], batch_points=100, mapped_points=2_000)) as writer:
        writer.upsert("docs", points(0, 1_900))
        before = resident(tmp_path)
        writer.upsert("docs", points(1_900, 2_000))
        assert resident(tmp_path) < before / 10
        writer.upsert("docs", points(2_000, 3_000))
        # A point whose page was given back is written once more, and one is read.
        writer.upsert("docs", points(7, 8))
        assert [record.payload["chunk_id"] for record in writer.retrieve("docs", [next(points(9, 10)).id])] == ["c9"]
    with closing(EdgeIndexReader(tmp_path, [DOCS], {"docs": 3_000})) as reader:
        found, more = reader.scroll("docs", limit=4_000)
    assert more is None
    assert [record.payload["chunk_id"] for record in found] == [f"c{number}" for number in range(3_000)]


def test_a_collection_is_opened_without_its_vectors_and_a_search_reads_them(tmp_path: Path) -> None:
    with closing(EdgeIndexWriter(tmp_path, [DOCS])) as writer:
        writer.upsert("docs", points(0, 3_000))
    [vectors] = tmp_path.glob("docs/segments/*/vector_storage-dense")
    with closing(EdgeIndexReader(tmp_path, [DOCS], {"docs": 3_000})) as reader:
        assert reader.count("docs") == 3_000
        before = resident(vectors)
        found = reader.hybrid_query("docs", [Prefetch("dense", [1.0] * 256, limit=1)], Fusion(), limit=0)
        [[nearest]] = found.branches
        assert nearest.id == next(points(0, 1)).id
        assert before < 3_000 * 256 * 4 / 10 < resident(vectors)


@pytest.mark.skipif(not HAS_GLIBC, reason="glibc alone gives its memory back")
def test_memory_that_was_freed_is_given_back_below_what_is_still_used() -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
    pieces = [library.malloc(PIECE) for _ in range(PIECES)]
    for piece in pieces:
        ctypes.memset(piece, 1, PIECE)
    # The last one keeps the library from giving the others back by itself.
    for piece in pieces[:-1]:
        library.free(piece)
    before = own_memory()
    give_back_heap()
    assert before - own_memory() > PIECES * PIECE / 2
    library.free(pieces[-1])


def own_memory() -> int:
    """Bytes of this process's memory that no file holds."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon")]
    return int(line.split()[1]) * 1024
