"""What is used of paid models: counted, priced by the settings, and kept below a cap."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from adk_evidence.errors import CostCapError, ServiceError, SettingsError


class RequestTooLargeError(ServiceError):
    """The service takes no request of this size; the same content in smaller requests may pass."""


@dataclass(frozen=True)
class Usage:
    """What was used of a model."""

    requests: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class CostCap:
    """What a run may cost in US dollars, and the section of the settings that says so and has the prices."""

    usd: float
    section: str

    @property
    def setting(self) -> str:
        return f"{self.section}.max_cost_usd"

    def without_price(self, what: str) -> SettingsError:
        """The error for something that has no price."""
        return SettingsError(
            f"The settings name no price for {what}, so that no cap can hold.",
            f"Add the model to {self.section}.usd_per_million_tokens, with 0 for a service that costs nothing.",
        )


class Meter:
    """Counts the requests and tokens of models. Safe between threads."""

    def __init__(self, usd_per_million_tokens: Mapping[str, float], cap: CostCap) -> None:
        self._prices = usd_per_million_tokens
        self.cap = cap
        self._usage: dict[str, Usage] = {}
        self._lock = threading.Lock()

    @property
    def usage(self) -> dict[str, Usage]:
        """What was used so far, by model, as the service counts it."""
        with self._lock:
            return dict(self._usage)

    def price(self, model: str, tokens: int) -> float | None:
        """US dollars for tokens of a model; None where the settings name no price for the model."""
        price = self._prices.get(model)
        return None if price is None else price * tokens / 1_000_000

    def count(self, model: str, tokens: int) -> None:
        """Add one request."""
        with self._lock:
            before = self._usage.get(model, Usage())
            self._usage[model] = Usage(before.requests + 1, before.tokens + tokens)

    def stay_below_the_cap(self, model: str, tokens: int) -> None:
        """Refuse a request whose tokens would cost more than the cap leaves.

        Raises:
            CostCapError: The request would exceed the cap.
            SettingsError: The model has no price.
        """
        spent = sum(self.price(name, usage.tokens) or 0.0 for name, usage in self.usage.items())
        price = self.price(model, tokens)
        if price is None:
            raise self.cap.without_price(model)
        if spent + price > self.cap.usd:
            raise CostCapError(
                f"The next request would cost more than the cap of ${self.cap.usd:g} leaves (${spent:.2f} are spent).",
                f"Raise {self.cap.setting}; finished vectors are kept.",
            )
