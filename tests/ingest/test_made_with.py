"""What classes say of the arguments that make them."""

from __future__ import annotations

import ast

import pytest

from adk_evidence.api.constructors import constructor, default, field_text, is_deprecated, passes_on, shortcuts, takes


def value(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def cls(text: str) -> ast.ClassDef:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.ClassDef)
    return node


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("3", "3"),
        ("Field(default=3, description='How often.')", "3"),
        ("Field(3, title='Times')", "3"),
        ("Field(default=10, ge=1, le=100, description='How often.')", "Field(10, ge=1, le=100)"),
        ("Field(description='Needed.')", ""),
        ("Field(..., description='Needed.')", ""),
        ("Field(ge=1, description='Needed.')", "Field(..., ge=1)"),
        ("pydantic.Field(default_factory=list, exclude=True)", "pydantic.Field(default_factory=list)"),
        ("field(init=False)", "field(init=False)"),
        ("'" + "x" * 100 + "'", "..."),
    ],
)
def test_a_field_shows_what_its_callers_need(written: str, shown: str) -> None:
    assert default(value(written)) == shown and default(None) == ""


def test_fields_say_what_they_are_and_whether_they_are_deprecated() -> None:
    assert field_text(value("Field(description='One' ' text.', deprecated='Late.')")) == "One text."
    assert field_text(value("Field(deprecated='Use b.')")) == "Use b." and field_text(value("print('a')")) == ""
    assert is_deprecated(value("Field(deprecated=True)")) and not is_deprecated(value("Field(deprecated=False)"))


@pytest.mark.parametrize(
    ("method", "how", "all_of_it"),
    [
        ("def __init__(self, **data): super().__init__(**data)", "as the next class", True),
        ("def __init__(self, *args, **kw): super().__init__(*args, **kw)", "as the next class", True),
        ("def __init__(self, **data): super().__init__(**{**data})", "itself", False),
        ("def __init__(self, **data):\n    data['a'] = 1\n    super().__init__(**data)", "as the next class", False),
        ("def __init__(self, name, **data): super().__init__(name=name, **data)", "some itself", True),
        ("def __init__(self, name): super().__init__(name=name)", "itself", False),
        ("def __init__(self, **data): self.data = data", "itself", False),
    ],
)
def test_constructors_take_arguments_themselves_or_pass_them_on(method: str, how: str, all_of_it: bool) -> None:
    lines = method.replace("\n", "\n    ")
    made = constructor(cls(f"class A(B):\n    {lines}\n"))
    assert made is not None
    assert (takes(made), passes_on(made)) == (how, all_of_it)


SHORT = '''
class Event(Model):
    content: str = ""

    @model_validator(mode="before")
    @classmethod
    def _accept(cls, data):
        """Routes what is short.

        Routed:
          message: str     -> content (as it is)
        """
        data = dict(data)
        message = None if "message" in cls.model_fields else data.pop("message", None)
        other.pop("elsewhere")
        data.get("content")
        data.pop("route", None)
        return data

    @model_validator(mode="after")
    def _check(self):
        self.kept.pop("later")
        return self
'''


def test_a_validator_takes_what_it_takes_out_of_the_arguments() -> None:
    assert shortcuts(cls(SHORT)) == ("message: str -> content (as it is)", "route: Any")
    warned = SHORT.replace("data = dict(data)", "warnings.warn('`message` is deprecated.')")
    assert shortcuts(cls(warned)) == ()


def test_a_constructor_that_passes_the_rest_on_takes_some_out() -> None:
    body = "        self.speed = data.pop('speed', 1)\n        super().__init__(**data)\n"
    assert shortcuts(cls(f"class A(B):\n    def __init__(self, **data):\n{body}")) == ("speed: Any",)
    assert shortcuts(cls("class A:\n    def __init__(self, **data):\n        data.pop('speed')\n")) == ()
