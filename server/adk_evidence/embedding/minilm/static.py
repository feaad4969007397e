"""Token vectors distilled from all-MiniLM-L6-v2: the vector of a text is a weighted mean of those of its tokens.

The table is made once from the weights that are there, in the manner of model2vec: the model reads each token of its
vocabulary alone, the principal components of what it makes of them are kept (PCA), and the rarer a token is, the more
it counts (SIF, Arora et al. 2017). No layer runs for a text, so that nearly all of the time goes to the tokeniser. Such
vectors know words, but not what words mean together.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adk_evidence.embedding.base import FloatMatrix, Once, encodable
from adk_evidence.embedding.minilm.graphs import does_not_load, is_whole, mark_whole
from adk_evidence.embedding.minilm.model import (
    FP32_GRAPH,
    MODEL,
    open_session,
    open_tokenizer,
    prepare_minilm,
    prepared_folder,
)
from adk_evidence.embedding.minilm.weights import MINILM_WEIGHTS, Report
from adk_evidence.errors import ModelError
from adk_evidence.files import write_atomic
from adk_evidence.settings import DenseSettings

STATIC_VERSION = 1  # to be raised with any change that changes vectors
DIMENSION = 256
# The constant of SIF: a token that is this frequent counts half.
FREQUENCY = 3e-5
_PREFIX = f"static-v{STATIC_VERSION}"
# Of three tokens each; more leave the processor's cache.
_TOKENS_A_RUN = 64
_TEXTS_A_BATCH = 512


def table_file(models: Path) -> Path | None:
    """The whole table below the folder of prepared models, or None."""
    path = prepared_folder(models) / f"{_PREFIX}.npy"
    return path if is_whole(path) else None


def prepare_static(models: Path, *, named_folder: Path | None = None, report: Report | None = None) -> Path:
    """Make the table where there is none, or a damaged one, and return its file.

    Safe to call in several processes at once; all but one wait.

    Args:
        models: The folder of prepared models; it is created.
        named_folder: The folder with the published weights that the user names.
        report: Gets a sentence before each step that takes long.

    Raises:
        ModelError: The model cannot be prepared, or its folder cannot be written.
    """
    from filelock import FileLock

    if (found := table_file(models)) is not None:
        return found
    folder = prepare_minilm(models, named_folder=named_folder, report=report)
    try:
        with FileLock(folder / ".static.lock"):
            if (found := table_file(models)) is not None:
                return found
            if report is not None:
                report(f"Distilling token vectors from {MINILM_WEIGHTS.name} (half a minute, once)")
            return write_table(folder, distilled(_token_states(folder), DIMENSION))
    except OSError as exc:
        raise ModelError.of_disk(models, 20, exc) from exc


def distilled(states: FloatMatrix, dimension: int) -> FloatMatrix:
    """The table of the tokens' states, shape (tokens, `dimension`): main components, weighted by frequency.

    The ids of the vocabulary follow the frequency of the tokens, and frequencies follow Zipf's law, so the id alone
    says how frequent a token is.
    """
    centred = states - states.mean(axis=0, dtype=np.float64)
    _, directions = np.linalg.eigh(centred.T @ centred)
    directions = directions[:, ::-1][:, :dimension]
    # Of a direction and its opposite, which are equally good, always the same.
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, np.arange(directions.shape[1])])
    frequencies = 1 / np.arange(1, len(states) + 1)
    frequencies /= frequencies.sum()
    weights = FREQUENCY / (FREQUENCY + frequencies)
    table: FloatMatrix = (centred @ directions * weights[:, np.newaxis]).astype(np.float32)
    return table


def _token_states(folder: Path) -> FloatMatrix:
    """What the model in float32 makes of each token between [CLS] and [SEP], by the tokens' ids."""
    session, tokenizer = open_session(folder / FP32_GRAPH), open_tokenizer(folder)
    count = tokenizer.get_vocab_size()
    begin, end = (tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))

    def run(first: int) -> FloatMatrix:
        tokens = np.arange(first, min(first + _TOKENS_A_RUN, count), dtype=np.int64)
        ids = np.stack([np.full_like(tokens, begin), tokens, np.full_like(tokens, end)], axis=1)
        [states] = session.run(None, {"input_ids": ids, "token_type_ids": np.zeros_like(ids)})
        middle: FloatMatrix = states[:, 1]
        return middle

    with ThreadPoolExecutor(os.cpu_count(), "static") as workers:
        return np.concatenate(list(workers.map(run, range(0, count, _TOKENS_A_RUN))))


def write_table(folder: Path, table: FloatMatrix) -> Path:
    """Write a table, with the mark that the file is whole, into a folder with the model's tokeniser."""
    stream, path = io.BytesIO(), folder / f"{_PREFIX}.npy"
    np.save(stream, table.astype("<f2"), allow_pickle=False)
    write_atomic(path, stream.getvalue())
    mark_whole(path, stream.getvalue())
    return path


class _Table:
    """The tokeniser and the table. Safe between threads."""

    def __init__(self, file: Path) -> None:
        self._tokenizer: Any = open_tokenizer(file.parent)
        self._rows: FloatMatrix = np.load(file, allow_pickle=False).astype(np.float32)
        self._nothing = [self._tokenizer.token_to_id("[UNK]")]

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        batch = [encodable(text) for text in texts]
        # The fast one does not say where in the text a token stands.
        found = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        rows = [encoding.ids or self._nothing for encoding in found]
        ids: NDArray[np.int32] = np.concatenate([np.array(row, dtype=np.int32) for row in rows])
        starts = np.cumsum([0, *map(len, rows[:-1])])
        sums = np.add.reduceat(self._rows[ids], starts, axis=0)
        vectors: FloatMatrix = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return vectors


class StaticEmbedder:
    """A local `DenseEmbedder` without a network: the table is made at first use; vectors are L2-normalised.

    It reads texts as a whole, so that `embedding.dense.max_tokens` does not hold.
    """

    model = f"{MODEL};{_PREFIX}"
    dimension = DIMENSION
    # Vectors are computed as fast as the cache finds them, so that none is kept there.
    is_quick = True

    def __init__(self, settings: DenseSettings, models: Path, report: Report | None = None) -> None:
        self._settings = settings
        self._models = models
        self._report = report
        self._load = Once(self._open)

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        table = self._load()
        for start in range(0, len(texts), _TEXTS_A_BATCH):
            batch = texts[start : start + _TEXTS_A_BATCH]
            yield list(range(start, start + len(batch))), table.embed(batch)

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._load().embed([text])[0].tolist()
        return vector

    def _open(self) -> _Table:
        file = prepare_static(self._models, named_folder=self._settings.folder_of(MODEL), report=self._report)
        try:
            return _Table(file)
        # The exceptions of numpy and tokenizers have no common base.
        except Exception as exc:
            raise does_not_load(file.parent, exc) from exc
