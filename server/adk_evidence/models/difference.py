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
    warnings: tuple[str, ...] = ()


# What became of a result, in the order of a list.
ResultState = Literal["changed", "only before", "only after", "moved", "same"]


class CitedText(Frozen):
    """A text in one of the two versions."""

    citation: str
    path: str
    lines: LineSpan | None
    rank: int | None = Field(description="Its place in the answer of its version; null where the answer lacks it.")
    verification: Verification


class ResultDiff(Frozen):
    """A piece of code that answers the question in one version, and what it is in the other."""

    state: ResultState
    name: str = Field(description="The definition, or the file where the text is of none.")
    details: tuple[str, ...] = Field(default=(), description="Each difference in words, breaking ones first.")
    before: CitedText | None = None
    after: CitedText | None = None
    diff: str = Field(default="", description="Unified diff of the lines, where they changed.")


class DocResult(Frozen):
    """A section of the docs that answers the question. Both versions have the same docs."""

    citation: str
    title: str
    lines: LineSpan | None
    rank_before: int | None
    rank_after: int | None
    versions: tuple[str, ...] = Field(
        default=(), description="A sentence for each import that the section shows and only one version has."
    )
    verification: Verification


class EvidenceDiff(Frozen):
    """How the evidence on a question differs between two versions."""

    query: str
    before: str
    after: str
    packs: tuple[str, str] = Field(description="The ids of the two answers.")
    by_state: dict[ResultState, int]
    results: tuple[ResultDiff, ...]
    docs: tuple[DocResult, ...]
    more: int = Field(default=0, description="How many results are not listed.")
    warnings: tuple[str, ...] = ()
