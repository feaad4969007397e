"""Calls to a Qdrant server: time-outs that hold, bounded retries, and failures in a sentence without secrets."""

from __future__ import annotations

import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

import httpx
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    wait_exponential,
    wait_random,
)

from adk_evidence.errors import ServiceError, SettingsError, StoreError
from adk_evidence.services.resilience import CircuitBreaker, Clock, TransientError
from adk_evidence.settings import Settings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

KEY_VARIABLES = ("ADK_EVIDENCE_QDRANT_API_KEY", "QDRANT_API_KEY")
# SPEC 5 section 14.1.
QUERY_TRIES = 3
_REASON_CHARS = 200
# What a server says of a request that holds more bytes, or more points, than it takes at once.
_TOO_MANY_BYTES = re.compile(r"larger than allowed|has exceeded limit|message length too large|larger than max", re.I)
_TOO_MANY_POINTS = re.compile(r"upsert limit|split your request", re.I)
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_NOT_PRINTABLE = re.compile(r"[\x00-\x20\x7f-\x9f]+")
_ANSWERS_WRONGLY = "answers with something that is not Qdrant's"
_CHECK_URL = "Check that `store.url` is the address of a Qdrant server."
_CHECK_RUNNING = "Check that it runs and can be reached, then try again."
_CHECK_KEY = f"Set {KEY_VARIABLES[0]} to a key that may use this cluster."

T = TypeVar("T")

_now = time.monotonic


def _sleep(seconds: float, until: threading.Event) -> None:
    """Wait before another attempt, or until nobody wants it any more. Replaced in tests, which do not wait."""
    until.wait(seconds)


@dataclass(frozen=True)
class Patience:
    """How long to keep trying, in seconds.

    Args:
        tries: Attempts of one call.
        try_seconds: When one attempt is given up.
        total_seconds: When the call is given up, waits included; None where only `tries` bounds it.
        first_wait: Before the second attempt; it doubles with each one.
        longest_wait: Bound of a wait, whatever the server asks for.
    """

    tries: int
    try_seconds: float
    total_seconds: float | None
    first_wait: float
    longest_wait: float


class ServerError(StoreError):
    """A call failed for good.

    `reason` completes "the server ..."; `status` is that of HTTP where there was one; `too_many` says of what the
    request held more than the server takes at once, so that smaller requests may succeed.
    """

    code = "store_unavailable"

    def __init__(
        self,
        server: str,
        reason: str,
        hint: str,
        *,
        status: int | None = None,
        too_many: Literal["points", "bytes"] | None = None,
    ) -> None:
        super().__init__(f"The Qdrant server at {server} {reason}.", hint)
        self.reason = f"the Qdrant server at {server} {reason}"
        self.status = status
        self.too_many = too_many


class NotAppliedError(Exception):
    """Raised inside a call: the server took a write and has not applied it yet."""


class _TransientError(TransientError):
    """Carries the failure of one attempt that may go better next time, and for how long the server asks to wait."""

    def __init__(self, failure: ServerError, retry_after: float = 0.0) -> None:
        super().__init__(failure.message, failure.hint, retry_after)
        self.failure = failure


def query_patience(settings: Settings) -> Patience:
    """For questions: few tries, all within `store.timeout_seconds`."""
    seconds = settings.store.timeout_seconds
    return Patience(QUERY_TRIES, seconds, seconds, first_wait=0.2, longest_wait=seconds)


def upload_patience(settings: Settings) -> Patience:
    """For ingestion: six tries by default, whose waits outlast an outage of a minute."""
    upload = settings.ingestion.qdrant_upload
    return Patience(upload.max_retries + 1, upload.timeout_seconds, None, first_wait=2.0, longest_wait=30.0)


def query_breaker(settings: Settings, clock: Clock) -> CircuitBreaker:
    """For questions: a server that keeps failing is not asked for a while."""
    return CircuitBreaker("The Qdrant server", settings.store.breaker_failures, settings.store.breaker_seconds, clock)


def api_key() -> str | None:
    """The key of the Qdrant server, from the environment alone."""
    return next((key for name in KEY_VARIABLES if (key := os.environ.get(name, "").strip())), None)


class ServerConnection:
    """A Qdrant server. Safe to share between threads; nothing is sent before the first call.

    Args:
        url: Its address.
        patience: How long calls are tried.
        key: API key; it is sent and never shown.
        prefer_grpc: Talk gRPC where the client can.
        grpc_port: Port of gRPC.
        breaker: Refuses calls at once while it is open; None: every call is tried.
    """

    def __init__(
        self,
        url: str,
        patience: Patience,
        *,
        key: str | None = None,
        prefer_grpc: bool = False,
        grpc_port: int = 6334,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self.url = url
        self._patience = patience
        self._key = key
        self._prefer_grpc = prefer_grpc
        self._grpc_port = grpc_port
        self._breaker = breaker
        self._attempt = _Attempt()
        self._lock = threading.Lock()
        self._client: QdrantClient | None = None
        self._stopped = threading.Event()

    def call(self, action: Callable[[QdrantClient], T], *, divisible: bool = False) -> T:
        """Run one call of the client, again where it fails in a way that may pass.

        Args:
            action: The call.
            divisible: Whether the request could be sent in parts: one that is too large is then not tried again.

        Raises:
            ServerError: It failed for good, or until the patience was spent, or the breaker is open.
        """

        def tried() -> T:
            return self._tried(action, divisible)

        try:
            return self._breaker.call(tried) if self._breaker else tried()
        except _TransientError as exc:
            raise exc.failure from exc.__cause__
        except ServiceError as exc:
            raise self._failure("failed too often in a row and is not asked for a while", exc.hint) from exc

    def _tried(self, action: Callable[[QdrantClient], T], divisible: bool) -> T:
        client = self._open()
        patience = self._patience
        until = math.inf if patience.total_seconds is None else _now() + patience.total_seconds

        def attempt() -> T:
            if self._stopped.is_set():
                raise StoreError("The index was closed.")
            self._attempt.until = min(until, _now() + patience.try_seconds)
            try:
                return action(client)
            except Exception as exc:
                raise self._explained(exc) from exc

        retrying = Retrying(
            # Not tenacity's own limit of time, which reads the system's clock.
            stop=lambda state: state.attempt_number >= patience.tries or _now() + state.upcoming_sleep >= until,
            wait=self._wait,
            retry=retry_if_exception(
                lambda exc: isinstance(exc, _TransientError) and not (divisible and exc.failure.too_many)
            ),
            sleep=lambda seconds: _sleep(seconds, self._stopped),
            reraise=True,
        )
        return retrying(attempt)

    def version(self) -> tuple[int, ...]:
        """The server's version, e.g. `(1, 19, 0)`; empty where it cannot be told.

        Raises:
            ServerError: The server does not answer, or is no Qdrant.
        """
        text = self.call(lambda client: client.info().version)
        return tuple(int(part) for part in re.findall(r"\d+", text)[:3])

    def stop(self) -> None:
        """Let no call begin another attempt; those that wait for one give up now."""
        self._stopped.set()

    def close(self) -> None:
        """Close the connections; calls fail from then on."""
        self.stop()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def __enter__(self) -> ServerConnection:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _open(self) -> QdrantClient:
        with self._lock:
            if self._stopped.is_set():
                raise StoreError("The index was closed.")
            if self._client is None:
                from qdrant_client import QdrantClient

                self._client = QdrantClient(
                    url=self.url,
                    # As a header: given as a key, the client prints a warning for addresses without TLS.
                    headers={"api-key": self._key} if self._key else None,
                    prefer_grpc=self._prefer_grpc,
                    grpc_port=self._grpc_port,
                    timeout=math.ceil(self._patience.try_seconds),
                    check_compatibility=False,
                    event_hooks={"request": [self._attempt.bound_request], "response": [self._attempt.bound_response]},
                )
            return self._client

    def _wait(self, state: RetryCallState) -> float:
        patience = self._patience
        exc = state.outcome.exception() if state.outcome else None
        asked = (exc.retry_after or 0.0) if isinstance(exc, TransientError) else 0.0
        jittered = wait_exponential(multiplier=patience.first_wait) + wait_random(0, patience.first_wait / 2)
        return min(max(asked, jittered(state)), patience.longest_wait)

    def _explained(self, exc: Exception) -> Exception:
        """The failure of one attempt, in our words."""
        from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        if isinstance(exc, ResponseHandlingException):
            return self._transport(exc.source)
        if isinstance(exc, ResourceExhaustedResponse):
            return self._busy(float(exc.retry_after_s))
        if isinstance(exc, QdrantException):
            # A 429 whose Retry-After is a date.
            return self._busy()
        if isinstance(exc, UnexpectedResponse):
            return self._status(exc.status_code or 0, exc.content)
        if hasattr(exc, "code") and hasattr(exc, "details"):
            return self._grpc(exc)
        if isinstance(exc, NotAppliedError):
            return _TransientError(self._failure("has not applied yet what was written", "Run the same command again."))
        if isinstance(exc, (AssertionError, json.JSONDecodeError, UnicodeDecodeError)):
            return _TransientError(self._failure(_ANSWERS_WRONGLY, _CHECK_URL))
        return self._failure(f"cannot be asked that: {self._clean(str(exc)) or type(exc).__name__}", "")

    def _transport(self, source: Exception) -> Exception:
        if isinstance(source, httpx.TimeoutException):
            reason = f"did not answer within {self._patience.try_seconds:g} s"
        elif isinstance(source, httpx.ConnectError):
            reason = "cannot be reached"
        elif isinstance(source, httpx.TransportError):
            reason = "broke off its answer"
        elif isinstance(source, httpx.InvalidURL):
            return self._failure("has an address that cannot be used", _CHECK_URL)
        elif isinstance(source, (TypeError, UnicodeError)):
            return self._failure(f"cannot be asked that: {self._clean(str(source))}", "")
        else:
            return _TransientError(self._failure(_ANSWERS_WRONGLY, _CHECK_URL))
        return _TransientError(self._failure(reason, _CHECK_RUNNING))

    def _busy(self, retry_after: float = 0.0, said: str = "") -> Exception:
        """A 429. Qdrant names no time to wait where waiting does not help: the request is to be split."""
        hint = "Try again later, or lower `ingestion.qdrant_upload.parallel`."
        reason = "limits the rate of requests" + (f": {said}" if said else "")
        return _TransientError(
            self._failure(reason, hint, status=429, too_many="points" if said else None), retry_after
        )

    def _status(self, status: int, content: bytes) -> Exception:
        said = self._clean(_error_text(content))
        if status == 429:
            return self._busy(said=said)
        if status in (401, 403):
            missing = "" if self._key else ", and none is set"
            return self._failure(f"refuses the API key{missing}", _CHECK_KEY, status=status)
        reason = f"answers with status {status}" + (f": {said}" if said else "")
        if status in _TRANSIENT_STATUS:
            return _TransientError(self._failure(reason, _CHECK_RUNNING, status=status))
        too_many = "bytes" if status == 413 else _too_many(said)
        return self._failure(reason, "" if said or too_many else _CHECK_URL, status=status, too_many=too_many)

    def _grpc(self, error: Any) -> Exception:
        name = getattr(error.code(), "name", "UNKNOWN")
        said = self._clean(str(error.details() or ""))
        if name in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
            return self._status(401, b"")
        too_many = _too_many(said)
        if name == "RESOURCE_EXHAUSTED" and too_many != "bytes":
            # With a time to wait for, the client raises what it raises for HTTP.
            return self._busy(said=said)
        if name == "NOT_FOUND":
            return self._failure(f"answers with status 404: {said}", "", status=404)
        if name == "DEADLINE_EXCEEDED":
            reason = f"did not answer within {self._patience.try_seconds:g} s"
        elif name == "UNAVAILABLE":
            reason = "cannot be reached"
        else:
            failure = self._failure(f"answers {name}: {said}", "", too_many=too_many)
            return _TransientError(failure) if name in ("INTERNAL", "ABORTED", "UNKNOWN") else failure
        return _TransientError(self._failure(reason, _CHECK_RUNNING))

    def _failure(
        self,
        reason: str,
        hint: str,
        *,
        status: int | None = None,
        too_many: Literal["points", "bytes"] | None = None,
    ) -> ServerError:
        return ServerError(self.url, reason, hint, status=status, too_many=too_many)

    def _clean(self, text: str) -> str:
        """What a server or a library said, on one line, without the key."""
        if self._key:
            text = text.replace(self._key, "***")
        return _NOT_PRINTABLE.sub(" ", text).strip()[:_REASON_CHARS].rstrip(". ")


def connect(settings: Settings, patience: Patience, breaker: CircuitBreaker | None = None) -> ServerConnection:
    """The server that `store.url` names, with the key of the environment.

    Raises:
        SettingsError: `store.url` is not set. Settings without it are valid: `plan` and `doctor` need no server.
    """
    store = settings.store
    if store.url is None:
        raise SettingsError(
            "The index is to be on a Qdrant server (store.kind: server), but store.url does not say where that is.",
            "Set `store.url` (ADK_EVIDENCE_STORE__URL) to its address, as http://localhost:6333, or keep the index "
            "in this machine's home folder with `store.kind: edge` (ADK_EVIDENCE_STORE__KIND=edge).",
        )
    return ServerConnection(
        store.url, patience, key=api_key(), prefer_grpc=store.prefer_grpc, grpc_port=store.grpc_port, breaker=breaker
    )


def sends_key_in_the_open(url: str) -> bool:
    """Whether a key would travel unencrypted beyond this machine."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1")


class _Attempt(threading.local):
    """When the attempt of the current thread ends, and the hooks that hold HTTP to it.

    HTTP libraries bound each read, not all of them together: a server that drips its answer byte by byte would hold a
    caller for ever.
    """

    until = math.inf

    def bound_request(self, request: httpx.Request) -> None:
        request.extensions["timeout"] = _Remaining(self.until)

    def bound_response(self, response: httpx.Response) -> None:
        stream = response.stream
        if isinstance(stream, httpx.SyncByteStream):
            response.stream = _BoundedStream(stream, self.until, response.request)


class _Remaining(dict[str, float]):
    """Time-outs of a request's phases, each of them what is left when the phase begins."""

    def __init__(self, until: float) -> None:
        super().__init__()
        self._until = until

    def get(self, key: str, default: Any = None) -> Any:
        return max(self._until - _now(), 0.001)


class _BoundedStream(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, until: float, request: httpx.Request) -> None:
        self._stream = stream
        self._until = until
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            if _now() > self._until:
                raise httpx.ReadTimeout("the answer took too long", request=self._request)
            yield part

    def close(self) -> None:
        self._stream.close()


def _too_many(said: str) -> Literal["points", "bytes"] | None:
    if _TOO_MANY_BYTES.search(said):
        return "bytes"
    return "points" if _TOO_MANY_POINTS.search(said) else None


def _error_text(content: bytes) -> str:
    """The sentence in Qdrant's error body, or nothing where the body is not Qdrant's."""
    try:
        return str(json.loads(content)["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return ""
