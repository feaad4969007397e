"""What docstrings in Google's style say of each parameter."""

from __future__ import annotations

import pytest

from adk_evidence.readers.docstrings import MAX_CHARS, argument_docs

DOC = """Boils a pot.

Note: this is prose.

Args:
  lid (bool, optional): Whether a lid is on.
    A lid saves energy.

  water: How much, in litres:
    - cold
    - hot
  *pots: More pots.
  **options: More.

Returns:
  steam: not a parameter.
"""


def test_each_parameter_has_its_text_in_one_line():
    assert argument_docs(DOC) == {
        "lid": "Whether a lid is on. A lid saves energy.",
        "water": "How much, in litres: - cold - hot",
        "pots": "More pots.",
        "options": "More.",
    }


@pytest.mark.parametrize(
    ("doc", "found"),
    [
        ("", {}),
        ("Args:\n  prose without a colon", {}),
        ("Attributes:\n    size: How many.\nArgs:\n    name: What.", {"size": "How many.", "name": "What."}),
        ("Args:\n  a: One.\nRaises:\n  ValueError: b: no.", {"a": "One."}),
        ("In a sentence, Args: name: no.", {}),
        # An indented docstring, as it stands in a file.
        ("Boils.\n\n    Args:\n        a: One.\n    Returns:\n        b: no.", {"a": "One."}),
        ("Args:\n  a: One.\n  b (tuple(int, int)): Two.", {"a": "One.", "b": "Two."}),
        ("Args:\n  a: One.\n  b (f(g(x))): Two.\n    More.\n  c: Three.", {"a": "One.", "c": "Three."}),
    ],
)
def test_other_sections_and_prose_are_no_parameters(doc: str, found: dict[str, str]):
    assert argument_docs(doc) == found
    assert len(argument_docs(f"Args:\n  a: {'x' * 5000}")["a"]) == MAX_CHARS
