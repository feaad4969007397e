"""Retries, rate limit, circuit breaker and caches, on a clock that only waiting moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.errors import ServiceError
from adk_evidence.services.resilience import (
    MAX_RETRY_AFTER_SECONDS,
    CacheAside,
    CircuitBreaker,
    Deadline,
    RetryPolicy,
    TokenBucket,
    TransientError,
    call_with_retries,
    pause,
)
from tests.clocks import FakeTime

BACKOFF = (1.0, 2.0, 4.0)


def failing(*failures: Exception) -> Callable[[Deadline], str]:
    """An action that fails so often, then succeeds."""
    left: Iterator[Exception] = iter(failures)

    def action(deadline: Deadline) -> str:
        for failure in left:
            raise failure
        return "done"

    return action


def busy(retry_after: float | None = None) -> TransientError:
    return TransientError("The service is busy.", retry_after=retry_after)


class TestRetries:
    def test_the_waits_are_those_of_the_policy_and_are_told(self) -> None:
        time, notes = FakeTime(), []
        action = failing(busy(), busy(), busy())
        assert call_with_retries(action, RetryPolicy(4, BACKOFF), time.clock, notice=notes.append) == "done"
        assert time.waited == sum(BACKOFF)
        assert notes[0] == "The service is busy. The next try is in 1 s."

    def test_jitter_makes_waits_longer_and_never_shorter(self) -> None:
        time = FakeTime(jitter=1.0)
        call_with_retries(failing(busy()), RetryPolicy(2, BACKOFF), time.clock)
        assert time.waited == pytest.approx(1.25)

    def test_the_longer_of_the_back_off_and_of_what_the_service_asks_for_is_waited(self) -> None:
        time = FakeTime()
        call_with_retries(failing(busy(0.5), busy(3.0), busy()), RetryPolicy(5, BACKOFF), time.clock)
        assert time.waits == [1.0, 3.0, 4.0]

    def test_the_last_failure_is_raised_when_all_tries_are_spent(self) -> None:
        time = FakeTime()
        with pytest.raises(TransientError, match="busy"):
            call_with_retries(failing(*[busy()] * 3), RetryPolicy(3, BACKOFF), time.clock)
        assert time.waited == 3.0

    def test_another_failure_is_not_tried_again(self) -> None:
        time = FakeTime()
        with pytest.raises(ServiceError, match="no key"):
            call_with_retries(failing(ServiceError("There is no key.")), RetryPolicy(3, BACKOFF), time.clock)
        assert time.waited == 0

    def test_a_wait_that_would_pass_the_deadline_is_not_begun(self) -> None:
        time = FakeTime()
        with pytest.raises(TransientError):
            call_with_retries(failing(*[busy()] * 9), RetryPolicy(9, BACKOFF, deadline_seconds=4.0), time.clock)
        assert time.waited == 3.0

    def test_a_pause_longer_than_anyone_waits_for_is_told_instead(self) -> None:
        time = FakeTime()
        with pytest.raises(TransientError):
            call_with_retries(failing(busy(MAX_RETRY_AFTER_SECONDS + 1)), RetryPolicy(9, BACKOFF), time.clock)
        assert time.waited == 0

    def test_a_wait_can_be_stopped_within_a_second(self) -> None:
        time = FakeTime()

        def check() -> None:
            if time.waited >= 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pause(time.clock, 60.0, check)
        assert time.waited == 3


class TestRateLimit:
    def test_a_tenth_passes_at_once_and_more_waits_its_turn(self) -> None:
        time = FakeTime()
        bucket = TokenBucket(60, time.clock)
        assert [bucket.reserve(1) for _ in range(6)] == [0.0] * 6
        assert bucket.reserve(1) == pytest.approx(60 / 54)
        assert bucket.reserve(1) == pytest.approx(120 / 54)
        time.clock.sleep(20)
        assert bucket.reserve(5) == 0

    def test_one_call_passes_at_once_however_low_the_limit(self) -> None:
        bucket = TokenBucket(3, FakeTime().clock)
        assert bucket.reserve(1) == 0
        assert bucket.reserve(1) == pytest.approx(30)

    def test_what_is_not_used_is_given_back(self) -> None:
        bucket = TokenBucket(60, FakeTime().clock)
        bucket.reserve(60)
        bucket.give_back(60)
        assert bucket.reserve(6) == 0

    def test_more_than_a_minutes_amount_waits_no_longer_than_a_minutes(self) -> None:
        bucket = TokenBucket(60, FakeTime().clock)
        assert bucket.reserve(1000) == pytest.approx(60)

    @given(st.lists(st.tuples(st.floats(0, 30), st.integers(1, 10)), max_size=60))
    def test_no_minute_holds_more_than_the_limit(self, steps: list[tuple[float, int]]) -> None:
        time = FakeTime()
        bucket = TokenBucket(100, time.clock)
        used: list[tuple[float, int]] = []
        for passed, amount in steps:
            time.clock.sleep(passed)
            time.clock.sleep(bucket.reserve(amount))
            used.append((time.time, amount))
        for start, _ in used:
            assert sum(amount for when, amount in used if start <= when < start + 59.999) <= 100


class TestBreaker:
    def fail(self, breaker: CircuitBreaker, failure: Exception) -> None:
        def action() -> None:
            raise failure

        with pytest.raises(type(failure)) as caught:
            breaker.call(action)
        assert caught.value is failure

    def assert_open(self, breaker: CircuitBreaker) -> None:
        with pytest.raises(ServiceError, match="in a row and is not asked for a while"):
            breaker.call(lambda: pytest.fail("it was asked"))

    def test_it_opens_after_failures_in_a_row_and_refuses_at_once(self) -> None:
        time = FakeTime()
        breaker = CircuitBreaker("The service", time.clock, 2)
        self.fail(breaker, busy())
        assert breaker.call(lambda: "fine") == "fine"
        self.fail(breaker, busy())
        self.fail(breaker, busy())
        with pytest.raises(ServiceError, match="failed 2 times in a row") as caught:
            breaker.call(lambda: pytest.fail("it was asked"))
        assert "30 s" in caught.value.hint

    def test_after_a_while_one_probe_passes_and_closes_it(self) -> None:
        time = FakeTime()
        breaker = CircuitBreaker("The service", time.clock, 1)
        self.fail(breaker, busy())
        time.clock.sleep(30)

        def probe() -> str:
            self.assert_open(breaker)
            return "fine"

        assert breaker.call(probe) == "fine"
        self.fail(breaker, KeyError("closed: the call passes"))
        assert breaker.call(lambda: "fine") == "fine"

    def test_a_probe_that_fails_opens_it_again(self) -> None:
        time = FakeTime()
        breaker = CircuitBreaker("The service", time.clock, 2)
        self.fail(breaker, busy())
        self.fail(breaker, busy())
        time.clock.sleep(31)
        self.fail(breaker, busy())
        self.assert_open(breaker)

    def test_a_refused_request_is_not_the_services_failure(self) -> None:
        breaker = CircuitBreaker("The service", FakeTime().clock, 1)
        self.fail(breaker, ServiceError("Your key is wrong."))
        self.fail(breaker, KeyError("ours"))
        assert breaker.call(lambda: "fine") == "fine"

    def test_a_probe_that_ends_without_a_verdict_leaves_room_for_the_next(self) -> None:
        time = FakeTime()
        breaker = CircuitBreaker("The service", time.clock, 1)
        self.fail(breaker, busy())
        time.clock.sleep(31)
        self.fail(breaker, ServiceError("Your key is wrong."))
        assert breaker.call(lambda: "fine") == "fine"


class TestCacheAside:
    def test_what_was_made_is_kept_up_to_a_number(self) -> None:
        cache: CacheAside[str] = CacheAside(2)
        made: list[str] = []

        def make(name: str) -> Callable[[], str]:
            return lambda: made.append(name) or name  # type: ignore[func-returns-value]

        for name in ("a", "b", "a", "c", "a", "b"):
            assert cache.get(name, make(name)) == name
        assert made == ["a", "b", "c", "b"]

    def test_a_failure_is_not_kept(self) -> None:
        cache: CacheAside[str] = CacheAside(2)
        with pytest.raises(ZeroDivisionError):
            cache.get("a", lambda: str(1 // 0))
        assert cache.get("a", lambda: "fine") == "fine"
