"""What a pack says of a pasted error: its exceptions, the lines of its calls, and what each result is to it."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from adk_evidence.models.pack import AdkVersion, EvidencePack, Verification
from adk_evidence.render.markdown import to_markdown
from adk_evidence.render.prompt import to_prompt
from adk_evidence.render.view import error_label
from adk_evidence.search.candidates.frames import MAX_CALLS, MAX_EXCEPTIONS
from adk_evidence.search.pack.assemble import make_candidate
from adk_evidence.search.pack.errors import tell_error
from adk_evidence.search.stages import Ranking
from adk_evidence_cli.terminal import show_pack
from tests.core.factories import hit, pack, payload, placed, ranking
from tests.core.test_frames import INNER, MIDDLE, MINE, OUTER, POTS, STOVE, asked, found_in, framed, trace

GUIDE = payload("doc", "docs/lids.md", "Put a lid on each pot.")


def answered(text: str, *others: Any, version: AdkVersion | None = None) -> tuple[EvidencePack, Ranking]:
    """The pack of a request whose results are its frames and then other chunks."""
    made = asked(text)
    made = replace(made, scope=replace(made.scope, adk=version))
    made.index.source_of = lambda _: None  # type: ignore[method-assign,assignment]
    hits = [*framed(made), *(hit(chunk) for chunk in others)]
    final = [placed(one, rank, 1.0) for rank, one in enumerate(hits, 1)]
    found = ranking(made, *final, candidates=found_in(made))
    exact = Verification(state="exact")
    candidates = [make_candidate(found, rank, one, exact) for rank, one in enumerate(final, 1)]
    told, errors = tell_error(found, candidates, {})
    return pack(query=text).model_copy(update={"candidates": told, "errors": errors}), found


def parts(text: str, *others: Any) -> list[tuple[Any, ...]]:
    made, _ = answered(text, *others)
    return [(one.error and (one.error.role, one.error.frame, one.error.line)) for one in made.candidates]  # type: ignore[misc]


def test_each_result_says_what_it_is_to_the_error_and_where():
    assert parts(trace(MINE, OUTER, MIDDLE, INNER), GUIDE) == [
        ("raise_site", 4, 11),
        ("frame", 3, 70),
        ("frame", 2, 6),
        ("remedy", None, None),
    ]


def test_calls_are_told_in_the_order_of_the_traceback_with_the_very_line_and_without_the_users_own():
    made, _ = answered(trace(MINE, OUTER, MIDDLE, INNER))
    (error,) = made.errors
    assert (error.type, error.message, error.calls) == ("PotError", "No lid for red", 4)
    assert [(one.number, one.function, one.path, one.line, one.text.strip(), one.rank) for one in error.frames] == [
        (2, "light", STOVE, 6, "pot.fill()", 3),
        (3, "fill", POTS, 70, "return self.boil()", 2),
        (4, "boil", POTS, 11, 'raise PotError(f"No lid for {self}")', 1),
    ]
    assert error.frames[0].citation == f"adk-python@abc:{STOVE}#L6-L6"


def test_where_the_version_has_other_code_the_function_is_cited_and_no_line():
    made, _ = answered(trace((OUTER[0], 900, "light", "pot.empty()"), INNER))
    frame = made.errors[0].frames[0]
    assert (frame.line, frame.text, frame.citation) == (None, "", f"adk-python@abc:{STOVE}#L5-L14")


def test_a_call_that_does_not_fit_the_version_has_no_number():
    old = (POTS, 900, "fill", "return self.cook()")
    assert parts(trace((OUTER[0], 900, "light", "pot.empty()"), old)) == [
        ("raise_site", None, None),
        ("frame", None, None),
        ("frame", None, None),
    ]


def test_what_led_to_an_error_is_told_before_the_error():
    wrapper = trace((INNER[0], 1, "boil", "raise PotError("), error="PotError: A lid cannot boil")
    text = f"{trace(INNER)}\n\nThe above exception was the direct cause of the following exception:\n\n{wrapper}"
    assert parts(text) == [("raise_site", 1, 41), ("cause", 1, 11)]
    made, _ = answered(text)
    assert [error.message for error in made.errors] == ["No lid for red", "A lid cannot boil"]


def test_a_recursion_is_told_by_its_innermost_calls():
    made, _ = answered(trace(*[OUTER] * 300, INNER))
    (error,) = made.errors
    assert (error.calls, len(error.frames), error.frames[-1].number) == (301, MAX_CALLS, 301)
    chain = "\n\nDuring handling of the above exception, another exception occurred:\n\n".join([trace(INNER)] * 9)
    assert len(answered(chain)[0].errors) == MAX_EXCEPTIONS


@pytest.mark.parametrize(("project", "line"), [("2.0.0", 6), ("1.0.0", None), (None, None)])
def test_a_call_without_its_code_has_its_line_only_in_the_version_that_the_project_uses(
    project: str | None, line: int | None
):
    version = AdkVersion(indexed="2.0.0", wanted=project) if project else None
    text = f'Traceback (most recent call last):\n  File "{OUTER[0]}", line 6, in light'
    (frame,) = answered(text, version=version)[0].errors[0].frames
    lines = "L6-L6" if line else "L5-L14"
    assert (frame.line, frame.citation) == (line, f"adk-python@abc:{STOVE}#{lines}")


def test_surfaces_show_the_error_and_what_each_result_is_to_it():
    made, _ = answered(trace(MINE, OUTER, MIDDLE, INNER), GUIDE)
    assert [error_label(one) for one in made.candidates] == [
        "raises the error (line 11)",
        "calls it: frame 3 of 4 (line 70)",
        "calls it: frame 2 of 4 (line 6)",
        "may say what to do",
    ]
    markdown = to_markdown(made)
    assert "**Error** `PotError: No lid for red`" in markdown
    assert f"- call 2 of 4 · `adk-python@abc:{STOVE}#L6-L6` · in light · `pot.fill()`" in markdown
    assert "raises the error (line 11)" in to_prompt(made).text
    console = Console(file=io.StringIO(), width=120)
    show_pack(console, made, {})
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert f" 2  {STOVE}:6 · in light · result 3" in shown and "raises the error (line 11)" in shown
