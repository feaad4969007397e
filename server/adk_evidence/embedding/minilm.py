"""all-MiniLM-L6-v2 on ONNX Runtime through FastEmbed, from the published safetensors and without torch.

Its linear layers are computed in 8-bit integers or in float32, as `embedding.dense.precision` says. The vectors of
the two are close but not the same, so the model's name tells them apart.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from adk_evidence.embedding.base import FloatMatrix, encodable
from adk_evidence.embedding.bert_int8 import INT8_VERSION, assemble_int8_bert
from adk_evidence.embedding.bert_onnx import assemble_bert
from adk_evidence.embedding.weights import MINILM_WEIGHTS, Report, fetch_weights
from adk_evidence.errors import ModelError
from adk_evidence.files import write_atomic
from adk_evidence.settings import DenseSettings, Precision

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DIMENSION = 384
HEADS = 12
MODEL_TOKENS = 256  # the published limit; more was never trained
SPECIAL_TOKENS = 2  # [CLS] and [SEP]
ASSEMBLER_VERSION = 1
# To the published model's vectors. In int8 the least of the reference texts is 0.9926.
MIN_COSINE: Mapping[Precision, float] = MappingProxyType({"fp32": 0.9999, "int8": 0.99})

_GRAPHS: Mapping[Precision, str] = MappingProxyType(
    {
        "fp32": "model.onnx",  # the name FastEmbed's registry gives the model's file
        "int8": f"model-int8-v{INT8_VERSION}.onnx",
    }
)
_WEIGHTS_BYTES = 90_868_376
_TOKENIZE_BATCH = 512
_RUN_TEXTS = 4  # in one run of the model: the states of more leave the processor's cache, which takes a third longer
_REGISTERING = threading.Lock()
_REFERENCE = Path(__file__).with_name("minilm_reference.json")


def prepared_folder(models: Path) -> Path:
    """Where the model is kept below `models` once it is prepared; it may not exist yet."""
    digest = MINILM_WEIGHTS.sha256["model.safetensors"][:12]
    return models / f"{MINILM_WEIGHTS.name}-{digest}-v{ASSEMBLER_VERSION}"


def is_prepared(models: Path, precision: Precision = "fp32") -> bool:
    """Whether `prepare_minilm` has nothing left to do."""
    folder = prepared_folder(models)
    weights = folder / "model.safetensors"
    # The folder appears by one rename, so it is whole unless the disk or a person damaged it later.
    whole = (folder / _GRAPHS["fp32"]).is_file() and weights.is_file() and weights.stat().st_size == _WEIGHTS_BYTES
    return whole and (precision == "fp32" or _is_quantised(folder))


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
        named_folder: A folder of the user's with the published `model.safetensors` and `tokenizer.json`.
        report: Gets a sentence before each step that takes long.

    Returns:
        The prepared folder.

    Raises:
        ModelError: The weights cannot be had or are not the published ones, the graph's vectors are wrong, or
            the folder cannot be written.
    """
    from filelock import FileLock

    if is_prepared(models, precision):
        return prepared_folder(models)
    try:
        models.mkdir(parents=True, exist_ok=True)
        with FileLock(models / ".prepare.lock"):
            if not is_prepared(models):
                _prepare(models, named_folder, report)
            if not is_prepared(models, precision):
                if report:
                    report(f"Quantising {MINILM_WEIGHTS.name} and checking it against its reference vectors")
                quantise(prepared_folder(models))
    except OSError as exc:
        raise ModelError(
            f"The model folder {models} cannot be written ({exc.strerror or type(exc).__name__}).",
            "Free some space (200 MB) or set `home` to a folder that can be written.",
        ) from exc
    return prepared_folder(models)


def _prepare(models: Path, named_folder: Path | None, report: Report | None) -> None:
    for leftover in models.glob(".preparing-*"):  # of a process that was killed: we hold the lock
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=".preparing-") as scratch:
        folder = Path(scratch) / "model"
        folder.mkdir()
        earlier = sorted(models.glob(f"{MINILM_WEIGHTS.name}-*"))
        fetch_weights(MINILM_WEIGHTS, folder, named_folder=named_folder, earlier=earlier, report=report)
        if report:
            report(f"Assembling {MINILM_WEIGHTS.name} and checking it against its reference vectors")
        write_graph(folder)
        check_against_reference(folder)
        final = prepared_folder(models)
        if final.exists():
            shutil.rmtree(final)
        folder.rename(final)


def write_graph(folder: Path) -> None:
    """Add the ONNX graph and the tokeniser's limits to a folder that holds the weights."""
    (folder / _GRAPHS["fp32"]).write_bytes(assemble_bert(folder / "model.safetensors", HEADS).SerializeToString())
    # The published tokenizer.json pads and truncates to 128; FastEmbed takes both from here instead.
    limits = {"model_max_length": MODEL_TOKENS, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(limits), encoding="utf-8")


def quantise(folder: Path) -> None:
    """Add the quantised graph to a prepared folder, checked against the reference vectors.

    Raises:
        ModelError: Its vectors are too far from the published model's.
    """
    graph = assemble_int8_bert(folder / "model.safetensors", HEADS).SerializeToString()
    write_atomic(folder / _GRAPHS["int8"], graph)
    check_against_reference(folder, "int8")
    # Last, as it says that the graph is whole and was checked.
    write_atomic(_digest_file(folder), hashlib.sha256(graph).hexdigest().encode())


def _is_quantised(folder: Path) -> bool:
    try:
        graph, digest = (folder / _GRAPHS["int8"]).read_bytes(), _digest_file(folder).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(graph).hexdigest().encode() == digest


def _digest_file(folder: Path) -> Path:
    return folder / f"{_GRAPHS['int8']}.sha256"


def check_against_reference(folder: Path, precision: Precision = "fp32") -> float:
    """Compare a prepared folder's vectors with those of an independent implementation in float64.

    Returns:
        The lowest cosine similarity.

    Raises:
        ModelError: It is not above the `MIN_COSINE` of the precision.
    """
    rows = json.loads(_REFERENCE.read_text(encoding="utf-8"))
    expected = np.array([row["vector"] for row in rows], dtype=np.float64)
    vectors = np.array(list(_open_model(folder, precision).embed([row["text"] for row in rows])), dtype=np.float64)
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


def _open_model(folder: Path, precision: Precision) -> Any:
    from fastembed import TextEmbedding

    return TextEmbedding(
        MODEL if precision == "fp32" else _registered_int8(),
        cache_dir=str(folder),
        # Runs side by side keep the cores busier than threads within a run, which wait for each other at every layer.
        threads=1,
        specific_model_path=str(folder),
        # The arena keeps the memory of the largest batch for good.
        enable_cpu_mem_arena=False,
    )


def _registered_int8() -> str:
    # FastEmbed knows one file by a model's name: the quantised one needs a name of its own.
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"{MODEL}-int8"
    with _REGISTERING:
        if name not in {known["model"] for known in TextEmbedding.list_supported_models()}:
            TextEmbedding.add_custom_model(
                name,
                pooling=PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=MODEL),
                dim=DIMENSION,
                model_file=_GRAPHS["int8"],
            )
    return name


@dataclass(frozen=True)
class _Loaded:
    model: Any
    tokenizer: Any
    workers: Executor


class MiniLmEmbedder:
    """The local `DenseEmbedder`: prepared and loaded at first use; methods may be called from threads.

    Args:
        settings: Precision, threads, batch size, the cut in tokens and the folder that the user names.
        models: The folder of prepared models.
        report: Gets a sentence before each step of the preparation that takes long.
    """

    def __init__(self, settings: DenseSettings, models: Path, report: Report | None = None) -> None:
        self._settings = settings
        self._models = models
        self._report = report
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def model(self) -> str:
        """Name of the model with the precision and the cut, which decide a document's vector."""
        return dense_model_name(self._settings)

    @property
    def dimension(self) -> int:
        """Length of a vector: 384."""
        return DIMENSION

    def load(self) -> None:
        """Prepare and load the model now instead of at first use.

        Raises:
            ModelError: The weights cannot be had, or the model does not load.
        """
        self._load()

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        """Encode chunks, cut to `max_tokens`; returns shape (len(texts), 384), L2-normalised.

        Raises:
            ModelError: The weights cannot be had, or the model does not load.
        """
        result = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for positions, vectors in self.iter_embed(texts):
            result[positions] = vectors
        return result

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        """Encode chunks batch by batch, the longest first, so that nothing is computed for padding.

        Yields:
            Positions in `texts`, and their vectors with shape (len(positions), 384), L2-normalised. Every
            position comes once. The caller may stop between two batches.

        Raises:
            ModelError: The weights cannot be had, or the model does not load.
        """
        loaded = self._load()
        lengths, cut = self._cut(loaded, texts)
        order = sorted(range(len(texts)), key=lambda position: (-lengths[position], position))
        size = self._settings.batch_size
        for start in range(0, len(order), size):
            positions = order[start : start + size]
            yield positions, _vectors(loaded, [cut[position] for position in positions])

    def embed_query(self, text: str) -> list[float]:
        """Encode one query, cut to the model's own 256 tokens; returns 384 floats.

        Raises:
            ModelError: The weights cannot be had, or the model does not load.
        """
        vector: list[float] = _vectors(self._load(), [encodable(text)])[0].tolist()
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, uncut and without [CLS] and [SEP]."""
        loaded = self._load()
        return [len(encoding) for encoding in _encodings(loaded, texts)]

    def _cut(self, loaded: _Loaded, texts: Sequence[str]) -> tuple[list[int], list[str]]:
        limit = self._settings.max_tokens - SPECIAL_TOKENS
        lengths, cut = [], []
        for text, encoding in zip(texts, _encodings(loaded, texts), strict=True):
            lengths.append(min(len(encoding), limit))
            # Word pieces match greedily from the left: a text cut after a token keeps the tokens before.
            cut.append(encodable(text[: encoding.offsets[limit - 1][1]] if len(encoding) > limit else text))
        return lengths, cut

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = self._open()
        return self._loaded

    def _open(self) -> _Loaded:
        from tokenizers import Tokenizer

        settings = self._settings
        folder = prepare_minilm(self._models, settings.precision, named_folder=settings.model_path, report=self._report)
        try:
            model = _open_model(folder, settings.precision)
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        # ONNX Runtime's and tokenizers' exceptions have no base of their own.
        except Exception as exc:
            raise ModelError(
                f"The prepared model {folder} does not load ({type(exc).__name__}).",
                "Remove that folder; it is prepared anew at the next use.",
            ) from exc
        tokenizer.no_truncation()
        tokenizer.no_padding()
        workers = ThreadPoolExecutor(settings.threads or os.cpu_count(), thread_name_prefix="minilm")
        return _Loaded(model, tokenizer, workers)


def dense_model_name(settings: DenseSettings) -> str:
    """The name under which vectors are cached and an index's dense model is known."""
    quantised = f";int8-v{INT8_VERSION}" if settings.precision == "int8" else ""
    return f"{MODEL}{quantised};max_tokens={settings.max_tokens}"


def _vectors(loaded: _Loaded, texts: list[str]) -> FloatMatrix:
    def run(start: int) -> list[Any]:
        return list(loaded.model.embed(texts[start : start + _RUN_TEXTS], batch_size=_RUN_TEXTS))

    if len(texts) <= _RUN_TEXTS:  # a question does not queue behind an ingestion's texts
        return np.asarray(run(0), dtype=np.float32)
    runs = loaded.workers.map(run, range(0, len(texts), _RUN_TEXTS))
    return np.asarray([vector for vectors in runs for vector in vectors], dtype=np.float32)


def _encodings(loaded: _Loaded, texts: Sequence[str]) -> Iterator[Any]:
    for start in range(0, len(texts), _TOKENIZE_BATCH):
        batch = [encodable(text) for text in texts[start : start + _TOKENIZE_BATCH]]
        yield from loaded.tokenizer.encode_batch(batch, add_special_tokens=False)
