"""What a judge answers, and by which criteria: `criteria.md` is what people and models read."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from adk_evidence.render.sanitize import one_line

SideName = Literal["A", "B"]
SIDES: tuple[SideName, ...] = get_args(SideName)
Preference = Literal["A", "B", "same"]
PREFERENCES: tuple[Preference, ...] = get_args(Preference)
# Written in a sheet where a list of passages is empty, since an empty cell is a grade that is not given yet.
NO_PASSAGE = "0"
PREFERRED = (
    "**preferred**: which of the two texts that person would rather have been given to answer the question: `A`, `B`, "
    "or `same` where it makes no difference."
)
_MAX_CHARS = 1000
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@")


def criteria() -> str:
    """The criteria as Markdown, without a heading."""
    return resources.files(__package__).joinpath("criteria.md").read_text(encoding="utf-8").strip()


class Grades(BaseModel):
    """One judge's grades of one text, in the order in which they are given.

    Validate with the context `{"passages": n}`, the number of passages of the text. Passages are numbered from 1.
    What a model says besides is ignored.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    useful: tuple[int, ...]
    misleading: tuple[int, ...]
    missing: str = Field(default="", max_length=_MAX_CHARS)
    sufficient: int = Field(ge=0, le=2)

    @field_validator("useful", "misleading", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        """A cell of a sheet is a list written with spaces."""
        if not isinstance(value, str):
            return value
        words = re.split(r"[\s,;]+", value.strip(" ,;"))
        if not all(word.isdecimal() for word in words):
            raise ValueError(f"write the numbers of passages with spaces, such as 2 3, or {NO_PASSAGE} for none")
        return [] if words == [NO_PASSAGE] else words

    @field_validator("useful", "misleading")
    @classmethod
    def _shown(cls, value: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        passages = (info.context or {})["passages"]
        for number in value:
            if not 1 <= number <= passages:
                raise ValueError(f"there is no passage {number}, as the text has {passages}")
        return tuple(sorted(set(value)))

    @field_validator("missing", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        """One line that is safe in a spreadsheet, and that reads the same when it was written and read again."""
        if not isinstance(value, str):
            return value
        line = one_line(value)
        return f"'{line}" if line.startswith(_FORMULA) else line

    @model_validator(mode="after")
    def _consistent(self) -> Grades:
        if both := sorted(set(self.useful) & set(self.misleading)):
            raise ValueError(f"passage {both[0]} is both useful and misleading")
        if self.sufficient < 2 and not self.missing:
            raise ValueError(f"missing: say what is missing, as sufficient is {self.sufficient}")
        return self

    @property
    def first_useful(self) -> float:
        """The reciprocal rank of the first useful passage, 0 without one."""
        return 1 / self.useful[0] if self.useful else 0.0
