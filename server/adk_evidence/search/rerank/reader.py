"""A reader: MiniLM with an adapter reads the question together with a passage, and says how well the passage answers.

Where the encoder compares two vectors that were made apart, the reader sees both texts at once. Its score is one more
feature of the local reranker.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from adk_evidence.embedding.base import Once
from adk_evidence.errors import ModelError
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.services.resilience import CacheAside
from adk_evidence.settings import ReaderSettings

if TYPE_CHECKING:
    from adk_evidence.embedding.pairs import PairModel

# The feature, and the score that the feature standardises.
READ = "read"
# How much of the title and of the headings tells where a passage is from.
_HEADINGS = 3
_KEPT_SCORES = 4096


class Reader:
    """Reads pairs; the adapter and the weights are loaded at first use. Safe between threads.

    Args:
        settings: Names the adapter.
        models: The folder of prepared models.
        named_folder: The folder that the user names for the weights, where there is one.
        threads: How many pairs are read side by side; None for as many as the machine has cores.
    """

    def __init__(
        self, settings: ReaderSettings, models: Path, named_folder: Path | None = None, threads: int | None = None
    ) -> None:
        self.candidates = settings.candidates
        self.weight = settings.weight
        self._adapter = settings.adapter
        self._models = models
        self._named_folder = named_folder
        self._load = Once(self._open)
        self._workers = Once(lambda: ThreadPoolExecutor(threads or os.cpu_count(), "adk-evidence-reader"))
        self._kept: CacheAside[float] = CacheAside(_KEPT_SCORES)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """The score of each text as an answer to the question, higher is better; those of the last pairs are kept.

        Raises:
            ModelError: The adapter cannot be used, or the weights cannot be obtained.
        """
        _, model = self._load()
        keys = [_key(question, text) for text in texts]
        found = {key: kept for key in keys if (kept := self._kept.peek(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        found |= zip(missing, model.scores(question, list(missing.values()), self._workers()), strict=True)
        for key in keys:
            self._kept.get(key, functools.partial(found.__getitem__, key))
        return [found[key] for key in keys]

    @property
    def model(self) -> str:
        """The name, with the hash of the adapter.

        Raises:
            ModelError: As `scores`.
        """
        return self._load()[0]

    def close(self) -> None:
        self._workers().shutdown(wait=False, cancel_futures=True)

    def _open(self) -> tuple[str, PairModel]:
        from adk_evidence.embedding.adapted import adapter_of_minilm
        from adk_evidence.embedding.adapter import READER
        from adk_evidence.embedding.minilm import HEADS, minilm_ranges, prepare_minilm
        from adk_evidence.embedding.pairs import PairModel

        if self._adapter is None:
            raise ModelError("No adapter is named.", "Set rerank.reader.adapter.")
        adapter = adapter_of_minilm(self._adapter, READER)
        folder = prepare_minilm(self._models, named_folder=self._named_folder)
        return f"reader-{adapter.sha256[:12]}", PairModel(folder, adapter, HEADS, minilm_ranges())


def _key(question: str, text: str) -> bytes:
    return hashlib.sha256(f"{len(question)}:{question}{text}".encode("utf-8", "replace")).digest()


def passage_text(payload: ChunkPayload, number: int = 0) -> str:
    """What a reader sees of a chunk's passage: where the passage is from, and its lines on one line.

    The files that a page includes follow, as far as the reader reads. Lines for readers of another language are left
    out.

    Args:
        payload: The chunk.
        number: The place of the passage in `passage_lines`.
    """
    starts = payload.passage_lines or (payload.start_line,)
    start = starts[number] if number < len(starts) else starts[0]
    end = min((line for line in starts if line > start), default=payload.end_line + 1)
    hidden = {line for first, last, _ in payload.left_out for line in range(first, last + 1)}
    lines = enumerate(payload.body.split("\n"), payload.start_line)
    own = [text for line, text in lines if start <= line < end and line not in hidden]
    if payload.kind == "doc":
        place = " > ".join(dict.fromkeys(text for text in (payload.title, *payload.headings) if text))
        place = " > ".join(place.split(" > ")[-_HEADINGS:])
    else:
        place = payload.symbol or ""
    place = place or payload.path.rpartition("/")[2]
    return f"{place}: {' '.join(' '.join([*own, payload.attached]).split())}"
