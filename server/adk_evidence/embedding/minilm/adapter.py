"""The file of an adapter: what changes an encoder of texts, so that a question comes nearer to what answers it.

An adapter changes linear layers by products of two narrow matrices (LoRA, Hu et al. 2021). The file is safetensors with
16-bit floats. Its metadata say what the adapter was trained from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, ValidationError

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.errors import ModelError
from adk_evidence.models.base import Frozen
from adk_evidence.validation import problems

# The advice to a user whose adapter cannot be used.
OTHER_ADAPTER = "Name another file in embedding.dense.question_adapter, or unset the setting."
_DOWN, _UP = ".down", ".up"


class AdapterError(ModelError):
    """An adapter cannot be used, where the model itself may be whole."""


class About(Frozen):
    """What an adapter was trained from; `data_sha256` is the hash of the training data.

    `tokens` is how long a question may be, `pairs` how many questions the training read.
    """

    format: Literal["adk-evidence-questions-1"] = "adk-evidence-questions-1"
    base: str
    base_sha256: str
    rank: int = Field(ge=1, le=512)
    alpha: float = Field(gt=0, allow_inf_nan=False)
    tokens: int = Field(ge=8, le=512)
    question_tokens: int = Field(ge=1)
    data_sha256: str
    questions: int
    pairs: int
    seed: int
    license: str
    product_version: str


@dataclass(frozen=True)
class LowRank:
    """A change of a weight (out, in): `up` (out, rank) times `down` (rank, in)."""

    down: FloatMatrix
    up: FloatMatrix


@dataclass(frozen=True)
class Adapter:
    """Changes by the names of weights."""

    layers: Mapping[str, LowRank]
    about: About

    @property
    def changes(self) -> dict[str, FloatMatrix]:
        """What is added to each weight."""
        scale = np.float32(self.about.alpha / self.about.rank)
        return {name: scale * (layer.up @ layer.down) for name, layer in self.layers.items()}

    @cached_property
    def sha256(self) -> str:
        """The hash of the adapter's file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """The file; equal adapters make equal files."""
        from safetensors.numpy import save

        tensors = {f"{name}{_DOWN}": layer.down for name, layer in self.layers.items()}
        tensors |= {f"{name}{_UP}": layer.up for name, layer in self.layers.items()}
        narrow = {name: np.ascontiguousarray(tensors[name], dtype=np.float16) for name in sorted(tensors)}
        # One value, because the library writes several in an order that changes from run to run.
        return save(narrow, {"about": self.about.model_dump_json()})


def read_adapter(path: Path) -> Adapter:
    """Read an adapter; its numbers become float32.

    Raises:
        AdapterError: There is no such file, or the file is not a whole adapter.
    """
    try:
        return _adapter(*_read(path))
    except OSError as exc:
        raise AdapterError(f"The adapter {path} cannot be read: {exc.strerror or exc}.", OTHER_ADAPTER) from exc
    except ValueError as exc:
        raise AdapterError(f"{path} is not an adapter that can be used: {exc}.", OTHER_ADAPTER) from exc


def _read(path: Path) -> tuple[dict[str, FloatMatrix], About]:
    """The tensors of a file, and what the file says of itself.

    Raises:
        ValueError: The file is no adapter; the message says why.
        OSError: The file cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            stated = (file.metadata() or {}).get("about")
            tensors = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
    # TypeError: numpy knows no such numbers.
    except (SafetensorError, TypeError) as exc:
        raise ValueError("it is not a whole safetensors file") from exc
    if stated is None:
        raise ValueError("it does not say what it was trained from")
    try:
        return tensors, About.model_validate_json(stated)
    except ValidationError as exc:
        raise ValueError(f"what it was trained from cannot be read ({problems(exc)[0]})") from exc


def _adapter(tensors: dict[str, FloatMatrix], about: About) -> Adapter:
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError("some of its numbers are not finite")
    layers: dict[str, LowRank] = {}
    for name in sorted(name.removesuffix(_DOWN) for name in tensors if name.endswith(_DOWN)):
        down, up = tensors.pop(f"{name}{_DOWN}"), tensors.pop(f"{name}{_UP}", None)
        if up is None or down.ndim != 2 or up.ndim != 2 or not down.shape[0] == up.shape[1] == about.rank:
            raise ValueError(f"its change of {name} is not one of rank {about.rank}")
        layers[name] = LowRank(down, up)
    if tensors:
        raise ValueError(f"nothing is known of its tensor {min(tensors)}")
    return Adapter(layers, about)
