"""Immutable generations of an index: built aside, published by a pointer, removed when nobody reads them.

    <index>/CURRENT              the published generations, the current one first
    <index>/generations/<id>/    closed collections and manifest.json; never written again
    <index>/building/<id>/       what the only writer is working on
    <index>/trash/<id>/          is being removed
    <index>/leases/<id>.*.lock   locked by a reader of a generation; the lock ends with the reader's process
    <index>/writer.lock          locked by the writer; writer.json says which process that is

A process may die between any two steps. Readers follow CURRENT, which is replaced last and in one step. Without it,
there is no index.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import dropwhile
from pathlib import Path

from filelock import FileLock, Timeout

from adk_evidence.errors import IndexBusyError, IndexMismatchError, IndexMissingError, StoreError
from adk_evidence.files import link_tree, remove_tree, rename, sync_folder, sync_tree, write_atomic
from adk_evidence.store.manifest import MANIFEST, IndexManifest, read_manifest, write_manifest

# The current generation, and the one before for `rollback`.
KEPT_GENERATIONS = 2
# How long to wait for another process that leases or collects generations; that takes milliseconds.
_LEASES_SECONDS = 10
# How long to wait for another process that checks whether there is a writer.
_WRITER_SECONDS = 0.5
_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True)
class Generation:
    """A published index: its folder and what it holds."""

    id: str
    folder: Path
    manifest: IndexManifest


class Publisher:
    """What a store does outside the index folder when a generation is published or removed; Edge does nothing.

    Errors: `StoreError` where a server cannot be reached or refuses.
    """

    def prepare(self) -> None:
        """Before a run: make sure that the run can succeed, and tidy up after runs that died."""

    def holds(self, folder: Path, manifest: IndexManifest) -> bool:
        """Whether every point of a published generation is still there. A published folder does not change."""
        return True

    def publish(self, folder: Path) -> None:
        """Make a verified generation the one that others find."""

    def collect_garbage(self) -> None:
        """Drop the points of generations whose folders are gone."""

    def clear(self) -> None:
        """Drop all points of an index whose generations were all removed."""


class LeasedGeneration(AbstractContextManager["LeasedGeneration"]):
    """A generation that is not removed while the lease is held."""

    def __init__(self, store: GenerationStore, generation: Generation, lock: FileLock | None) -> None:
        self.is_being_written = store.is_being_written
        self._lock = lock
        self.id = generation.id
        self.folder = generation.folder
        self.manifest = generation.manifest

    def release(self) -> None:
        """Give the lease back; a second call does nothing."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()
            with suppress(OSError):
                Path(lock.lock_file).unlink()

    def __exit__(self, *exc: object) -> None:
        self.release()


class Building(AbstractContextManager["Building"]):
    """A generation that only its writer sees. The end of the context deletes an unpublished generation."""

    def __init__(self, store: GenerationStore, folder: Path) -> None:
        self._store = store
        self.id = folder.name
        self.folder = folder

    def discard(self) -> None:
        """Delete the folder unless it was published, and let other writers in; a second call does nothing."""
        self._store._end(self)

    def __exit__(self, *exc: object) -> None:
        self.discard()


class GenerationStore:
    """The generations below one index folder. Reading methods may be called from several threads.

    Args:
        index_path: The index folder; it is created by the first `begin`.
        missing_hint: What to do where there is no index.
    """

    def __init__(self, index_path: Path, *, missing_hint: str = "Run `adk-ingest all`.") -> None:
        self._root = index_path
        self.missing_hint = missing_hint
        self._pointer = index_path / "CURRENT"
        self._generations = index_path / "generations"
        self._building = index_path / "building"
        self._trash = index_path / "trash"
        self._leases = index_path / "leases"
        self._writer_file = index_path / "writer.json"
        # Not thread-local: a run may begin in one thread and end in another.
        self._writer_lock = FileLock(index_path / "writer.lock", thread_local=False)
        self._open_building: Building | None = None

    # Reading

    def published(self) -> list[Generation]:
        """The current generation first, then the earlier ones that `rollback` can return to; empty without an index."""
        return [generation for name in self._pointed() if (generation := self._load(name))]

    def current(self) -> Generation | None:
        return next(iter(self.published()), None)

    def current_id(self) -> str | None:
        """The id of the current generation, or None without an index; cheap enough for every request."""
        return next((generation.id for generation in self.published()), None)

    def open_current(self) -> LeasedGeneration:
        """Lease the current generation.

        Where this user cannot write to the index folder, the generation is returned without a lease.

        Raises:
            IndexMissingError: There is no index.
            StoreError: The lease cannot be taken.
        """
        self._require_current()
        try:
            with self._leases_guard():
                generation = self._require_current()
                name = f"{generation.id}.{os.getpid()}-{uuid.uuid4().hex[:8]}.lock"
                lock = FileLock(self._leases / name, thread_local=False)
                lock.acquire(blocking=False)
                return LeasedGeneration(self, generation, lock)
        except OSError as exc:
            if exc.errno in _NOT_WRITABLE:
                return LeasedGeneration(self, self._require_current(), None)
            raise self._failure(exc, "leased") from exc

    def _require_current(self) -> Generation:
        generation = self.current()
        if generation is None:
            raise IndexMissingError(f"There is no index at {self._root}.", self.missing_hint)
        return generation

    # Writing

    @contextmanager
    def writing(self, run_id: str) -> Iterator[None]:
        """Keep other writers out for a whole run, which may begin and publish several generations.

        Raises:
            IndexBusyError: Another process is writing to this index.
        """
        self._lock_writer(run_id)
        try:
            yield
        finally:
            self._writer_lock.release()

    def is_being_written(self) -> bool:
        """Whether a process writes to this index now; a process that was killed does not."""
        path = self._root / "writer.lock"
        try:
            return path.exists() and is_locked(path)
        except OSError:
            return False  # a user who cannot lock the file does not write there

    def begin(self, run_id: str, base: Generation | None = None, *, skip: Collection[str] = ()) -> Building:
        """Start a new generation in a new folder, and remove what a dead writer left behind.

        Args:
            run_id: The run that other writers see named when they find the index locked.
            base: Start from the files of this generation, which may be of another index. They are still its files:
                what is to be changed in place needs `files.unshare` first.
            skip: Files and folders of `base` that are left out.

        Raises:
            StoreError: Another process is writing to this index, or its folder cannot be written.
        """
        if self._open_building is not None:
            raise StoreError("This process is already building a generation of the index.")
        self._lock_writer(run_id)
        # Ids sort by time.
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S-%f}-{uuid.uuid4().hex[:6]}"
        building = Building(self, self._building / name)
        self._open_building = building
        try:
            remove_tree(self._building)
            remove_tree(self._trash)
            building.folder.mkdir(parents=True)
            if base is not None:
                link_tree(base.folder, building.folder, skip={MANIFEST, *skip})
        except BaseException as exc:
            self._end(building)
            if isinstance(exc, OSError):
                raise self._failure(exc, "written") from exc
            raise
        return building

    def publish(self, building: Building, manifest: IndexManifest) -> Generation:
        """Make a finished building the current generation. Its store must be closed.

        Args:
            building: From `begin` of this store; it cannot be used afterwards.
            manifest: Its `generation` is the id of the building.

        Raises:
            StoreError: The folder cannot be written; readers keep the old generation.
        """
        if manifest.generation != building.id:
            raise ValueError(f"the manifest is of generation {manifest.generation}, not {building.id}")
        if self._open_building is not building:
            raise ValueError("the building was discarded or published before")
        earlier = [generation.id for generation in self.published()]
        folder = self._generations / building.id
        try:
            write_manifest(building.folder, manifest)
            sync_tree(building.folder)
            self._generations.mkdir(exist_ok=True)
            rename(building.folder, folder)
            sync_folder(self._generations)
            self._point([building.id, *earlier])
        except OSError as exc:
            raise self._failure(exc, "published") from exc
        finally:
            self._end(building)
        return Generation(building.id, folder, manifest)

    def rollback(self, publish: Callable[[Generation], None] = lambda generation: None) -> Generation:
        """Make the generation before the current one current again.

        Where the current one is complete, earlier ones that answer by keywords alone are passed over: a run publishes
        such a one on its way to a complete one.

        Args:
            publish: Called with the earlier generation first; an error that it raises leaves everything unchanged.
                Called with the current generation again if the index folder cannot be written.

        Raises:
            StoreError: There is none, or another process is writing to this index.
        """
        self._require_current()
        with self.writing("rollback"):
            current, *earlier = self.published()
            if current.manifest.dense == "complete":
                earlier = list(dropwhile(lambda one: one.manifest.dense != "complete", earlier))
            if not earlier:
                raise StoreError("There is no earlier generation of the index to go back to.")
            publish(earlier[0])
            try:
                self._point([generation.id for generation in earlier])
            except OSError as exc:
                with suppress(StoreError):
                    publish(current)
                raise self._failure(exc, "rolled back") from exc
            return earlier[0]

    def collect_garbage(self, keep: int = KEPT_GENERATIONS) -> list[str]:
        """Remove the generations that nobody reads, except the first `keep` published ones; returns the removed ids.

        Raises:
            StoreError: Another process is writing to this index.
        """
        if not self._generations.is_dir():
            return []
        with self.writing("garbage collection"):
            removed = []
            self._trash.mkdir(exist_ok=True)
            with self._leases_guard():
                kept = {generation.id for generation in self.published()[:keep]} | self._leased()
                for folder in sorted(self._generations.iterdir()):
                    if folder.name not in kept:
                        # Windows refuses while a file in the folder is open; the next collection removes it.
                        with suppress(OSError):
                            rename(folder, self._trash / folder.name)
                            removed.append(folder.name)
            remove_tree(self._trash)
            return removed

    def clear(self) -> None:
        """Remove every generation, and with them the index.

        Raises:
            StoreError: Another process writes to or reads this index, or a folder cannot be removed.
        """
        if not self._root.is_dir():
            return
        with self.writing("removal"):
            try:
                with self._leases_guard():
                    if self._leased():
                        raise StoreError(
                            f"The index at {self._root} is being read.",
                            "Close the editors, servers and agents that ask it, and try again.",
                        )
                    # The pointer goes first, so that an interrupted removal does not leave half an index.
                    self._pointer.unlink(missing_ok=True)
                    self._trash.mkdir(exist_ok=True)
                    for folder in [*self._generations.iterdir()] if self._generations.is_dir() else []:
                        rename(folder, self._trash / folder.name)
            except OSError as exc:
                raise self._failure(exc, "removed") from exc
            remove_tree(self._trash)
            remove_tree(self._building)

    # Pointer

    def _pointed(self) -> list[str]:
        try:
            return [str(name) for name in json.loads(self._pointer.read_bytes())["generations"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def _point(self, ids: list[str]) -> None:
        write_atomic(self._pointer, json.dumps({"generations": ids}, indent=1).encode())

    def _load(self, generation_id: str) -> Generation | None:
        folder = self._generations / generation_id
        try:
            return Generation(generation_id, folder, read_manifest(folder))
        except StoreError:
            return None

    # Locks

    def _lock_writer(self, run_id: str) -> None:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            self._writer_lock.acquire(timeout=_WRITER_SECONDS)
            if self._writer_lock.lock_counter == 1:
                since = datetime.now(UTC).isoformat(timespec="seconds")
                holder = {"pid": os.getpid(), "host": socket.gethostname(), "run_id": run_id, "since": since}
                self._writer_file.write_text(json.dumps(holder), encoding="utf-8")
        except Timeout:
            raise IndexBusyError(
                f"Another process is writing to this index{self._writer()}.",
                "Wait until it ends, or stop it; what was published keeps answering.",
            ) from None
        except OSError as exc:
            self._writer_lock.release(force=True)
            raise self._failure(exc, "written") from exc

    def _writer(self) -> str:
        try:
            holder = json.loads(self._writer_file.read_bytes())
            process = f"process {holder['pid']} on {holder['host']}"
            return f": {process}, run {holder['run_id']}, since {holder['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def _end(self, building: Building) -> None:
        if self._open_building is building:
            self._open_building = None
            remove_tree(building.folder)
            self._writer_lock.release()

    def _failure(self, error: OSError, what: str) -> StoreError:
        return StoreError.of_disk(f"The index at {self._root} cannot be {what}", error)

    @contextmanager
    def _leases_guard(self) -> Iterator[None]:
        """Prevent the removal of a generation between a reader's look at the pointer and its lease."""
        self._leases.mkdir(exist_ok=True)
        # A new lock object each time: a shared object would admit all threads of this process at once.
        lock = FileLock(self._leases / "guard.lock", timeout=_LEASES_SECONDS, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            raise StoreError(
                f"The leases of the index at {self._root} are locked by another process.", "Try again."
            ) from None
        try:
            yield
        finally:
            lock.release()

    def _leased(self) -> set[str]:
        """Ids of generations with a live reader. Removes the leases of dead readers; the guard must be held."""
        alive = set()
        for path in self._leases.glob("*.*.lock"):
            try:
                locked = is_locked(path)
            except OSError:
                locked = True
            if locked:
                alive.add(path.name.partition(".")[0])
            else:
                with suppress(OSError):
                    path.unlink()
        return alive


def is_locked(path: Path) -> bool:
    """Whether any process holds a lock; raises OSError where locking is impossible."""
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


def check_fingerprint(
    manifest: IndexManifest, expected: Mapping[str, str | int], *, command: str = "adk-ingest all"
) -> None:
    """Refuse an index that was built with other models or versions than the settings name.

    Keys of the manifest's fingerprint that `expected` lacks are not compared. `command` builds the index again.

    Raises:
        IndexMismatchError: The two differ; the message says where.
    """
    differences = [
        f"{key} is {manifest.fingerprint.get(key, 'unknown')} in the index and {value} in the settings"
        for key, value in sorted(expected.items())
        if manifest.fingerprint.get(key) != value
    ]
    if differences:
        raise IndexMismatchError(
            f"The index does not match the settings: {'; '.join(differences)}.",
            f"Run `{command}` to build it anew, or change the settings back.",
        )
