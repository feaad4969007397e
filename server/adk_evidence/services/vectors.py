"""Vectors in the answers of services: as many as there are texts, of one length, and numbers with a direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adk_evidence.errors import ServiceError
from adk_evidence.services.resilience import TransientError

FloatMatrix = NDArray[np.float32]


def unit_vectors(rows: Sequence[Any], texts: int, length: int, service: str, hint: str) -> FloatMatrix:
    """The vectors at length 1, which not every service makes them.

    `service` is what answered, as the subject of a sentence; `hint` says what helps where the vectors have another
    length than `length`.

    Raises:
        TransientError: The answer cannot be used.
        ServiceError: The vectors have another length, which another try does not change.
    """
    if len(rows) != texts:
        raise unusable(service, f"{len(rows)} vectors for {texts} texts")
    try:
        lengths = sorted({len(row) for row in rows})
        matrix = np.asarray(rows, dtype=np.float32) if len(lengths) == 1 else None
    except (TypeError, ValueError, OverflowError):
        raise unusable(service, "vectors that are not numbers") from None
    if matrix is None or lengths != [length]:
        came = ", ".join(map(str, lengths))
        raise ServiceError(f"{service} answered with vectors of length {came} instead of {length}.", hint)
    if not np.isfinite(matrix).all():
        raise unusable(service, "vectors that are not numbers")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not (norms > 0).all():
        raise unusable(service, "a vector that has no direction")
    unit: FloatMatrix = matrix / norms
    return unit


def unusable(service: str, what: str) -> TransientError:
    """The error for an answer whose content makes no sense."""
    return TransientError(f"{service} answered with {what}.")
