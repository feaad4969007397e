"""Files of one JSON object a line: questions, golden sets and runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.request import EvidenceRequest, TaskMode
from adk_evidence.validation import first_problem


class Row(BaseModel):
    """A line; other keys than a subclass names are not read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(min_length=1)


class Question(Row):
    """A question of a query file."""

    query: str
    task_mode: TaskMode = "build"

    def request(self) -> EvidenceRequest:
        """The request that asks it.

        Raises:
            ValidationError: The query is empty or too long.
        """
        return EvidenceRequest(query=self.query, task_mode=self.task_mode)


RowT = TypeVar("RowT", bound=Row)


def read_rows(
    path: Path, model: type[RowT], hint: str, check: Callable[[RowT], object] = lambda row: None
) -> dict[str, RowT]:
    """Read a file of rows with unique ids.

    Args:
        path: The file, in UTF-8; blank lines do not count.
        model: What a line must be.
        hint: What a line looks like, for the error.
        check: Raises `ValidationError` for a row that cannot be used.

    Returns:
        The rows by their ids.

    Raises:
        InvalidRequestError: The file cannot be read or has no rows, or a line is not what it must be.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise InvalidRequestError(f"{path} cannot be read: {reason}.", hint) from exc
    rows: dict[str, RowT] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = model.model_validate_json(line)
            check(row)
        except ValidationError as exc:
            message = f"Line {number} of {path} is not valid: {first_problem(exc)}."
            raise InvalidRequestError(message, hint) from exc
        if row.id in first:
            message = f"Line {number} of {path} has the id of line {first[row.id]}, {row.id!r}."
            raise InvalidRequestError(message, hint)
        first[row.id] = number
        rows[row.id] = row
    if not rows:
        raise InvalidRequestError(f"{path} has no lines.", hint)
    return rows
