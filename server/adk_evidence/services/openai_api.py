"""The HTTP client of OpenAI-compatible services: their keys, time-outs and refusals.

Hosted services and local servers share OpenAI's contract below `<base_url>`. The vendor's own client is not used: it
brings 850 modules and a second HTTP library for requests of four fields, its retries know neither the deadline of a
question nor a cancelled run, and variables that are no settings of this product change what it sends.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from adk_evidence.errors import ServiceError
from adk_evidence.services.eventloop import close_within, run_within
from adk_evidence.services.keys import key_from
from adk_evidence.services.resilience import TransientError, retry_after_seconds
from adk_evidence.settings import OpenAiServiceSettings
from adk_evidence.text.redaction import without_key

OPENAI_KEY = "OPENAI_API_KEY"
_OPENAI_HOST = "api.openai.com"
_GRACE_SECONDS = 2.0
# Raised while a body is read that is not JSON, or not the JSON of the contract.
UNREADABLE = (ValueError, LookupError, TypeError, RecursionError)
# How services say that an account has no money left. Waiting does not help, though the status is that of a rate limit.
_NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
# What `x-ratelimit-reset-*` says, e.g. 6m0s, 1.5s, 17ms.
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
# A reset says when a limit is as if nothing had been sent; long before that, it has room for one request.
_LONGEST_RESET = 60.0


@dataclass(frozen=True)
class Named:
    """How messages name a service.

    Attributes:
        subject: What is asked, as the subject of a sentence.
        service: What answers, as the subject of a sentence.
        section: The section of its settings.
        key_variables: Where its key may be; the first that is set is sent.
        when_slow: What helps where an answer takes too long, as a hint.
    """

    subject: str
    service: str
    section: str
    key_variables: tuple[str, ...]
    when_slow: str = ""

    def at(self, base_url: str) -> Named:
        """The same at an address: `OPENAI_API_KEY` is sent to OpenAI alone, whatever else has this interface."""
        if urlsplit(base_url).hostname == _OPENAI_HOST:
            return self
        return replace(self, key_variables=tuple(name for name in self.key_variables if name != OPENAI_KEY))

    def has_key(self) -> bool:
        """Whether the environment has a key."""
        return bool(key_from(*self.key_variables)[1])

    @property
    def keys(self) -> str:
        return " or ".join(self.key_variables)


@dataclass(frozen=True)
class Problem:
    """What a service says of a request that it refuses; `codes` are its `code` and `type`."""

    message: str = ""
    codes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, answer: Any) -> Problem:
        """OpenAI's form is {"error": {"message", "type", "code"}}; others leave out the outer or the inner object."""
        try:
            body = answer.json()
        except UNREADABLE:
            return cls()
        if not isinstance(body, dict):
            return cls()
        inner = body.get("error", body)
        if not isinstance(inner, dict):
            inner = {**body, "message": inner}
        message = inner.get("message") or inner.get("detail")
        codes = (inner.get("code"), inner.get("type"))
        return cls(
            message if isinstance(message, str) else "", frozenset(code for code in codes if isinstance(code, str))
        )


class OpenAiApi:
    """Sends requests to one service. Safe between threads; connections are opened at the first request."""

    def __init__(self, settings: OpenAiServiceSettings, named: Named) -> None:
        self._settings = settings
        self._named = named.at(settings.base_url)
        self._client: Any = None

    def post(self, path: str, body: dict[str, Any], seconds: float) -> Any:
        """The answer to a request, whatever its status; the request has so many seconds.

        Raises:
            TransientError: No answer comes in time, or the connection breaks.
            ServiceError: The address, the proxy or the key cannot be used.
        """
        import httpx

        named = self._named
        try:
            return run_within(self._send(path, body, seconds), seconds + _GRACE_SECONDS)
        except TimeoutError:
            raise TransientError(f"{named.subject} did not answer within {seconds:.3g} s.", named.when_slow) from None
        # The messages of httpx may hold what was sent.
        except httpx.DecodingError:
            raise self.unreadable() from None
        except httpx.InvalidURL:
            raise ServiceError(
                f"{named.subject}'s address cannot be used.", f"Mend {named.section}.base_url."
            ) from None
        except (httpx.TransportError, OSError):
            raise TransientError(
                f"{named.subject} cannot be reached, or the connection broke.", f"Check {named.section}.base_url."
            ) from None

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            close_within(client.aclose(), _GRACE_SECONDS)

    def unreadable(self) -> TransientError:
        """The error for an answer that is not what the contract says."""
        return TransientError(f"{self._named.service} answered what cannot be read.", self._together)

    def refused(self, answer: Any) -> ServiceError:
        """The error for an answer whose status is not 200."""
        status: int = answer.status_code
        problem = Problem.of(answer)
        named, model = self._named, self._settings.model
        name, key = key_from(*named.key_variables)
        if status == 402 or problem.codes & _NO_MONEY:
            return ServiceError(
                f"{named.service} says that the account's quota is used up ({status}).",
                "Look at the plan and the billing of the account; what is finished is kept.",
            )
        # A 404 that does not name the model is about the address.
        if "model_not_found" in problem.codes or (status == 404 and model in problem.message):
            return ServiceError(f"{named.service} has no model {model}.", f"Change {named.section}.model.")
        if status in (401, 403):
            if not key:
                return ServiceError(f"{named.service} wants a key.", f"Set {named.keys}.")
            return ServiceError(
                f"{named.service} does not accept the key in {name}.",
                "Set a valid key; a running server keeps the one that it was started with.",
            )
        if status in (408, 429) or status >= 500:
            what = "says that too many requests were sent" if status == 429 else "is overloaded or failing"
            after = _seconds_to_wait(answer.headers, status)
            return TransientError(f"{named.service} {what} ({status}).", retry_after=after)
        return ServiceError(f"{named.service} refuses the request ({status}){self.detail(problem)}.", self._together)

    def detail(self, problem: Problem) -> str:
        """The service's own explanation for the end of a sentence, without the key and anything that looks like one."""
        _, key = key_from(*self._named.key_variables)
        return f": {without_key(problem.message, key)}" if problem.message else ""

    @property
    def _together(self) -> str:
        return f"Check {self._named.section}: base_url and model must go together."

    async def _send(self, path: str, body: dict[str, Any], seconds: float) -> Any:
        import httpx

        if self._client is None:
            # Without redirects, along which the key would travel, and without a proxy to this machine itself.
            remote = not is_own_server(self._settings)
            try:
                self._client = httpx.AsyncClient(timeout=None, follow_redirects=False, trust_env=remote)  # noqa: S113
            # The proxy's address is wrong, or this kind of proxy needs a package that is not installed.
            except (ValueError, ImportError, httpx.InvalidURL):
                raise ServiceError(
                    "The proxy that the environment names cannot be used.", "Mend HTTPS_PROXY or ALL_PROXY."
                ) from None
        # httpx limits the pause between two bytes; this limits the whole request.
        async with asyncio.timeout(seconds):
            address = f"{self._settings.base_url}/{path}"
            return await self._client.post(address, json=body, headers=self._authorization())

    def _authorization(self) -> dict[str, str]:
        name, key = key_from(*self._named.key_variables)
        # The message of the HTTP client would repeat the key.
        if not (key.isascii() and key.isprintable()):
            raise ServiceError(f"The key in {name} holds characters that no key has.", "Copy it again.")
        return {"Authorization": f"Bearer {key}"} if key else {}


def is_own_server(settings: OpenAiServiceSettings) -> bool:
    """Whether the service runs on this machine; the settings allow `http` for no other."""
    return settings.base_url.startswith("http:")


def costs_nothing(settings: OpenAiServiceSettings, prices: Mapping[str, object]) -> bool:
    """Whether answers cost nothing: the service runs on this machine, and its model has no price.

    A gateway on this machine may pass requests on to a service that is paid.
    """
    return is_own_server(settings) and not prices.get(settings.model)


def _seconds_to_wait(headers: Any, status: int) -> float | None:
    """What a service asks to wait: `Retry-After`, or after a 429 the time until the limit that was met is as new."""
    asked = retry_after_seconds(headers)
    if asked is not None or status != 429:
        return asked
    resets = [
        seconds
        for limit in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{limit}") == "0"
        and (seconds := _duration(headers.get(f"x-ratelimit-reset-{limit}", ""))) is not None
    ]
    longest = max(resets, default=None)
    return longest if longest is not None and longest <= _LONGEST_RESET else None


def _duration(text: str) -> float | None:
    """Seconds of a text such as 6m0s, 1.5s or 17ms; None for another text."""
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
