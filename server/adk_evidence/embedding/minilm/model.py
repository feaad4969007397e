"""all-MiniLM-L6-v2 on ONNX Runtime, from the published safetensors and without torch.

Its linear layers are computed in 8-bit integers or in float32, as `embedding.dense.precision` says. The vectors of
the two are close but not the same, so the model's name tells them apart.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.base import FloatMatrix, Once, encodable
from adk_evidence.embedding.batching import longest_first
from adk_evidence.embedding.minilm.adapted import adapted_graph, adapter_of_minilm
from adk_evidence.embedding.minilm.adapter import OTHER_ADAPTER, Adapter, AdapterError
from adk_evidence.embedding.minilm.bert import INT8_VERSION, Ranges, assemble_bert
from adk_evidence.embedding.minilm.graphs import does_not_load, is_whole, mark_whole
from adk_evidence.embedding.minilm.weights import MINILM_WEIGHTS, WEIGHTS, Report, fetch_weights
from adk_evidence.embedding.onnx import without_telemetry
from adk_evidence.errors import ModelError, SettingsError
from adk_evidence.files import write_atomic
from adk_evidence.paths import config_file
from adk_evidence.settings import DenseSettings, Precision

Tokens = NDArray[np.int32]
T = TypeVar("T")

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DIMENSION = 384
HEADS = 12
MODEL_TOKENS = 256  # the published limit; more was never trained
ASSEMBLER_VERSION = 2
# Least similarity to the vectors of the published model. In int8 the lowest reference text has 0.9961.
MIN_COSINE: dict[Precision, float] = {"fp32": 0.9999, "int8": 0.993}

FP32_GRAPH = "model.onnx"
_GRAPHS: dict[Precision, str] = {"fp32": FP32_GRAPH, "int8": f"model-int8-v{INT8_VERSION}.onnx"}
_WEIGHTS_BYTES = 90_868_376
_TOKENIZE_BATCH = 512
# In one run of the model. The states of more tokens leave the processor's cache, and of fewer, what is done once in a
# run counts more: texts of 18 tokens take an eighth less time in runs of sixteen than of four.
RUN_TOKENS = 384
SHIPPED_ADAPTER = "question_adapter.safetensors"
_REFERENCE = Path(__file__).with_name("minilm_reference.json")
_RANGES = Path(__file__).with_name("minilm_ranges.json")


def prepared_folder(models: Path) -> Path:
    """Where the model is kept below `models` once it is prepared; the folder may not exist yet."""
    return models / f"{MINILM_WEIGHTS.name}-{MINILM_WEIGHTS.sha256[WEIGHTS][:12]}-v{ASSEMBLER_VERSION}"


def is_prepared(models: Path, precision: Precision = "fp32") -> bool:
    """Whether `prepare_minilm` has nothing left to do."""
    folder = prepared_folder(models)
    try:
        # One rename makes the folder appear, so it is whole unless the disk or a person damaged it later.
        whole = (folder / _GRAPHS["fp32"]).is_file() and (folder / WEIGHTS).stat().st_size == _WEIGHTS_BYTES
    except OSError:
        return False
    return whole and (precision == "fp32" or is_whole(folder / _GRAPHS["int8"]))


def prepare_minilm(
    models: Path,
    precision: Precision = "fp32",
    *,
    named_folder: Path | None = None,
    report: Report | None = None,
) -> Path:
    """Get the weights, assemble the ONNX graph, check it against the reference vectors and keep it.

    Safe to call in several processes at once; all but one wait.

    Args:
        models: The folder of prepared models; it is created.
        precision: Whether the quantised graph is wanted beside the one in float32.
        named_folder: The folder that the user names, with the published `model.safetensors` and `tokenizer.json`.
        report: Gets a sentence before each step that takes long.

    Raises:
        ModelError: The weights cannot be obtained or are not the published ones, the graph's vectors are wrong, or
            the folder cannot be written.
    """
    from filelock import FileLock

    folder = prepared_folder(models)
    if is_prepared(models, precision):
        return folder
    say = report or (lambda _: None)
    try:
        models.mkdir(parents=True, exist_ok=True)
        with FileLock(models / ".prepare.lock"):
            if not is_prepared(models):
                _prepare(models, named_folder, say)
            if not is_prepared(models, precision):
                say(f"Quantising {MINILM_WEIGHTS.name} and checking it against its reference vectors")
                # The mark also says that the graph was checked.
                mark_whole(folder / _GRAPHS["int8"], write_graph(folder, "int8"))
    except OSError as exc:
        raise ModelError.of_disk(models, 200, exc) from exc
    return folder


def _prepare(models: Path, named_folder: Path | None, say: Report) -> None:
    for leftover in models.glob(".preparing-*"):  # of a process that was killed: we hold the lock
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=".preparing-") as scratch:
        folder = Path(scratch) / "model"
        folder.mkdir()
        earlier = sorted(models.glob(f"{MINILM_WEIGHTS.name}-*"))
        fetch_weights(MINILM_WEIGHTS, folder, named_folder=named_folder, earlier=earlier, report=say)
        say(f"Assembling {MINILM_WEIGHTS.name} and checking it against its reference vectors")
        write_graph(folder)
        final = prepared_folder(models)
        if final.exists():
            shutil.rmtree(final)
        folder.rename(final)


def minilm_ranges() -> Ranges:
    """How far the states of the published model reach, which a graph in 8-bit integers is made with."""
    found = json.loads(_RANGES.read_text(encoding="utf-8"))
    return {name: np.array(ranges, dtype=np.float32) for name, ranges in found.items()}


def _ranges_for(precision: Precision) -> Ranges | None:
    return minilm_ranges() if precision == "int8" else None


def write_graph(folder: Path, precision: Precision = "fp32") -> bytes:
    """Add an ONNX graph to a folder that holds the weights, and check the graph against the reference vectors."""
    graph: bytes = assemble_bert(folder / WEIGHTS, HEADS, ranges=_ranges_for(precision)).SerializeToString()
    write_atomic(folder / _GRAPHS[precision], graph)
    check_against_reference(folder, precision)
    return graph


def check_against_reference(folder: Path, precision: Precision = "fp32") -> float:
    """The lowest cosine of a prepared folder's vectors with those of an independent implementation in float64.

    Raises:
        ModelError: It is not above the `MIN_COSINE` of the precision.
    """
    rows = json.loads(_REFERENCE.read_text(encoding="utf-8"))
    expected = np.array([row["vector"] for row in rows], dtype=np.float64)
    model = _open_model(folder, precision)
    texts = model.tokens([row["text"] for row in rows], MODEL_TOKENS)
    vectors = np.concatenate([model.embed([text]) for text in texts]).astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    lowest = float(np.min((vectors * expected).sum(axis=1) / norms))
    if not lowest > MIN_COSINE[precision]:
        way_out = "Set embedding.dense.precision to fp32. " if precision == "int8" else ""
        raise ModelError(
            f"The assembled {MINILM_WEIGHTS.name} computes other vectors than the published model "
            f"(cosine {lowest:.5f}), so it is not used.",
            f"{way_out}Please report this with the version of onnxruntime and the processor.",
        )
    return lowest


def _open_model(folder: Path, precision: Precision) -> _Model:
    try:
        return _Model(folder, folder / _GRAPHS[precision])
    # The exceptions of ONNX Runtime and tokenizers have no common base.
    except Exception as exc:
        raise does_not_load(folder, exc) from exc


def open_session(graph: Path) -> Any:
    """A graph on ONNX Runtime, whose runs take one thread each."""
    without_telemetry()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Runs side by side keep the cores busier than threads within a run, which wait for each other at every layer.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The arena keeps the memory of the largest batch for good.
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def open_tokenizer(folder: Path) -> Any:
    """The tokeniser of a prepared folder, which neither cuts nor pads."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The published file truncates and pads to 128.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class _Model:
    """The tokeniser and the graph. Safe between threads."""

    def __init__(self, folder: Path, graph: Path) -> None:
        self._session = open_session(graph)
        self._tokenizer = open_tokenizer(folder)

    def tokens(self, texts: Sequence[str], limit: int) -> list[Tokens]:
        """See `tokens_of`."""
        return tokens_of(self._tokenizer, texts, limit)

    def embed(self, rows: Sequence[Tokens]) -> FloatMatrix:
        """The vectors of texts of equally many tokens, in one run: L2-normalised means over the tokens."""
        ids = np.stack(rows).astype(np.int64)
        [states] = self._session.run(None, {"input_ids": ids, "token_type_ids": np.zeros_like(ids)})
        means = states.mean(axis=1, dtype=np.float64)
        vectors: FloatMatrix = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
        return vectors


def tokens_of(tokenizer: Any, texts: Sequence[str], limit: int) -> list[Tokens]:
    """The token ids of each text, from [CLS] to [SEP], at most `limit`."""
    found = []
    for start in range(0, len(texts), _TOKENIZE_BATCH):
        batch = [encodable(text) for text in texts[start : start + _TOKENIZE_BATCH]]
        for encoding in tokenizer.encode_batch_fast(batch):
            ids = encoding.ids
            # Arrays: as lists of numbers, the tokens of a large corpus would take some hundred megabytes.
            found.append(np.array(ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]], dtype=np.int32))
    return found


def runs_of(texts: Sequence[T], tokens: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """Successive texts of the same number of tokens, of at most `RUN_TOKENS` together; a longer text is a run alone."""
    for length, alike in itertools.groupby(texts, tokens):
        same = list(alike)
        size = max(1, RUN_TOKENS // length)
        yield from (same[start : start + size] for start in range(0, len(same), size))


def _collected(positions: list[int], runs: list[Future[FloatMatrix]]) -> tuple[list[int], FloatMatrix]:
    return positions, np.concatenate([run.result() for run in runs])


class MiniLmEmbedder:
    """The local `DenseEmbedder`: prepared and loaded at first use; its vectors are L2-normalised."""

    dimension = DIMENSION

    def __init__(self, settings: DenseSettings, models: Path, report: Report | None = None) -> None:
        quantised = f";int8-v{INT8_VERSION}" if settings.layers == "int8" else ""
        self.model = f"{MODEL}{quantised};max_tokens={settings.max_tokens}"
        self._settings = settings
        self._models = models
        self._report = report
        self._load = Once(self._open)
        self._adapter = Once(self._read_adapter)
        self._load_adapted = Once(self._open_adapted)
        self._adapter_error: AdapterError | None = None
        self._workers = Once(lambda: ThreadPoolExecutor(settings.threads or os.cpu_count(), "minilm"))

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        model = self._load()
        rows = model.tokens(texts, self._settings.max_tokens)
        ahead: deque[tuple[list[int], list[Future[FloatMatrix]]]] = deque()
        try:
            for positions in longest_first([len(row) for row in rows], self._settings.batch_size):
                batch = [rows[position] for position in positions]
                ahead.append((positions, [self._workers().submit(model.embed, run) for run in runs_of(batch, len)]))
                # The workers go on with the next batch while the caller keeps the vectors of this one.
                if len(ahead) > 1:
                    yield _collected(*ahead[0])
                    ahead.popleft()
            while ahead:
                yield _collected(*ahead[0])
                ahead.popleft()
        finally:
            # A caller that leaves, or a run that failed, does not wait for the others.
            for run in (run for _, runs in ahead for run in runs):
                run.cancel()

    def embed_query(self, text: str) -> list[float]:
        """Encode one query, cut to the model's own 256 tokens."""
        return _query_vector(self._load(), text, MODEL_TOKENS)

    @property
    def question_model(self) -> str:
        """The name of what `embed_question` encodes with.

        Raises:
            AdapterError: The adapter cannot be used.
        """
        return f"questions-{self._adapter().sha256[:12]}"

    def embed_question(self, text: str) -> list[float]:
        """Encode a question about the ADK with the adapter that brings it nearer to what answers it.

        Texts are encoded as ever: the adapter was trained against their vectors (query-side fine-tuning, Lee et al.
        2021), so an index stays as it is.

        Raises:
            AdapterError: The adapter cannot be used; the next calls raise this at once.
            ModelError: The model cannot be loaded.
        """
        if self._adapter_error is not None:
            raise self._adapter_error
        try:
            vector = _query_vector(self._load_adapted(), text, MODEL_TOKENS)
            if not np.isfinite(vector).all():
                raise AdapterError("The adapter makes vectors that are no numbers.", OTHER_ADAPTER)
        except AdapterError as exc:
            # Assembling the graph anew for every question would take a second each.
            self._adapter_error = exc
            raise
        return vector

    def _open(self) -> _Model:
        return _open_model(self._prepared(), self._settings.layers)

    def _read_adapter(self) -> Adapter:
        try:
            named = self._settings.question_adapter
            path = named if isinstance(named, Path) else config_file(SHIPPED_ADAPTER)
        except SettingsError as exc:
            raise AdapterError(exc.message, exc.hint) from exc
        return adapter_of_minilm(path)

    def _open_adapted(self) -> _Model:
        adapter = self._adapter()
        graph = adapted_graph(self._prepared(), adapter, HEADS, _ranges_for(self._settings.layers))
        try:
            return _Model(graph.parent, graph)
        except Exception as exc:
            error = does_not_load(graph, exc)
            raise AdapterError(error.message, error.hint) from exc

    def _prepared(self) -> Path:
        settings = self._settings
        named = settings.folder_of(MODEL)
        return prepare_minilm(self._models, settings.layers, named_folder=named, report=self._report)


def _query_vector(model: _Model, text: str, tokens: int) -> list[float]:
    # Not through the workers: a question does not queue behind the texts of an ingestion.
    vector: list[float] = model.embed(model.tokens([text], tokens))[0].tolist()
    return vector
