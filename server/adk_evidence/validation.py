"""What pydantic found wrong, as words for a sentence."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import ValidationError


class Problem(NamedTuple):
    """A place and what is wrong there, without the value: it may be a secret or very long.

    `where` is a dotted path, empty for the whole; `what` has no full stop.
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


def problems(exc: ValidationError) -> list[Problem]:
    """Everything that a validation found, in the order of the fields."""
    return [
        Problem(".".join(map(str, found["loc"])), found["msg"].removeprefix("Value error, ").rstrip("."))
        for found in exc.errors(include_url=False, include_input=False, include_context=False)
    ]


def first_problem(exc: ValidationError) -> Problem:
    """The first thing that a validation found."""
    return problems(exc)[0]
