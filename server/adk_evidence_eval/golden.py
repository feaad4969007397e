"""Golden sets: questions with the graded spans that answer them, and which questions have no answer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adk_evidence.errors import InvalidRequestError
from adk_evidence_eval.lines import Question, read_rows

_HINT = (
    'Each line is {"id": "...", "query": "...", "expected": '
    '[{"corpus", "path", "start_line", "end_line", "grade", "symbol" or "heading"}]}.'
)


class Span(BaseModel):
    """Lines of a file, 1-based and inclusive."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    corpus: str
    path: str
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)

    @model_validator(mode="after")
    def _forward(self) -> Span:
        if self.end_line < self.start_line:
            raise ValueError("end_line comes before start_line")
        return self


class Target(Span):
    """A graded span.

    `symbol` (the qualified name that the span defines) or `heading` (the nearest one above it) and `sha256` (of its
    lines) find the span again in a later version of the file.
    """

    grade: int = Field(default=1, ge=1)
    symbol: str | None = None
    heading: str | None = None
    note: str = ""
    sha256: str | None = None


class GoldenQuestion(Question):
    """A question and what answers it; where nothing does, `answerable` is false and `note` says why.

    `source` is where the question's own words were taken from, if they were: what overlaps it is not counted as a
    result, since any search finds a text by its own words.
    """

    query: str = ""
    category: str = ""
    answerable: bool = True
    note: str = ""
    source: Span | None = None
    expected: tuple[Target, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> GoldenQuestion:
        if self.expected and not self.answerable:
            raise ValueError("it expects something, so it is answerable")
        return self


def read_golden(path: Path, *, ask: bool = False, spans: bool = True) -> dict[str, GoldenQuestion]:
    """Questions by id.

    Args:
        path: JSON lines.
        ask: Whether the questions will be asked, so that each must be one that can be.
        spans: Whether some question must say what is expected.

    Raises:
        InvalidRequestError: The file cannot be read, a line is no question, or no question has a target.
    """
    questions = read_rows(path, GoldenQuestion, _HINT, lambda question: question.request() if ask else None)
    if spans and not any(question.expected for question in questions.values()):
        raise InvalidRequestError(f"No question of {path} says what is expected.", _HINT)
    return questions


def golden_lines(questions: Iterable[GoldenQuestion]) -> str:
    """A golden set as its file holds it; what has its default is left out, but for `answerable`."""
    lines = []
    for question in questions:
        data = question.model_dump(mode="json", exclude_defaults=True)
        data |= {"task_mode": question.task_mode, "answerable": question.answerable}
        order = ("id", "query", "category", "task_mode", "answerable", "note", "source", "expected")
        data |= {"expected": [_target(target) for target in question.expected]}
        lines.append(json.dumps({key: data[key] for key in order if key in data}, ensure_ascii=False) + "\n")
    return "".join(lines)


def _target(target: Target) -> dict[str, object]:
    return {**target.model_dump(mode="json", exclude_defaults=True), "grade": target.grade}
