"""What the parts of an index take in bytes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from adk_evidence.embedding.base import SparseVector
from adk_evidence.index.opened import Index
from adk_evidence.store.base import Vector, scroll_all

# Of a dimension, and of a term with its weight.
_DENSE_BYTES, _SPARSE_BYTES = 4, 8
# The whole, and the parts that can be told by a chunk's payload. The parts may overlap.
_PARTS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "whole index": lambda payload: True,
    "example programs": lambda payload: payload.get("origin") == "sample",
    "API reference": lambda payload: payload.get("origin") == "api-reference",
    "for readers of other languages": lambda payload: bool(payload.get("for_language")),
    "chunks that include files": lambda payload: bool(payload.get("includes")),
}


@dataclass
class Footprint:
    """The chunks of a part of the index, the bytes of their payloads as JSON, and the bytes of their vectors.

    Vectors count as they are before a store compresses them. `further_vector_bytes` are those of the passages after the
    first of each chunk.
    """

    part: str
    chunks: int = 0
    payload_bytes: int = 0
    vector_bytes: int = 0
    further_vector_bytes: int = 0


def footprints(index: Index) -> list[Footprint]:
    """The whole index and its parts.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    found = {part: Footprint(part) for part in _PARTS}
    for record in itertools.chain.from_iterable(
        scroll_all(index.store, name, with_vectors=True) for name in index.manifest.collections
    ):
        text = len(json.dumps(record.payload, ensure_ascii=False).encode())
        sizes = [_sizes(vector) for vector in record.vectors.values()]
        for part, holds in _PARTS.items():
            if holds(record.payload):
                one = found[part]
                one.chunks += 1
                one.payload_bytes += text
                one.vector_bytes += sum(whole for whole, _ in sizes)
                one.further_vector_bytes += sum(further for _, further in sizes)
    return [*found.values()]


def _sizes(vector: Vector) -> tuple[int, int]:
    """The bytes of a vector or of several, and of all of them but the first."""
    if isinstance(vector, SparseVector):
        return _SPARSE_BYTES * len(vector.indices), 0
    rows = np.atleast_2d(np.asarray(vector))
    return _DENSE_BYTES * rows.size, _DENSE_BYTES * rows[1:].size
