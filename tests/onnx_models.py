"""Tiny models in FastEmbed's layout, made here: a SPLADE, a dense encoder and a cross-encoder."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 32  # tokens, the special ones among them
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"
# What the dense models' names promise.
DOCS_MODEL, DOCS_FILE, DOCS_DIMENSION = "BAAI/bge-small-en-v1.5", "model_optimized.onnx", 384
CODE_MODEL, CODE_FILE, CODE_DIMENSION = "jinaai/jina-embeddings-v2-base-code", "onnx/model.onnx", 768
RERANKER = "Xenova/ms-marco-MiniLM-L-6-v2"
RERANKER, RERANKER_FILE = "Xenova/ms-marco-MiniLM-L-6-v2", "onnx/model.onnx"
SPLADE_FILE = "model.onnx"


def words_of(texts: Iterable[str]) -> list[str]:
    """The words of texts, lower-case, sorted."""
    return sorted({word for text in texts for word in re.findall(r"[a-z]{2,}", text.lower())})


def vocabulary(words: Iterable[str]) -> dict[str, int]:
    """Token ids: special tokens, words, and letters for all other words."""
    letters = [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
    pieces = [*SPECIAL, *words, *letters, *".,#:/-[]"]
    return {token: index for index, token in enumerate(dict.fromkeys(pieces))}


def write_splade(folder: Path, words: Iterable[str], limit: int = LIMIT) -> dict[str, int]:
    """A SPLADE whose logits are 3 for a token itself and 1 for the next word of the vocabulary; returns the ids."""
    ids = write_tokenizer(folder, words, limit)
    count = len(ids)
    table = 3.0 * np.eye(count, dtype=np.float32) + np.eye(count, k=1, dtype=np.float32)
    # As with the real model, every text gives the special tokens some weight.
    table[:, [ids["[CLS]"], ids["[SEP]"]]] = 0.5
    _save(folder / SPLADE_FILE, _gathering(table, "logits"))
    return ids


def write_dense(folder: Path, words: Iterable[str], file: str, dimension: int, limit: int = LIMIT) -> None:
    """A dense encoder: a token's state is its own signs, hashed from it, and those of all tokens of the text."""
    from onnx import helper, numpy_helper

    ids = write_tokenizer(folder, words, limit)
    rows = [np.random.default_rng(zlib.crc32(token.encode())).choice([-1.0, 1.0], dimension) for token in ids]
    table = np.array(rows, dtype=np.float32)
    table[ids["[PAD]"]] = 0.0
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("ReduceSum", ["tokens", "axis"], ["text"], keepdims=1),
        helper.make_node("Add", ["tokens", "text"], ["last_hidden_state"]),
    ]
    tables = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([1]), "axis")]
    _save(folder / file, _model(nodes, tables, "last_hidden_state", ["batch", "tokens", dimension]))


def write_cross_encoder(folder: Path, words: Iterable[str], limit: int = LIMIT) -> None:
    """A cross-encoder that counts pairs of equal words in question and text."""
    from onnx import TensorProto, helper, numpy_helper

    ids = write_tokenizer(folder, words, limit)
    table = np.eye(len(ids), dtype=np.float32)
    for token in (*SPECIAL, *LETTERS):
        table[ids[token]] = 0.0
    axis = numpy_helper.from_array(np.array([1], dtype=np.int64), "axis")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["types", "last"], ["second"]),
        helper.make_node("Mul", ["tokens", "second"], ["text"]),
        helper.make_node("Sub", ["tokens", "text"], ["question"]),
        helper.make_node("ReduceSum", ["text", "axis"], ["text_words"], keepdims=0),
        helper.make_node("ReduceSum", ["question", "axis"], ["question_words"], keepdims=0),
        helper.make_node("Mul", ["text_words", "question_words"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "axis"], ["logits"], keepdims=1),
    ]
    last = numpy_helper.from_array(np.array([2], dtype=np.int64), "last")
    tables = [numpy_helper.from_array(table, "table"), axis, last]
    _save(folder / RERANKER_FILE, _model(nodes, tables, "logits", ["batch", 1]))


def _gathering(table: np.ndarray[Any, Any], output: str) -> Any:
    from onnx import helper, numpy_helper

    node = helper.make_node("Gather", ["table", "input_ids"], [output])
    return _model([node], [numpy_helper.from_array(table, "table")], output, ["batch", "tokens", table.shape[1]])


def _model(nodes: list[Any], tables: list[Any], output: str, shape: list[Any]) -> Any:
    from onnx import TensorProto, helper

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, tables)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _save(path: Path, model: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def write_tokenizer(folder: Path, words: Iterable[str], limit: int) -> dict[str, int]:
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    ids = vocabulary(words)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": limit, "pad_token": "[PAD]"}))
    return ids
