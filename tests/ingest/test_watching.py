"""Watching a codebase: real changes of real files bring the index up to date."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from watchfiles import watch

from adk_evidence.errors import EvidenceError, IngestError, SourceError
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.indexer import IndexReport
from adk_evidence.index.registry import settings_of
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.store.factory import open_generations
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.indexes.watch import Watcher
from adk_ingest.progress import Progress
from tests.corpora import HashEmbedder, change, git, shared_sparse, write_files
from tests.ingest.test_codebase import APP, QUESTION, Place, commit_all

pytestmark = pytest.mark.slow

# How long a test waits for an event before it fails.
DEADLINE = 120.0


class Indexer(CodebaseIndexer):
    """Counts its runs; `failures` are raised instead of the next ones."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.settings, dense=HashEmbedder(), sparse=shared_sparse())
        self.runs = 0
        self.failures: list[EvidenceError] = []

    def build(self, *arguments: Any, **options: Any) -> IndexReport:
        self.runs += 1
        if self.failures:
            raise self.failures.pop(0)
        return super().build(*arguments, **options)


class Watched:
    """A watched codebase, with its events in a queue."""

    def __init__(self, place: Place, *, poll: bool) -> None:
        self.place = place
        self.indexer = Indexer(place)
        self.events: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.stopped = threading.Event()
        self._poll = poll
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        codebase = Codebase(name="app", path=self.place.app)
        watcher = Watcher(
            self.place.settings,
            self.indexer,
            codebase,
            self,
            Progress(),
            poll=self._poll,
            stopped=self.stopped,
        )
        try:
            watcher.run()
            self.events.put(("ended", None))
        except BaseException as exc:
            self.events.put(("raised", exc))

    def watching(self, codebase: Codebase) -> None:
        self.events.put(("watching", codebase))

    def waiting(self, sentence: str) -> None:
        self.events.put(("waiting", sentence))

    def updated(self, report: IndexReport) -> None:
        self.events.put(("updated", report))

    def failed(self, error: EvidenceError) -> None:
        self.events.put(("failed", error))

    def next(self, name: str) -> Any:
        """What comes with the next event, which must have this name."""
        found, about = self.events.get(timeout=DEADLINE)
        assert found == name, about
        return about

    def start(self) -> None:
        self._thread.start()

    def begin(self) -> None:
        """Watch, once the first run is over."""
        self.start()
        self.next("updated")
        self.next("watching")

    def end(self) -> None:
        self.stopped.set()
        self._thread.join(timeout=DEADLINE)
        assert not self._thread.is_alive()


@pytest.fixture(scope="session")
def poll(tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether the file system of the tests tells of no changes, so that only looking again and again finds them."""
    folder = tmp_path_factory.mktemp("probe")
    changes = watch(folder, watch_filter=None, rust_timeout=2_000, yield_on_timeout=True, step=10)
    with contextlib.closing(changes):
        write = threading.Timer(0.2, (folder / "file").write_text, ["text"])
        write.start()
        told = any(next(changes) for _ in range(2))
        write.join()
    return not told


@pytest.fixture
def watched(tmp_path: Path, poll: bool) -> Iterator[Watched]:
    place = Place(tmp_path)
    write_files(place.app, {**APP, ".gitignore": "*.out\n"})
    commit_all(place.app)
    watched = Watched(place, poll=poll)
    yield watched
    watched.end()


def changed(watched: Watched, make: Callable[[], object]) -> IndexReport:
    """The report of the first run after a change that finds something new."""
    make()
    while True:
        report: IndexReport = watched.next("updated")
        if report.status != "unchanged":
            return report


class TestChanges:
    def test_a_running_service_answers_from_the_new_text(self, watched: Watched) -> None:
        watched.begin()
        request = EvidenceRequest(query=QUESTION)
        with watched.place.service() as service:
            assert not any("fingerprint" in one.text for one in service.find(request).candidates)
            readme = watched.place.app / "README.md"
            report = changed(
                watched,
                lambda: change(readme, "A user logs in with a token", "A user logs in with a token or a fingerprint"),
            )
            assert (report.status, report.changed_files) == ("success", 1)
            assert any("fingerprint" in one.text for one in service.find(request).candidates)

    def test_added_renamed_and_deleted_files_are_followed(self, watched: Watched) -> None:
        app = watched.place.app
        watched.begin()
        assert changed(watched, lambda: write_files(app, {"new/page.md": "# New\n\nText.\n"})).changed_files == 1
        report = changed(watched, lambda: (app / "new").rename(app / "newer"))
        assert (report.changed_files, report.removed_files) == (1, 1)
        assert changed(watched, (app / "newer/page.md").unlink).removed_files == 1
        assert changed(watched, lambda: write_files(app, {"notes.md": "A note.\n"})).changed_files == 1
        ignore = app / ".gitignore"
        assert changed(watched, lambda: ignore.write_text("*.out\nnotes.md\n")).removed_files == 1
        assert {chunk.path for chunk in watched.place.chunks()} == set(APP)

    def test_files_that_no_walk_takes_start_no_run(self, watched: Watched) -> None:
        app = watched.place.app
        watched.begin()
        write_files(
            app, {"build.out": "x", "node_modules/a/index.js": "x", ".git/notes": "x", ".env": "A=1", "dist/a.js": "x"}
        )
        (app / "gone.py").write_text("x = 1\n")
        (app / "gone.py").unlink()
        report = changed(watched, lambda: change(app / "Makefile", "pytest", "pytest -q"))
        assert report.changed_files == 1
        assert watched.indexer.runs == 2

    def test_a_burst_is_one_run(self, watched: Watched) -> None:
        app = watched.place.app
        git(app, "switch", "--quiet", "-c", "other")
        write_files(app, {f"many/file{number}.py": f"value = {number}\n" for number in range(40)})
        commit_all(app)
        git(app, "switch", "--quiet", "main")
        watched.begin()
        report = changed(watched, lambda: git(app, "switch", "--quiet", "other"))
        assert report.files == len(APP) + 40
        report = changed(watched, lambda: change(app / "Makefile", "pytest", "pytest -q"))
        # The change after the burst is the only thing that the next run finds.
        assert report.changed_files == 1


class TestFailures:
    def test_a_file_that_cannot_be_used_does_not_end_the_watching(self, watched: Watched) -> None:
        app = watched.place.app
        watched.begin()
        report = changed(
            watched, lambda: write_files(app, {"broken.py": "def (:\n", "raw.py": b"# \xe9\xe8\xea\n" * 20})
        )
        assert ("raw.py", "undecodable") in report.skipped
        assert "broken.py" in {chunk.path for chunk in watched.place.chunks()}
        assert changed(watched, lambda: change(app / "Makefile", "pytest", "pytest -q")).changed_files == 1

    def test_a_run_that_fails_is_said_and_made_up_for(self, watched: Watched) -> None:
        app = watched.place.app
        watched.begin()
        watched.indexer.failures.append(IngestError("The disk is full.", "Make room."))
        change(app / "Makefile", "pytest", "pytest -q")
        assert watched.next("failed").message == "The disk is full."
        assert changed(watched, lambda: change(app / "README.md", "Signs", "Lets")).changed_files == 2

    def test_another_ingestion_is_waited_for_and_that_is_said_once(self, watched: Watched) -> None:
        place = watched.place
        watched.begin()
        other = open_generations(settings_of(place.settings, "app"))
        with other.writing("other"):
            change(place.app / "Makefile", "pytest", "pytest -q")
            assert "Another process is writing" in watched.next("waiting")
        assert watched.next("updated").changed_files == 1

    def test_a_folder_that_goes_away_ends_the_watching(self, watched: Watched) -> None:
        app = watched.place.app
        watched.begin()
        app.rename(app.with_name("elsewhere"))
        assert isinstance(watched.next("raised"), SourceError)

    def test_the_products_own_data_below_the_folder_starts_no_run(self, tmp_path: Path, poll: bool) -> None:
        place = Place(tmp_path)
        write_files(place.app, APP)
        # The home folder lies in the codebase.
        place.workplace.overrides["home"] = str(place.app / "data")
        watched = Watched(place, poll=poll)
        try:
            watched.begin()
            assert settings_of(place.settings, "app").index_path.is_relative_to(place.app)
            assert changed(watched, lambda: change(place.app / "Makefile", "pytest", "pytest -q")).changed_files >= 1
            assert watched.indexer.runs == 2
        finally:
            watched.end()
