"""A BERT encoder as an ONNX graph over a safetensors file: no torch, no second copy of the weights.

The graph names the tensors of the safetensors file as its external data (that file is plain little-endian
tensors after a JSON header), so the graph itself is some kilobytes and the weights are mapped, not parsed.
"""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

from adk_evidence.errors import ModelError

OPSET = 17
_MASKED = -10000.0  # what BERT adds to the attention score of padding


def assemble_bert(weights: Path, heads: int, layer_norm_eps: float = 1e-12) -> Any:
    """Describe a BERT encoder (Hugging Face names, absolute positions, exact GELU) as an ONNX model.

    Inputs are `input_ids`, `attention_mask` and `token_type_ids`, int64 of shape (batch, tokens); the output
    is `last_hidden_state`, float32 of shape (batch, tokens, hidden).

    Args:
        weights: The safetensors file. The model must be saved beside it: it refers to it by name.
        heads: Number of attention heads.
        layer_norm_eps: The epsilon of every layer normalisation.

    Returns:
        An `onnx.ModelProto`.

    Raises:
        ModelError: The file is not safetensors, or a tensor that BERT needs is missing or not float32.
    """
    return BertAssembler(weights, heads, layer_norm_eps).build()


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


class BertAssembler:
    """Builds the graph node by node; arguments and errors are those of `assemble_bert`."""

    def __init__(self, weights: Path, heads: int, eps: float) -> None:
        from onnx import TensorProto, helper

        self._helper, self._types = helper, TensorProto
        self._file = weights
        self._tensors, self._data_start = _read_header(weights)
        self._heads, self._eps = heads, eps
        self._nodes: list[Any] = []
        self._initializers: dict[str, Any] = {}

    def build(self) -> Any:
        """The graph as an `onnx.ModelProto`."""
        hidden_size = self._shape("embeddings.word_embeddings.weight")[1]
        self._batch_and_tokens = self._add("Shape", "input_ids")
        # One row for each token of the batch; only attention needs to know whose they are.
        hidden = self._add("Reshape", self._embed(), self._ints(-1, hidden_size, vector=True))
        mask = self._mask()
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in self._tensors:
            hidden = self._layer(f"encoder.layer.{layer}", hidden, mask, hidden_size // self._heads)
            layer += 1
        self._add("Reshape", hidden, self._by_text(hidden_size), name="last_hidden_state")

        value = self._helper.make_tensor_value_info
        graph = self._helper.make_graph(
            self._nodes,
            "bert",
            inputs=[
                value(name, self._types.INT64, ["batch", "tokens"])
                for name in ("input_ids", "attention_mask", "token_type_ids")
            ],
            outputs=[value("last_hidden_state", self._types.FLOAT, ["batch", "tokens", hidden_size])],
            initializer=list(self._initializers.values()),
        )
        opset = self._helper.make_opsetid("", OPSET)
        # IR 8 belongs to opset 17; a newer one would shut out older runtimes for nothing.
        return self._helper.make_model(graph, opset_imports=[opset], ir_version=8, producer_name="adk-evidence")

    def _embed(self) -> str:
        words = self._add("Gather", self._weight("embeddings.word_embeddings.weight"), "input_ids")
        kinds = self._add("Gather", self._weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
        count = self._add("Gather", self._batch_and_tokens, self._ints(1))
        starts = self._ints(0, vector=True)
        ends = self._add("Unsqueeze", count, starts)
        positions = self._add("Slice", self._weight("embeddings.position_embeddings.weight"), starts, ends, starts)
        summed = self._add("Add", self._add("Add", words, kinds), positions)
        return self._normalise(summed, "embeddings.LayerNorm")

    def _mask(self) -> str:
        wide = self._add("Unsqueeze", "attention_mask", self._ints(1, 2, vector=True))
        kept = self._add("Cast", wide, to=self._types.FLOAT)
        return self._add("Mul", self._add("Sub", self._float(1.0), kept), self._float(_MASKED))

    def _layer(self, prefix: str, hidden: str, mask: str, head_size: int) -> str:
        query, key, value = (
            self._split(self._linear(hidden, f"{prefix}.attention.self.{name}"), head_size, keys=name == "key")
            for name in ("query", "key", "value")
        )
        scores = self._add("Div", self._add("MatMul", query, key), self._float(math.sqrt(head_size)))
        attention = self._add("Softmax", self._add("Add", scores, mask), axis=-1)
        context = self._add("Transpose", self._add("MatMul", attention, value), perm=[0, 2, 1, 3])
        joined = self._add("Reshape", context, self._ints(-1, self._heads * head_size, vector=True))
        attended = self._linear(joined, f"{prefix}.attention.output.dense")
        hidden = self._normalise(self._add("Add", attended, hidden), f"{prefix}.attention.output.LayerNorm")
        inner = self._gelu(self._linear(hidden, f"{prefix}.intermediate.dense"))
        outer = self._linear(inner, f"{prefix}.output.dense")
        return self._normalise(self._add("Add", outer, hidden), f"{prefix}.output.LayerNorm")

    def _split(self, states: str, head_size: int, *, keys: bool) -> str:
        parts = self._add("Reshape", states, self._by_text(self._heads, head_size))
        return self._add("Transpose", parts, perm=[0, 2, 3, 1] if keys else [0, 2, 1, 3])

    def _by_text(self, *rest: int) -> str:
        return self._add("Concat", self._batch_and_tokens, self._ints(*rest, vector=True), axis=0)

    def _linear(self, states: str, name: str) -> str:
        # torch keeps (out, in); the runtime folds this transpose when it loads the graph.
        weight = self._add("Transpose", self._weight(f"{name}.weight"), perm=[1, 0])
        return self._add("Add", self._add("MatMul", states, weight), self._weight(f"{name}.bias"))

    def _gelu(self, states: str) -> str:
        erf = self._add("Erf", self._add("Div", states, self._float(math.sqrt(2.0))))
        scaled = self._add("Mul", states, self._add("Add", erf, self._float(1.0)))
        return self._add("Mul", scaled, self._float(0.5))

    def _normalise(self, states: str, name: str) -> str:
        scale, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._add("LayerNormalization", states, scale, bias, axis=-1, epsilon=self._eps)

    def _add(self, op: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        output = name or f"{op}_{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(op, list(inputs), [output], name=f"node_{output}", **attributes))
        return output

    def _float(self, value: float) -> str:
        name = f"float_{value:.9g}"
        self._initializers.setdefault(name, self._helper.make_tensor(name, self._types.FLOAT, [], [value]))
        return name

    def _ints(self, *values: int, vector: bool = False) -> str:
        name = "_".join(["ints" if vector else "int", *map(str, values)])
        dims = [len(values)] if vector else []
        self._initializers.setdefault(name, self._helper.make_tensor(name, self._types.INT64, dims, values))
        return name

    def _shape(self, name: str) -> list[int]:
        entry = self._tensors.get(name)
        if not isinstance(entry, dict) or entry.get("dtype") != "F32":
            raise ModelError(f"The weights lack the float32 tensor {name}.")
        return list(entry["shape"])

    def _weight(self, name: str) -> str:
        if name not in self._initializers:
            tensor = self._types()
            tensor.name, tensor.data_type = name, self._types.FLOAT
            tensor.dims.extend(self._shape(name))
            tensor.data_location = self._types.EXTERNAL
            start, end = self._tensors[name]["data_offsets"]
            where = {"location": self._file.name, "offset": self._data_start + start, "length": end - start}
            for key, value in where.items():
                entry = tensor.external_data.add()
                entry.key, entry.value = key, str(value)
            self._initializers[name] = tensor
        return name
