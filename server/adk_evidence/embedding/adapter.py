"""The file of an adapter: what changes an encoder of texts for one purpose.

An adapter changes linear layers by products of two narrow matrices (LoRA, Hu et al. 2021). There are two kinds: for
questions, whose vectors come nearer to what answers them; and for a reader of pairs, which also has a head that makes a
score of the state of [CLS]. The file is safetensors with 16-bit floats. Its metadata say what the adapter was trained
from.
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
from adk_evidence.files import write_atomic
from adk_evidence.models.base import Frozen
from adk_evidence.validation import problems

LICENSE = "Apache-2.0"  # that of the weights, from which an adapter is made
Format = Literal["adk-evidence-reader-1", "adk-evidence-questions-1"]
READER: Format = "adk-evidence-reader-1"
QUESTIONS: Format = "adk-evidence-questions-1"
# The setting that names an adapter of each kind, and what trains one.
_MADE_FOR: Mapping[Format, tuple[str, str]] = {
    READER: ("rerank.reader.adapter", "adk-evidence eval train-reader"),
    QUESTIONS: ("embedding.dense.question_adapter", "adk-evidence eval train-questions"),
}
# A hundred times what an adapter takes.
_MAX_BYTES = 200_000_000
# Ten times the numbers of all weights that an adapter may change.
_MAX_CHANGES = 100_000_000
_DOWN, _UP = ".down", ".up"
_HEAD, _BIAS = "head.weight", "head.bias"


class AdapterError(ModelError):
    """An adapter cannot be used, where the model itself may be whole."""


class About(Frozen):
    """What an adapter was trained from; `data_sha256` is the hash of the training data.

    `tokens` is how long a text may be, or a pair of a question and a text; `pairs` is how many of these were read.
    """

    format: Format
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
    """Changes by the names of weights; of a reader also the head: a vector as long as a state, and a bias."""

    layers: Mapping[str, LowRank]
    about: About
    head: FloatMatrix | None = None
    bias: float = 0.0

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
        if self.head is not None:
            tensors |= {_HEAD: self.head, _BIAS: np.array([self.bias])}
        narrow = {name: np.ascontiguousarray(tensors[name], dtype=np.float16) for name in sorted(tensors)}
        # One value, because the library writes several in an order that changes from run to run.
        return save(narrow, {"about": self.about.model_dump_json()})


def write_adapter(adapter: Adapter, path: Path) -> None:
    """Write an adapter in one step.

    Raises:
        ModelError: The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, adapter.to_bytes())
    except OSError as exc:
        raise ModelError(f"{path} cannot be written: {exc.strerror or exc}.", "Name another file.") from exc


def other_adapter(wanted: Format) -> str:
    """The advice to a user whose adapter of a kind cannot be used."""
    setting, command = _MADE_FOR[wanted]
    return f"Name another file in {setting}, train one with `{command}`, or unset the setting."


def read_adapter(path: Path, wanted: Format) -> Adapter:
    """Read an adapter of a kind; its numbers become float32.

    Raises:
        AdapterError: There is no such file, or the file is not a whole adapter of this kind.
    """
    try:
        return _adapter(*_read(path), wanted)
    except OSError as exc:
        raise AdapterError(f"The adapter {path} cannot be read: {exc.strerror or exc}.", other_adapter(wanted)) from exc
    except ValueError as exc:
        raise AdapterError(f"{path} is not an adapter that can be used: {exc}.", other_adapter(wanted)) from exc


def _read(path: Path) -> tuple[dict[str, FloatMatrix], About]:
    """The tensors of a file, and what the file says of itself.

    Raises:
        ValueError: The file is no adapter; the message says why.
        OSError: The file cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    if path.stat().st_size > _MAX_BYTES:
        raise ValueError("it is too large")
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


def _adapter(tensors: dict[str, FloatMatrix], about: About, wanted: Format) -> Adapter:
    if about.format != wanted:
        raise ValueError(f"it is of the kind {about.format}, not {wanted}")
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError("some of its numbers are not finite")
    head, bias = None, np.zeros(1, dtype=np.float32)
    if wanted == READER:
        head, bias = tensors.pop(_HEAD, None), tensors.pop(_BIAS, np.zeros(0, dtype=np.float32))
        if head is None or head.ndim != 1 or bias.shape != (1,):
            raise ValueError("it has no head")
    layers: dict[str, LowRank] = {}
    for name in sorted(name.removesuffix(_DOWN) for name in tensors if name.endswith(_DOWN)):
        down, up = tensors.pop(f"{name}{_DOWN}"), tensors.pop(f"{name}{_UP}", None)
        if up is None or down.ndim != 2 or up.ndim != 2 or not down.shape[0] == up.shape[1] == about.rank:
            raise ValueError(f"its change of {name} is not one of rank {about.rank}")
        layers[name] = LowRank(down, up)
    if sum(one.up.shape[0] * one.down.shape[1] for one in layers.values()) > _MAX_CHANGES:
        raise ValueError("it changes more than the weights have")
    if tensors:
        raise ValueError(f"nothing is known of its tensor {min(tensors)}")
    return Adapter(layers, about, head, float(bias[0]))
