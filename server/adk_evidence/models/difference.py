"""What differs between two versions of the code, for `adk-evidence diff`, and for a project, for `upgrade`."""

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


class UpgradeProblem(Frozen):
    """A line that does not fit the later version, or that uses what it calls deprecated."""

    path: str
    line: int = Field(description="From 1.")
    code: str = Field(description="The rule, as of `lint`: `missing-await`.")
    symbol: str
    text: str
    since: str | None = Field(default=None, description="The release since which the line is wrong, where known.")
    fix: str | None = Field(default=None, description="What would mend the line.")
    certain: bool = Field(default=False, description="Whether `--fix` mends the line, not `--fix --unsafe` alone.")
    citation: str = Field(default="", description="Where the code of the later version shows that.")


class UsedChange(Frozen):
    """A name that stays, and behaves otherwise: only what may matter to those who use it."""

    change: Change
    uses: tuple[str, ...] = Field(description="Where the project uses the name, as `path:line`, the first places.")
    more: int = Field(default=0, description="How many further places use it.")


class DocsPage(Frozen):
    """A section of the docs that names what a problem is about."""

    symbol: str
    title: str
    citation: str


class Upgrade(Frozen):
    """What an upgrade of a folder means."""

    before: str
    after: str
    taken_from: str = Field(description="Where the earlier version was read, e.g. `uv.lock`; empty where it was given.")
    files: int
    unread: tuple[str, ...] = Field(default=(), description="Files that cannot be read as Python.")
    breaks: tuple[UpgradeProblem, ...] = Field(description="What fits the earlier version and not the later one.")
    wrong_before: tuple[UpgradeProblem, ...] = Field(description="What fits neither version.")
    deprecated: tuple[UpgradeProblem, ...]
    changed: tuple[UsedChange, ...]
    right_after: int = Field(default=0, description="How many problems of the earlier version are none in the later.")
    pages: tuple[DocsPage, ...] = ()
    left_out: tuple[str, ...] = Field(default=(), description="What could not be looked at, in sentences.")

    @property
    def problems(self) -> tuple[UpgradeProblem, ...]:
        """All lines that do not fit the later version."""
        return (*self.breaks, *self.wrong_before)
