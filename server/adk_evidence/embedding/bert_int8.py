"""The BERT encoder with its linear layers in 8-bit integers: the graph of `bert_onnx`, quantised as it is assembled.

Weights are quantised per output channel and activations per token, symmetrically and when the model runs. The
quantiser of ONNX Runtime takes one scale for the activations of a whole batch: vectors are then further from those
in float32, and depend on the batch's other texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from adk_evidence.embedding.bert_onnx import BertAssembler

INT8_VERSION = 1  # to be raised with any change that changes vectors
# Seven bits: x86 processors without VNNI add pairs of products of 8-bit numbers in 16 bits, and 255 * 127 * 2 does
# not fit. So every processor computes the same sums.
WEIGHT_LEVELS = 63
TOKEN_LEVELS = 127
_ZERO_POINT = 128  # activations are stored unsigned, as the kernels want them
_CONTRIB = "com.microsoft"


def assemble_int8_bert(weights: Path, heads: int, layer_norm_eps: float = 1e-12) -> Any:
    """Describe a BERT encoder with quantised linear layers as an ONNX model.

    Inputs, output, arguments and errors are those of `assemble_bert`. The model holds the quantised weights and
    refers to the safetensors file for all others. It needs ONNX Runtime's operator `MatMulIntegerToFloat`.
    """
    return _Int8Assembler(weights, heads, layer_norm_eps).build()


class _Int8Assembler(BertAssembler):
    def __init__(self, weights: Path, heads: int, eps: float) -> None:
        super().__init__(weights, heads, eps)
        self._quantised: dict[str, tuple[str, str]] = {}

    def build(self) -> Any:
        model = super().build()
        model.opset_import.append(self._helper.make_opsetid(_CONTRIB, 1))
        return model

    def _linear(self, states: str, name: str) -> str:
        integers, scales = self._quantised_weight(f"{name}.weight")
        tokens, token_scales = self._quantised_states(states)
        # The operator knows one scale for all tokens; theirs are multiplied in after it.
        inputs = [tokens, integers, self._float(1.0), scales, self._zero_point()]
        product = self._add("MatMulIntegerToFloat", *inputs, domain=_CONTRIB)
        return self._add("Add", self._add("Mul", product, token_scales), self._weight(f"{name}.bias"))

    def _quantised_weight(self, name: str) -> tuple[str, str]:
        weight = self._values(name).T
        # A channel of zeros has no scale of its own.
        scales = np.maximum(np.abs(weight).max(axis=0) / WEIGHT_LEVELS, np.finfo(np.float32).tiny)
        integers = np.round(weight / scales).astype(np.int8)
        return self._array(f"{name}.int8", integers), self._array(f"{name}.scales", scales.astype(np.float32))

    def _quantised_states(self, states: str) -> tuple[str, str]:
        if states not in self._quantised:  # query, key and value read the same states
            largest = self._add("ReduceMax", self._add("Abs", states), axes=[-1], keepdims=1)
            scales = self._add("Div", self._add("Max", largest, self._float(1e-9)), self._float(TOKEN_LEVELS))
            row = self._add("Reshape", scales, self._ints(-1, vector=True))
            zeros = self._add("Expand", self._zero_point(), self._add("Shape", row))
            self._quantised[states] = self._add("QuantizeLinear", states, row, zeros, axis=0), scales
        return self._quantised[states]

    def _zero_point(self) -> str:
        return self._array("zero_point", np.array(_ZERO_POINT, dtype=np.uint8))

    def _values(self, name: str) -> Any:
        shape = self._shape(name)
        start = self._data_start + self._tensors[name]["data_offsets"][0]
        values = np.fromfile(self._file, dtype="<f4", count=int(np.prod(shape)), offset=start)
        return values.reshape(shape)

    def _array(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self._initializers.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name
