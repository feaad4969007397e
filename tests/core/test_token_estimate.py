"""How many tokens a text is estimated at."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.text.tokens import estimate_tokens

# The same tokens, each kind written by itself.
_KINDS = re.compile(
    r"[a-z]{1,7}|(?<![A-Z])[A-Z][a-z]{1,6}|[A-Z]{1,7}|[0-9]{1,3}|\s{2,}|[^\S ]|[!-/:-@\[-`{-~]{1,2}|[^\x00-\x7f]"
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("session state", 2),
        ("sessions", 2),
        ("ToolContext", 2),
        ("HTTPServer", 2),
        ("20261123", 3),
        ("(){}[", 3),
        ("one  two", 3),
        ("one\n    two", 3),
        ("   ", 1),
        ("né", 3),
    ],
)
def test_words_digits_signs_and_indentation_count(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(alphabet="ab zABZ  \n\t019_.,()é中\u2003\u00a0\x00\x1c\x85ſ", max_size=60))
def test_every_text_is_cut_as_its_kinds_of_characters_are(text: str) -> None:
    others = sum(not char.isascii() and not char.isspace() for char in text)
    assert estimate_tokens(text) == len(_KINDS.findall(text)) + others
