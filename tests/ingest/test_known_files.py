"""Files that did not change since the last ingestion are not read again, and no change is missed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from adk_evidence.index.codebase import Codebase
from adk_evidence.index.registry import settings_of
from adk_evidence.index.settings import settings_for
from adk_evidence.models.chunk import ChunkPayload, sha256_text
from adk_ingest.corpora import known_files
from adk_ingest.corpora.codebase import codebase_corpora
from adk_ingest.corpora.known_files import RECORD, KnownFiles
from adk_ingest.progress import Progress
from adk_ingest.sources.codebase import open_codebase
from tests.corpora import change, git, write_files
from tests.ingest.test_codebase import APP, Place, commit_all

pytestmark = pytest.mark.slow

SECOND = 1_000_000_000
TEXTS = ["one", "two", "six", "seven"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    write_files(place.app, APP)
    commit_all(place.app)
    return place


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written a moment ago count as written long ago."""
    monkeypatch.setattr(known_files, "TIME_STEP_NS", -3600 * SECOND)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were read to see whether they changed."""
    names: list[str] = []
    real = known_files._facts

    def facts(disk: str) -> Any:
        names.append(Path(disk).name)
        return real(disk)

    monkeypatch.setattr(known_files, "_facts", facts)
    return names


class TestWhatIsRead:
    def test_an_unchanged_codebase_is_not_read_again(self, place: Place, trusting: None, read: list[str]) -> None:
        place.index()
        assert len(read) >= len(APP)
        read.clear()
        assert place.index().status == "unchanged"
        assert read == []
        change(place.app / "src/app/auth.py", "Sign a user in", "Let a user in")
        assert place.index().changed_files == 1
        assert read == ["auth.py"]
        assert place.indexer.build(Codebase(name="app", path=place.app), Progress(), compare=True).status == "unchanged"
        assert set(read) >= {Path(name).name for name in APP}, "contents are compared on request"
        (settings_of(place.settings, "app").index_path / RECORD).write_bytes(b'{"rules": "0", "files": {}}')
        read.clear()
        assert place.index().status == "unchanged"
        assert set(read) >= {Path(name).name for name in APP}, "another version of the product wrote the record"

    def test_an_unchanged_adk_is_not_read_again(self, tmp_path: Path, trusting: None, read: list[str]) -> None:
        workplace = Place(tmp_path).workplace
        commit_all(workplace.code)
        workplace.ingest()
        assert "retry.py" in read and "retry.md" in read
        read.clear()
        assert workplace.ingest().status == "unchanged"
        assert read == []

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows does not count the changes of an inode")
    def test_a_time_that_was_set_back_hides_no_change(self, place: Place, trusting: None) -> None:
        file = place.app / "src/app/auth.py"
        place.index()
        before = file.stat()
        while file.stat().st_ctime_ns == before.st_ctime_ns:  # file systems count time in small steps
            file.write_text(file.read_text().replace("Sign", "Wave"))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        assert place.index().changed_files == 1
        assert any("Wave a user in" in chunk.text for chunk in place.chunks())


class Disk:
    """One file on a disk whose clock goes in steps, and the record of a home folder."""

    def __init__(self, root: Path, step: int) -> None:
        self.file = root / "file"
        self._record = root / "files.json"
        self._record.unlink(missing_ok=True)
        self._step = step
        self.now = 1_000 * SECOND
        self._mtime = self._ctime = 0
        self.write("one", keep_time=False)

    def write(self, text: str, *, keep_time: bool) -> None:
        self.file.write_text(text)
        self._ctime = self.now // self._step * self._step
        if not keep_time:
            self._mtime = self._ctime

    def look(self) -> str:
        info = SimpleNamespace(
            st_size=self.file.stat().st_size, st_mtime_ns=self._mtime, st_ctime_ns=self._ctime, st_ino=1, st_dev=1
        )
        known = KnownFiles(self._record, clock=lambda: self.now)
        found = known.look(str(self.file), info)  # type: ignore[arg-type]
        known.save()
        return found.facts.digest


STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(TEXTS), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from([1, 5_000_000, SECOND, 3 * SECOND])),
    st.tuples(st.just("look")),
)


@hypothesis_settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=12), step=st.sampled_from([1, 4_000_000, SECOND, 2 * SECOND]))
def test_no_clock_of_a_file_system_hides_a_change(tmp_path: Path, steps: list[tuple[Any, ...]], step: int) -> None:
    disk = Disk(tmp_path, step)
    for what, *about in [*steps, ("look",)]:
        if what == "write":
            disk.write(about[0], keep_time=about[1])
        elif what == "wait":
            disk.now += about[0]
        else:
            assert disk.look() == sha256_text(disk.file.read_text())


NAMES = st.sampled_from(["a.py", "b.py", "docs/c.md", "docs/d.md"])
EDITS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.sampled_from(TEXTS)),
    st.tuples(st.just("in place"), NAMES, st.sampled_from(TEXTS[:3])),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("commit")),
)


def edit(app: Path, what: str, *about: str) -> None:
    if what == "commit":
        git(app, "add", "--all")
        git(app, "commit", "--quiet", "--allow-empty", "-m", "next")
        return
    file = app / about[0]
    if what == "write":
        write_files(app, {about[0]: f"# {about[1]}\n\n{about[1]} = 1\n"})
    elif not file.exists():
        return
    elif what == "in place":
        # The same size, if it was another text of three letters, and the same time.
        before = file.stat()
        file.write_text(f"# {about[1]}\n\n{about[1]} = 1\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif what == "rename":
        (app / about[1]).parent.mkdir(exist_ok=True)
        file.replace(app / about[1])
    else:
        file.unlink()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A new codebase for each example."""

    def made() -> Iterator[Place]:
        while True:
            place = Place(tmp_path_factory.mktemp("place"))
            write_files(place.app, {"a.py": "one = 1\n", "docs/c.md": "# one\n\nText.\n"})
            commit_all(place.app)
            yield place

    return made()  # type: ignore[return-value]


@hypothesis_settings(max_examples=30)
@given(runs=st.lists(st.lists(EDITS, max_size=3), min_size=1, max_size=4))
def test_a_walk_with_a_record_finds_what_a_walk_without_one_finds(
    places: Iterator[Place], runs: list[list[tuple[str, ...]]]
) -> None:
    place = next(places)
    settings = settings_for(place.settings, Codebase(name="app", path=place.app))

    def found(known: KnownFiles) -> Any:
        corpora = codebase_corpora(settings, open_codebase(place.app), "now", known).corpora
        known.save()
        return [
            (one.name, one.source.commit, one.state, [(file.path, file.file_hash, file.text) for file in one.files])
            for one in corpora
        ]

    for edits in runs:
        for one in edits:
            edit(place.app, *one)
        assert found(KnownFiles(place.workplace.root / RECORD)) == found(KnownFiles())


def told(chunk: ChunkPayload) -> dict[str, Any]:
    return chunk.model_dump(exclude={"created_at"})


@hypothesis_settings(max_examples=3)
@given(runs=st.lists(st.lists(EDITS, min_size=1, max_size=3), min_size=1, max_size=2))
def test_an_index_that_was_kept_up_to_date_is_that_of_a_fresh_ingestion(
    places: Iterator[Place], runs: list[list[tuple[str, ...]]]
) -> None:
    place = next(places)
    # One file is never touched: an index without any is refused.
    write_files(place.app, {"always.py": "always = 1\n"})
    place.index()
    for edits in runs:
        for one in edits:
            edit(place.app, *one)
        place.index()
    kept = sorted(map(told, place.chunks()), key=lambda chunk: chunk["chunk_id"])
    place.indexer.delete("app")
    place.index()
    assert kept == sorted(map(told, place.chunks()), key=lambda chunk: chunk["chunk_id"])
