from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.search.query import normalise, sub_queries


def test_white_space_is_collapsed_and_casing_kept():
    assert normalise("  How does\n LlmAgent\twork ").text == "How does LlmAgent work"


def test_control_characters_cannot_forge_lines():
    assert normalise("a\x00b\x1b[31mc\u2028d").text == "a b [31mc d"


def test_code_is_recognised():
    assert normalise("where is before_tool_callback called").code_identifiers == ("before_tool_callback",)


def test_names_are_what_a_query_mentions_in_code():
    assert normalise("why does Runner.run_async call before_tool_callback()").names == (
        "run_async",
        "before_tool_callback",
    )
    assert normalise("Runner").names == ("Runner",)
    assert normalise("stream audio").names == ()


def test_sub_queries_follow_their_templates():
    assert sub_queries(normalise("save state")) == (
        "ADK Python official usage: save state",
        "Agent Development Kit tool calling sessions state: save state",
    )
    assert sub_queries(normalise("LlmAgent tools"))[2] == "In code: LlmAgent LlmAgent tools"
    assert len(sub_queries(normalise("import google.adk fails"))) == 3
    assert len(sub_queries(normalise("how do I remember a user's language"))) == 2


@given(st.text(max_size=300))
def test_normalising_twice_changes_nothing(text):
    once = normalise(text)
    assert normalise(once.text) == once
