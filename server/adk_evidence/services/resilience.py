"""Calling services that fail: retries with back-off, a rate limit, a circuit breaker and a bounded cache.

All clients of services use these. No library does the retrying: tenacity saves fewer lines than adapting to its state
takes. pybreaker holds a lock for the length of a call, so that questions would wait for each other, and reads the
system's clock. Here every clock, and every wait, is injected.
"""

from __future__ import annotations

import email.utils
import math
import random
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from adk_evidence.errors import EvidenceError, ServiceError
from adk_evidence.models.load import CacheUse

T = TypeVar("T")

# Added to each wait, as a share of it, so that clients that failed together do not come back together.
JITTER = 0.25
# Where a service asks for a longer pause, the call fails instead of waiting.
MAX_RETRY_AFTER_SECONDS = 120.0
_SLICE_SECONDS = 1.0
_BURST = 0.1


@dataclass(frozen=True)
class Clock:
    """Seconds that pass, waiting, and a random share of 1."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    jitter: Callable[[], float] = random.random  # no secret depends on it


class TransientError(ServiceError):
    """A failure that another try may mend; `retry_after` is the seconds that the service asks to wait, if it does."""

    transient = True

    def __init__(self, message: str, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after


def is_transient(failure: BaseException) -> bool:
    """Whether another try may mend a failure: a `TransientError`, or another error with a true `transient`."""
    return bool(getattr(failure, "transient", False))


class Deadline:
    """A point in time; `None` seconds: never."""

    def __init__(self, clock: Clock, seconds: float | None) -> None:
        self._clock = clock
        self._end = math.inf if seconds is None else clock.now() + seconds

    def remaining(self, limit: float) -> float:
        """Seconds that a step which may take `limit` has, at least a little above 0."""
        return max(0.001, min(limit, self._end - self._clock.now()))

    def allows(self, seconds: float) -> bool:
        """Whether a wait of this length ends before the deadline; an infinite wait never does."""
        return self._clock.now() + seconds < self._end


@dataclass(frozen=True)
class RetryPolicy:
    """How often a call is tried and how long it waits between two tries.

    Attributes:
        attempts: Tries in all.
        backoff: Seconds before the second, third, ... try; the last value goes on.
        deadline_seconds: All tries and waits together; None: no limit.
    """

    attempts: int
    backoff: Sequence[float]
    deadline_seconds: float | None = None

    def wait(self, tries: int, retry_after: float | None, jitter: float) -> float:
        """Seconds to wait after so many tries, at least what the service asks for; infinite where that is too long."""
        if retry_after is not None and retry_after > MAX_RETRY_AFTER_SECONDS:
            return math.inf
        return max(self.backoff[min(tries, len(self.backoff)) - 1], retry_after or 0.0) * (1 + JITTER * jitter)


def call_with_retries(
    action: Callable[[Deadline], T],
    policy: RetryPolicy,
    clock: Clock,
    *,
    notice: Callable[[str], None] | None = None,
    check: Callable[[], None] | None = None,
) -> T:
    """Call an action until it succeeds, fails with an error that is not transient, or the policy is exhausted.

    The action gets the deadline of all tries. `notice` gets a sentence before each wait; `check` is called once a
    second during a wait and may raise to stop.
    """
    deadline = Deadline(clock, policy.deadline_seconds)
    tries = 0
    while True:
        tries += 1
        try:
            return action(deadline)
        except EvidenceError as exc:
            if not is_transient(exc) or tries >= policy.attempts:
                raise
            seconds = policy.wait(tries, getattr(exc, "retry_after", None), clock.jitter())
            if not deadline.allows(seconds):
                raise
            if notice is not None:
                notice(f"{exc.message} The next try is in {seconds:.0f} s.")
        pause(clock, seconds, check)


def pause(clock: Clock, seconds: float, check: Callable[[], None] | None = None) -> None:
    """Wait, and call `check` once a second, which may raise to stop."""
    if check is None:
        clock.sleep(seconds)
        return
    end = clock.now() + seconds
    while (left := end - clock.now()) > 0:
        check()
        clock.sleep(min(left, _SLICE_SECONDS))


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """The seconds that an answer's `Retry-After` asks to wait, from a number or a date; None without a valid one."""
    value = headers.get("Retry-After") or headers.get("retry-after")
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


class TokenBucket:
    """A rate limit: a tenth of a minute's amount may pass at once, the rest evenly. Safe between threads.

    Both together are the amount of a minute, so that no minute of the service's own count, which may begin at any
    time, exceeds it. One call may always pass at once.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._limit = float(per_minute)
        self._capacity = max(1.0, per_minute * _BURST)
        self._per_second = max(per_minute - self._capacity, per_minute / 2) / 60
        self._clock = clock
        self._level = self._capacity
        self._filled = clock.now()
        self._lock = threading.Lock()

    def reserve(self, amount: float) -> float:
        """Take an amount now and return the seconds to wait before using it.

        More than the amount of a minute counts as that amount: it could never be reserved.
        """
        with self._lock:
            now = self._clock.now()
            self._level = min(self._capacity, self._level + (now - self._filled) * self._per_second)
            self._filled = now
            self._level -= min(amount, self._limit)
            return max(0.0, -self._level / self._per_second)

    def give_back(self, amount: float) -> None:
        """Return an amount that was reserved and not used."""
        with self._lock:
            self._level = min(self._capacity, self._level + min(amount, self._limit))


# A single failure may be chance, and a service that restarts is back within a minute.
BREAKER_FAILURES = 3
BREAKER_SECONDS = 30.0


class CircuitBreaker:
    """Stops calling a service that keeps failing, and lets one call try again after a while.

    Closed: calls pass; `failures` in a row open the circuit. Open: calls are refused at once. After `seconds`, one
    call passes as a probe, and the others are refused until the probe has ended. Safe between threads.
    """

    def __init__(
        self, service: str, clock: Clock, failures: int = BREAKER_FAILURES, seconds: float = BREAKER_SECONDS
    ) -> None:
        self._service = service
        self._failures = failures
        self._seconds = seconds
        self._clock = clock
        self._count = 0
        self._opened: float | None = None
        self._probing = False
        self._lock = threading.Lock()

    def call(self, action: Callable[[], T]) -> T:
        """Call an action, or raise `ServiceError` while the circuit is open.

        Only transient errors count as failures of the service.
        """
        with self._lock:
            if self._opened is not None:
                left = self._seconds - (self._clock.now() - self._opened)
                if left > 0 or self._probing:
                    raise ServiceError(
                        f"{self._service} failed {self._count} times in a row and is not asked for a while.",
                        f"It is tried again in {max(1.0, left):.0f} s.",
                    )
                self._probing = True
        try:
            result = action()
        except BaseException as exc:
            with self._lock:
                self._probing = False
                # Else the service answered, or nobody waits for it any more: neither says that it is down.
                if is_transient(exc):
                    self._count += 1
                    if self._count >= self._failures:
                        self._opened = self._clock.now()
            raise
        with self._lock:
            self._count, self._opened, self._probing = 0, None, False
        return result


class CacheAside(Generic[T]):
    """Keeps the results that were used last; failures are not kept. Safe between threads."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = 0

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The kept result, or a new one; two threads may both make it."""
        with self._lock:
            if key in self._kept:
                self._hits += 1
                self._kept.move_to_end(key)
                return self._kept[key]
            self._misses += 1
        made = make()
        with self._lock:
            self._kept[key] = made
            self._kept.move_to_end(key)
            while len(self._kept) > self._entries:
                self._kept.popitem(last=False)
        return made

    def peek(self, key: Hashable) -> T | None:
        """The kept result, or None; nothing is made, and nothing is counted."""
        with self._lock:
            return self._kept.get(key)

    def use(self, name: str) -> CacheUse:
        """How full the cache is, and how often it had what was asked for."""
        with self._lock:
            limit = f"{self._entries} entries"
            return CacheUse.of(name, entries=len(self._kept), limit=limit, hits=self._hits, misses=self._misses)
