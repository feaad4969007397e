"""What a run may cost: it stops before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Iterable

from adk_evidence.embedding.base import Cost, PaidEmbedder
from adk_evidence.errors import CostCapError

VOYAGE_CAP = "embedding.voyage.max_cost_usd"


def cap_of(embedders: Iterable[object]) -> float:
    """The lowest cap of those embedders that cost money, in US dollars."""
    return min((each.max_cost_usd for each in embedders if isinstance(each, PaidEmbedder)), default=math.inf)


def refuse_above_the_cap(what: str, cost: Cost | None, cap: float, setting: str, instead: str) -> None:
    """Fail if a run would cost too much.

    Args:
        what: What would cost that, as the beginning of a sentence.
        cost: What the run would take; None where no service is paid.
        cap: What it may take, in US dollars.
        setting: The name of the cap among the settings.
        instead: An alternative to a higher cap, for the hint.

    Raises:
        CostCapError: The run would cost too much.
    """
    if cost is not None and cost.usd > cap:
        raise CostCapError(
            f"{what} would cost about ${cost.usd:.2f}, more than the cap of ${cap:g}; nothing was spent.",
            f"Raise {setting}, or {instead}.",
        )
