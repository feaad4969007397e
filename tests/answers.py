"""What tests read of an answer."""

from __future__ import annotations

from adk_evidence.models.pack import EvidencePack


def told(pack: EvidencePack) -> tuple[str, ...]:
    """The warnings of a pack, as surfaces show them: `code: sentence`."""
    return tuple(map(str, pack.warnings))


def codes(pack: EvidencePack) -> list[str]:
    """The codes of a pack's warnings."""
    return [warning.code for warning in pack.warnings]
