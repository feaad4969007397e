"""Files of one JSON object a line: questions, golden sets and runs."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adk_evidence.errors import InvalidRequestError
from adk_evidence.validation import first_problem


class Row(BaseModel):
    """A line; other keys than a subclass names are not read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(min_length=1)


RowT = TypeVar("RowT", bound=Row)


def read_rows(path: Path, model: type[RowT], hint: str) -> dict[int, RowT]:
    """Read a file of rows, each with an id of its own.

    Args:
        path: The file, in UTF-8; blank lines do not count.
        model: What a line must be.
        hint: What a line looks like, for the error.

    Returns:
        The rows by their line numbers, from 1.

    Raises:
        InvalidRequestError: The file cannot be read or has no rows, or a line is not what it must be.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise InvalidRequestError(f"{path} cannot be read: {reason}.", hint) from exc
    rows: dict[int, RowT] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = model.model_validate_json(line)
        except ValidationError as exc:
            raise bad_row(path, number, exc, hint) from exc
        if row.id in first:
            message = f"Line {number} of {path} has the id of line {first[row.id]}, {row.id!r}."
            raise InvalidRequestError(message, hint)
        first[row.id] = number
        rows[number] = row
    if not rows:
        raise InvalidRequestError(f"{path} has no lines.", hint)
    return rows


def bad_row(path: Path, number: int, error: ValidationError, hint: str) -> InvalidRequestError:
    """The sentence for a line that is not what it must be."""
    return InvalidRequestError(f"Line {number} of {path} is not valid: {first_problem(error)}.", hint)
