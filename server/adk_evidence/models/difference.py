"""What differs between two versions of the code: what `adk-evidence diff` answers with."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adk_evidence.models.base import Frozen
from adk_evidence.models.pack import LineSpan, Verification

# In the order of a list: what breaks code comes first.
ChangeKind = Literal["gone", "renamed", "moved", "incompatible", "deprecated", "changed", "text", "added"]
DefinitionKind = Literal["module", "class", "function", "method", "property", "field", "attribute", "variable"]


class Place(Frozen):
    """A definition in one of the two versions."""

    name: str = Field(description="The path that the definition is imported by; of a member, behind its class.")
    citation: str
    path: str
    lines: LineSpan
    signature: str = Field(default="", description="On one line, without decorators.")
    verification: Verification


class Change(Frozen):
    """How one definition differs."""

    change: ChangeKind
    breaking: bool = Field(description="Whether code that works with the earlier version may fail.")
    kind: DefinitionKind
    name: str = Field(description="The public path; of what both versions have, the path in the earlier one.")
    details: tuple[str, ...] = Field(default=(), description="Each difference in words, breaking ones first.")
    since: str | None = Field(default=None, description="The released version that made the difference, where known.")
    use: str | None = Field(default=None, description="What takes the place of a name, as far as the code proves it.")
    members: tuple[str, ...] = Field(default=(), description="Names that came or went with a module or class.")
    before: Place | None = None
    after: Place | None = None
    diff: str = Field(default="", description="Unified diff of the lines, where it was asked for.")


class Counts(Frozen):
    """How many definitions differ, by the kind of their change."""

    breaking: int
    by_change: dict[ChangeKind, int]


class SymbolDiff(Frozen):
    """What differs in the public API between two versions, breaking changes first."""

    before: str = Field(description="The earlier version, as it was asked for by `--from`.")
    after: str
    symbols: tuple[str, ...] = Field(
        default=(), description="Paths that the list is limited to; empty for the whole package."
    )
    counts: Counts
    changes: tuple[Change, ...]
    more: int = Field(default=0, description="How many changes are not listed.")
    unchanged: tuple[Place, ...] = Field(
        default=(), description="Definitions that were asked for and do not differ, each in both versions."
    )
