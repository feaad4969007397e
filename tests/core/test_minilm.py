from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from adk_evidence.embedding.base import Once
from adk_evidence.embedding.minilm import model as minilm
from adk_evidence.embedding.minilm.bert import WEIGHT_LEVELS, Ranges, assemble_bert
from adk_evidence.embedding.minilm.model import MiniLmEmbedder, prepare_minilm, prepared_folder
from adk_evidence.embedding.shipped import shipped_vectors
from adk_evidence.errors import ModelError
from adk_evidence.models.chunk import sha256_text
from adk_evidence.paths import config_file
from adk_evidence.settings import load_settings
from tests.core.bert_numpy import REFERENCE_TEXTS, Tensors, hidden_states, state_ranges
from tests.corpora import embed_all

pytestmark = pytest.mark.slow

SETTINGS = load_settings().embedding.dense.model_copy(update={"batch_size": 4, "max_tokens": 32, "precision": "fp32"})
INT8 = SETTINGS.model_copy(update={"precision": "int8"})
HIDDEN, HEADS, INNER, WORDS, POSITIONS = 12, 3, 20, 50, 16


def tiny_bert(layers: int = 2) -> Tensors:
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
    }
    norms = ["embeddings.LayerNorm"]
    for at in (f"encoder.layer.{layer}" for layer in range(layers)):
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{at}.attention.{name}.weight"] = (HIDDEN, HIDDEN)
            shapes[f"{at}.attention.{name}.bias"] = (HIDDEN,)
        shapes[f"{at}.intermediate.dense.weight"] = (INNER, HIDDEN)
        shapes[f"{at}.intermediate.dense.bias"] = (INNER,)
        shapes[f"{at}.output.dense.weight"] = (HIDDEN, INNER)
        shapes[f"{at}.output.dense.bias"] = (HIDDEN,)
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    for name in norms:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (HIDDEN,)
    return {name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def save(tensors: Tensors, folder: Path) -> Path:
    from safetensors.numpy import save_file

    save_file(tensors, folder / "model.safetensors")
    return folder / "model.safetensors"


def tiny_ranges(tensors: Tensors) -> Ranges:
    """How far the states of a tiny encoder reach in some texts."""
    random = np.random.default_rng(5)
    count = len(tensors["embeddings.word_embeddings.weight"])
    texts = [random.integers(0, count, length).tolist() for length in range(1, POSITIONS + 1)]
    return {name: found.astype(np.float32) for name, found in state_ranges(tensors, texts, HEADS).items()}


def run_graph(folder: Path, rows: list[list[int]], ranges: Ranges | None = None) -> NDArray[np.float32]:
    import onnxruntime

    graph = assemble_bert(folder / "model.safetensors", HEADS, ranges=ranges)
    (folder / "model.onnx").write_bytes(graph.SerializeToString())
    ids = np.array(rows, dtype=np.int64)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    inputs = {"input_ids": ids, "token_type_ids": np.zeros_like(ids)}
    [states] = session.run(["last_hidden_state"], inputs)
    result: NDArray[np.float32] = states
    return result


@pytest.mark.parametrize("layers", [1, 3])
def test_the_graph_computes_what_numpy_computes_and_quantised_nearly_the_same(layers: int, tmp_path: Path) -> None:
    tensors = tiny_bert(layers)
    save(tensors, tmp_path)
    row = [1, 7, 49, 3, 3, 12]
    expected = hidden_states(tensors, row, HEADS)
    assert run_graph(tmp_path, [row])[0] == pytest.approx(expected, abs=1e-5)
    states = run_graph(tmp_path, [row], tiny_ranges(tensors))[0]
    assert not np.allclose(states, expected, atol=1e-4), "it is not quantised"
    lengths = np.linalg.norm(states, axis=1) * np.linalg.norm(expected, axis=1)
    assert ((states * expected).sum(1) / lengths).min() > 0.995


def test_quantised_texts_do_not_depend_on_their_neighbours(tmp_path: Path) -> None:
    tensors = tiny_bert()
    save(tensors, tmp_path)
    texts = [[5, 6, 9], [1, 2, 3], [9, 9, 9]]
    ranges = tiny_ranges(tensors)
    together = run_graph(tmp_path, texts, ranges)
    for text, states in zip(texts, together, strict=True):
        [alone] = run_graph(tmp_path, [text], ranges)
        assert np.array_equal(states, alone)


def test_a_channel_of_zeros_and_quantised_weights_of_seven_bits(tmp_path: Path) -> None:
    from onnx import numpy_helper

    tensors = tiny_bert(layers=1)
    tensors["encoder.layer.0.intermediate.dense.weight"][2] = 0.0
    ranges = tiny_ranges(tensors)
    graph = assemble_bert(save(tensors, tmp_path), HEADS, ranges=ranges).graph
    stored = {item.name: numpy_helper.to_array(item, str(tmp_path)) for item in graph.initializer}
    integers, scales = (stored[f"encoder.layer.0.intermediate.dense.{kind}"] for kind in ("int8", "scales"))
    assert not integers[:, 2].any()
    assert 2 * 255 * int(np.abs(integers).max()) < 2**15, "two products fit into 16 bits"
    assert np.abs(integers).max(axis=0).tolist() == [0 if channel == 2 else WEIGHT_LEVELS for channel in range(INNER)]
    # What the states are multiplied with, the weights were divided by.
    smoothing = stored["encoder.layer.0.attention.output.LayerNorm.smoothing"][:, np.newaxis]
    weight = tensors["encoder.layer.0.intermediate.dense.weight"].T
    assert (np.abs(integers * scales * smoothing - weight) <= scales * smoothing / 2 + 1e-6).all()
    assert np.isfinite(run_graph(tmp_path, [[1, 2]], ranges)).all()


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("kind", ["bias", "weight"])
def test_weights_without_a_tensor_are_refused(int8: bool, kind: str, tmp_path: Path) -> None:
    tensors = tiny_bert()
    ranges = tiny_ranges(tensors) if int8 else None
    del tensors[f"encoder.layer.1.attention.self.key.{kind}"]
    with pytest.raises(ModelError, match=rf"encoder\.layer\.1\.attention\.self\.key\.{kind}"):
        assemble_bert(save(tensors, tmp_path), HEADS, ranges=ranges)


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 64, (5).to_bytes(8, "little") + b"{]}  "])
def test_a_file_that_is_not_safetensors_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match="cannot be read as safetensors"):
        assemble_bert(tmp_path / "model.safetensors", HEADS)


def test_a_named_folder_without_weights_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="missing"):
        prepare_minilm(tmp_path / "models", named_folder=tmp_path)
    assert not minilm.is_prepared(tmp_path / "models")
    assert not list((tmp_path / "models").glob(".preparing-*"))


def test_the_name_of_the_model_tells_the_precisions_apart(tmp_path: Path) -> None:
    assert MiniLmEmbedder(SETTINGS, tmp_path).model == f"{minilm.MODEL};max_tokens=32"
    assert MiniLmEmbedder(INT8, tmp_path).model == f"{minilm.MODEL};int8-v2;max_tokens=32"


@pytest.fixture(scope="session")
def embedder(models: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder(SETTINGS, models)


@pytest.fixture(scope="session")
def quantised(models: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder(INT8, models)


@pytest.mark.model
def test_vectors_are_those_of_the_reference_or_in_8_bits_close_to_them(models: Path) -> None:
    folder = prepare_minilm(models, "int8")
    assert minilm.check_against_reference(folder) > 0.999999
    assert minilm.MIN_COSINE["int8"] < minilm.check_against_reference(folder, "int8") < 0.9999


@pytest.mark.model
def test_a_graph_that_computes_something_else_is_refused(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        shutil.copyfile(prepared_folder(models) / name, tmp_path / name)
    monkeypatch.setattr(minilm, "HEADS", 6)
    with pytest.raises(ModelError, match="other vectors than the published model"):
        minilm.write_graph(tmp_path)


TEXTS = [
    "tool",
    "",
    "a much longer text about sessions and their state " * 9,
    "agent run",
    "\ud800 lone",
    "漢字 é",
]


@pytest.mark.model
@pytest.mark.parametrize("precision", ["embedder", "quantised"])
def test_a_texts_vector_depends_on_nothing_but_the_text(precision: str, request: pytest.FixtureRequest) -> None:
    embedder: MiniLmEmbedder = request.getfixturevalue(precision)
    texts = TEXTS + REFERENCE_TEXTS
    together = embed_all(embedder, texts)
    assert together.shape == (len(texts), 384)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)
    for text, vector in zip(texts, together, strict=True):
        assert embed_all(embedder, [text])[0] == pytest.approx(vector, abs=1e-6)


@pytest.mark.model
def test_the_vectors_that_ship_are_those_that_the_model_computes(models: Path) -> None:
    embedder, shipped = MiniLmEmbedder(load_settings().embedding.dense, models), shipped_vectors()
    table = json.loads(gzip.decompress(config_file("questions.json.gz").read_bytes()))["questions"]
    texts = [question for chunks in table.values() for _, questions in chunks for question in questions][::300]
    keys = [sha256_text(text) for text in texts]
    assert shipped is not None and shipped.has(embedder.model, embedder.dimension, keys) == set(keys)
    found = shipped.get_many(embedder.model, embedder.dimension, keys)
    cosines = [computed @ found[key] for computed, key in zip(embed_all(embedder, texts), keys, strict=True)]
    assert len(cosines) > 50 and min(cosines) > 0.97 and np.mean(cosines) > 0.99


@pytest.mark.model
def test_batches_come_longest_first_and_name_every_position_once(embedder: MiniLmEmbedder) -> None:
    batches = list(embedder.iter_embed(TEXTS))
    assert [len(positions) for positions, _ in batches] == [4, 2]
    assert all(vectors.shape == (len(positions), 384) for positions, vectors in batches)
    assert sorted(position for positions, _ in batches for position in positions) == list(range(len(TEXTS)))
    assert batches[0][0][0] == 2
    assert list(embedder.iter_embed([])) == []
    assert embed_all(embedder, []).shape == (0, 384)


@given(st.lists(st.integers(2, 700), max_size=100))
def test_runs_hold_texts_of_one_length_in_order_and_no_more_tokens_than_one_run_may(lengths: list[int]) -> None:
    lengths.sort(reverse=True)
    runs = list(minilm.runs_of(range(len(lengths)), lambda place: lengths[place]))
    assert [place for run in runs for place in run] == list(range(len(lengths)))
    for run in runs:
        assert len({lengths[place] for place in run}) == 1
        assert len(run) == 1 or sum(lengths[place] for place in run) <= minilm.RUN_TOKENS


@pytest.mark.model
def test_what_waits_for_a_worker_is_called_off_where_the_caller_leaves(
    embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = MiniLmEmbedder(SETTINGS.model_copy(update={"batch_size": 32, "threads": 1}), embedder._models)
    texts = [f"text {number}" for number in range(96)]
    rows = one._load().tokens(texts[:32], 128)
    runs = len(list(minilm.runs_of(rows, len)))
    begun, go_on = [], threading.Event()
    embed = minilm._Model.embed

    def embed_at_first(self: Any, rows: Any) -> Any:
        begun.append(rows)
        if len(begun) > runs:
            go_on.wait()
        return embed(self, rows)

    monkeypatch.setattr(minilm._Model, "embed", embed_at_first)
    batches = one.iter_embed(texts)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    go_on.set()
    one._workers().submit(len, ()).result()
    # The worker may have begun one run of the next batch.
    assert runs <= len(begun) <= runs + 1


@pytest.mark.model
def test_documents_are_cut_at_max_tokens_and_queries_are_not(embedder: MiniLmEmbedder) -> None:
    words = "unbelievably tokenizable " * 4
    model = embedder._load()
    tokens = len(model.tokens([words], 1000)[0]) - 2
    long = words * 10
    start, longer = embed_all(embedder, [long, long + " and something else"])
    assert np.array_equal(start, longer)
    exact = MiniLmEmbedder(SETTINGS.model_copy(update={"max_tokens": 256}), embedder._models)
    kept = " ".join(long.split()[: (SETTINGS.max_tokens - 2) // (tokens // 8)])
    assert len(model.tokens([kept], 1000)[0]) <= SETTINGS.max_tokens
    assert embed_all(exact, [kept])[0] == pytest.approx(embed_all(embedder, [kept])[0], abs=1e-6)
    assert embedder.embed_query(long) != pytest.approx(start.tolist(), abs=1e-3)


def test_a_model_is_loaded_once_by_however_many_threads() -> None:
    opened: list[object] = []
    all_wait = threading.Barrier(6)
    load = Once(lambda: opened.append(object()) or opened[-1])
    with ThreadPoolExecutor(6) as threads:
        found = [*threads.map(lambda _: (all_wait.wait(), load())[1], range(6))]
    assert len(opened) == 1 and found == opened * 6


def test_onnx_runtime_reports_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from adk_evidence.embedding.minilm.model import open_session\n"
        "open_session(Path(sys.argv[1]))"
    )
    home = tmp_path / "home"
    home.mkdir()
    # It reports nothing from the machines of a CI anyway.
    inherited = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
    places = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME"), str(home))
    graph = tmp_path / "model.onnx"
    save(tiny_bert(1), tmp_path)
    graph.write_bytes(assemble_bert(tmp_path / "model.safetensors", HEADS).SerializeToString())
    command = [sys.executable, "-B", "-c", script, str(graph)]
    environment = {**inherited, **places, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(command, env=environment, check=True, timeout=120)
    assert list(home.rglob("*")) == []


@pytest.mark.model
def test_processes_prepare_one_folder_together_and_mend_a_damaged_one(models: Path, tmp_path: Path) -> None:
    damaged = prepared_folder(tmp_path)
    damaged.mkdir()
    (damaged / "model.onnx").write_bytes(b"")
    (damaged / "model.safetensors").write_bytes(b"cut")
    (tmp_path / ".preparing-killed").mkdir()
    script = (
        "import sys; from pathlib import Path; from adk_evidence.embedding.minilm.model import prepare_minilm\n"
        "print(prepare_minilm(Path(sys.argv[1]), named_folder=Path(sys.argv[2])))"
    )
    command = [sys.executable, "-c", script, str(tmp_path), str(prepared_folder(models))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert {process.communicate(timeout=120)[0].strip() for process in running} == {str(damaged)}
    assert minilm.is_prepared(tmp_path)
    assert not list(tmp_path.glob(".preparing-*"))


@pytest.mark.model
def test_a_prepared_model_that_does_not_load_is_a_clear_error(models: Path, tmp_path: Path) -> None:
    folder = prepared_folder(tmp_path)
    folder.mkdir()
    shutil.copyfile(prepared_folder(models) / "model.safetensors", folder / "model.safetensors")
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_text("{}")
    with pytest.raises(ModelError, match="does not load") as caught:
        MiniLmEmbedder(SETTINGS, tmp_path).embed_query("tool")
    assert "Remove that folder" in caught.value.hint


def copy_of(models: Path, home: Path) -> Path:
    """The prepared folder without what is quantised, below another home."""
    folder = prepared_folder(home)
    shutil.copytree(prepared_folder(models), folder, ignore=shutil.ignore_patterns("*int8*"))
    return folder


def quantised_files(folder: Path) -> tuple[Path, Path]:
    graph, digest = sorted(folder.glob("*int8*"))
    return graph, digest


@pytest.mark.model
def test_the_quantised_graph_is_made_once_beside_the_other(models: Path, tmp_path: Path) -> None:
    folder = copy_of(models, tmp_path)
    kept = (folder / "model.onnx").read_bytes()
    MiniLmEmbedder(SETTINGS, tmp_path).embed_query("tool")
    assert not list(folder.glob("*int8*")), "nobody asked for it"
    MiniLmEmbedder(INT8, tmp_path).embed_query("tool")
    graph, _ = quantised_files(folder)
    made = graph.stat().st_mtime_ns
    said: list[str] = []
    assert prepare_minilm(tmp_path, "int8", report=said.append) == folder
    assert graph.stat().st_mtime_ns == made and not said
    assert (folder / "model.onnx").read_bytes() == kept


@pytest.mark.model
def test_a_damaged_quantised_graph_is_made_anew(models: Path, tmp_path: Path) -> None:
    folder = copy_of(models, tmp_path)
    prepare_minilm(tmp_path, "int8")
    graph, digest = quantised_files(folder)
    whole, checked = graph.read_bytes(), digest.read_bytes()
    for damage in (digest.unlink, graph.unlink, lambda: graph.write_bytes(whole[:-1])):
        graph.write_bytes(whole)
        digest.write_bytes(checked)
        assert minilm.is_prepared(tmp_path, "int8")
        damage()
        assert not minilm.is_prepared(tmp_path, "int8")
        assert minilm.is_prepared(tmp_path, "fp32")
    said: list[str] = []
    prepare_minilm(tmp_path, "int8", report=said.append)
    assert graph.read_bytes() == whole
    assert [sentence.split()[0] for sentence in said] == ["Quantising"]


@pytest.mark.model
def test_a_quantised_graph_that_is_too_far_off_is_not_kept(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_of(models, tmp_path)
    monkeypatch.setattr("adk_evidence.embedding.minilm.bert.WEIGHT_LEVELS", 3)
    with pytest.raises(ModelError, match="other vectors than the published model") as caught:
        prepare_minilm(tmp_path, "int8")
    assert "precision to fp32" in caught.value.hint
    assert not minilm.is_prepared(tmp_path, "int8")
