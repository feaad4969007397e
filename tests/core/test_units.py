"""How the lines of a chunk are cut into what can be shown by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.readers.units import packed, units, unpacked

PAGE = """# Retries

<div class="tag">
</div>

Wrap the tool as follows:

```python
retry(tool)
```

A second paragraph.

=== "Python"

    Use the plugin.

=== "Other"

    Use nothing.
"""
LICENSED = '''# Copyright 2026 Someone
# Licensed under something.

"""A module."""

import os
from a import b


class Box(Base):
  """Holds things.

  It grows.

  Args:
    size: How many.
    name: What it is called.
    colour: As a word.
    weight: In grams.
    length: In metres.
    height: In metres, too.
    depth: The same.
  """

  size: int = 3
  """How many."""
  name: str

  def put(self, thing):
    """Puts a thing in."""
    self.things.append(thing)
    return thing
'''


def texts(source, lang, role=None):
    lines = source.split("\n")
    found = units(lines, lang)
    return ["\n".join(lines[unit.start : unit.end]).strip() for unit in found if role in (None, unit.role)]


def needed(source, lang, text):
    lines = source.split("\n")
    found = units(lines, lang)
    unit = next(unit for unit in found if text in "\n".join(lines[unit.start : unit.end]))
    return ["\n".join(lines[found[need].start : found[need].end]).strip() for need in unit.needs]


def test_what_stands_in_a_tab_needs_the_heading_and_the_label_of_its_tab_alone():
    assert needed(PAGE, "md", "Use nothing.") == ["# Retries", '=== "Other"']
    assert needed(PAGE, "md", "A second") == ["# Retries"]
    assert "Wrap the tool as follows:\n\n```python\nretry(tool)\n```" in texts(PAGE, "md", "text")
    assert texts(PAGE, "md", "idle") == ['<div class="tag">\n</div>']


def test_a_long_code_block_is_cut_but_never_shown_without_its_borders():
    statements = "\n\n".join(f"step_{n} = run(\n    {n},\n    again=True,\n)" for n in range(12))
    page = f"As follows:\n\n```python\n{statements}\n```\n"
    parts = [text for text in texts(page, "md", "text") if "step_" in text]
    assert len(parts) > 1
    for part in parts:
        assert needed(page, "md", part) == ["As follows:", "```python", "```"]
    assert "As follows:" in texts(page, "md", "text") and needed(page, "md", "As follows:") == []


def test_licence_and_imports_are_idle():
    idle = texts(LICENSED, "py", "idle")
    assert idle[0].startswith("# Copyright") and "class" not in idle[0]
    assert idle[1:] == ["import os", "from a import b"]
    checked = "if TYPE_CHECKING:\n  import c\n  import d"
    assert texts(f"if TYPE_CHECKING:\n  from a import b\nelse:\n  b = None\n\n{checked}\n", "py", "idle") == [checked]
    assert texts("# Keeps the state.\n\n# The user's licence is checked elsewhere.\nx = 1\n", "py", "idle") == []


def test_a_signature_comes_with_the_first_paragraph_of_its_docstring():
    labels = texts(LICENSED, "py", "label")
    assert 'class Box(Base):\n  """Holds things.' in labels
    assert 'def put(self, thing):\n    """Puts a thing in."""' in labels
    assert "class Box" in needed(LICENSED, "py", "self.things")[0]
    method = LICENSED[LICENSED.index("  def put") :]
    assert "self.things.append(thing)\n    return thing" in texts(method, "py", "text")


def test_fields_are_told_from_statements_and_keep_their_docstrings():
    assert texts(LICENSED, "py", "field") == ['size: int = 3\n  """How many."""', "name: str"]


def test_long_arguments_are_cut_by_entries_below_their_title():
    assert "Args:" in texts(LICENSED, "py", "label")
    assert needed(LICENSED, "py", "size: How many")[-1] == "Args:"
    assert not any("size: How many" in text and "depth" in text for text in texts(LICENSED, "py", "text"))


PIECES = """
a|  b|def f():|class C:|  x: int = 1|  '''|```python|```|# h|## i|- x|x:|=== "T"|    in tab|import os|if x:|  return|@d
# Copyright|<div>|---|(|)
"""
LINES = st.lists(st.sampled_from(["", *PIECES.strip().replace("\n", "|").split("|")]), max_size=30)


@pytest.mark.parametrize("lang", ["md", "py", "json"])
@given(lines=LINES)
def test_units_cover_every_line_once_and_need_others_that_are_there(lang, lines):
    found = units(lines, lang)
    assert unpacked(packed(found)) == found
    assert [line for unit in found for line in range(unit.start, unit.end)] == list(range(len(lines)))
    assert all(unit.start < unit.end for unit in found)
    assert all(0 <= need < len(found) for unit in found for need in unit.needs)


def test_the_fields_of_a_class_that_goes_on_are_units_by_themselves():
    lines = ["  size: int = 3", '  """How many."""', "  name: str", "  colour: str", '  """As a word."""']
    assert [(unit.start, unit.end, unit.role) for unit in units(lines, "py")] == [
        (0, 2, "field"),
        (2, 3, "field"),
        (3, 5, "field"),
    ]
    assert [unit.names for unit in units(lines, "py")] == [("size",), ("name",), ("colour",)]
    assert {unit.role for unit in units(["  size = 3", "  name = 'x'", "  return size"], "py")} == {"text"}


def test_the_long_docstring_of_a_field_is_cut_by_paragraphs_that_need_the_field():
    about = "\n\n".join(f"  Reason {n}.\n  It has two lines." for n in range(8))
    code = f'class Box:\n  size: int = 3\n  """How many.\n\n{about}\n  """\n  name: str\n'
    assert texts(code, "py", "field") == ['  size: int = 3\n  """How many.'.strip(), "name: str"]
    assert [text.split("\n")[0] for text in texts(code, "py", "docstring")] == [f"Reason {n}." for n in range(8)]
    assert needed(code, "py", "Reason 5.")[-1].startswith("size: int = 3")


def test_the_rest_of_a_docstring_is_told_from_the_code_behind_it():
    lines = ["  - and so on:", '  """', "", "  BIDI = 'bidi'", '  """Both ways."""', "  def run(self):", "    return 1"]
    words, *code = units(lines, "py")
    assert (words.start, words.end, words.role) == (0, 2, "docstring")
    assert [unit.role for unit in code] == ["text", "label", "text"]
    assert code[-1].needs == (2,)
