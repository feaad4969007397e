"""Pasted texts and bare names find the places that hold and define them."""

from __future__ import annotations

from typing import Any

import pytest

from adk_evidence.models.chunk import ChunkPayload, Kind
from adk_evidence.search.candidates.quotes import find_defined, find_quoted
from adk_evidence.search.question.query import normalise
from adk_evidence.search.stages import BranchPlace, Hit
from tests.core.factories import hit, payload, question, words

RAISES = 'def boil(pot):\n  if not pot.lid:\n    raise PotError(f"No lid of {pot.size} litres covers {pot}")'
DOCS = "## Lids\n\nNo lid covers every pot. Ask the cook for a lid of the right size before you boil anything."


def found(chunk: ChunkPayload, rank: int = 1, branch: str = "sparse") -> Hit:
    return hit(chunk, rank, branches=(BranchPlace(branch, rank, 1.0),))


def chunk(body: str, number: int = 0, **changes: Any) -> ChunkPayload:
    return payload("code", f"src/{number}.py", body, chunk_index=number, **changes)


def quoted(query: str, *hits: Hit, kind: Kind = "code") -> list[tuple[str, str | None]]:
    asked = question(query)
    asked.context.failed.sparse = True
    return [(one.payload.path, words(one)) for one in find_quoted(asked, kind, hits)]


def test_the_place_that_raises_a_message_stands_before_one_that_quotes_the_message():
    test = found(chunk('assert "No lid of 3 litres covers red" in str(error)', 1), 1)
    raised = found(chunk(RAISES, 2), 2)
    other = found(chunk("lids = [lid for lid in pots if lid.covers]", 3), 3)
    message = "holds the message of the error"
    assert quoted("PotError: No lid of 3 litres covers red", test, raised, other)[0] == ("src/2.py", message)
    # Another type says that another place raised it.
    assert quoted("LidError: No lid of 3 litres covers red", test, raised)[0][0] == "src/1.py"


def test_the_message_ends_where_the_user_goes_on():
    said = quoted("PotError: No lid of 3 litres covers red. I tried many other lids and none will fit, why is that so?",
                  found(chunk(RAISES)))  # fmt: skip
    assert said == [("src/0.py", "holds the message of the error")]


GETS = 'def __getattr__(name: str) -> object:\n  raise AttributeError(f"module {__name__!r} has no attribute {name!r}")'


@pytest.mark.parametrize(
    ("error", "body"),
    [
        ("AttributeError: 'Pot' object has no attribute 'lit'", GETS),
        (
            "RuntimeWarning: coroutine 'Pot.boil' was never awaited",
            "# was never scheduled, so it leaks as never-awaited",
        ),
        ("ImportError: cannot import name 'Lid' from 'pots'", "# whoever cannot import a name has it from elsewhere"),
        ("TypeError: 'NoneType' object is not iterable", "raise TypeError('this object is not a pot')"),
    ],
)
def test_what_python_itself_says_is_the_message_of_nothing_that_shares_words_with_it(error: str, body: str):
    assert quoted(error, found(chunk(body))) == []


def test_a_page_that_tells_of_what_python_says_holds_the_message():
    page = found(payload(body="You may see `AttributeError: 'Pot' object has no attribute 'lid'` with old pots."))
    error = "AttributeError: 'Pan' object has no attribute 'lid'"
    assert quoted(error, page, kind="doc") == [("docs/a.md", "holds the message of the error")]


@pytest.mark.parametrize(
    "query",
    [
        "Ask the cook for a lid of the right size before you boil anything.",
        "ask the cook\n  for a *lid* of the `right` size before you boil",
        'what does "Ask the cook for a lid of the right size" mean?',
    ],
)
def test_a_pasted_sentence_is_found_whatever_its_line_breaks_and_markup(query: str):
    page = found(payload(body=DOCS), 3)
    assert quoted(query, page, kind="doc") == [("docs/a.md", "holds the pasted text")]


def test_a_pasted_line_of_code_is_found():
    assert quoted("if not pot.lid: raise PotError(", found(chunk(RAISES))) == [("src/0.py", "holds the pasted text")]


def test_a_question_that_only_shares_words_names_nothing():
    page = found(payload(body=DOCS))
    assert quoted("how do I ask for the right lid before anything boils?", page, kind="doc") == []
    # What the keywords did not find among the first is not read.
    assert quoted("Ask the cook for a lid of the right size", found(payload(body=DOCS), 40), kind="doc") == []


FIELDS = {"symbol": "RunLimits", "symbols": ("RunLimits", "RunLimits.max_pots"), "names": ("RunLimits", "max_pots")}


def defined(query: str, *hits: Hit) -> list[tuple[str, str | None]]:
    return [(one.payload.path, words(one)) for one in find_defined(normalise(query), hits)]


def test_the_name_of_a_field_finds_the_class_that_has_the_field():
    field = found(chunk("class RunLimits:\n  max_pots: int", 1, **FIELDS))
    user = found(chunk("limits = RunLimits(max_pots=3)", 2))
    assert defined("max_pots", user, field) == [("src/1.py", "defines RunLimits.max_pots")]
    assert defined("RunLimits.max_pots", user, field) == [("src/1.py", "defines RunLimits.max_pots")]
    assert defined("how many max_pots are there?", user, field) == []


def test_the_class_that_is_named_too_decides_between_many_definitions():
    many = [
        found(chunk(f"class C{n}: ...", n, symbol=f"C{n}", symbols=(f"C{n}", f"C{n}.boil_all"), names=("boil_all",)))
        for n in range(6)
    ]
    assert defined("boil_all", *many) == []
    assert ("src/2.py", "defines C2.boil_all") in defined("C2.boil_all boil_all", *many)


def test_a_name_that_nothing_defines_in_its_own_case_is_found_in_another():
    limits = found(chunk("class RunLimits: ...", 1, **FIELDS))
    takes = found(chunk("def boil(runlimits): ...", 2, signature="def boil(runlimits)"))
    assert defined("runlimits", takes, limits) == [("src/1.py", "defines RunLimits")]
    own = found(chunk("def runlimits(): ...", 3, symbol="runlimits", symbols=("runlimits",), names=("runlimits",)))
    assert defined("runlimits", takes, limits, own) == [("src/3.py", "defines runlimits")]


def test_a_name_that_nothing_defines_may_be_a_parameter():
    takes = found(chunk("def boil(pot, *, lid_size=3): ...", 1, signature="def boil(pot, *, lid_size=3)"))
    uses = found(chunk("boil(pot, lid_size=3)", 2))
    assert defined("lid_size", uses, takes) == [("src/1.py", "takes the parameter lid_size")]


MESSAGE = "PotError: No lid of 3 litres covers red, so boil it open. Why does it say that?"


@pytest.mark.parametrize(
    "body",
    [
        'raise PotError(\n    f"No lid of {pot.size} litres "\n    f"covers {pot}"\n    ", so boil it open."\n)',
        '"""Boils.\n\nNo lid of 3 litres covers red,\nso boil it open.\n"""',
        "log.info('No lid of %d litres covers %s, so boil it open', size, pot)",
    ],
)
def test_a_message_is_held_by_the_literals_or_the_text_that_has_it(body: str):
    assert quoted(MESSAGE, found(chunk(body))) == [("src/0.py", "holds the message of the error")]


@pytest.mark.parametrize(
    ("error", "body"),
    [
        (
            "RuntimeError: Event loop is closed",
            "# the event loop of a thread: is it open, is it closed?\nloop.is_closed()",
        ),
        ("PotError: Pot not found: red", 'raise PotError(f"Pot {name} not found")'),
        ("PotError: the pot is hot, and so is the stove, although no lid covers it", 'raise LidError("no lid covers")'),
    ],
)
def test_words_that_stand_near_each_other_are_no_message(error: str, body: str):
    assert quoted(error, found(chunk(body))) == []
    assert quoted(error, found(payload(body=body)), kind="doc") == []


def test_the_line_with_the_message_is_shown():
    log = found(
        chunk("def boil():\n  log.error(\n    'No lid of %d litres covers %s', size, pot)", start_line=10, end_line=12)
    )
    raises = found(chunk(RAISES, 1, start_line=10, end_line=12))
    asked = question("PotError: No lid of 3 litres covers red")
    asked.context.failed.sparse = True
    assert [(one.payload.path, one.lines) for one in find_quoted(asked, "code", [log, raises])] == [
        ("src/1.py", (12,)),
        ("src/0.py", (12,)),
    ]


def test_a_short_message_of_other_libraries_is_not_that_of_code_which_only_mentions_it():
    body = 'def close(stack):\n  """Closes.\n\n  The kettle is closed where another loop closed it."""\n  stack.pop()'
    assert quoted("RuntimeError: The kettle is closed", found(chunk(body))) == []
    assert quoted("RuntimeError: The kettle is closed", found(payload("doc", body=body)), kind="doc")
    made = 'def close(stack):\n  raise RuntimeError("The kettle is closed")'
    assert quoted("RuntimeError: The kettle is closed", found(chunk(made)))
