"""Voyage's reranker: an instruction around the question, provenance above each candidate (SPEC 5 section 9)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from adk_evidence.embedding.base import encodable
from adk_evidence.embedding.batching import Size, in_halves, pack
from adk_evidence.embedding.voyage_tokens import SAFETY, count_tokens, most_tokens
from adk_evidence.models.request import TaskMode
from adk_evidence.search.question.query import Query
from adk_evidence.search.rerankers.base import KEPT_RANKINGS, RerankDocument, instruction
from adk_evidence.services.resilience import CacheAside
from adk_evidence.services.voyage import VoyageService
from adk_evidence.settings import RerankSettings

# Limits of one request (reference sheet): the question counts once for each document.
# All tries together; then the fused order stands.
TIMEOUT_SECONDS = 20.0
MAX_DOCUMENTS = 1000
# Where all candidates do not fit into one request.
BATCH_SIZE = 60
MAX_TOKENS = 600_000
MAX_QUERY_TOKENS = 8_000


class VoyageReranker:
    """Asks Voyage; rankings of the same question and candidates are kept."""

    def __init__(self, service: VoyageService, settings: RerankSettings) -> None:
        self.service = service
        self.model = settings.model
        self._settings = settings
        self._kept: CacheAside[list[float]] = CacheAside(KEPT_RANKINGS)

    def rerank(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[float]:
        """One score for each document.

        Raises:
            ServiceError: The service does not answer within `TIMEOUT_SECONDS`, leaves a document without a
                score, or is not asked because it is down.
        """
        question = encodable(instruction(query, task_mode))
        texts = [encodable(document.text) for document in documents]
        digests = tuple(hashlib.sha256(text.encode()).digest() for text in texts)
        key = (self.model, hashlib.sha256(question.encode()).digest(), digests)
        return self._kept.get(key, lambda: self._ask(question, texts))

    def close(self) -> None:
        self.service.close()

    def _ask(self, question: str, texts: Sequence[str]) -> list[float]:
        asked = min(most_tokens(question, self.model), MAX_QUERY_TOKENS)
        sizes = [Size(1, len(text), asked + most_tokens(text, self.model)) for text in texts]
        counted = min(count_tokens(question, self.model), MAX_QUERY_TOKENS)
        deadline = self.service.deadline(TIMEOUT_SECONDS)

        def send(positions: list[int]) -> list[float]:
            batch = [texts[position] for position in positions]
            return self.service.rerank(
                question,
                batch,
                self.model,
                sum(counted + count_tokens(text, self.model) for text in batch),
                timeout_seconds=deadline.remaining(TIMEOUT_SECONDS),
            )

        answers = [answer for batch in self._batches(sizes) for answer in in_halves(batch, send)]
        scores = {place: score for places, found in answers for place, score in zip(places, found, strict=True)}
        return [scores[position] for position in range(len(texts))]

    def _batches(self, sizes: Sequence[Size]) -> list[list[int]]:
        """All documents in one request if they fit; else requests of at most `BATCH_SIZE` documents."""
        if not sizes:
            return []
        chars = sum(size.chars for size in sizes)
        whole = Size(MAX_DOCUMENTS, chars, int(MAX_TOKENS / SAFETY))
        batches = list(pack(sizes, whole))
        if len(batches) == 1:
            return batches
        return list(pack(sizes, Size(BATCH_SIZE, chars, whole.tokens)))
