"""A cross-encoder of FastEmbed's list, on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adk_evidence.embedding.base import Once, encodable
from adk_evidence.embedding.fastembed_models import open_model
from adk_evidence.models.request import TaskMode
from adk_evidence.search.question.query import Query
from adk_evidence.search.rerankers.base import RerankDocument
from adk_evidence.settings import DenseSettings

# Candidates that a cross-encoder reads at once; memory grows with their number.
BATCH_SIZE = 16


class FastEmbedReranker:
    """Reads the question with each candidate; the model is loaded at first use.

    `settings` say where the user has local models and how many threads they may take; downloads are kept in `models`.
    The question goes without the instruction: these models were trained on bare questions, and read 512 tokens.
    """

    def __init__(self, model: str, settings: DenseSettings, models: Path) -> None:
        self.model = model
        self._settings = settings
        self._models = models
        self._load = Once(self._open)

    def rerank(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[float]:
        """The model's logit for each document; `ModelError` if the model is not available or does not load."""
        if not documents:
            return []
        texts = [encodable(document.text) for document in documents]
        # Texts of similar length together: a batch is padded to its longest text.
        order = sorted(range(len(texts)), key=lambda position: (-len(texts[position]), position))
        ordered = [texts[position] for position in order]
        found = self._load().rerank(encodable(query.text), ordered, batch_size=BATCH_SIZE)
        scores = dict(zip(order, (float(score) for score in found), strict=True))
        return [scores[position] for position in range(len(texts))]

    def _open(self) -> Any:
        return open_model("cross-encoder", self.model, self._settings, self._models)
