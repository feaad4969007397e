"""Signatures and fields in few tokens: whole parameters, the names of the rest, never more than the budget."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.readers.python import call_form
from adk_evidence.render.signatures import (
    limited_signature,
    listed_fields,
    listed_methods,
    listed_notes,
    parameter_names,
    with_deprecated,
    with_parameters,
)
from adk_evidence.text.tokens import estimate_tokens

RUN = "run(*, user_id: str, state: dict[str, Any] | None = None, mode: Literal['a, b', 'c)'] = 'a, b') -> Event"
FIELDS = ("name: str", "model: str = ''", "tools: list[Tool] = Field(default_factory=list)", "state = 1")


def test_a_signature_is_cut_between_parameters():
    whole = "run(*, user_id: str, state: dict[str, Any] | None = None, ...) -> Event"
    for fits in (RUN, f"async {RUN}", "class Agent(Base)"):
        assert limited_signature(fits, 100) == fits
    assert limited_signature(RUN, estimate_tokens(whole)) == whole
    assert limited_signature(RUN, estimate_tokens(whole) - 1) == "run(*, user_id: str, ...) -> Event"
    # Parameters give way to what is returned.
    assert limited_signature(RUN, 7) == "run(*, ...) -> Event"
    assert limited_signature(RUN, 4) == "run(...)"
    # It was cut before.
    assert limited_signature("run(first: int, second: dict[str, Opt\u2026", 100) == "run(first: int, ...)"


def test_parameters_that_are_asked_for_stay():
    assert with_parameters(RUN, 100, ["mode"]) == RUN
    cut = "run(*, user_id: str, ..., mode: Literal['a, b', 'c)'] = 'a, b')"
    assert with_parameters(RUN, estimate_tokens(cut), ["mode"]) == cut
    alone = "run(..., mode: Literal['a, b', 'c)'] = 'a, b')"
    assert with_parameters(RUN, estimate_tokens(alone), ["mode", "speed"]) == alone
    assert with_parameters(RUN, 7, ["mode"]) == with_parameters(RUN, 7, ["speed"]) == limited_signature(RUN, 7)


@given(st.lists(st.text("abc", min_size=1), max_size=8), st.integers(8, 40), st.sets(st.text("abc", min_size=1)))
def test_a_signature_with_chosen_parameters_fits(names, tokens, chosen):
    signature = f"f({', '.join(f'{name}: str = None' for name in names)})"
    cut = with_parameters(signature, tokens, chosen)
    assert estimate_tokens(cut) <= tokens
    assert set(parameter_names(cut)) <= set(parameter_names(signature)) == set(names)


def test_fields_that_do_not_fit_are_named():
    assert listed_fields(FIELDS, 100) == "; ".join(FIELDS)
    assert listed_fields(FIELDS, 24) == "name: str; model: str = ''; also tools, state"
    assert listed_fields((), 100) == ""
    shown = listed_fields(["name: str", "limit: float | None = None (deprecated)", "last: int"], 12)
    assert shown == "name: str; also limit (deprecated), last"


TEXT = st.text(st.sampled_from("ab ,:=()[]{}'\"…é\n"), max_size=80)


@given(TEXT, st.lists(TEXT, max_size=8), st.integers(8, 60))
def test_nothing_exceeds_its_budget(signature, fields, tokens):
    assert estimate_tokens(limited_signature(signature, tokens)) <= tokens
    assert estimate_tokens(listed_fields(fields, tokens)) <= tokens


def test_hostile_signatures_take_linear_time():
    begun = time.process_time()
    for text in ("f(" + "[" * 100_000, "f(" + "'" * 99_999, "f(" + "a, " * 3_000):
        limited_signature(text, 50)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("signature", "form"),
    [
        ("run()", "run()"),
        (
            "async find(query: str, *, limit: int = 3, how: dict[str, int] | None = None) -> list[str]",
            "async find(query, *, limit=..., how=...)",
        ),
        ("call(first, second=(1, 2), *rest: str, **more: Any)", "call(first, second=..., *rest, **more)"),
        ("kinds(kind: Literal['a=b'], /, last: Annotated[int, Field(gt=1)])", "kinds(kind, /, last)"),
        ("of(value: int, /)", "of(value, /)"),
        ("f(key=lambda x, y: x, opts={'a': 1}, sep=':')", "f(key=..., opts=..., sep=...)"),
        ("f(sep: str = 'a\\'b, other', n: int = 1)", "f(sep=..., n=...)"),
        ("async with connect(url: str) -> Client", "async with connect(url)"),
        ("f(a: int, b: dict[str, in\u2026", "f(...)"),
        ("limit", "limit"),
    ],
)
def test_the_form_of_a_call_has_names_and_says_what_may_be_left_out(signature: str, form: str) -> None:
    assert call_form(signature) == form


def test_methods_are_shown_with_their_parameters_or_named_as_far_as_they_fit() -> None:
    methods = ("async run(query, *, limit=...)", "close()")
    assert listed_methods(methods, 100, 100) == "methods: async run(query, *, limit=...), close()"
    assert listed_methods(methods, 100, 8) == listed_methods(methods, 100) == "methods: run, close"
    short = "methods: run and 2 more"
    assert listed_methods((*methods, "run_live()"), estimate_tokens(short)) == short
    assert listed_methods((), 100) == listed_methods(methods, 1) == ""


def test_notes_on_fields_are_shown_where_all_of_them_fit() -> None:
    notes = ("size: How many are kept.", "seconds: How long.")
    assert listed_notes(notes, 100) == "- size: How many are kept.\n- seconds: How long."
    assert listed_notes(notes, 8) == listed_notes((), 100) == ""


def test_a_deprecated_parameter_is_marked() -> None:
    signature = "Runner(*, app: App | None = None, plugins: list[Plugin] = []) -> None"
    marked = "Runner(*, app: App | None = None, plugins: list[Plugin] = [] (deprecated)) -> None"
    assert with_deprecated(signature, ("plugins",)) == marked
    assert with_deprecated(signature, ()) == signature
    assert parameter_names(marked) == parameter_names(signature)
