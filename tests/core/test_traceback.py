"""What is read of pasted tracebacks, in the formats in which people paste them. The code in them is made up."""

from __future__ import annotations

import json
import re
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_evidence.search.question.traceback import Frame, find_error, read_traceback

RAISE = Frame("/env/lib/acme/pots.py", 33, "boil", 'raise PotError(f"No lid for {pot}")')
PLAIN = """\
Traceback (most recent call last):
  File "/home/me/kitchen.py", line 7, in <module>
    main()
    ~~~~^^
  File "/env/lib/acme/pots.py", line 33, in boil
    raise PotError(f"No lid for {pot}")
acme.errors.PotError: No lid for big pot"""
NOTEBOOK = """\
---------------------------------------------------------------------------
PotError                                  Traceback (most recent call last)
Cell In[3], line 2
      1 pot = find()
----> 2 main()

File /env/lib/acme/pots.py:33, in boil(pot, lid)
     31   if not lid:
     32     # nothing to cover it with
---> 33     raise PotError(f"No lid for {pot}")
     34   return pot

PotError: No lid for big pot"""
PYTEST = """\
=================================== FAILURES ===================================
__________________________________ test_boil ___________________________________

    def test_boil():
>       main()

tests/test_pots.py:5:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

pot = 'big pot'

    def boil(pot):
        \"\"\"Boil a pot.\"\"\"
>       raise PotError(f"No lid for {pot}")
E       acme.errors.PotError: No lid for big pot

/env/lib/acme/pots.py:33: PotError
=========================== short test summary info ============================
FAILED tests/test_pots.py::test_boil - acme.errors.PotError: No lid for big pot"""
SHORT_PYTEST = """\
tests/test_pots.py:5: in test_boil
    main()
/env/lib/acme/pots.py:33: in boil
    raise PotError(f"No lid for {pot}")
E   acme.errors.PotError: No lid for big pot"""
RICH = """\
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /home/me/kitchen.py:7 in <module>                                            │
│                                                                              │
│    5 if __name__ == "__main__":                                              │
│ ❱  7     main()                                                              │
│                                                                              │
│ /env/lib/acme/pots.py:33 in boil                                             │
│                                                                              │
│   32 # nothing to cover it with                                              │
│ ❱ 33     raise PotError(f"No lid for {pot}")                                 │
╰──────────────────────────────────────────────────────────────────────────────╯
PotError: No lid for big pot"""
COLOURED = NOTEBOOK.replace("File ", "File \x1b[0;32m").replace(", in boil", "\x1b[0m, in \x1b[0;36mboil\x1b[0;34m")
FORMATS = {
    "plain": PLAIN,
    "log": "\n".join(f"2031-05-01 12:00:0{n},12{n} ERROR [worker] {line}" for n, line in enumerate(PLAIN.split("\n"))),
    "container": "\n".join(f"web-1  | {line}" for line in ["ERROR: in the application", *PLAIN.split("\n")]),
    "JSON": json.dumps({"severity": "ERROR", "message": PLAIN, "thread": "main"}),
    "JSON in JSON": json.dumps(json.dumps({"message": PLAIN, "thread": "main"})),
    "one line": " ".join(PLAIN.replace("    ~~~~^^\n", "").split()),
    "cut off in front": "  ...\n" + PLAIN.partition("~~~~^^\n")[2],
    "carriage returns": PLAIN.replace("\n", "\r\n"),
    "notebook": NOTEBOOK,
    "coloured notebook": COLOURED,
    "pytest": PYTEST,
    "short pytest": SHORT_PYTEST,
    "rich": RICH,
    "group": '  + Exception Group Traceback (most recent call last):\n  |   File "/home/me/a.py", line 1, in <module>\n'
    "  |     main()\n  | ExceptionGroup: several (1 sub-exception)\n  +-+---------------- 1 ----------------\n"
    + textwrap.indent(PLAIN, "    | ")
    + "\n    +------------------------------------",
}


@pytest.mark.parametrize("text", FORMATS.values(), ids=FORMATS)
def test_every_format_shows_what_was_raised_and_where(text: str):
    traceback = read_traceback(text)
    assert traceback is not None
    last = traceback.last
    assert last.type.rpartition(".")[2] == "PotError"
    assert last.message == "No lid for big pot"
    assert last.frames[-1] == RAISE
    assert traceback.words == ""


def test_chained_exceptions_stand_in_their_order():
    text = (
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in get\n    return known[name]\nKeyError: 'lid'\n"
        f"\nDuring handling of the above exception, another exception occurred:\n\n{PLAIN}"
    )
    traceback = read_traceback(text)
    assert traceback is not None
    assert [one.type for one in traceback.exceptions] == ["KeyError", "acme.errors.PotError"]
    assert (traceback.first.type, traceback.last.type) == ("KeyError", "acme.errors.PotError")
    assert traceback.first.frames == (Frame("a.py", 3, "get", "return known[name]"),)


def test_the_paths_of_windows_have_forward_slashes():
    text = PLAIN.replace("/env/lib/acme/pots.py", r"C:\Users\me\new\acme\pots.py")
    traceback = read_traceback(json.dumps({"message": text}))
    assert traceback is not None
    assert traceback.last.frames[-1].path == "C:/Users/me/new/acme/pots.py"


def test_a_message_goes_on_until_an_empty_line_and_what_the_user_says_is_kept():
    traceback = read_traceback(f"why do I get this?\n{PLAIN}\nSee the kitchen.\n\nHow can I cover the pot?")
    assert traceback is not None
    assert traceback.last.message == "No lid for big pot See the kitchen."
    assert traceback.words == "why do I get this? How can I cover the pot?"


def test_what_ends_before_the_error_has_frames_only():
    traceback = read_traceback(PLAIN.rpartition("\n")[0])
    assert traceback is not None
    assert (traceback.last.type, traceback.last.frames[-1]) == ("", RAISE)


@pytest.mark.parametrize(
    "text",
    [
        "How do I retry?",
        "What does line 3 of pots.py do?",
        "Why does it say Traceback (most recent call last): at all?",
        "",
    ],
)
def test_a_question_is_no_traceback(text: str):
    assert read_traceback(text) is None


def test_an_error_in_a_sentence_has_a_type_a_message_and_the_words_around():
    found = find_error("why do I get acme.PotError: No lid\nfor it")
    assert found == ("acme.PotError", "No lid for it", "why do I get")
    assert find_error("KeyError: no lid\n\nWhat now?") == ("KeyError", "no lid", "What now?")
    assert find_error("What is a ValueError?") is None
    assert find_error("Note: this is no error") is None
    assert find_error("My code raises KeyError: no lid") == ("KeyError", "no lid", "My code raises")


@pytest.mark.parametrize(
    "code",
    [
        'def boil(pot):\n  """Boils.\n\n  Raises:\n    PotError: If no lid fits.\n    KeyError: Sometimes.\n  """',
        'def boil(pot): """Boils. Raises: PotError: If no lid fits. """ return pot (using Pot)',
        'def boil(pot):\n  """Boils.\n\n  :raises PotError: if no lid fits\n  """',
        "try: boil() except PotError: return None",
        "class PotError: pass",
        "def boil(pot) -> PotGroup: return pot",
    ],
)
def test_code_that_names_errors_has_no_error(code: str):
    assert find_error(code) is None


# What tracebacks are made of, in pieces: words, marks, quotes, gaps.
PIECES = sorted({piece for text in FORMATS.values() for piece in re.split(r"(\W)", text)})


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=60), st.integers(1, 60))
def test_whatever_is_pasted_is_read_in_linear_time(parts: list[str], times: int):
    # Quadratic time on 8,000 characters would take minutes for these examples.
    text = ("".join(parts) * times)[:8000]
    traceback = read_traceback(text)
    find_error(text)
    for raised in traceback.exceptions if traceback else ():
        assert len(raised.message) <= 1200
