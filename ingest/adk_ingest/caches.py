"""The embedding cache of a home folder: its size, and making it smaller."""

from __future__ import annotations

from contextlib import suppress

from pydantic import BaseModel

from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.errors import StoreError
from adk_evidence.paths import Home
from adk_evidence.settings import Settings
from adk_evidence.store.generations import GenerationStore


def cache_bytes(home: Home) -> int:
    """Bytes that the cache takes on disk; nothing is opened or created."""
    path = home.embedding_cache
    files = (path, path.with_name(f"{path.name}-wal"))
    total = 0
    for file in files:
        # Another process may remove the log meanwhile.
        with suppress(OSError):
            total += file.stat().st_size
    return total


def megabytes(count: int) -> str:
    """A number of bytes for people."""
    return f"{count / 1_000_000:,.1f} MB"


class CacheStatus(BaseModel):
    """The embedding cache: how many bytes its file has, and how many its vectors may take after an ingestion."""

    path: str
    bytes: int
    max_bytes: int

    @classmethod
    def of(cls, settings: Settings) -> CacheStatus:
        """The status of the cache in the settings' home folder."""
        home = settings.paths
        return cls(
            path=str(home.embedding_cache), bytes=cache_bytes(home), max_bytes=settings.embedding.cache_max_bytes
        )

    def __str__(self) -> str:
        return f"{megabytes(self.bytes)} in {self.path}, at most {megabytes(self.max_bytes)} after an ingestion"


def prune_cache(settings: Settings, max_bytes: int) -> int:
    """Remove the vectors that have been unused for longest; returns how many.

    The vectors of the current and of the previous generation of every index stay.

    Args:
        settings: Their home folder holds the cache.
        max_bytes: What the vectors may take afterwards.

    Raises:
        StoreError: A process writes to an index of this home folder, and so to the cache; or it is not known which
            vectors an index was made of.
    """
    if cache_bytes(settings.paths) <= max_bytes:
        return 0
    stores = {folder: GenerationStore(folder) for folder in (*settings.paths.index_folders, settings.index_path)}
    for folder, generations in stores.items():
        if generations.is_being_written():
            raise StoreError(f"The index at {folder} is being written.", "Try again when that has ended.")
    cache = EmbeddingCache(settings.paths.embedding_cache)
    try:
        for folder, generations in stores.items():
            current = generations.current()
            if current is not None and not cache.knows(current.folder):
                raise StoreError(
                    f"It is not known which vectors the index at {folder} was made of, so none is removed.",
                    "Delete that folder and build the index again: it takes its vectors from the cache.",
                )
        return cache.prune(max_bytes)
    finally:
        cache.close()
