"""The embedding cache of a home folder: its size, who needs it, and making it smaller."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel

from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.errors import StoreError
from adk_evidence.settings import Settings
from adk_evidence.store.generations import GenerationStore, is_locked


def megabytes(count: int) -> str:
    return f"{count / 1_000_000:,.1f} MB"


class CacheStatus(BaseModel):
    """The embedding cache: how many bytes it takes on disk, and how many its vectors may take after an ingestion."""

    path: str
    bytes: int
    max_bytes: int

    @classmethod
    def of(cls, settings: Settings) -> CacheStatus:
        """The status of the cache in the settings' home folder; nothing is opened or created."""
        path = settings.paths.embedding_cache
        size = 0
        for file in (path, path.with_name(f"{path.name}-wal")):
            # Another process may remove the log meanwhile.
            with suppress(OSError):
                size += file.stat().st_size
        return cls(path=str(path), bytes=size, max_bytes=settings.embedding.cache_max_bytes)

    def __str__(self) -> str:
        return f"{megabytes(self.bytes)} in {self.path}, at most {megabytes(self.max_bytes)} after an ingestion"


@contextmanager
def keeping_vectors(settings: Settings) -> Iterator[None]:
    """Keep `prune_cache` away while a part of an index is made, which no generation of this home needs yet.

    Raises:
        StoreError: The home folder cannot be written.
    """
    lock = FileLock(_users(settings) / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.lock", thread_local=False)
    path = Path(lock.lock_file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(blocking=False)
    except OSError as exc:
        raise StoreError.of_disk(f"The folder {path.parent} cannot be written", exc) from exc
    try:
        yield
    finally:
        lock.release()
        with suppress(OSError):
            path.unlink()


def _users(settings: Settings) -> Path:
    return settings.paths.embedding_cache.with_name("users")


def _is_used(settings: Settings) -> bool:
    """Whether a process makes a part now; removes what processes that were killed left behind."""
    for path in _users(settings).glob("*.lock"):
        if is_locked(path):
            return True
        with suppress(OSError):
            path.unlink()
    return False


def prune_cache(settings: Settings, max_bytes: int) -> int:
    """Remove the vectors that have been unused for longest; returns how many.

    The vectors of the current and of the previous generation of every index stay. `max_bytes` is what the vectors may
    take afterwards.

    Raises:
        StoreError: A process writes to an index of this home folder or makes a part of one, and so writes to the
            cache; or it is not known which vectors an index was made of.
    """
    if CacheStatus.of(settings).bytes <= max_bytes:
        return 0
    if _is_used(settings):
        raise StoreError("A part of an index is being made in this home folder.", "Try again when that has ended.")
    stores = {folder: GenerationStore(folder) for folder in (*settings.paths.index_folders, settings.index_path)}
    for folder, generations in stores.items():
        if generations.is_being_written():
            raise StoreError(f"The index at {folder} is being written.", "Try again when that has ended.")
    with closing(EmbeddingCache(settings.paths.embedding_cache)) as cache:
        for folder, generations in stores.items():
            current = generations.current()
            if current is not None and not cache.knows(current.folder):
                raise StoreError(
                    f"It is not known which vectors the index at {folder} was made of, so none is removed.",
                    "Delete that folder and build the index again: it takes its vectors from the cache.",
                )
        return cache.prune(max_bytes)
