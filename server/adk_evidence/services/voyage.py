"""The client of the Voyage service: its key, its limits, its failures and what it costs.

The vendor's client sends the requests. It ignores `Retry-After`, so requests are retried here. The time-outs of its
synchronous variant limit the pause between two bytes, so the asynchronous variant is used, whose time-outs limit the
whole request. Its messages may repeat the service's answer, which may repeat the key, so none of them is passed on.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from adk_evidence.errors import EvidenceError, ServiceError
from adk_evidence.services.eventloop import close_within, run_within, stop_if_cancelled
from adk_evidence.services.keys import key_from
from adk_evidence.services.metering import Meter, RequestTooLargeError
from adk_evidence.services.resilience import (
    CircuitBreaker,
    Clock,
    Deadline,
    RetryPolicy,
    TokenBucket,
    TransientError,
    call_with_retries,
    pause,
    retry_after_seconds,
)
from adk_evidence.services.vectors import FloatMatrix, unit_vectors, unusable
from adk_evidence.settings import Settings
from adk_evidence.text.redaction import without_key

T = TypeVar("T")

KEY_VARIABLE = "VOYAGE_API_KEY"
# Waits between the tries of one question (SPEC 5 section 14.1).
QUERY_BACKOFF = (0.5, 1.0)
# Of one request of an ingestion, and of a question's embedding, all tries together.
INGESTION_SECONDS = 60.0
QUERY_SECONDS = 10.0
# Beyond the client's own time-out, so that the client reports it first.
_GRACE_SECONDS = 2.0
# How the service says that a request holds more than it takes, and nothing else.
_TOO_LARGE = re.compile(r"\btokens?\b|too (?:large|long|many)|batch size", re.IGNORECASE)


class VoyageKeyError(ServiceError):
    """There is no key for Voyage, or Voyage does not accept the key."""

    code = "voyage_key"


@dataclass(frozen=True)
class _Request(Generic[T]):
    """A request to a model, with an estimate of its tokens; `send` asks the client, `read` reads its answer."""

    model: str
    tokens: int
    send: Callable[[Any], Awaitable[Any]]
    read: Callable[[Any], T]


class VoyageService:
    """Sends requests to Voyage. Safe between threads; the client is loaded at the first request.

    `notice` gets a sentence before an ingestion waits; `check` is called during the wait and may raise to end it.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        notice: Callable[[str], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        voyage, batching = settings.embedding.voyage, settings.ingestion.batching
        self._settings = voyage
        self._clock = clock or Clock()
        self.tell: Callable[[str], None] = notice or (lambda _: None)
        self._check = check
        self._ingestion = RetryPolicy(1 + batching.voyage_retry_max_attempts, batching.voyage_retry_backoff_seconds)
        self._breakers = {
            part: CircuitBreaker(f"Voyage ({part})", self._clock)
            for part in ("embeddings", "contextualized embeddings", "rerank")
        }
        self._buckets: dict[str, tuple[TokenBucket, TokenBucket]] = {}
        self.meter = Meter(settings.embedding)
        self._lock = threading.Lock()
        self._session: Any = None

    def deadline(self, seconds: float) -> Deadline:
        """A deadline by the service's clock."""
        return Deadline(self._clock, seconds)

    def embed(
        self, inputs: Sequence[Sequence[str]], model: str, dimension: int, tokens: int, *, contextualized: bool
    ) -> list[FloatMatrix]:
        """Vectors of texts, for an ingestion: for each input a matrix of shape (its texts, dimension).

        Where `contextualized`, the model reads the texts of an input together; otherwise there must be just one input.

        Raises:
            CostCapError: The request would exceed the cap.
            RequestTooLargeError: The request holds more than the service takes.
            ServiceError: The service does not answer in spite of retries, or not with these vectors.
        """
        self.meter.stay_below_the_cap(model, tokens)
        request = _embedding(inputs, model, dimension, tokens, "document", contextualized)
        return self._call(request, self._ingestion, INGESTION_SECONDS, notice=self.tell, check=self._check)

    def embed_query(self, text: str, model: str, dimension: int, tokens: int, *, contextualized: bool) -> list[float]:
        """A question's vector, within `QUERY_SECONDS`.

        Raises:
            ServiceError: The service does not answer in time, or not with a vector, or was not asked as it is down.
        """
        request = _embedding([[text]], model, dimension, tokens, "query", contextualized)
        part = "contextualized embeddings" if contextualized else "embeddings"
        found: list[float] = self._question(part, request, QUERY_SECONDS)[0][0].tolist()
        return found

    def rerank(
        self, query: str, documents: Sequence[str], model: str, tokens: int, *, timeout_seconds: float
    ) -> list[float]:
        """A relevance score for each document, in the documents' order.

        Raises:
            RequestTooLargeError: The request holds more than the service takes.
            ServiceError: As for `embed_query`, or a document has no score.
        """

        async def send(client: Any) -> Any:
            return await client.rerank(query, list(documents), model, top_k=None, truncation=True)

        def read(answer: Any) -> list[float]:
            scores = {int(result.index): float(result.relevance_score) for result in answer.results}
            if len(answer.results) != len(documents) or set(scores) != set(range(len(documents))):
                raise unusable("Voyage", f"scores of {len(scores)} of {len(documents)} documents")
            if not all(math.isfinite(score) for score in scores.values()):
                raise unusable("Voyage", "scores that are not numbers")
            return [scores[position] for position in range(len(documents))]

        return self._question("rerank", _Request(model, tokens, send, read), timeout_seconds)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            close_within(session.close(), _GRACE_SECONDS)

    def _question(self, part: str, request: _Request[T], seconds: float) -> T:
        policy = RetryPolicy(1 + len(QUERY_BACKOFF), QUERY_BACKOFF, seconds)
        return self._breakers[part].call(lambda: self._call(request, policy, seconds, check=stop_if_cancelled))

    def _call(
        self,
        request: _Request[T],
        policy: RetryPolicy,
        limit: float,
        *,
        notice: Callable[[str], None] | None = None,
        check: Callable[[], None] | None,
    ) -> T:
        def attempt(deadline: Deadline) -> T:
            key = _key()
            # Loading it takes seconds, which do not count as the request's time.
            _client_library()
            self._wait_for_the_rate(request, deadline)
            seconds = deadline.remaining(limit)
            try:
                answer = run_within(self._send(key, seconds, request), seconds + _GRACE_SECONDS)
                # An answer that cannot be used was paid for all the same.
                self.meter.count(request.model, int(getattr(answer, "total_tokens", 0)))
                return request.read(answer)
            except EvidenceError:
                raise
            # The client's errors, and what it raises by accident on an answer that it does not expect.
            except Exception as exc:
                raise _translated(exc, key, seconds) from None

        return call_with_retries(attempt, policy, self._clock, notice=notice, check=check)

    async def _send(self, key: str, seconds: float, request: _Request[Any]) -> Any:
        voyageai = _client_library()
        if self._session is None:
            self._session = _session()
        voyageai.aiosession.set(self._session)
        # The key is an argument, because a key in a file or in the library's own variables would win otherwise.
        client = voyageai.AsyncClient(api_key=key, max_retries=0, timeout=seconds, base_url=self._settings.base_url)
        return await request.send(client)

    def _wait_for_the_rate(self, request: _Request[Any], deadline: Deadline) -> None:
        settings, model = self._settings, request.model
        with self._lock:
            if model not in self._buckets:
                limits = (settings.requests_per_minute, settings.tokens_per_minute)
                self._buckets[model] = (TokenBucket(limits[0], self._clock), TokenBucket(limits[1], self._clock))
            requests, tokens = self._buckets[model]
        seconds = max(requests.reserve(1), tokens.reserve(request.tokens))
        if not deadline.allows(seconds):
            requests.give_back(1)
            tokens.give_back(request.tokens)
            raise ServiceError(
                f"The rate limit of {model} leaves no room for this request in time.",
                "Wait a minute, or raise embedding.voyage.requests_per_minute and tokens_per_minute to your account's.",
            )
        pause(self._clock, seconds, self._check)


def has_key() -> bool:
    """Whether the environment has a key."""
    return bool(key_from(KEY_VARIABLE)[1])


def _key() -> str:
    _, key = key_from(KEY_VARIABLE)
    if not key:
        raise VoyageKeyError(f"There is no key for Voyage: {KEY_VARIABLE} is not set.", "Set it in the environment.")
    return key


def _client_library() -> Any:
    try:
        import voyageai
    except ImportError:
        raise ServiceError(
            "Voyage's client is not installed.", "Install it with `pip install 'adk-evidence[voyage]'`."
        ) from None
    return voyageai


def _session() -> Any:
    """A session that honours the environment's proxies and keeps connections; the client's own sessions do neither."""
    import aiohttp

    class Response(aiohttp.ClientResponse):
        async def read(self) -> bytes:
            try:
                return await super().read()
            except aiohttp.ClientError as exc:
                # The client would print the answer and read it again.
                raise ConnectionError("the connection broke inside the answer") from exc

    return aiohttp.ClientSession(trust_env=True, response_class=Response)


def _embedding(
    inputs: Sequence[Sequence[str]], model: str, dimension: int, tokens: int, input_type: str, contextualized: bool
) -> _Request[list[FloatMatrix]]:
    options = {"model": model, "input_type": input_type, "output_dtype": "float", "output_dimension": dimension}

    async def send(client: Any) -> Any:
        if contextualized:
            return await client.contextualized_embed([list(texts) for texts in inputs], **options)
        return await client.embed(list(inputs[0]), truncation=True, **options)

    def read(answer: Any) -> list[FloatMatrix]:
        found = [result.embeddings for result in answer.results] if contextualized else [answer.embeddings]
        if len(found) != len(inputs):
            raise unusable("Voyage", f"{len(found)} documents for {len(inputs)}")
        hint = "Check embedding.voyage: the model and the dimension must go together."
        return [
            unit_vectors(vectors, len(texts), dimension, "Voyage", hint)
            for vectors, texts in zip(found, inputs, strict=True)
        ]

    return _Request(model, tokens, send, read)


def _translated(exc: Exception, key: str, seconds: float) -> ServiceError:
    """The sentence for an error of the client; it quotes nothing that could hold the key."""
    from voyageai import error

    status = getattr(exc, "http_status", None)
    after = retry_after_seconds(getattr(exc, "headers", None) or {})
    if isinstance(exc, (TimeoutError, error.Timeout)):
        return TransientError(f"Voyage did not answer within {seconds:.3g} s.")
    if isinstance(exc, error.AuthenticationError):
        return VoyageKeyError(
            f"Voyage does not accept the key in {KEY_VARIABLE}.",
            "Set a valid key; a running server keeps the one that it was started with.",
        )
    if isinstance(exc, error.RateLimitError) or status == 429:
        return TransientError("Voyage says that too many requests were sent (429).", retry_after=after)
    if status == 413 or (status == 400 and _TOO_LARGE.search(_detail(exc, key))):
        return RequestTooLargeError(f"Voyage refuses the request as too large ({status}){_detail(exc, key)}.")
    malformed = isinstance(exc, (error.InvalidRequestError, error.MalformedRequestError))
    if malformed or (isinstance(status, int) and 400 <= status < 500):
        hint = "" if malformed else "Check embedding.voyage."
        return ServiceError(f"Voyage refuses the request ({status}){_detail(exc, key)}.", hint)
    if isinstance(status, int) and status >= 500:
        return TransientError(f"Voyage is overloaded or failing ({status}).", retry_after=after)
    if isinstance(exc, (error.APIConnectionError, OSError)) or type(exc).__module__.startswith("aiohttp."):
        return TransientError("Voyage cannot be reached, or the connection broke.", "Check the network and any proxy.")
    # What the client raises by accident on an answer that it does not expect.
    if isinstance(exc, (error.VoyageError, AttributeError, LookupError, TypeError, ValueError)):
        return TransientError("Voyage answered what its client cannot read.")
    raise exc


def _detail(exc: Exception, key: str) -> str:
    """The service's own explanation, without the key and anything that looks like a key."""
    body = getattr(exc, "json_body", None)
    detail = body.get("detail") if isinstance(body, dict) else None
    return f": {without_key(detail, key)}" if isinstance(detail, str) else ""
