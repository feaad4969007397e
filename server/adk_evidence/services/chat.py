"""The client of an OpenAI-compatible chat service, `POST <base_url>/chat/completions`."""

from __future__ import annotations

from typing import Any

from adk_evidence.errors import ServiceError
from adk_evidence.services.eventloop import stop_if_cancelled
from adk_evidence.services.openai_api import OPENAI_KEY, UNREADABLE, Named, OpenAiApi
from adk_evidence.services.resilience import CircuitBreaker, Clock, Deadline, RetryPolicy, call_with_retries
from adk_evidence.settings import LlmRerankSettings

# The first that is set is sent.
KEY_VARIABLES = ("ADK_EVIDENCE_LLM_API_KEY", OPENAI_KEY)
CHAT = Named("The language model", "The language model's service", "rerank.llm", KEY_VARIABLES)
BACKOFF = (0.5, 1.0, 2.0)
# A user waits for the answer: a second try is all that the time allows.
MAX_ATTEMPTS = 2
# The statuses for a parameter that the service does not know.
_NO_SUCH_PARAMETER = (400, 422)


class NoTextError(ServiceError):
    """The model declined to answer; another question may still have an answer."""


class ChatService:
    """Asks a language model for one answer. Safe between threads; connections are opened at the first request."""

    def __init__(
        self, settings: LlmRerankSettings, *, clock: Clock | None = None, max_attempts: int = MAX_ATTEMPTS
    ) -> None:
        self._settings = settings
        self._attempts = max_attempts
        self._clock = clock or Clock()
        self._breaker = CircuitBreaker(f"The language model {settings.model}", self._clock)
        self._api = OpenAiApi(settings, CHAT)
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
        policy = RetryPolicy(self._attempts, BACKOFF, self._settings.timeout_seconds)
        return self._breaker.call(
            lambda: call_with_retries(
                lambda deadline: self._try(messages, deadline), policy, self._clock, check=stop_if_cancelled
            )
        )

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._api.close()

    def _try(self, messages: list[dict[str, str]], deadline: Deadline) -> str:
        body: dict[str, Any] = {"model": self._settings.model, "messages": messages, "temperature": 0}
        if self._json_mode:
            answer = self._post({**body, "response_format": {"type": "json_object"}}, deadline)
            if answer.status_code not in _NO_SUCH_PARAMETER:
                return self._text(answer)
        answer = self._post(body, deadline)
        # Where both are refused, the mode was not the reason.
        self._json_mode = self._json_mode and answer.status_code != 200
        return self._text(answer)

    def _post(self, body: dict[str, Any], deadline: Deadline) -> Any:
        return self._api.post("chat/completions", body, deadline.remaining(self._settings.timeout_seconds))

    def _text(self, answer: Any) -> str:
        if answer.status_code != 200:
            raise self._api.refused(answer)
        try:
            text = answer.json()["choices"][0]["message"]["content"]
        except UNREADABLE:
            raise self._api.unreadable() from None
        if not isinstance(text, str):
            raise NoTextError("The language model answered without a text.")
        return text
