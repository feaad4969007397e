"""Chunk records on their way from the chunkers to the store, so that memory does not grow with the corpus."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from typing import Self

from adk_evidence.embedding.base import SparseVector
from adk_evidence.models.chunk import ChunkRecord

# More than this goes to a temporary file. As Python objects 100,000 records take 850 MB.
MEMORY_BYTES = 64_000_000
# How many records are read at a time where nobody says otherwise.
_BATCH = 256


class RecordSpool:
    """Keeps records in the order in which they were added, each with its sparse vector where that is known.

    A context manager, which drops the records at its end. Of several readers at a time, only one may go on.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115 - closed by __exit__
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, pickled: bytes, count: int) -> None:
        """Add `count` records, pickled one behind the other as `(record, sparse vector or None)`."""
        self._file.write(pickled)
        self._count += count

    def batches(self, size: int = _BATCH) -> Iterator[list[tuple[ChunkRecord, SparseVector | None]]]:
        self._file.seek(0)
        for start in range(0, self._count, size):
            # This run wrote what it reads here.
            yield [pickle.load(self._file) for _ in range(min(size, self._count - start))]  # noqa: S301

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()
