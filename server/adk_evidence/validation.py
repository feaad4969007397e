"""What pydantic found wrong, as words for a sentence."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_BRANCHES = frozenset(
    ("str", "int", "float", "bool", "none", "constrained-str", "constrained-int", "constrained-float", "literal")
)
# What a value of a type should be, by the beginning of pydantic's name for the error.
_SHOULD_BE = {
    "bool": "true or false",
    "dict": "a mapping of names to values",
    "float": "a number",
    "finite": "a number",
    "int": "a whole number",
    "list": "a list",
    "model": "a mapping of names to values",
    "path": "a path",
    "string": "a text",
    "tuple": "a list",
}
_OF_ANOTHER_TYPE = ("_type", "_parsing", "_from_float", "_parsing_size", "_number")


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
    found: dict[str, dict[str, None]] = {}
    for error in exc.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in error["loc"] if not _is_branch(part))
        found.setdefault(where, {}).setdefault(words(error))
    return [Problem(where, "; or: ".join(said)) for where, said in found.items()]


def _is_branch(part: str | int) -> bool:
    """Whether a part of a place is pydantic's name for a member of a union."""
    return isinstance(part, str) and (part in _BRANCHES or "[" in part)


def words(error: ErrorDetails) -> str:
    """What is wrong with a value, as a clause without the value and without names of our types."""
    kind = error["type"]
    if kind.endswith(_OF_ANOTHER_TYPE) and (should_be := _SHOULD_BE.get(kind.partition("_")[0])):
        return f"it should be {should_be}"
    context = error.get("ctx", {})
    match kind:
        case "missing":
            return "it is missing"
        case "string_unicode":
            return "it is not valid Unicode"
        case "string_too_long":
            return f"it is longer than {context['max_length']:,} characters"
        case "string_too_short":
            least = context["min_length"]
            return "it is empty" if least == 1 else f"it is shorter than {least:,} characters"
        case "extra_forbidden":
            return "there is no such field"
        case "union_tag_invalid":
            return f"the {context['discriminator']} is none of {context['expected_tags']}".replace("'", "")
        case "union_tag_not_found":
            return f"the {context['discriminator']} is missing".replace("'", "")
        case "too_short":
            return f"there should be at least {context['min_length']} of them"
        case "too_long":
            return f"there should be at most {context['max_length']} of them"
        case _:
            plain = error["msg"].removeprefix("Value error, ").rstrip(".")
            return plain.replace("Input should", "it should", 1) if plain.startswith("Input should") else plain


def first_problem(exc: ValidationError) -> Problem:
    return problems(exc)[0]
