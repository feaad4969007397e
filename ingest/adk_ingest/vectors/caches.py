"""The embedding cache of a home folder: its size, who needs it, and making it smaller."""

from __future__ import annotations

from contextlib import closing, suppress

from pydantic import BaseModel

from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.settings import Settings
from adk_evidence.store.generations import GenerationStore

# What the vectors may take after an ingestion, unless indexes need more; that is many times what the ADK's index needs.
MAX_BYTES = 2_000_000_000


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
        return cls(path=str(path), bytes=size, max_bytes=MAX_BYTES)

    def __str__(self) -> str:
        return f"{megabytes(self.bytes)} in {self.path}, at most {megabytes(self.max_bytes)} after an update"


def prune_cache(settings: Settings) -> int:
    """Remove the vectors that have been unused for longest, down to `MAX_BYTES`; returns how many.

    The vectors of the current and of the previous generation of every index stay. Nothing is removed while a process
    writes to an index of this home folder, and so to the cache, or where it is not known what an index was made of.
    """
    if CacheStatus.of(settings).bytes <= MAX_BYTES:
        return 0
    stores = [GenerationStore(folder) for folder in {*settings.paths.index_folders, settings.index_path}]
    if any(generations.is_being_written() for generations in stores):
        return 0
    folders = [current.folder for generations in stores if (current := generations.current()) is not None]
    with closing(EmbeddingCache(settings.paths.embedding_cache)) as cache:
        return cache.prune(MAX_BYTES) if all(map(cache.knows, folders)) else 0
