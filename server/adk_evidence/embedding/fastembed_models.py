"""Models of FastEmbed's list: from a folder, from the kept download, or from the model hub if it answers."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from adk_evidence.embedding.base import FloatMatrix, Once, encodable
from adk_evidence.embedding.batching import longest_first
from adk_evidence.embedding.minilm.weights import Report, hub_problem
from adk_evidence.embedding.onnx import without_telemetry
from adk_evidence.errors import ModelError, SettingsError
from adk_evidence.settings import DenseSettings

SETTING = "embedding.dense.models_path"
Family = Literal["dense", "sparse", "cross-encoder"]
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")


@functools.cache
def describe(family: Family, model: str) -> dict[str, Any]:
    """The entry of a model in FastEmbed's list, whatever the case of its name.

    Raises:
        SettingsError: The list does not have the model.
    """
    known = {entry["model"].lower(): entry for entry in _loader(family).list_supported_models()}
    entry: dict[str, Any] | None = known.get(model.lower())
    if entry is None:
        names = ", ".join(sorted(item["model"] for item in known.values())[:6])
        raise SettingsError(f"FastEmbed has no {family} model {model!r}.", f"Its list begins with: {names}.")
    return entry


def open_model(family: Family, model: str, settings: DenseSettings, models: Path, report: Report | None = None) -> Any:
    """A loaded model of FastEmbed's list.

    Args:
        family: What kind of model it is.
        model: Its name in the list.
        settings: Where the user has models; then nothing else is tried. And the threads of the runtime.
        models: The folder of prepared models, below which downloads are kept.
        report: Gets a sentence before a download.

    Raises:
        ModelError: The folder lacks a file, the hub does not answer, or the model does not load.
    """
    described = describe(family, model)
    name, file = described["model"], described["model_file"]

    def load(hint: str, *passed_on: type[Exception], **where: Any) -> Any:
        try:
            return _loader(family)(name, threads=settings.threads, enable_cpu_mem_arena=False, **where)
        except passed_on:
            raise
        # The exceptions of ONNX Runtime, tokenizers and the hub client have no common base.
        except Exception as exc:
            raise ModelError(f"The model {name} does not load ({type(exc).__name__}).", hint) from exc

    if folder := settings.folder_of(name):
        mend = f"Mend {SETTING} or unset it."
        missing = [needed for needed in (file, *TOKENIZER_FILES) if not (folder / needed).is_file()]
        if missing:
            raise ModelError(f"The folder {folder} does not hold {name}: {' and '.join(missing)} missing.", mend)
        return load(mend, specific_model_path=str(folder))
    kept = models / "fastembed"
    remove = f"Remove {kept} and try again, or set {SETTING} to a folder with the model in {name}."
    try:
        return load(remove, ValueError, cache_dir=str(kept), local_files_only=True)
    except ValueError:
        # FastEmbed says so within milliseconds where nothing is kept. Asked to download, it would try for 39 s.
        problem = hub_problem(described["sources"].get("hf") or name, file)
    if problem:
        raise ModelError(
            f"{name} is not on this machine and the model hub did not give it ({problem}).",
            f"Get online once, or set {SETTING} to a folder where {name} has {file}, {' and '.join(TOKENIZER_FILES)}.",
        )
    if report is not None:
        report(f"Downloading {name} from the model hub ({described['size_in_GB']:g} GB, once)")
    return load(remove, cache_dir=str(kept))


def _loader(family: Family) -> Any:
    without_telemetry()
    if family == "sparse":
        from fastembed import SparseTextEmbedding

        return SparseTextEmbedding
    if family == "dense":
        from fastembed import TextEmbedding

        return TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextCrossEncoder


class FastEmbedEmbedder:
    """A `DenseEmbedder` of FastEmbed's list, from the user's folder if there is one; its vectors are L2-normalised."""

    def __init__(self, name: str, settings: DenseSettings, models: Path, report: Report | None = None) -> None:
        self.model = f"{name};max_tokens={settings.max_tokens}"
        self._name = name
        self._settings = settings
        self._models = models
        self._report = report
        self._load = Once(self._open)

    @property
    def dimension(self) -> int:
        """Length of a vector, by FastEmbed's list; a `SettingsError` where the list does not have the model."""
        return int(describe("dense", self._name)["dim"])

    def iter_embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], FloatMatrix]]:
        model = self._load()
        size = self._settings.batch_size
        for positions in longest_first([len(text) for text in texts], size):
            batch = [encodable(texts[position]) for position in positions]
            yield positions, _normalised(model.passage_embed(batch, batch_size=size))

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = _normalised(self._load().query_embed(encodable(text)))[0].tolist()
        return vector

    def _open(self) -> Any:
        model = open_model("dense", self._name, self._settings, self._models, self._report)
        tokenizer = model.model.tokenizer
        tokenizer.enable_truncation(min(self._settings.max_tokens, tokenizer.truncation["max_length"]))
        return model


def _normalised(vectors: Any) -> FloatMatrix:
    matrix = np.asarray(list(vectors), dtype=np.float32)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    normalised: FloatMatrix = matrix / np.maximum(norms, np.finfo(np.float32).tiny)
    return normalised
