"""Time that passes only when somebody waits."""

from __future__ import annotations

import threading
import time

from adk_evidence.services.resilience import Clock


class FakeTime:
    """`clock` is what the product gets; `waits` are all waits so far, in seconds.

    Args:
        jitter: What the clock's random share always is.
        running: Whether real time passes as well, for tests of what takes it.
    """

    def __init__(self, jitter: float = 0.0, *, running: bool = False) -> None:
        self._skipped = 1000.0
        self._running = running
        self.waits: list[float] = []
        self._lock = threading.Lock()
        self.clock = Clock(now=lambda: self.time, sleep=self._sleep, jitter=lambda: jitter)

    @property
    def time(self) -> float:
        return self._skipped + (time.monotonic() if self._running else 0.0)

    def _sleep(self, seconds: float) -> None:
        with self._lock:
            self._skipped += seconds
            self.waits.append(seconds)

    @property
    def waited(self) -> float:
        return sum(self.waits)
