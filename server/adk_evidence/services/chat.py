"""The client of an OpenAI-compatible chat service: its key, its time-outs and its failures.

Hosted services and local servers share the contract `POST <base_url>/chat/completions`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from adk_evidence.errors import ServiceError
from adk_evidence.redaction import without_key
from adk_evidence.services.eventloop import close_within, run_within, stop_if_cancelled
from adk_evidence.services.keys import key_from
from adk_evidence.services.resilience import (
    CircuitBreaker,
    Clock,
    Deadline,
    RetryPolicy,
    TransientError,
    call_with_retries,
    retry_after_seconds,
)
from adk_evidence.settings import LlmRerankSettings

# The first that is set is sent.
KEY_VARIABLES = ("ADK_EVIDENCE_LLM_API_KEY", "OPENAI_API_KEY")
BACKOFF = (0.5, 1.0, 2.0)
# What a job reads is long, and no person waits for a single answer: the model may take longer, and where the service
# limits its rate, the next try may wait.
LEAST_SECONDS = 180.0
LEAST_ATTEMPTS = 4
_GRACE_SECONDS = 2.0
# The statuses for a parameter that the service does not know.
_NO_SUCH_PARAMETER = (400, 422)
# Raised while a body is read that is not JSON, or not the JSON of the contract.
_UNREADABLE = (ValueError, LookupError, TypeError, RecursionError)
_SETTINGS = "Check rerank.llm: base_url and model must go together."


class NoTextError(ServiceError):
    """The model declined to answer; another question may still have an answer."""


class ChatService:
    """Asks a language model for one answer. Safe between threads; connections are opened at the first request."""

    def __init__(self, settings: LlmRerankSettings, *, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or Clock()
        self._breaker = CircuitBreaker(
            f"The language model {settings.model}", settings.breaker_failures, settings.breaker_seconds, self._clock
        )
        self._client: Any = None
        self._json_mode = True

    def ask(self, system: str, user: str) -> str:
        """The model's answer at temperature 0, in the service's JSON mode where the service has one.

        The task in `system` must name JSON, which the mode asks for.

        Raises:
            ServiceError: The service does not answer within `timeout_seconds` in spite of retries, refuses, or was not
                asked because it is down; `CallCancelledError` where nobody waits any more.
            NoTextError: The answer has no text.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        policy = RetryPolicy(self._settings.max_attempts, BACKOFF, self._settings.timeout_seconds)
        return self._breaker.call(
            lambda: call_with_retries(
                lambda deadline: self._try(messages, deadline), policy, self._clock, check=stop_if_cancelled
            )
        )

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            close_within(client.aclose(), _GRACE_SECONDS)

    def _try(self, messages: list[dict[str, str]], deadline: Deadline) -> str:
        body: dict[str, Any] = {"model": self._settings.model, "messages": messages, "temperature": 0}
        if self._json_mode:
            answer = self._post({**body, "response_format": {"type": "json_object"}}, deadline)
            if answer.status_code not in _NO_SUCH_PARAMETER:
                return _text(answer)
        answer = self._post(body, deadline)
        # Where both are refused, the mode was not the reason.
        self._json_mode = self._json_mode and answer.status_code != 200
        return _text(answer)

    def _post(self, body: dict[str, Any], deadline: Deadline) -> Any:
        import httpx

        seconds = deadline.remaining(self._settings.timeout_seconds)
        try:
            return run_within(self._send(body, seconds), seconds + _GRACE_SECONDS)
        except TimeoutError:
            raise TransientError(f"The language model did not answer within {seconds:.3g} s.") from None
        # The messages of httpx may hold what was sent.
        except httpx.DecodingError:
            raise _unreadable() from None
        except httpx.InvalidURL:
            raise ServiceError("The language model's address cannot be used.", "Mend rerank.llm.base_url.") from None
        except (httpx.TransportError, OSError):
            raise TransientError(
                "The language model cannot be reached, or the connection broke.", "Check rerank.llm.base_url."
            ) from None

    async def _send(self, body: dict[str, Any], seconds: float) -> Any:
        import httpx

        if self._client is None:
            # Without redirects, along which the key would travel, and without a proxy to this machine itself.
            remote = self._settings.base_url.startswith("https:")
            try:
                self._client = httpx.AsyncClient(timeout=None, follow_redirects=False, trust_env=remote)  # noqa: S113
            # The proxy's address is wrong, or this kind of proxy needs a package that is not installed.
            except (ValueError, ImportError, httpx.InvalidURL):
                raise ServiceError(
                    "The proxy that the environment names cannot be used.", "Mend HTTPS_PROXY or ALL_PROXY."
                ) from None
        # httpx limits the pause between two bytes; this limits the whole request.
        async with asyncio.timeout(seconds):
            address = f"{self._settings.base_url}/chat/completions"
            return await self._client.post(address, json=body, headers=_authorization())


def has_key() -> bool:
    """Whether the environment has a key."""
    return bool(key_from(*KEY_VARIABLES)[1])


def is_own_server(settings: LlmRerankSettings) -> bool:
    """Whether the service runs on this machine, where answers cost nothing; the settings allow `http` for no other."""
    return settings.base_url.startswith("http:")


def patient(settings: LlmRerankSettings) -> LlmRerankSettings:
    """The same settings with the patience of a job."""
    patience = {
        "timeout_seconds": max(settings.timeout_seconds, LEAST_SECONDS),
        "max_attempts": max(settings.max_attempts, LEAST_ATTEMPTS),
    }
    return settings.model_copy(update=patience)


def _authorization() -> dict[str, str]:
    name, key = key_from(*KEY_VARIABLES)
    # The message of the HTTP client would repeat the key.
    if not (key.isascii() and key.isprintable()):
        raise ServiceError(f"The key in {name} holds characters that no key has.", "Copy it again.")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _text(answer: Any) -> str:
    if answer.status_code != 200:
        raise _refused(answer)
    try:
        text = answer.json()["choices"][0]["message"]["content"]
    except _UNREADABLE:
        raise _unreadable() from None
    if not isinstance(text, str):
        raise NoTextError("The language model answered without a text.")
    return text


def _unreadable() -> TransientError:
    return TransientError("The language model's service answered what cannot be read.", _SETTINGS)


def _refused(answer: Any) -> ServiceError:
    status: int = answer.status_code
    name, key = key_from(*KEY_VARIABLES)
    if status in (401, 403):
        if not key:
            return ServiceError("The language model's service wants a key.", f"Set {' or '.join(KEY_VARIABLES)}.")
        return ServiceError(
            f"The language model's service does not accept the key in {name}.",
            "Set a valid key; a running server keeps the one that it was started with.",
        )
    if status in (408, 429) or status >= 500:
        what = "says that too many requests were sent" if status == 429 else "is overloaded or failing"
        after = retry_after_seconds(answer.headers)
        return TransientError(f"The language model's service {what} ({status}).", retry_after=after)
    return ServiceError(
        f"The language model's service refuses the request ({status}){_detail(answer, key)}.", _SETTINGS
    )


def _detail(answer: Any, key: str) -> str:
    """The error message of the service, where the answer has one by the contract."""
    try:
        message = answer.json()["error"]["message"]
    except _UNREADABLE:
        return ""
    return f": {without_key(message, key)}" if isinstance(message, str) and message else ""
