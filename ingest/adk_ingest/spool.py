"""Chunk records on their way from the chunkers to the store, so that memory does not grow with the corpus."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from typing import Self

from adk_evidence.models.chunk import ChunkRecord

# More than this goes to a temporary file. As Python objects 100,000 records take 850 MB.
MEMORY_BYTES = 64_000_000


class RecordSpool:
    """Keeps records in the order in which they were added. A context manager, which drops the records at its end."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115 - closed by __exit__
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, records: Sequence[ChunkRecord]) -> None:
        for record in records:
            pickle.dump(record, self._file, pickle.HIGHEST_PROTOCOL)
        self._count += len(records)

    def batches(self, size: int) -> Iterator[list[ChunkRecord]]:
        self._file.seek(0)
        for start in range(0, self._count, size):
            # This process wrote what it reads here.
            yield [pickle.load(self._file) for _ in range(min(size, self._count - start))]  # noqa: S301

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()
