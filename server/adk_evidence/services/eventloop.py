"""One event loop in a separate thread, for asynchronous clients behind synchronous calls.

The caller may itself run inside an event loop, and connections belong to the loop that opened them.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from adk_evidence.errors import CallCancelledError

T = TypeVar("T")
# Says whether nobody waits for the result any more.
Cancelled = Callable[[], bool]

# How often a wait checks whether its result is still wanted.
POLL_SECONDS = 0.1

# A context variable, because the code that calls a service lies deep below the code that knows whether anybody still
# waits. Threads do not inherit the variable: who hands work to a thread runs the work in a copy of the context.
_cancelled: ContextVar[Cancelled | None] = ContextVar("cancelled", default=None)

_lock = threading.Lock()
_loop_in_use: asyncio.AbstractEventLoop | None = None


def run_within(request: Coroutine[Any, Any, T], seconds: float) -> T:
    """Run a coroutine on the shared loop and wait for its result; the coroutine is cancelled when the wait ends early.

    Raises:
        TimeoutError: The coroutine did not end in time.
        CallCancelledError: Inside `cancellable`, nobody waits any more.
    """
    future = asyncio.run_coroutine_threadsafe(request, _loop())
    end = time.monotonic() + seconds
    try:
        while not future.done() and (left := end - time.monotonic()) > 0:
            stop_if_cancelled()
            wait((future,), min(left, POLL_SECONDS))
        return future.result(0)
    except BaseException:
        future.cancel()
        raise


def close_within(closing: Coroutine[Any, Any, object], seconds: float) -> None:
    """Run a coroutine that closes connections; a connection that does not close in time goes with the process."""
    with suppress(TimeoutError):
        run_within(closing, seconds)


@contextmanager
def cancellable(cancelled: Cancelled | None) -> Iterator[None]:
    """Calls of services in this context end soon after `cancelled` returns true; it is called ten times a second."""
    token = _cancelled.set(cancelled)
    try:
        yield
    finally:
        _cancelled.reset(token)


def stop_if_cancelled() -> None:
    """End a call with `CallCancelledError` if, inside `cancellable`, nobody waits for the call any more."""
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled():
        raise CallCancelledError("Nobody waits for the service's answer any more.")


def _loop() -> asyncio.AbstractEventLoop:
    global _loop_in_use
    with _lock:
        if _loop_in_use is None:
            _loop_in_use = asyncio.new_event_loop()
            threading.Thread(target=_loop_in_use.run_forever, name="adk-evidence-http", daemon=True).start()
        return _loop_in_use
