"""Keeps the index of a codebase up to date while people work: a run after each burst of changes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, Protocol

from adk_evidence.errors import (
    EvidenceError,
    IndexBusyError,
    InvalidRequestError,
    SettingsError,
    SourceError,
    StoreError,
)
from adk_evidence.gitcli import GitError
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.settings import settings_for
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_ingest.corpora.discovery import path_filter
from adk_ingest.progress import Progress
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.git import git_line, records

if TYPE_CHECKING:
    from adk_evidence.index.indexer import IndexReport
    from adk_ingest.indexes.codebase import CodebaseIndexer

# A run begins when nothing changed for so long, and where changes never cease, so long after the first.
QUIET_MS = 300
LATEST_SECONDS = 10.0
# How often it is looked whether another ingestion has ended.
BUSY_SECONDS = 0.5
# Where more paths changed, asking git which of them are ignored takes longer than a run that finds nothing.
MAX_ASKED = 200
# The file changes what a walk takes, though no walk takes the file itself.
_GITIGNORE = ".gitignore"


class Changed(NamedTuple):
    """A file or folder that changed, by its path below the codebase's folder."""

    path: str
    is_new: bool


class Events(Protocol):
    """Gets what happens while a codebase is watched, from one thread and in order."""

    def watching(self, codebase: Codebase) -> None:
        """The index is up to date, as far as that was possible, and every change from now on is seen."""

    def waiting(self, sentence: str) -> None:
        """Another ingestion writes to the index; this run goes on when that has ended."""

    def updated(self, report: IndexReport) -> None:
        """A run has ended, also a run that found nothing new."""

    def failed(self, error: EvidenceError) -> None:
        """A run failed; the index answers as before."""


class Watcher:
    """Watches one codebase.

    Args:
        settings: Of the main index.
        indexer: Runs the ingestions.
        codebase: What is watched.
        events: Gets what happens.
        progress: Shows the first run, which may take minutes.
        poll: Look at the files again and again, where the file system tells of no changes.
        stopped: Ends the watching when it is set.
    """

    def __init__(
        self,
        settings: Settings,
        indexer: CodebaseIndexer,
        codebase: Codebase,
        events: Events,
        progress: Progress,
        *,
        poll: bool = False,
        stopped: threading.Event | None = None,
    ) -> None:
        self._indexer = indexer
        self._codebase = codebase
        self._events = events
        self._progress = progress
        self._poll = poll
        self._stopped = stopped or threading.Event()
        self._root = codebase.path
        # A codebase may hold the product's own data, which each run writes.
        self._home = settings.paths.root.resolve()
        self._generations = open_generations(settings_for(settings, codebase))
        self._could_take = _filter_of(settings, codebase)

    def run(self) -> None:
        """Bring the index up to date, then again after every burst of changes, until the watching is stopped.

        Raises:
            EvidenceError: The first run cannot begin, or the folder is gone.
            SourceError: The system cannot watch the folder.
        """
        self._check_folder()
        # Changes during a run are kept by the watcher until they are asked for.
        changes = self._changes()
        next(changes)  # begins to watch
        with self._progress:
            self._update(self._progress, first=True)
        self._events.watching(self._codebase)
        waiting: set[Changed] = set()
        since = 0.0
        for changed in changes:
            if self._stopped.is_set():
                return
            self._check_folder()
            if not waiting:
                since = time.monotonic()
            waiting |= changed
            is_quiet = not changed or time.monotonic() - since > LATEST_SECONDS
            if waiting and is_quiet:
                concerned = self._concerns_the_index(waiting)
                waiting.clear()
                if concerned:
                    self._update(Progress())

    def _check_folder(self) -> None:
        # Systems tell of what changes in a folder, and not all of them that the folder itself goes away.
        if not self._root.is_dir():
            raise SourceError(f"The folder {self._root} does not exist.", "Name the folder that holds the code.")

    def _update(self, progress: Progress, *, first: bool = False) -> None:
        said = False
        while not self._stopped.is_set():
            try:
                self._events.updated(self._indexer.build(self._codebase, progress, self._stopped.is_set))
            except IndexBusyError as exc:
                if not said:
                    said = True
                    self._events.waiting(exc.message)
                while self._generations.is_being_written() and not self._stopped.wait(BUSY_SECONDS):
                    pass
                continue
            except EvidenceError as exc:
                if self._stopped.is_set():
                    return
                # Nothing that happens in the folder mends these.
                if not self._root.is_dir() or (first and isinstance(exc, (SettingsError, InvalidRequestError))):
                    raise
                self._events.failed(exc)
            except OSError as exc:
                place = f"{exc.filename} cannot be used" if exc.filename else "The system refuses what the run needs"
                self._events.failed(StoreError.of_disk(place, exc))
            return

    def _changes(self) -> Iterator[set[Changed]]:
        """What changed below the folder; an empty set where nothing changed for a moment."""
        # Loaded here: nothing else needs the library.
        from watchfiles import Change, watch

        try:
            watched = watch(
                self._root,
                watch_filter=None,
                rust_timeout=QUIET_MS,
                yield_on_timeout=True,
                stop_event=self._stopped,
                force_polling=self._poll or None,
                ignore_permission_denied=True,
            )
            for changed in watched:
                places = ((Path(path), change == Change.added) for change, path in changed)
                yield {
                    Changed(place.relative_to(self._root).as_posix(), is_new)
                    for place, is_new in places
                    if place != self._root and place.is_relative_to(self._root)
                }
        except (OSError, RuntimeError) as exc:
            raise SourceError(
                f"The folder {self._root} cannot be watched: {exc}.",
                "Try --poll; on Linux, a larger fs.inotify.max_user_watches helps too.",
            ) from exc

    def _concerns_the_index(self, changes: set[Changed]) -> bool:
        """Whether some changes may change the index, by the rules of the walk and of git."""
        indexed = self._indexed_paths()
        found = {change.path for change in changes if self._may_matter(change, indexed)}
        return bool(found - self._ignored(found - indexed))

    def _may_matter(self, change: Changed, indexed: set[str]) -> bool:
        path = PurePosixPath(change.path)
        place = self._root / path
        if self._root in self._home.parents and (place == self._home or self._home in place.parents):
            return False
        if change.path in indexed:
            # A folder changes with each file in it, and the file tells of itself; a folder that was swapped is new.
            return change.is_new or not place.is_dir()
        if path.name == _GITIGNORE:
            return len(path.parts) == 1 or self._could_take(path.parent.as_posix(), True)
        if place.is_dir():
            # Of a folder that was moved here, no file is named.
            return change.is_new and self._could_take(change.path, True)
        # Editors make files that are gone a moment later.
        return os.path.lexists(place) and self._could_take(change.path, False)

    def _indexed_paths(self) -> set[str]:
        """Paths of the indexed files and of the folders above them.

        Of a folder that was moved away, no file is named.
        """
        current = self._generations.current()
        corpora = current.manifest.corpora.values() if current else ()
        found: set[str] = set()
        prefix = self._prefix()
        for corpus in corpora:
            for path in corpus.files:
                place = Path(path.removeprefix(prefix))
                found.update(one.as_posix() for one in (place, *place.parents))
        return found - {"."}

    def _prefix(self) -> str:
        """The folder's place in its repository."""
        try:
            return git_line(self._root, "rev-parse", "--show-prefix")
        except GitError:
            return ""

    def _ignored(self, paths: set[str]) -> set[str]:
        """Which of some paths git ignores; none where git cannot tell, or where asking takes long."""
        if not paths or len(paths) > MAX_ASKED:
            return set()
        try:
            return set(records(self._root, "check-ignore", "-z", "--", *sorted(paths)))
        except GitError:  # also where none is ignored
            return set()


def _filter_of(settings: Settings, codebase: Codebase) -> Callable[[str, bool], bool]:
    """Whether a walk through the codebase could take a path below its folder."""
    about = settings_for(settings, codebase).corpora["code"]
    return path_filter(CorpusSource(about.corpus, about.repo, "folder", codebase.path, commit=""), about)
