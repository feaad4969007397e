"""The client of an OpenAI-compatible embedding service, `POST <base_url>/embeddings`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from adk_evidence.errors import ServiceError
from adk_evidence.services.eventloop import stop_if_cancelled
from adk_evidence.services.metering import Meter, RequestTooLargeError
from adk_evidence.services.openai_api import OPENAI_KEY, UNREADABLE, Named, OpenAiApi, Problem
from adk_evidence.services.resilience import (
    CircuitBreaker,
    Clock,
    Deadline,
    RetryPolicy,
    call_with_retries,
)
from adk_evidence.services.vectors import FloatMatrix, unit_vectors, unusable
from adk_evidence.settings import EmbeddingSettings

SECTION = "embedding.openai"
# The first that is set is sent.
KEY_VARIABLES = ("ADK_EVIDENCE_EMBEDDINGS_API_KEY", OPENAI_KEY)
EMBEDDINGS = Named(
    "The embedding service",
    "The embedding service",
    SECTION,
    KEY_VARIABLES,
    f"Raise {SECTION}.timeout_seconds, or lower {SECTION}.request_items.",
)
# Waits between the tries of one request of an ingestion, so that a minute's outage costs nothing, and of one question.
BACKOFF = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
QUERY_BACKOFF = (0.5, 1.0)
# Of a question's embedding, all tries together: without it, keywords still answer.
QUERY_SECONDS = 10.0
LESS = f"Lower {SECTION}.request_items or text_tokens to what the service takes."
# How services say that a request or a text is too large, and nothing else. A server error says so only in these words.
_TOO_LARGE = re.compile(
    r"\d tokens?\b|maximum[^.\n]{0,60} tokens?\b|too (?:large|long|many)|batch size|context (?:length|size)"
    r"|(?:maximum|array) length",
    re.IGNORECASE,
)
_TOO_LARGE_TO_PROCESS = re.compile(r"too large to process|exceeds? the (?:available )?context", re.IGNORECASE)
# A request with more tokens than the account has in a minute is refused with the status of a rate limit.
_MORE_THAN_A_MINUTE = "request too large"


class EmbeddingsService:
    """Asks for vectors. Safe between threads; connections are opened at the first request.

    `notice` gets a sentence before an ingestion waits; `check` is called during the wait and may raise to end it.
    """

    def __init__(
        self,
        settings: EmbeddingSettings,
        *,
        clock: Clock | None = None,
        notice: Callable[[str], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._settings = openai = settings.openai
        self._clock = clock or Clock()
        self.tell: Callable[[str], None] = notice or (lambda _: None)
        self._check = check
        self._breaker = CircuitBreaker(f"The embedding service ({openai.model})", self._clock)
        self._api = OpenAiApi(openai, EMBEDDINGS)
        self.meter = Meter(settings)

    def embed(self, texts: Sequence[str], tokens: int) -> FloatMatrix:
        """Unit vectors of texts, for an ingestion; `tokens` is an estimate.

        Raises:
            RequestTooLargeError: The request, or its only text, is larger than the service takes.
            ServiceError: The service does not answer in spite of retries, refuses, or answers with other vectors.
        """
        policy = RetryPolicy(1 + len(BACKOFF), BACKOFF)
        return call_with_retries(
            lambda deadline: self._try(texts, tokens, deadline, self._settings.timeout_seconds),
            policy,
            self._clock,
            notice=self.tell,
            check=self._check,
        )

    def embed_query(self, text: str, tokens: int) -> list[float]:
        """A question's unit vector, within `QUERY_SECONDS`.

        Raises:
            ServiceError: As for `embed`, or the service was not asked because it is down; `CallCancelledError` where
                nobody waits any more.
        """
        seconds = min(QUERY_SECONDS, self._settings.timeout_seconds)
        policy = RetryPolicy(1 + len(QUERY_BACKOFF), QUERY_BACKOFF, seconds)
        found: FloatMatrix = self._breaker.call(
            lambda: call_with_retries(
                lambda deadline: self._try([text], tokens, deadline, seconds),
                policy,
                self._clock,
                check=stop_if_cancelled,
            )
        )
        vector: list[float] = found[0].tolist()
        return vector

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._api.close()

    def _try(self, texts: Sequence[str], tokens: int, deadline: Deadline, limit: float) -> FloatMatrix:
        # No encoding_format: every service knows the numbers that then come, and not every one knows base64.
        body: dict[str, Any] = {"model": self._settings.model, "input": list(texts)}
        if self._settings.shorten_to is not None:
            body["dimensions"] = self._settings.shorten_to
        answer = self._api.post("embeddings", body, deadline.remaining(limit))
        if answer.status_code != 200:
            raise self._refused(answer)
        try:
            found = answer.json()
            # An answer that cannot be used was paid for all the same.
            self.meter.count(self._settings.model, _tokens_used(found, tokens))
            rows = {item["index"]: item["embedding"] for item in found["data"]}
            count = len(found["data"])
        except UNREADABLE:
            raise self._api.unreadable() from None
        if count != len(texts) or set(rows) != set(range(count)):
            raise unusable(EMBEDDINGS.service, f"{count} vectors for {len(texts)} texts")
        hint = f"Set {SECTION}.dimension to the length of the model's vectors."
        if self._settings.shorten_to is not None:
            hint = f"The model may make no shorter vectors: set {SECTION}.shorten_to to null."
        vectors = [rows[position] for position in range(count)]
        return unit_vectors(vectors, count, self._settings.length, EMBEDDINGS.service, hint)

    def _refused(self, answer: Any) -> ServiceError:
        status: int = answer.status_code
        problem = Problem.of(answer)
        said = f"({status}){self._api.detail(problem)}"
        if status in (400, 422) and self._settings.shorten_to is not None and "dimension" in problem.message.lower():
            return ServiceError(
                f"The embedding service makes no vectors of length {self._settings.shorten_to} {said}.",
                f"Change {SECTION}.shorten_to, or set it to null.",
            )
        if _is_too_large(status, problem.message):
            return RequestTooLargeError(f"The embedding service refuses the request as too large {said}.", LESS)
        return self._api.refused(answer)


def _is_too_large(status: int, message: str) -> bool:
    match status:
        case 413:
            return True
        case 400 | 422:
            return bool(_TOO_LARGE.search(message))
        case 429:
            return _MORE_THAN_A_MINUTE in message.lower()
        case 500:
            return bool(_TOO_LARGE_TO_PROCESS.search(message))
    return False


def _tokens_used(found: Any, estimate: int) -> int:
    """What the service counted; the estimate where the service does not count."""
    usage = found.get("usage") if isinstance(found, dict) else None
    used = usage.get("total_tokens") if isinstance(usage, dict) else None
    return used if isinstance(used, int) and used > 0 else estimate
