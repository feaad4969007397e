"""BERT's forward pass in numpy, written apart from the ONNX graph: the yardstick for it."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[np.float32]]
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _linear(x: NDArray[np.float64], w: Tensors, name: str) -> NDArray[np.float64]:
    return x @ w[f"{name}.weight"].astype(np.float64).T + w[f"{name}.bias"]


def _layer_norm(
    x: NDArray[np.float64], w: Tensors, name: str, eps: float, ranges: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    mean = x.mean(-1, keepdims=True)
    spread = np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)
    states: NDArray[np.float64] = (x - mean) / spread * w[f"{name}.weight"] + w[f"{name}.bias"]
    ranges[name] = np.maximum(ranges.get(name, 0.0), np.abs(states).max(axis=0))
    return states


def _softmax(x: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def hidden_states(
    w: Tensors,
    ids: list[int],
    heads: int,
    eps: float = 1e-12,
    ranges: dict[str, NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """The last hidden states of one unpadded text, shape (tokens, hidden), in float64.

    `ranges` gets the largest absolute value of each channel of each layer normalisation, where it is larger.
    """
    ranges = {} if ranges is None else ranges
    x = w["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)] + w["embeddings.token_type_embeddings.weight"][0]
    x = _layer_norm(x, w, "embeddings.LayerNorm", eps, ranges)
    size = x.shape[1] // heads
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in w:
        at = f"encoder.layer.{layer}"
        q, k, v = (_linear(x, w, f"{at}.attention.self.{n}") for n in ("query", "key", "value"))
        context = np.empty_like(x)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            weights = _softmax(q[:, part] @ k[:, part].T / math.sqrt(size))
            context[:, part] = weights @ v[:, part]
        out = _linear(context, w, f"{at}.attention.output.dense")
        x = _layer_norm(x + out, w, f"{at}.attention.output.LayerNorm", eps, ranges)
        inner = _linear(x, w, f"{at}.intermediate.dense")
        inner = inner * 0.5 * (1 + _erf(inner / math.sqrt(2)))
        x = _layer_norm(x + _linear(inner, w, f"{at}.output.dense"), w, f"{at}.output.LayerNorm", eps, ranges)
        layer += 1
    return x


def state_ranges(w: Tensors, texts: Iterable[list[int]], heads: int) -> dict[str, NDArray[np.float64]]:
    """How far each channel reaches after each layer normalisation, by the name of the normalisation."""
    ranges: dict[str, NDArray[np.float64]] = {}
    for ids in texts:
        hidden_states(w, ids, heads, ranges=ranges)
    return ranges


REFERENCE_TEXTS = [
    "hello world",
    "How do I retry when a tool throws?",
    "def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:",
    "Ünïcode, emoji \N{ROCKET} and 漢字 in one line; snake_case_name and CamelCaseName.",
    "A session keeps the events of one conversation and its state. " * 12,
]
