"""What is used of paid models: counted, priced by the settings, and kept below a cap."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from adk_evidence.errors import CostCapError, ServiceError, SettingsError
from adk_evidence.settings import EmbeddingSettings

# The settings of prices and of the cap.
PRICES = "embedding.usd_per_million_tokens"
CAP = "embedding.max_cost_usd"
# List prices of November 2026; a contract may have others, which the settings name.
LIST_PRICES: Mapping[str, float] = {
    "voyage-context-3": 0.18,
    "voyage-code-3": 0.18,
    "rerank-2.5": 0.05,
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.1,
}


class RequestTooLargeError(ServiceError):
    """The service takes no request of this size; the same content in smaller requests may pass."""


@dataclass(frozen=True)
class Usage:
    """What was used of a model."""

    requests: int = 0
    tokens: int = 0


def prices(settings: EmbeddingSettings) -> Mapping[str, float]:
    """US dollars for a million tokens, by model."""
    return {**LIST_PRICES, **settings.usd_per_million_tokens}


def without_price(what: str) -> SettingsError:
    """The error for something that has no price."""
    return SettingsError(
        f"The settings name no price for {what}, so that no cap can hold.",
        f"Add the model to {PRICES}, with 0 for a service that costs nothing.",
    )


class Meter:
    """Counts the requests and tokens of models. `cap` is what a run may cost in US dollars. Safe between threads."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._prices = prices(settings)
        self.cap = settings.max_cost_usd
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
            raise without_price(model)
        if spent + price > self.cap:
            raise CostCapError(
                f"The next request would cost more than the cap of ${self.cap:g} leaves (${spent:.2f} are spent).",
                f"Raise {CAP}; finished vectors are kept.",
            )
