"""Points on their way into and out of an engine: checked when they are written, alike when they are read."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from adk_evidence.embedding.base import SparseVector
from adk_evidence.errors import StoreError
from adk_evidence.store.base import CollectionSpec, NewPoint, Record, Vector, has_terms


def checked_point(spec: CollectionSpec, point: NewPoint) -> dict[str, list[float] | list[list[float]] | SparseVector]:
    """The vectors of a point by name, as numbers that a store can take. Empty sparse vectors are left out.

    Raises:
        StoreError: `checked_vector` refuses a vector, or a single vector or none stands where several belong.
    """
    return {name: _checked_vectors(spec, name, value) for name, value in point.vectors.items() if has_terms(value)}


def _checked_vectors(spec: CollectionSpec, name: str, value: Vector) -> list[float] | list[list[float]] | SparseVector:
    if name not in spec.multi or isinstance(value, SparseVector):
        return checked_vector(spec, name, value)
    if not len(value) or not all(hasattr(row, "__len__") for row in value):
        raise StoreError(f"A point needs a list of vectors for {name}.")
    return [_checked_numbers(spec, name, row) for row in cast("Sequence[Sequence[float]]", value)]


def checked_vector(spec: CollectionSpec, name: str, value: Vector) -> list[float] | SparseVector:
    """One vector for one of a collection's names, as numbers that a store can take.

    Raises:
        StoreError: The collection has no such vector, or the value has the wrong length, repeats an index or holds
            something that is not a number. Engines take some of that without a word.
    """
    if isinstance(value, SparseVector):
        if name not in spec.sparse:
            raise StoreError(f"The collection {spec.name} has no sparse vector {name}.")
        if len(value.indices) != len(value.values) or len(set(value.indices)) != len(value.indices):
            raise StoreError(f"A sparse vector for {name} does not have one value for each of its indices.")
        _require_finite(name, value.values)
        return value
    return _checked_numbers(spec, name, value)


def _checked_numbers(
    spec: CollectionSpec, name: str, value: Sequence[float] | Sequence[Sequence[float]]
) -> list[float]:
    size = spec.dense.get(name)
    if size is None:
        raise StoreError(f"The collection {spec.name} has no dense vector {name}.")
    if len(value) and hasattr(value[0], "__len__"):
        raise StoreError(f"Several vectors were given for {name}, which takes one.")
    if len(value) != size:
        raise StoreError(
            f"A vector for {name} has {len(value)} dimensions where the index has {size}.",
            "Use the model that the index was built with, or run `adk-ingest all`.",
        )
    # Rows of arrays, memory-mapped ones above all, are ten times slower to hand over than lists.
    tolist = getattr(value, "tolist", None)
    numbers = cast("list[float]", tolist() if tolist else list(value))
    _require_finite(name, numbers)
    return numbers


def _require_finite(name: str, numbers: Sequence[float]) -> None:
    if not math.isfinite(sum(numbers)):
        raise StoreError(f"A vector for {name} holds a value that is not a number.")


@functools.lru_cache(maxsize=1 << 15)
def checked_id(point: str) -> UUID:
    """A point id.

    Raises:
        StoreError: It is no UUID.
    """
    try:
        return UUID(point)
    except ValueError:
        raise StoreError(f"{point!r} is no point id.") from None


def stored(point: Any) -> Record:
    """A point as either engine returns it."""
    vectors = point.vector if isinstance(point.vector, Mapping) else {}
    return Record(
        str(point.id),
        point.payload or {},
        {
            name: SparseVector(tuple(value.indices), tuple(value.values)) if hasattr(value, "indices") else value
            for name, value in vectors.items()
        },
    )
