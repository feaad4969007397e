"""What the stand-ins of JSON services share: a server on loopback, faults by endpoint, and what was sent."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self


@dataclass(frozen=True)
class Fault:
    """What happens to one request instead of an answer.

    Args:
        status: An error status, or 200.
        detail: The error's text, in the service's own form; None: a body without one.
        retry_after: The header's value.
        headers: Other headers.
        body: The whole body, in place of any other.
        mode: `reset` cuts the connection inside the body, `slow` stops inside it until the stand-in ends, `alter`
            answers with what `change` makes of the answer.
        change: Alters an answer.
    """

    status: int = 200
    detail: str | None = "an error"
    retry_after: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    mode: str = "error"
    change: Callable[[dict[str, Any]], dict[str, Any]] | None = None


@dataclass
class Account:
    """What one key may in a minute of the stand-in's clock, and what it has used of the minute."""

    requests_per_minute: int = 2000
    tokens_per_minute: int = 1_000_000
    began: float = 0.0
    requests: int = 0
    tokens: int = 0

    def charge(self, tokens: int, now: float) -> tuple[str, float] | None:
        """Count a request; of one that is too much, which limit it passes, and the seconds until the minute is over."""
        if now - self.began >= 60:
            self.began, self.requests, self.tokens = now, 0, 0
        left = 60 - (now - self.began)
        if self.requests + 1 > self.requests_per_minute:
            return "requests", left
        if self.tokens + tokens > self.tokens_per_minute:
            return "tokens", left
        self.requests += 1
        self.tokens += tokens
        return None


class RefusedError(Exception):
    """A request that the service does not accept; `body` takes the place of the service's usual form."""

    def __init__(
        self,
        status: int,
        detail: str,
        retry_after: str | None = None,
        body: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.body = status, detail, body
        self.headers = _with_retry_after({}, retry_after)


class JsonStandIn:
    """Starts with `with`; `base_url` is where it listens. Faults wait by endpoint for the next requests to it."""

    endpoints: ClassVar[tuple[str, ...]]
    now: Callable[[], float]

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.taken_requests: list[tuple[str, dict[str, Any]]] = []
        self.refused: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self._faults: dict[str, deque[Fault | None]] = {path: deque() for path in self.endpoints}
        self._always: dict[str, Fault] = {}
        self._down_until: float | None = None
        self._lock = threading.Lock()
        self._end = threading.Event()

    def checked(self, path: str, headers: Any, raw: bytes) -> dict[str, Any]:
        """The answer to a request, or a `RefusedError`."""
        raise NotImplementedError

    @staticmethod
    def refusal(detail: str) -> dict[str, Any]:
        """The body of an error, in the service's own form."""
        raise NotImplementedError

    def strike(self, endpoint: str, *faults: Fault | None) -> None:
        """The next requests to an endpoint meet these faults; None lets one pass."""
        self._faults[endpoint].extend(faults)

    def strike_always(self, endpoint: str, fault: Fault) -> None:
        """Every request to an endpoint meets this fault, until `recover`."""
        self._always[endpoint] = fault

    def go_down_until(self, time: float) -> None:
        """Every request gets 503 until the clock says so."""
        self._down_until = time

    def recover(self) -> None:
        for queue in self._faults.values():
            queue.clear()
        self._always.clear()
        self._down_until = None

    def sent(self, endpoint: str) -> list[dict[str, Any]]:
        """The bodies of the requests to an endpoint."""
        return [body for path, body in self.requests if path == endpoint]

    def taken(self, endpoint: str) -> list[dict[str, Any]]:
        """The bodies of the requests to an endpoint that it did not refuse for what they hold."""
        return [body for path, body in self.taken_requests if path == endpoint]

    def __enter__(self) -> Self:
        standin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Headers and body are two writes: without this the second waits for the first's acknowledgement.
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                standin._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path
        raw = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        with self._lock:
            self.requests.append((path, body if isinstance(body, dict) else {}))
            self.headers.append(dict(handler.headers.items()))
            fault = self._next_fault(path)
        if fault is not None and fault.mode == "error":
            body = fault.body
            if body is None:
                body = json.dumps({} if fault.detail is None else self.refusal(fault.detail))
            _write(handler, fault.status, body, _with_retry_after(fault.headers, fault.retry_after))
            return
        try:
            answer = self.checked(path, handler.headers, raw)
        except RefusedError as refused:
            self.refused.append(refused.detail)
            body = refused.body or self.refusal(refused.detail)
            _write(handler, refused.status, json.dumps(body), refused.headers)
            return
        self.taken_requests.append((path, body))
        if fault is not None and fault.change is not None:
            answer = fault.change(answer)
        text = json.dumps(answer)
        if fault is not None and fault.mode in ("reset", "slow"):
            self._break_off(handler, text, fault.mode)
            return
        _write(handler, 200, text)

    def _next_fault(self, path: str) -> Fault | None:
        if self._down_until is not None and self.now() < self._down_until:
            return Fault(503, "The server is overloaded.")
        queue = self._faults.get(path)
        # A request that the queue lets pass is safe from the lasting fault, too.
        return queue.popleft() if queue else self._always.get(path)

    def _break_off(self, handler: BaseHTTPRequestHandler, text: str, mode: str) -> None:
        data = text.encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[: len(data) // 2])
        handler.wfile.flush()
        if mode == "slow":
            self._end.wait()
        # Close with a reset instead of an orderly end.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.close_connection = True
        handler.connection.close()


@contextmanager
def closed_port() -> Iterator[str]:
    """The address of a port that refuses connections."""
    with socket.socket() as taken:
        # Bound but not listening: nobody else gets it, and it refuses.
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def _with_retry_after(headers: Mapping[str, str], retry_after: str | None) -> dict[str, str]:
    return {**headers, **({} if retry_after is None else {"Retry-After": retry_after})}


def _write(handler: BaseHTTPRequestHandler, status: int, text: str, headers: Mapping[str, str] = {}) -> None:
    data = text.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)
