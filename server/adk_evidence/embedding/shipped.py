"""The vectors that ship with the package, so that nobody computes them again: a second, read-only level of the cache.

They are those of the pinned docs, of some versions of google-adk, and of what was written for their chunks, under the
names that the cache gives them. A vector takes four bits a dimension: each dimension is standardised, and of 16 levels,
placed as Lloyd (1982) does, the nearest is kept. Vectors that are read back have a cosine of .995 with the computed
ones.

The file is in the format of safetensors, whose tensors can be read where they lie: `keys` (the first 8 bytes of each
hash, ascending), `codes` (two dimensions a byte, the first one in the low half), `levels`, `mean` and `deviation`. Its
metadata say of which model and texts the vectors are.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adk_evidence.errors import SettingsError
from adk_evidence.paths import config_file

SHIPPED_FILE = "vectors.safetensors"
LEVELS = 16
_KEY_DIGITS = 16
_ROUNDS = 40
# Every so many vectors decide where the levels are.
_SAMPLED = 16
_OF_ALL = ("levels", "mean", "deviation")
_DTYPES = {"U64": "<u8", "U8": "u1", "F32": "<f4"}
# Some models leave a dimension unused.
_LEAST_DEVIATION = 1e-4


class ShippedVectors:
    """The vectors of one file, which is read where it lies.

    Raises:
        ValueError: The file is in another format.
        OSError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            head: dict[str, Any] = json.loads(file.read(size))
        self.metadata: Mapping[str, str] = head.pop("__metadata__")
        tensors = {name: _mapped(path, 8 + size, where) for name, where in head.items()}
        self._keys, self._codes = tensors["keys"], tensors["codes"]
        self._levels, self._mean, self._deviation = (np.array(tensors[name]) for name in _OF_ALL)

    def __len__(self) -> int:
        return len(self._keys)

    def has(self, model: str, dimension: int, hashes: Sequence[str]) -> set[str]:
        """The hashes of which there is a vector of the model."""
        return set(self._rows(model, dimension, hashes))

    def get_many(self, model: str, dimension: int, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of the model that are there, L2-normalised, by hash."""
        rows = self._rows(model, dimension, hashes)
        if not rows:
            return {}
        codes = self._codes[[*rows.values()]]
        both = np.stack([codes & 15, codes >> 4], axis=2).reshape(len(rows), dimension)
        vectors = self._levels[both] * self._deviation + self._mean
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return dict(zip(rows, vectors.astype(np.float32), strict=True))

    def _rows(self, model: str, dimension: int, hashes: Sequence[str]) -> dict[str, int]:
        if (model, dimension) != (self.metadata["model"], len(self._mean)) or not hashes or not len(self):
            return {}
        wanted = np.array([_key(one) for one in hashes], dtype=np.uint64)
        places = np.searchsorted(self._keys, wanted).clip(max=len(self) - 1)
        found = (self._keys[places] == wanted).tolist()
        return {one: place for one, place, is_there in zip(hashes, places.tolist(), found, strict=True) if is_there}


@functools.cache
def shipped_vectors() -> ShippedVectors | None:
    """The vectors of this installation; None of one without any."""
    try:
        return ShippedVectors(config_file(SHIPPED_FILE))
    except SettingsError:
        return None


def packed(vectors: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """The tensors of a file with these L2-normalised vectors, given by hash; their dimension is even."""
    hashes = sorted(vectors)
    rows = np.stack([vectors[one] for one in hashes]).astype(np.float64)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0).clip(min=_LEAST_DEVIATION)
    rows = (rows - mean) / deviation
    levels = _levels(rows[::_SAMPLED].ravel())
    nearest = np.searchsorted(_borders(levels), rows).astype(np.uint8)
    return {
        "keys": np.array([_key(one) for one in hashes], dtype=np.uint64),
        "codes": nearest[:, ::2] | nearest[:, 1::2] << 4,
        **{name: of.astype(np.float32) for name, of in zip(_OF_ALL, (levels, mean, deviation), strict=True)},
    }


def _levels(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The levels that are nearest to the values on the whole, ascending."""
    levels = np.quantile(values, (np.arange(LEVELS) + 0.5) / LEVELS)
    for _ in range(_ROUNDS):
        nearest = np.searchsorted(_borders(levels), values)
        counts = np.bincount(nearest, minlength=LEVELS)
        levels = np.where(counts, np.bincount(nearest, values, LEVELS) / counts.clip(min=1), levels)
    return levels


def _borders(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    return (levels[1:] + levels[:-1]) / 2


def _key(hash_: str) -> int:
    return int(hash_[:_KEY_DIGITS], 16)


def _mapped(path: Path, start: int, where: Mapping[str, Any]) -> NDArray[Any]:
    return np.memmap(path, _DTYPES[where["dtype"]], "r", start + where["data_offsets"][0], tuple(where["shape"]))
