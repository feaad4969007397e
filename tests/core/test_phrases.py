"""How much of a pasted phrase stands in a text."""

from __future__ import annotations

import time

import pytest

from adk_evidence.search.candidates.phrases import Phrase, row_of

RAISE = 'raise PotError(\n    f"No lid of the size {size} covers"\n    f" the pot {name!r}.\\nBuy another one."\n)'


def share(phrase: str, text: str, shortest: int = 2, beside: int = 1) -> float:
    return Phrase.of(phrase).covered(row_of(text), shortest, beside)


def test_the_values_of_a_message_are_gaps_that_weigh_as_one_word():
    message = "No lid of the size 30 covers the pot 'big-red.pot-2'. Buy another one."
    assert share(message, RAISE) == pytest.approx(11 / 13)
    assert share(message, "There is another one, and no lid of the size that covers.") < 0.7


def test_words_in_another_order_or_far_away_are_no_part_of_the_phrase():
    assert share("red pots are hot", "hot are pots red") == 0.0
    near, far = "No lid, x, covers the pot", f"No lid {'x ' * 400} covers the pot"
    assert share("No lid covers the pot", near) > share("No lid covers the pot", far)


@pytest.mark.parametrize("text", [RAISE, "No lid of the size 30", "Another pot covers the lid", "", "12 OF THE SIZE"])
def test_what_may_not_be_covered_is_not(text):
    phrase = Phrase.of("No lid of the size 30 covers the pot 'big-red.pot-2'.")
    covered = phrase.covered(row_of(text), 2, 1)
    assert phrase.may_be_covered(text.lower(), covered)
    assert not phrase.may_be_covered("no lid", 0.5)


def test_a_hostile_phrase_is_compared_quickly():
    begin = time.process_time()
    share("a " * 4000, "a " * 4000)
    share("a b " * 2000, "b a a b " * 2000)
    assert time.process_time() - begin < 1
