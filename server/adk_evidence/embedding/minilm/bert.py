"""A BERT encoder as an ONNX graph over a safetensors file: no torch, and no second copy of the weights in float32.

The graph names the tensors of the safetensors file as its external data (that file is plain little-endian tensors
after a JSON header), so the graph takes some kilobytes and the weights are mapped, not parsed.

In int8, weights are quantised per output channel while the graph is assembled, and states while it runs, both
symmetrically. What a layer normalisation makes reaches about as far in every text, so these states have one scale, and
channels that reach far are made smaller, and their weights larger, before both are rounded (SmoothQuant, Xiao et al.
2023, section 4). Other states have a scale for each token. The quantiser of ONNX Runtime takes one scale for all states
of a batch: its vectors are further from those in float32, and depend on the other texts of the batch.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.base import FloatMatrix
from adk_evidence.errors import ModelError

# How far each channel of the states reaches that a layer normalisation makes, by the normalisation's name.
Ranges = Mapping[str, NDArray[np.float32]]

OPSET = 17
INT8_VERSION = 2  # to be raised with any change that changes vectors in int8
# Seven bits: x86 processors without VNNI add pairs of products of 8-bit numbers in 16 bits, and 255 * 127 * 2 does
# not fit. So every processor computes the same sums.
WEIGHT_LEVELS = 63
STATE_LEVELS = 127
# States beyond this many times the given ranges count as the farthest ones.
RANGE_MARGIN = 1.2
# How much of a channel's reach its weights take over, 0 to 1: of 2,500 texts, the vectors were nearest to those in
# float32 at 0.7 (cosine 0.9977; 0.5: 0.9973; 0.3: 0.9956; 1: 0.9963; a scale for each token instead: 0.9965).
SMOOTHING = 0.7
_LEAST_RANGE = 1e-3
# States are stored unsigned, as the kernels want them.
_ZERO_POINT = np.array(128, dtype=np.uint8)
_ZERO_WEIGHT = np.array(0, dtype=np.int8)
_CONTRIB = "com.microsoft"
_EPSILON = 1e-12  # of every layer normalisation
_INPUTS = ("input_ids", "token_type_ids")


def assemble_bert(
    weights: Path,
    heads: int,
    *,
    ranges: Ranges | None = None,
    changes: Mapping[str, FloatMatrix] = MappingProxyType({}),
) -> Any:
    """Describe a BERT encoder (Hugging Face names, absolute positions, exact GELU) as an ONNX model.

    Inputs are `input_ids` and `token_type_ids`, int64 of shape (batch, tokens); the output is `last_hidden_state`,
    float32 of shape (batch, tokens, hidden). Nothing is masked: all texts of a batch have the same number of tokens.

    Args:
        weights: The safetensors file. The model names this file, so it must be saved in the same folder.
        heads: Number of attention heads.
        ranges: With them, linear layers are computed in 8-bit integers. The model then holds their weights itself, and
            needs the operator `MatMulIntegerToFloat` of ONNX Runtime.
        changes: What is added to the weights of linear layers, by the name of the weight and in the shape of the
            weight. The model then holds the sums itself.

    Returns:
        An `onnx.ModelProto`.

    Raises:
        ModelError: The file is not safetensors, a tensor that BERT needs is missing or not float32, or a change fits
            no linear layer.
    """
    return _Bert(weights, heads, ranges, changes).build()


class _Bert:
    """Builds the graph node by node. An input of a node is another node's output, or a constant."""

    def __init__(self, weights: Path, heads: int, ranges: Ranges | None, changes: Mapping[str, FloatMatrix]) -> None:
        self._file, self._heads, self._ranges = weights, heads, ranges
        self._changes = dict(changes)
        self._tensors, self._data_start = _read_header(weights)
        self._nodes: list[Any] = []
        self._initializers: dict[str, Any] = {}

    def build(self) -> Any:
        from onnx import TensorProto, helper

        hidden_size = self._shape("embeddings.word_embeddings.weight")[1]
        self._batch_and_tokens = self._add("Shape", "input_ids")
        # One row for each token of the batch; only attention needs to know which text a token belongs to.
        hidden = self._add("Reshape", self._embed(), [-1, hidden_size])
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in self._tensors:
            hidden = self._layer(f"encoder.layer.{layer}", hidden, hidden_size // self._heads)
            layer += 1
        self._add("Reshape", hidden, self._by_text(hidden_size), name="last_hidden_state")
        if self._changes:
            raise ModelError(f"The weights have no linear layer {min(self._changes)}.")

        shape = ["batch", "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in _INPUTS],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, hidden_size])],
            list(self._initializers.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_CONTRIB, 1)]
        # IR 8 belongs to opset 17; a newer one would shut out older runtimes for nothing.
        return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="adk-evidence")

    def _embed(self) -> str:
        words = self._add("Gather", self._weight("embeddings.word_embeddings.weight"), "input_ids")
        kinds = self._add("Gather", self._weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
        count = self._add("Unsqueeze", self._add("Gather", self._batch_and_tokens, 1), [0])
        positions = self._add("Slice", self._weight("embeddings.position_embeddings.weight"), [0], count, [0])
        return self._normalise(self._add("Add", self._add("Add", words, kinds), positions), "embeddings.LayerNorm")

    def _layer(self, at: str, hidden: str, head_size: int) -> str:
        def split(states: str, order: list[int]) -> str:
            parts = self._add("Reshape", states, self._by_text(self._heads, head_size))
            return self._add("Transpose", parts, perm=order)

        names = [f"{at}.attention.self.{name}" for name in ("query", "key", "value")]
        queries, keys, values = self._linear(hidden, *names)
        query, key, value = split(queries, [0, 2, 1, 3]), split(keys, [0, 2, 3, 1]), split(values, [0, 2, 1, 3])
        scores = self._add("Div", self._add("MatMul", query, key), math.sqrt(head_size))
        attention = self._add("Softmax", scores, axis=-1)
        context = self._add("Transpose", self._add("MatMul", attention, value), perm=[0, 2, 1, 3])
        joined = self._add("Reshape", context, [-1, self._heads * head_size])
        [attended] = self._linear(joined, f"{at}.attention.output.dense")
        hidden = self._normalise(self._add("Add", attended, hidden), f"{at}.attention.output.LayerNorm")
        [inner] = self._linear(hidden, f"{at}.intermediate.dense")
        [outer] = self._linear(self._gelu(inner), f"{at}.output.dense")
        return self._normalise(self._add("Add", outer, hidden), f"{at}.output.LayerNorm")

    def _by_text(self, *rest: int) -> str:
        return self._add("Concat", self._batch_and_tokens, list(rest), axis=0)

    def _gelu(self, states: str) -> str:
        erf = self._add("Erf", self._add("Div", states, math.sqrt(2.0)))
        return self._add("Mul", self._add("Mul", states, self._add("Add", erf, 1.0)), 0.5)

    def _normalise(self, states: str, name: str) -> str:
        scale, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._add("LayerNormalization", states, scale, bias, name=name, axis=-1, epsilon=_EPSILON)

    def _linear(self, states: str, *names: str) -> list[str]:
        """What several linear layers make of the same states."""
        if self._ranges is None:
            return [self._exact(states, name) for name in names]
        # torch keeps (out, in).
        weights = [self._changed(f"{name}.weight").T for name in names]
        ranges = self._ranges.get(states)
        if ranges is None:
            return self._by_token(states, names, weights)
        return self._smoothed(states, names, weights, np.maximum(ranges, _LEAST_RANGE))

    def _exact(self, states: str, name: str) -> str:
        if f"{name}.weight" in self._changes:
            weight = self._constant(self._changed(f"{name}.weight").T, f"{name}.changed")
        else:
            # The runtime folds this transpose when it loads the graph.
            weight = self._add("Transpose", self._weight(f"{name}.weight"), perm=[1, 0])
        return self._add("Add", self._add("MatMul", states, weight), self._weight(f"{name}.bias"))

    def _smoothed(
        self, states: str, names: Sequence[str], weights: Sequence[FloatMatrix], ranges: NDArray[np.float32]
    ) -> list[str]:
        strongest = np.maximum(np.max([np.abs(weight).max(axis=1) for weight in weights], axis=0), _LEAST_RANGE)
        divisors = ranges**SMOOTHING / strongest ** (1 - SMOOTHING)
        scale = float((ranges / divisors).max() * RANGE_MARGIN / STATE_LEVELS)
        even = self._add("Mul", states, self._constant((1 / divisors).astype(np.float32), f"{states}.smoothing"))
        integers = self._add("QuantizeLinear", even, scale, _ZERO_POINT)
        return [
            self._product(integers, name, weight * divisors[:, np.newaxis], scale, self._weight(f"{name}.bias"))
            for name, weight in zip(names, weights, strict=True)
        ]

    def _by_token(self, states: str, names: Sequence[str], weights: Sequence[FloatMatrix]) -> list[str]:
        # Without the absolute values of all states, which would have to be written and read.
        highest = self._add("ReduceMax", states, axes=[-1], keepdims=1)
        lowest = self._add("ReduceMin", states, axes=[-1], keepdims=1)
        largest = self._add("Max", highest, self._add("Neg", lowest), 1e-9)
        scales = self._add("Div", largest, float(STATE_LEVELS))
        row = self._add("Reshape", scales, [-1])
        zeros = self._add("Expand", _ZERO_POINT, self._add("Shape", row))
        integers = self._add("QuantizeLinear", states, row, zeros, axis=0)
        # The operator knows one scale for all tokens; each token's own scale is multiplied in after it.
        products = [self._product(integers, name, weight, 1.0) for name, weight in zip(names, weights, strict=True)]
        return [
            self._add("Add", self._add("Mul", product, scales), self._weight(f"{name}.bias"))
            for name, product in zip(names, products, strict=True)
        ]

    def _product(self, integers: str, name: str, weight: FloatMatrix, scale: float, *bias: str) -> str:
        """Quantised states by a weight of shape (in, out), which is quantised here."""
        # A channel of zeros has no scale.
        scales = np.maximum(np.abs(weight).max(axis=0) / WEIGHT_LEVELS, np.finfo(np.float32).tiny)
        stored = self._constant(np.round(weight / scales).astype(np.int8), f"{name}.int8")
        channels = self._constant(scales.astype(np.float32), f"{name}.scales")
        inputs = (integers, stored, scale, channels, _ZERO_POINT, _ZERO_WEIGHT, *bias)
        return self._add("MatMulIntegerToFloat", *inputs, domain=_CONTRIB)

    def _add(self, op: str, *inputs: Any, name: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        output = name or f"{op}_{len(self._nodes)}"
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self._nodes.append(helper.make_node(op, names, [output], name=f"node_{output}", **attributes))
        return output

    def _constant(self, value: Any, name: str | None = None) -> str:
        from onnx import numpy_helper

        array = np.asarray(value, dtype=np.float32 if isinstance(value, float) else None, order="C")
        name = name or f"constant_{array.dtype}_{array.tolist()}"
        if name not in self._initializers:
            self._initializers[name] = numpy_helper.from_array(array, name)
        return name

    def _weight(self, name: str) -> str:
        if name not in self._initializers:
            from onnx import TensorProto

            shape = self._shape(name)
            start, end = self._tensors[name]["data_offsets"]
            where = {"location": self._file.name, "offset": self._data_start + start, "length": end - start}
            self._initializers[name] = TensorProto(
                name=name,
                data_type=TensorProto.FLOAT,
                dims=shape,
                data_location=TensorProto.EXTERNAL,
                external_data=[{"key": key, "value": str(value)} for key, value in where.items()],
            )
        return name

    def _shape(self, name: str) -> list[int]:
        entry = self._tensors.get(name)
        if not isinstance(entry, dict) or entry.get("dtype") != "F32":
            raise ModelError(f"The weights lack the float32 tensor {name}.")
        return list(entry["shape"])

    def _changed(self, name: str) -> Any:
        """The values of a weight, with its change added where there is one, which counts as used then."""
        change = self._changes.pop(name, None)
        shape = self._shape(name)
        start = self._data_start + self._tensors[name]["data_offsets"][0]
        values = np.fromfile(self._file, dtype="<f4", count=math.prod(shape), offset=start).reshape(shape)
        if change is None:
            return values
        if list(change.shape) != shape:
            raise ModelError(f"A change of the weight {name} has another shape than the weight.")
        return values + change


def _read_header(weights: Path) -> tuple[dict[str, Any], int]:
    # The format: 8 bytes little-endian length, that many bytes of JSON, then the tensors.
    try:
        with weights.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > weights.stat().st_size:
                raise ValueError("header longer than the file")
            return json.loads(file.read(length)), 8 + length
    except (OSError, ValueError, struct.error) as exc:
        raise ModelError(f"The weights {weights.name} cannot be read as safetensors.") from exc
