"""What was found in a piece of code that was checked against a version of the ADK."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adk_evidence.models.base import Frozen

ProblemKind = Literal["syntax", "import", "name", "keyword", "argument", "override", "await", "deprecated"]


class CodeProblem(Frozen):
    """Something that a version of the ADK has otherwise than the code, in a sentence."""

    kind: ProblemKind
    line: int = Field(description="Line of the code, from 1.")
    symbol: str = Field(
        description="A path, or a keyword as `google.adk.runners.Runner(app=)`; empty where the code does not parse."
    )
    text: str
    instead: str | None = Field(
        default=None, description="The name or path that the version has, where that is sure or near enough."
    )

    @property
    def is_error(self) -> bool:
        """Whether the code fails; deprecated names still work."""
        return self.kind != "deprecated"


class CodeCheck(Frozen):
    """The problems of a piece of code in the order of its lines, and what was confirmed.

    What the code does not say, such as the class of a parameter without an annotation, is in neither.
    """

    version: str = Field(description="The google-adk that the code was checked against.")
    problems: tuple[CodeProblem, ...]
    confirmed: tuple[str, ...] = Field(
        description="The names of the ADK in the code that the version has, sorted: paths, and keywords of calls."
    )
    summary: str = Field(description="A sentence on what was checked, which ends every report.")

    @property
    def errors(self) -> int:
        """How many of the problems make the code fail."""
        return sum(problem.is_error for problem in self.problems)
