"""What pydantic found wrong, as words for a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field, ValidationError, model_validator

from adk_evidence.validation import Problem, first_problem, problems


class Basket(BaseModel):
    count: int = Field(default=1, ge=1)
    articles: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _not_empty(self) -> Basket:
        if self.count > 1 and not self.articles:
            raise ValueError("there must be an article.")
        return self


def refused(values: Any) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Basket.model_validate(values)
    return caught.value


def test_a_problem_names_its_place_and_not_the_value() -> None:
    found = problems(refused({"count": "sk-secret", "articles": ["a", 7]}))
    assert [problem.where for problem in found] == ["count", "articles.1"]
    assert not any("sk-secret" in str(problem) or "7" in problem.what for problem in found)
    assert str(found[1]) == "articles.1: it should be a text"


def test_the_words_go_into_a_sentence_of_their_own() -> None:
    problem = first_problem(refused({"count": 2}))
    assert problem == Problem("", "there must be an article") and str(problem) == problem.what
