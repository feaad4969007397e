"""Time that passes only when somebody waits."""

from __future__ import annotations

import threading

from adk_evidence.resilience import Clock


class FakeTime:
    """`clock` is what the product gets; `waits` are all waits so far, in seconds."""

    def __init__(self, jitter: float = 0.0) -> None:
        self.time = 1000.0
        self.waits: list[float] = []
        self._lock = threading.Lock()
        self.clock = Clock(now=lambda: self.time, sleep=self._sleep, jitter=lambda: jitter)

    def _sleep(self, seconds: float) -> None:
        with self._lock:
            self.time += seconds
            self.waits.append(seconds)

    @property
    def waited(self) -> float:
        return sum(self.waits)
