"""From the frames of a traceback to the chunks of the indexed code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import AdkVersion, Quality
from adk_evidence.search.calibration import Measures, Support
from adk_evidence.search.candidates.frames import find_calls, find_frames, indexed_files, indexed_path
from adk_evidence.search.candidates.named import find_named
from adk_evidence.search.question.scope import Scope
from adk_evidence.search.ranking.quality import assess
from adk_evidence.search.stages import BranchPlace, Candidates, Hit, Names, QueryVectors, Question
from adk_evidence.services.resilience import CacheAside
from adk_evidence.store.base import Filter, Match, Record
from tests.core.factories import encoded, hit, payload, question, words

POTS, STOVE = "src/acme/cook/pots.py", "src/acme/stove.py"
OVEN = "src/acme/oven.py"
INDEXED = (POTS, STOVE, OVEN, "src/acme/cook/lids.py", "src/acme/tools/pots.py")
APP, TWO_TASKS = "app.py", ("tasks.py", "src/tasks.py")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/env/site-packages/acme/cook/pots.py", POTS),
        ("C:/Users/me/acme/stove.py", STOVE),
        ("~/env/acme/tools/pots.py", "src/acme/tools/pots.py"),
        ("../env/lib/acme/stove.py", STOVE),
        ("cook/pots.py", POTS),
        ("/home/me/cook/pots.py", None),
        ("/home/me/pots.py", None),
        ("pots.py", None),
        ("<cell>", None),
        ("", None),
    ],
)
def test_a_path_of_another_machine_means_the_indexed_file_of_the_same_package(path: str, expected: str | None):
    assert indexed_path(path, INDEXED) == expected


def code(path: str, symbol: str, body: str, start: int = 1, **changes: Any) -> ChunkPayload:
    values: dict[str, Any] = {
        "symbol": symbol,
        "symbols": (symbol,),
        "names": (symbol.rpartition(".")[2],),
        "symbol_kind": "function",
        "start_line": start,
        "end_line": start + 9,
        "chunk_index": start,
    }
    return payload("code", path, body, **{**values, **changes})


BOIL = code(POTS, "Pot.boil", 'def boil(self):\n  raise PotError(f"No lid for {self}")', 10)
LID_BOIL = code(POTS, "Lid.boil", "def boil(self):\n  raise PotError(\n    'A lid cannot boil')", 40)
LONG = code(POTS, "Pot.fill", "async def fill(self):\n  water = await tap()", 60)
REST = code(POTS, "Pot.fill", "  return self.boil()", 70, symbols=(), names=(), symbol_kind="block")
HEAT = code(POTS, "Pot.heat", "def heat(self):\n  raise ValueError(\n    f'The pot must not be empty: {self}'\n  )", 72)
CLEAN = code(
    STOVE,
    "clean",
    "def clean():\n  if dirt:\n    raise ValueError(dirt)\n  if hot:\n"
    "    raise ValueError(f'The stove is still hot: {hot}')",
    30,
)
LIGHT = code(STOVE, "light", "def light():\n  pot.fill()", 5)
BAKE = code(OVEN, "Oven.bake", "def bake(self):\n  self.open()\n  raise ValueError('No bread')", 5)
NO_TRAY = code(OVEN, "Oven._no_tray", "def _no_tray(self, name):\n  return f'No tray in the oven: {name}'", 20)
OPEN = code(OVEN, "Oven.open", "def open(self):\n  message = self._no_tray(1)\n  raise OvenError(message)", 30)
SERVE = code(APP, "serve", 'def serve():\n  kitchen.open("today")', 3)
START = code(APP, "app", "if __name__ == '__main__':\n  serve()", 20, symbols=(), names=(), symbol_kind="module")
TASK = code(TWO_TASKS[0], "serve", 'def serve():\n  kitchen.open("today")', 3)
CHUNKS = (BOIL, LID_BOIL, LONG, REST, HEAT, CLEAN, LIGHT, BAKE, NO_TRAY, OPEN, SERVE, START, TASK)


class Chunks:
    """A store that knows the payloads of chunks."""

    def scroll(self, collection: str, *, filter: Filter, limit: int, **_: object) -> Any:
        def passes(chunk: ChunkPayload, condition: Any) -> bool:
            assert isinstance(condition, Match)
            value = getattr(chunk, condition.key)
            return bool({value} if isinstance(value, str) else set(value) & set(condition.any_of)) and (
                not isinstance(value, str) or value in condition.any_of
            )

        found = [chunk for chunk in CHUNKS if all(passes(chunk, condition) for condition in filter.must)]
        return [Record(hit(chunk).point_id, chunk.model_dump()) for chunk in found[:limit]], None


def asked(text: str, **changes: Any) -> Question:
    index = SimpleNamespace(
        store=Chunks(),
        paths={"doc": (), "code": (*INDEXED, APP, *TWO_TASKS)},
        payloads={"doc": CacheAside(9), "code": CacheAside(9)},
    )
    scope = Scope(("doc", "code"), {"doc": Filter(), "code": Filter()}, (), None, (), "")
    return question(text, index=index, scope=scope, **changes)


def framed(asked: Question) -> list[Hit]:
    return find_frames(asked, indexed_files(asked))[0]


def found_in(asked: Question, **hits: list[Hit]) -> Candidates:
    """The candidates of a question, of which a search found these hits; keywords are not searched for quoted texts."""
    vectors = QueryVectors(asked.query.text, {"doc": [1.0], "code": [1.0]}, None)  # type: ignore[arg-type]
    asked.context.failed.sparse = True
    found = find_named(asked, Candidates(encoded(vectors), {"doc": [], "code": [], **hits}))  # type: ignore[dict-item]
    asked.context.failed.sparse = False
    return found


def quality_of(asked: Question, candidates: Candidates, final: Sequence[Hit]) -> Quality:
    support = Support(Measures(0.0, 0.0, 0.0, 0.0, 0.0))
    return assess(asked, candidates.encoded, final, Names(), support)


def trace(*frames: tuple[str, int, str, str], error: str = "PotError: No lid for red") -> str:
    lines = [f'  File "{path}", line {line}, in {name}\n    {text}' for path, line, name, text in frames]
    return "\n".join(["Traceback (most recent call last):", *lines, error])


MINE = ("/home/me/main.py", 3, "<module>", "light()")
OUTER = ("/env/acme/stove.py", 900, "light", "pot.fill()")
MIDDLE = ("/env/acme/cook/pots.py", 900, "fill", "return self.boil()")
INNER = ("/env/acme/cook/pots.py", 900, "boil", 'raise PotError(f"No lid for {self}")')


def named(text: str) -> list[tuple[str | None, int, str | None]]:
    return [(found.payload.symbol, found.payload.start_line, words(found)) for found in framed(asked(text))]


def test_the_raise_site_leads_then_its_callers_and_the_users_frames_are_left_out():
    # The line of code tells the method of one class from that of another, and the parts of a long function apart.
    assert named(trace(MINE, OUTER, MIDDLE, INNER)) == [
        ("Pot.boil", 10, "raises the error"),
        ("Pot.fill", 70, "calls it: frame 3 of 4"),
        ("light", 5, "calls it: frame 2 of 4"),
    ]


def test_where_the_line_says_little_the_message_and_then_the_number_decide():
    bare = (INNER[0], 900, "boil", "raise PotError(")
    assert named(trace(bare, error="PotError: A lid cannot boil"))[0][:2] == ("Lid.boil", 40)
    unknown = (INNER[0], 12, "boil", "return 5")
    assert named(trace(unknown, error="PotError: 5"))[0][:2] == ("Pot.boil", 10)


def test_an_error_that_another_package_raises_is_not_said_to_be_raised_here():
    text = trace(OUTER, ("/env/http/client.py", 3, "send", "raise Timeout()"), error="Timeout: too slow")
    assert named(text) == [("light", 5, "is the last indexed call before the error")]


def test_a_function_that_raises_another_message_of_the_same_type_is_not_said_to_raise_the_error():
    old = (POTS, 75, "heat", "raise ValueError(")
    assert named(trace(OUTER, old, error="ValueError: No lid for red")) == [
        ("Pot.heat", 72, "raised ValueError in the traceback, but has other code here"),
        ("light", 5, "calls it: frame 1 of 2"),
    ]
    assert named(trace(old, error="ValueError: The pot must not be empty: red"))[0] == (
        "Pot.heat",
        72,
        "raises the error",
    )


def test_where_a_traceback_is_cut_off_before_its_exception_nothing_is_said_to_raise():
    text = trace(OUTER, MIDDLE, INNER).rpartition("\n")[0]
    assert named(text)[0] == ("Pot.boil", 10, "is the last indexed call before the error")
    assert _quality(text)[0] != "high"


@pytest.mark.parametrize("folder", ["/home/me/shop/", "", "./", "C:/shop/"])
def test_a_module_outside_of_packages_is_known_by_its_function_and_line(folder: str):
    start = (f"{folder}app.py", 21, "<module>", "serve()")
    serve = (f"{folder}app.py", 4, "serve", 'kitchen.open("today")')
    assert named(trace(start, serve)) == [("serve", 3, "raises the error"), ("app", 20, "calls it: frame 1 of 2")]
    # What the user changed since is in the file all the same, as another frame shows.
    changed = (f"{folder}app.py", 4, "serve", 'kitchen.open("tomorrow")')
    assert named(trace(start, changed))[0] == ("serve", 3, "raised PotError in the traceback, but has other code here")


@pytest.mark.parametrize(
    "frame",
    [
        ("/env/other/app.py", 4, "serve", "other.open()"),
        ("/env/other/app.py", 4, "close", 'kitchen.open("today")'),
        ("/env/other/app.py", 4, "serve", ""),
        # Two files of the index have this name.
        ("/home/me/shop/tasks.py", 4, "serve", 'kitchen.open("today")'),
    ],
)
def test_a_module_of_the_same_name_elsewhere_is_not_the_indexed_one(frame: tuple[str, int, str, str]):
    assert named(trace(frame)) == []


def _quality(text: str) -> tuple[str, str]:
    made = asked(text)
    found = found_in(made)
    quality = quality_of(made, found, found.named or [hit(LIGHT)])
    return quality.level, quality.note


def test_the_quality_of_an_answer_to_a_traceback_is_whether_the_raise_site_was_found():
    assert _quality(trace(MINE, OUTER, INNER, error="PotError: 5")) == (
        "high",
        "Found 2 results; the first of them raises the error.",
    )
    level, note = _quality(trace(OUTER, MINE, error="PotError: 5"))
    assert level != "high" and "no result is the place that raises the error" in note
    level, note = _quality(trace(MINE, error="PotError: 5"))
    assert level != "high" and "no call of the traceback is in the code that was searched" in note
    # The function that raises is not in the indexed version, but its caller is.
    lost = (STOVE, 900, "renamed", "raise PotError(5)")
    level, note = _quality(trace(OUTER, lost, error="PotError: 5"))
    assert level != "high" and "no result is the place that raises the error" in note


def test_the_function_that_raises_the_error_in_this_version_stands_before_the_frame_that_raised_it():
    old = (POTS, 61, "fill", "raise PotError(no_lid(self))")
    assert named(trace(old, error="acme.errors.PotError: No lid for red")) == [
        ("Pot.boil", 10, "raises the error"),
        ("Pot.fill", 60, "raised PotError in the traceback, but has other code here"),
    ]
    # Many places raise an error of Python.
    assert named(trace(old, error="ValueError: No pot for red")) == [
        ("Pot.fill", 60, "raised ValueError in the traceback, but has other code here")
    ]


def test_a_raise_of_the_same_type_whose_literals_say_something_else_is_not_shown_as_the_raise_of_the_error():
    # The traceback is of another version, whose function had one more message.
    old = (POTS, 11, "boil", "raise PotError(")
    text = trace(old, error="acme.errors.PotError: The water is too cold for red")
    assert named(text) == [("Pot.boil", 10, "raised PotError in the traceback, but has other code here")]
    made = asked(text)
    assert [call.line for call in find_calls(made, indexed_files(made))] == [None]
    level, note = _quality(text)
    assert level != "high" and "its file raises no such message" in note
    # Nothing else tells where an error without a message is raised.
    assert named(trace(old, error="acme.errors.PotError"))[0] == ("Pot.boil", 10, "raises the error")
    assert named(trace((POTS, 75, "heat", ""), error="ValueError"))[0] == ("Pot.heat", 72, "raises the error")


def test_the_message_of_the_next_raise_makes_no_raise_above_it_the_one():
    old = (STOVE, 99, "clean", 'raise ValueError("The stove is still hot: " + hot)')
    found = framed(asked(trace(old, error="ValueError: The stove is still hot: 90")))
    assert [hit.lines for hit in found] == [(34,)]


def test_a_line_number_of_another_version_does_not_name_a_raise_of_another_message():
    adk = AdkVersion(indexed="2.0.0", wanted="2.0.0")
    made = asked(trace((POTS, 11, "boil", ""), error="PotError: The water is too cold for red"))
    of_project = replace(made, scope=replace(made.scope, adk=adk))
    assert [call.line for call in find_calls(of_project, indexed_files(made))] == [None]


@pytest.mark.parametrize("text", ["raise ValueError(message)", ""])
def test_of_another_version_the_code_that_makes_and_raises_the_message_stands_before_the_calls(text: str):
    old = ("C:/x/acme/oven.py", 380, "bake", text)
    outer = (OUTER[0], 900, "light", text and "pot.empty()")
    assert named(trace(outer, old, error="ValueError: No tray in the oven: 7")) == [
        ("Oven.open", 30, "raises the error"),
        ("Oven._no_tray", 20, "holds the message of the error"),
        ("Oven.bake", 5, "raised ValueError in the traceback, but has other code here"),
        ("light", 5, "is called in the traceback, which does not fit this code"),
    ]
    # In the version of the traceback, the message may come from anywhere.
    fitting = (*old[:1], 6, "bake", text and "self.open()")
    assert named(trace(fitting, error="ValueError: No tray in the oven: 7"))[0][0] == "Oven.bake"


@pytest.mark.parametrize(
    ("frame", "other"),
    [
        ((POTS, 11, "boil", INNER[3]), ""),
        ((POTS, 11, "boil", ""), ""),
        # A few lines above were added; pasting has changed the quotes; a method goes on in the next chunk.
        ((POTS, 22, "boil", INNER[3]), ""),
        ((POTS, 11, "boil", INNER[3].replace('"', "\u201d")), ""),
        ((POTS, 70, "fill", "return self.boil()"), ""),
        ((POTS, 70, "fill", ""), ""),
        ((POTS, 0, "boil", ""), ""),
        ((STOVE, 900, "<module>", ""), ""),
        (("/env/site-packages/other/cook/gone.py", 1, "boil", ""), ""),
        ((POTS, 900, "boil", INNER[3]), "line 900 of pots.py is not in `boil`"),
        ((POTS, 70, "boil", ""), "line 70 of pots.py is not in `boil`"),
        ((POTS, 11, "gone", ""), "line 11 of pots.py is not in `gone`"),
        ((POTS, 11, "boil", "raise PotError(lid)"), "line 11 of pots.py has other code"),
        (("/env/site-packages/acme/cook/gone.py", 1, "boil", ""), "that version has no acme/cook/gone.py"),
    ],
)
def test_what_of_a_frame_the_version_has_otherwise_is_told(frame: tuple[str, int, str, str], other: str):
    made = asked(trace(MINE, frame))
    assert find_frames(made, indexed_files(made))[1] == other


def test_a_traceback_of_another_version_is_a_warning_and_the_code_of_its_message_leads_wherever_it_is():
    raised = ("/env/acme/gone.py", 7, "scrub", "raise ValueError(")
    searched = hit(CLEAN, branches=(BranchPlace(branch="sparse", rank=1, score=1.0),))

    def answered(line: int, text: str) -> tuple[list[str | None], list[str]]:
        made = asked(trace((STOVE, line, "light", text), raised, error="ValueError: The stove is still hot: 90"))
        made = replace(made, scope=replace(made.scope, version="2.0.0"))
        found = found_in(made, code=[searched])
        return [one.payload.symbol for one in found.named], [str(one) for one in made.context.warnings]

    assert answered(6, "pot.fill()") == (["light", "clean"], [])
    told = (
        "traceback_of_other_version: This traceback does not fit google-adk 2.0.0: line 90 of stove.py is not in "
        "`light`. It may come from another version."
    )
    assert answered(90, "pot.empty()") == (["clean", "light"], [told])
