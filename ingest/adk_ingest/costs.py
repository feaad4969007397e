"""The cap on what a run may spend on a paid service."""

from __future__ import annotations

from collections.abc import Iterable

from adk_evidence.embedding.base import Cost, PaidEmbedder
from adk_evidence.errors import CostCapError


def refuse_above_the_cap(cost: Cost | None, embedders: Iterable[object], instead: str) -> None:
    """Stop before anything is spent where all of it would cost too much.

    Args:
        cost: What the run would take; None where no service is paid.
        embedders: Those that it asks; the lowest cap of the paid ones counts.
        instead: What else to do than to raise the cap, for the hint.

    Raises:
        CostCapError: It would.
    """
    caps = [each.max_cost_usd for each in embedders if isinstance(each, PaidEmbedder)]
    if cost is not None and cost.usd > (cap := min(caps)):
        raise CostCapError(
            f"Embedding would cost about ${cost.usd:.2f}, more than the cap of ${cap:g}; nothing was spent.",
            f"Raise embedding.voyage.max_cost_usd, or {instead}.",
        )
