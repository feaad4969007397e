"""An adapter: its file, and the graph of the encoder that it changes."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adk_evidence.embedding.minilm.adapter import About, Adapter, LowRank, read_adapter
from adk_evidence.embedding.minilm.bert import assemble_bert
from adk_evidence.errors import ModelError
from tests.core.bert_numpy import Tensors, hidden_states
from tests.core.test_minilm import HEADS as TINY_HEADS
from tests.core.test_minilm import HIDDEN, save, tiny_bert, tiny_ranges
from tests.quality.training.adapter_file import write_adapter

pytestmark = pytest.mark.slow
IDS = [2, 9, 3, 11, 5, 3]


def about(**changes: Any) -> About:
    values: dict[str, Any] = {
        "base": "tiny",
        "base_sha256": "0" * 64,
        "rank": 2,
        "alpha": 4.0,
        "tokens": 16,
        "question_tokens": 5,
        "data_sha256": "1" * 64,
        "questions": 3,
        "pairs": 18,
        "seed": 7,
        "license": "Apache-2.0",
        "product_version": "0",
    }
    return About(**{**values, **changes})


def tiny_adapter(weights: Tensors, **changes: Any) -> Adapter:
    """Random changes of every linear layer of a tiny encoder."""
    random = np.random.default_rng(3)
    stated = about(**changes)

    def draw(*shape: int) -> Any:
        # As an adapter's file keeps them.
        return random.normal(0, 0.3, shape).astype(np.float16).astype(np.float32)

    linear = [name for name, weight in weights.items() if name.startswith("encoder") and weight.ndim == 2]
    layers = {
        name: LowRank(draw(stated.rank, weights[name].shape[1]), draw(weights[name].shape[0], stated.rank))
        for name in linear
    }
    return Adapter(layers, stated)


def changed(weights: Tensors, adapter: Adapter) -> Tensors:
    """The weights with the changes added, computed here in float64."""
    scale = adapter.about.alpha / adapter.about.rank
    merged = dict(weights)
    for name, layer in adapter.layers.items():
        change = scale * np.einsum("or,ri->oi", layer.up.astype(np.float64), layer.down.astype(np.float64))
        merged[name] = (weights[name] + change).astype(np.float32)
    return merged


class TestGraph:
    @pytest.mark.parametrize(("int8", "tolerance"), [(False, 1e-4), (True, 0.15)])
    def test_the_changes_are_added_to_the_weights(self, tmp_path, int8, tolerance):
        weights = tiny_bert()
        adapter = tiny_adapter(weights)
        path = save(weights, tmp_path)
        ranges = tiny_ranges(weights) if int8 else None
        graph = assemble_bert(path, TINY_HEADS, ranges=ranges, changes=adapter.changes)
        (tmp_path / "graph.onnx").write_bytes(graph.SerializeToString())
        found = session_states(tmp_path / "graph.onnx")
        expected = hidden_states(changed(weights, adapter), IDS, TINY_HEADS)
        assert np.abs(found - expected).max() < tolerance
        plain = hidden_states(weights, IDS, TINY_HEADS)
        assert np.abs(plain - expected).max() > 0.5, "the changes change nothing that could be measured"

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("encoder.layer.9.output.dense.weight", "no linear layer"),
            ("embeddings.word_embeddings.weight", "no linear layer"),
            ("encoder.layer.0.output.dense.weight", "another shape"),
        ],
    )
    def test_a_change_that_fits_no_linear_layer_is_refused(self, tmp_path, name, said):
        path = save(tiny_bert(), tmp_path)
        with pytest.raises(ModelError, match=said):
            assemble_bert(path, TINY_HEADS, changes={name: np.zeros((HIDDEN, 1), dtype=np.float32)})


def session_states(graph: Path) -> Any:
    from adk_evidence.embedding.minilm.model import open_session

    ids = np.array([IDS], dtype=np.int64)
    inputs = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
    return open_session(graph).run(None, inputs)[0][0]


class TestFile:
    def test_what_is_written_is_read(self, tmp_path):
        adapter = tiny_adapter(tiny_bert())
        write_adapter(adapter, tmp_path / "new" / "a.safetensors")
        found = read_adapter(tmp_path / "new" / "a.safetensors")
        assert found.about == adapter.about and found.sha256 == adapter.sha256
        assert found.changes.keys() == adapter.changes.keys()
        assert all(np.array_equal(change, adapter.changes[name]) for name, change in found.changes.items())

    @pytest.mark.parametrize(
        ("damage", "said"),
        [
            (lambda data: data[: len(data) // 2], "not a whole safetensors file"),
            (lambda data: b"", "not a whole safetensors file"),
            (lambda data: None, "cannot be read"),
            (lambda data: header(data, lambda found: found.pop("__metadata__")), "does not say"),
            (lambda data: stated(data, rank=0), "cannot be read"),
            (lambda data: stated(data, rank=3), "not one of rank 3"),
            (lambda data: stated(data, format="adk-evidence-questions-9"), "cannot be read"),
            (lambda data: data[:-2] + b"\x00\x7e", "not finite"),
            (lambda data: header(data, lambda found: found.update(other=found.pop(max(found)))), "not one of rank"),
        ],
    )
    def test_a_damaged_file_is_refused_in_a_sentence(self, tmp_path, damage, said):
        path = tmp_path / "a.safetensors"
        damaged = damage(tiny_adapter(tiny_bert()).to_bytes())
        if damaged is not None:
            path.write_bytes(damaged)
        with pytest.raises(ModelError, match=said) as caught:
            read_adapter(path)
        assert "embedding.dense.question_adapter" in caught.value.hint


def header(data: bytes, edit: Callable[[dict[str, Any]], Any]) -> bytes:
    """A safetensors file whose header was edited."""
    (length,) = struct.unpack("<Q", data[:8])
    found = json.loads(data[8 : 8 + length])
    edit(found)
    written = json.dumps(found).encode()
    return struct.pack("<Q", len(written)) + written + data[8 + length :]


def stated(data: bytes, **changes: Any) -> bytes:
    def edit(found: dict[str, Any]) -> None:
        told = json.loads(found["__metadata__"]["about"])
        found["__metadata__"]["about"] = json.dumps({**told, **changes})

    return header(data, edit)
