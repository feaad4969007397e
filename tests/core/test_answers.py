"""JSON in the answers of language models, however broken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.services import answers
from adk_evidence.services.answers import MAX_FAILURES, json_objects


def tried(text: str) -> tuple[int, int]:
    """How many objects a text has, and at how many places an object was looked for."""
    places = 0

    class Counting(json.JSONDecoder):
        def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
            nonlocal places
            places += 1
            return super().raw_decode(s, idx)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers.json, "JSONDecoder", Counting)
        return len(list(json_objects(text))), places


@pytest.mark.parametrize("part", ["{", '{"a":', "{}}{", '{"a": [{"b": '])
def test_a_long_broken_answer_is_tried_at_few_places(part: str) -> None:
    found, places = tried(part * 5000)
    assert places - found <= MAX_FAILURES


@given(
    st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.text()), max_size=5),
    st.sampled_from(["", " ", "{", "Here: ", "\n"]),
)
def test_every_object_is_found_whatever_stands_between(objects: list[dict[str, Any]], between: str) -> None:
    text = between.join(["", *(json.dumps(one, indent=1) for one in objects), ""])
    assert [found for found in json_objects(text) if found in objects] == objects


def test_the_whole_objects_of_one_that_was_cut_off_are_found() -> None:
    assert list(json_objects('{"passages": [{"a": 1}, {"b": 2}, {"c":')) == [{"a": 1}, {"b": 2}]
