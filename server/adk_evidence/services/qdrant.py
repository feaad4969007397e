"""Calls to a Qdrant server: time-outs that hold, bounded retries, and failures in a sentence without secrets."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

import httpx

from adk_evidence.errors import ServiceError, SettingsError, StoreError
from adk_evidence.services.keys import key_from
from adk_evidence.services.resilience import CircuitBreaker, Clock, Deadline, RetryPolicy, call_with_retries
from adk_evidence.settings import LOOPBACK, Settings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

KEY_VARIABLES = ("ADK_EVIDENCE_QDRANT_API_KEY", "QDRANT_API_KEY")
# SPEC 5 section 14.1.
QUERY_TRIES = 3
_REASON_CHARS = 200
# How a server refuses a request that holds more bytes, or more points, than it takes at once.
_TOO_MANY_BYTES = re.compile(r"larger than allowed|has exceeded limit", re.I)
_TOO_MANY_POINTS = re.compile(r"upsert limit|split your request", re.I)
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_NOT_PRINTABLE = re.compile(r"[\x00-\x20\x7f-\x9f]+")
_CHECK_URL = "Check that `store.url` is the address of a Qdrant server."
_CHECK_RUNNING = "Check that it runs and can be reached, then try again."
_CHECK_KEY = f"Set {KEY_VARIABLES[0]} to a key that may use this cluster."

T = TypeVar("T")


@dataclass(frozen=True)
class Patience(RetryPolicy):
    """A policy that also bounds each attempt, by `try_seconds`."""

    try_seconds: float = math.inf


class ServerError(StoreError):
    """A call failed; `reason` is the failure as the end of a sentence.

    `too_many` is what the request held more of than the server takes at once: smaller requests may succeed.
    `transient` says whether another try may help, `retry_after` how many seconds the server asks to wait.
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
        transient: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"The Qdrant server at {server} {reason}.", hint)
        self.reason = f"the Qdrant server at {server} {reason}"
        self.status = status
        self.too_many = too_many
        self.transient = transient
        self.retry_after = retry_after


class NotAppliedError(Exception):
    """Raised inside a call: the server took a write and has not applied it yet."""


# Of one write of an upload.
WRITE_SECONDS = 60.0


def query_patience(settings: Settings) -> Patience:
    """Few tries, all within `store.timeout_seconds`."""
    seconds = settings.store.timeout_seconds
    return Patience(QUERY_TRIES, (0.2, 0.4), seconds, try_seconds=seconds)


def upload_patience(settings: Settings) -> Patience:
    """Six tries by default, whose waits outlast an outage of a minute."""
    upload = settings.ingestion.qdrant_upload
    backoff = (2.0, 4.0, 8.0, 16.0, 30.0)
    return Patience(upload.max_retries + 1, backoff, try_seconds=WRITE_SECONDS)


def api_key() -> str | None:
    """The key of the Qdrant server, from the environment alone."""
    return key_from(*KEY_VARIABLES)[1] or None


class ServerConnection(AbstractContextManager["ServerConnection"]):
    """A Qdrant server. Safe to share between threads; nothing is sent before the first call.

    The key is sent and never shown. Without a breaker, every call is tried.
    """

    def __init__(
        self,
        url: str,
        patience: Patience,
        *,
        key: str | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self.url = url
        self._patience = patience
        self._key = key
        self._breaker = breaker
        self._lock = threading.Lock()
        self._client: QdrantClient | None = None
        self._stopped = threading.Event()
        # A call that waits for its next attempt gives up as soon as the connection is stopped.
        self._clock = Clock(sleep=self._stopped.wait)
        # When the attempt of the current thread ends.
        self._attempt = threading.local()

    def call(self, action: Callable[[QdrantClient], T], *, divisible: bool = False) -> T:
        """Run one call of the client; repeat it where another try may help.

        A `divisible` request that is too large is not repeated, because its caller sends it again in parts.

        Raises:
            ServerError: The call failed for good, or until the patience was spent, or the breaker is open.
        """
        client = self._open()

        def attempt(deadline: Deadline) -> T:
            if self._stopped.is_set():
                raise StoreError("The index was closed.")
            self._attempt.until = self._clock.now() + deadline.remaining(self._patience.try_seconds)
            try:
                return action(client)
            except Exception as exc:
                failure = self._explained(exc)
                if divisible and failure.too_many:
                    failure.transient = False
                raise failure from exc

        tried = partial(call_with_retries, attempt, self._patience, self._clock)
        try:
            return self._breaker.call(tried) if self._breaker else tried()
        # Only an open breaker raises this.
        except ServiceError as exc:
            raise self._failure("failed too often in a row and is not asked for a while", exc.hint) from exc

    def version(self) -> tuple[int, ...]:
        """The server's version, e.g. `(1, 19, 0)`; empty where the server names none."""
        text = self.call(lambda client: client.info().version)
        return tuple(int(part) for part in re.findall(r"\d+", text)[:3])

    def stop(self) -> None:
        """Let no call begin another attempt; calls that wait for their next attempt give up now."""
        self._stopped.set()

    def close(self) -> None:
        """Close the connections; calls fail from then on."""
        self.stop()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

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
                    timeout=math.ceil(self._patience.try_seconds),
                    check_compatibility=False,
                    event_hooks={"request": [self._bound]},
                )
            return self._client

    def _bound(self, request: httpx.Request) -> None:
        """Give each phase of a request no more than the time that the attempt has left."""
        left = max(self._attempt.until - self._clock.now(), 0.001)
        request.extensions["timeout"] = httpx.Timeout(left).as_dict()

    def _explained(self, exc: Exception) -> ServerError:
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        source = exc.source if isinstance(exc, ResponseHandlingException) else exc
        match source:
            case QdrantException():  # a 429, whose Retry-After the client does not read where it is a date
                return self._busy(retry_after=getattr(source, "retry_after_s", None))
            case UnexpectedResponse():
                return self._status(source.status_code or 0, source.content)
            case NotAppliedError():
                reason = "has not applied yet what was written"
                return self._failure(reason, "Run the same command again.", transient=True)
            case httpx.InvalidURL():
                return self._failure("has an address that cannot be used", _CHECK_URL)
            case httpx.TimeoutException():
                reason = f"did not answer within {self._patience.try_seconds:g} s"
                return self._failure(reason, _CHECK_RUNNING, transient=True)
            case httpx.ConnectError():
                return self._failure("cannot be reached", _CHECK_RUNNING, transient=True)
            case httpx.TransportError():
                return self._failure("broke off its answer", _CHECK_RUNNING, transient=True)
            # What cannot be sent is no answer.
            case httpx.RequestError() | AssertionError() | ValueError() if not isinstance(source, UnicodeEncodeError):
                return self._failure("answers with something that is not Qdrant's", _CHECK_URL, transient=True)
        name = ": ".join(part for part in (type(source).__name__, self._clean(str(source))) if part)
        return self._failure(f"cannot be used: its client failed with {name}", "")

    def _busy(self, said: str = "", retry_after: float | None = None) -> ServerError:
        """A 429. Qdrant names no time to wait where waiting does not help: the request must be split."""
        return self._failure(
            "limits the rate of requests" + (f": {said}" if said else ""),
            "Try again later, or lower `ingestion.qdrant_upload.parallel`.",
            status=429,
            too_many="points" if said else None,
            transient=True,
            retry_after=retry_after,
        )

    def _status(self, status: int, content: bytes) -> ServerError:
        said = self._clean(_error_text(content))
        if status == 429:
            return self._busy(said)
        if status in (401, 403):
            missing = "" if self._key else ", and none is set"
            return self._failure(f"refuses the API key{missing}", _CHECK_KEY, status=status)
        reason = f"answers with status {status}" + (f": {said}" if said else "")
        if status in _TRANSIENT_STATUS:
            return self._failure(reason, _CHECK_RUNNING, status=status, transient=True)
        too_many = "bytes" if status == 413 else _too_many(said)
        return self._failure(reason, "" if said or too_many else _CHECK_URL, status=status, too_many=too_many)

    def _failure(self, reason: str, hint: str, **more: Any) -> ServerError:
        return ServerError(self.url, reason, hint, **more)

    def _clean(self, text: str) -> str:
        """The text of a server or a library on one line, without the key."""
        if self._key:
            text = text.replace(self._key, "***")
        return _NOT_PRINTABLE.sub(" ", text).strip()[:_REASON_CHARS].rstrip(". ")


def connect(settings: Settings, patience: Patience, breaker: CircuitBreaker | None = None) -> ServerConnection:
    """The server that `store.url` names, with the key of the environment.

    Settings without `store.url` are valid, since `plan` and `doctor` need no server; they are an error only here.
    """
    store = settings.store
    if store.url is None:
        raise SettingsError(
            "The index is to be on a Qdrant server (store.kind: server), but store.url does not say where that is.",
            "Set `store.url` (ADK_EVIDENCE_STORE__URL) to its address, as http://localhost:6333, or keep the index "
            "in this machine's home folder with `store.kind: edge` (ADK_EVIDENCE_STORE__KIND=edge).",
        )
    return ServerConnection(store.url, patience, key=api_key(), breaker=breaker)


def sends_key_in_the_open(url: str) -> bool:
    """Whether a key would travel unencrypted beyond this machine."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in LOOPBACK


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
