"""One event loop in a thread of its own, for asynchronous clients behind synchronous calls.

The caller may be inside a loop of its own, and a client's connections belong to the loop that opened them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop_in_use: asyncio.AbstractEventLoop | None = None


def run_within(request: Coroutine[Any, Any, T], seconds: float) -> T:
    """Run a coroutine on the shared loop and wait for its result; it is cancelled when the wait ends early.

    Raises:
        TimeoutError: It did not end in time.
    """
    future = asyncio.run_coroutine_threadsafe(request, _loop())
    try:
        return future.result(seconds)
    except BaseException:
        future.cancel()
        raise


def _loop() -> asyncio.AbstractEventLoop:
    global _loop_in_use
    with _lock:
        if _loop_in_use is None:
            _loop_in_use = asyncio.new_event_loop()
            threading.Thread(target=_loop_in_use.run_forever, name="adk-evidence-http", daemon=True).start()
        return _loop_in_use
