"""What a run may cost: it stops before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable

from adk_evidence.embedding.base import Cost, PaidEmbedder
from adk_evidence.errors import CostCapError
from adk_evidence.services.metering import CAP, without_price


def cap_of(embedders: Iterable[object]) -> float | None:
    """The cap of the embedders that cost money, in US dollars; None where none does."""
    return next((each.cap for each in embedders if isinstance(each, PaidEmbedder)), None)


def refuse_above_the_cap(what: str, cost: Cost | None, cap: float | None, instead: str) -> None:
    """Fail if a run would cost too much, or nobody knows how much.

    Args:
        what: What would cost that, as the beginning of a sentence.
        cost: What the run would take; None where no service is paid.
        cap: What it may take; None where no service is paid.
        instead: An alternative to a higher cap, for the hint.

    Raises:
        CostCapError: The run would cost too much.
        SettingsError: The settings name no price.
    """
    if cost is None or cap is None or not cost.tokens:
        return
    if cost.usd is None:
        raise without_price("the embedding model")
    if cost.usd > cap:
        raise CostCapError(
            f"{what} would cost about ${cost.usd:.2f}, more than the cap of ${cap:g}; nothing was spent.",
            f"Raise {CAP}, or {instead}.",
        )
