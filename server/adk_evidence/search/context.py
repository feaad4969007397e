"""What a request carries through every stage and thread: cancellation, time budget, failures, warnings and timings."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

from adk_evidence.admission import waited_ms
from adk_evidence.errors import CollectionUnavailableError, RequestCancelledError
from adk_evidence.models.chunk import Kind
from adk_evidence.models.warning import Warning
from adk_evidence.render import wording
from adk_evidence.services.eventloop import Cancelled, cancellable

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Failures:
    """The parts that failed in a request, which does not ask them again: it would only wait for another time-out."""

    collections: dict[Kind, CollectionUnavailableError] = field(default_factory=dict)
    dense: set[Kind] = field(default_factory=set)
    adapter: bool = False
    sparse: bool = False
    reranker: bool = False


@dataclass
class Context:
    """The context of a session, and of each request within the session.

    Args:
        cancelled: Says whether the caller has gone.
        logged: Whether retrievals are written to the event log. Evaluation and warm-up are not.
        question_logged: Whether the event has the text of the question, and not only its hash.
        strict: Whether a part that fails ends the request, instead of a warning.
        budget_ms: Soft time budget, counted from now on; None or 0 for no limit.
        waited_ms: What the request has spent of the budget before, while it waited for its turn.
    """

    cancelled: Cancelled | None = None
    logged: bool = field(default=True, kw_only=True)
    question_logged: bool = field(default=True, kw_only=True)
    strict: bool = field(default=False, kw_only=True)
    budget_ms: int | None = field(default=None, kw_only=True)
    waited_ms: float = field(default_factory=waited_ms, kw_only=True)
    timings_ms: dict[str, float] = field(default_factory=dict, init=False)
    failed: Failures = field(default_factory=Failures, init=False)
    _warnings: dict[Warning, None] = field(default_factory=dict, init=False)
    _begin: float = field(default_factory=time.monotonic, init=False)

    def for_request(self, *, strict: bool, budget_ms: int | None) -> Context:
        """The context of one request: the same cancellation, but the request's limits, failures and warnings."""
        return replace(self, strict=strict, budget_ms=budget_ms)

    @property
    def warnings(self) -> list[Warning]:
        """Every warning once, in the order in which they came."""
        return list(self._warnings)

    def rounded_timings(self) -> dict[str, float]:
        """Milliseconds of each stage."""
        return {name: round(value, 2) for name, value in self.timings_ms.items()}

    def warn(self, warning: Warning) -> None:
        self._warnings.setdefault(warning)

    def without_collection(self, kind: Kind, failure: CollectionUnavailableError) -> None:
        """Go on without a collection; in strict mode, raise its failure."""
        if self.strict:
            raise failure
        self.failed.collections.setdefault(kind, failure)
        self.warn(wording.unavailable("collection_unavailable", failure))

    def may_spend(self, what: str) -> bool:
        """Whether the time budget allows an optional stage; a skipped stage is a warning."""
        if not self.budget_ms or time.monotonic() < self._begin + (self.budget_ms - self.waited_ms) / 1000:
            return True
        self.warn(wording.time_budget(what))
        return False

    def stop_if_cancelled(self) -> None:
        """Raise `RequestCancelledError` if the caller has gone."""
        if self.cancelled is not None and self.cancelled():
            raise RequestCancelledError("The request was cancelled.")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage. It does not begin for a caller that has gone, and its calls of services end soon after.

        Raises:
            RequestCancelledError: The caller has gone.
        """
        self.stop_if_cancelled()
        begin = time.perf_counter()
        try:
            with cancellable(self.cancelled):
                yield
        finally:
            self.timings_ms[name] = self.timings_ms.get(name, 0.0) + (time.perf_counter() - begin) * 1000

    def submit(self, threads: Executor, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a part of a stage in another thread, whose calls of services end with the request as well."""
        return threads.submit(copy_context().run, functools.partial(function, *args, **kwargs))
