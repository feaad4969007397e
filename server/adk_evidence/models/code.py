"""The result of a check of code against a version of the ADK."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adk_evidence.models.base import Frozen

ProblemKind = (
    Literal["unread", "import", "name", "keyword", "argument", "extra", "override", "callback", "method"]
    | Literal["await", "deprecated"]
)


class CodeProblem(Frozen):
    """A sentence on code that does not fit a version of the ADK, that is deprecated, or that could not be read."""

    kind: ProblemKind
    line: int = Field(description="Line of the code, from 1.")
    symbol: str = Field(
        description="A path, or a keyword as `google.adk.runners.Runner(app=)`; empty of code that could not be read."
    )
    text: str
    instead: str | None = Field(
        default=None, description="The name or path that the version has, where that is sure or near enough."
    )

    @property
    def is_error(self) -> bool:
        """Whether the code does not fit: deprecated names still work, and another Python may read the code."""
        return self.kind not in ("deprecated", "unread")


class CodeCheck(Frozen):
    """What a check of code against a version of the ADK found, the problems in the order of the lines.

    What the code does not say, such as the class of a parameter without an annotation, is in neither list.
    """

    version: str = Field(description="The google-adk that the code was checked against.")
    problems: tuple[CodeProblem, ...]
    confirmed: tuple[str, ...] = Field(
        description="The names of the ADK in the code that the version has, sorted: paths, and keywords of calls."
    )
    summary: str = Field(description="A sentence on what was checked, which ends every report.")

    @property
    def errors(self) -> int:
        """How many of the problems are errors."""
        return sum(problem.is_error for problem in self.problems)
