"""What an upgrade of google-adk means for a project: what `adk-evidence upgrade` answers with."""

from __future__ import annotations

from pydantic import Field

from adk_evidence.models.base import Frozen
from adk_evidence.models.difference import Change


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
