from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from adk_evidence.models.request import MAX_PASTED_CHARS, MAX_QUERY_CHARS, EvidenceRequest
from adk_evidence.search.question.query import is_in_english, normalise, sub_queries, words_beside_code


def test_white_space_is_collapsed_and_casing_kept():
    assert normalise("  How does\n LlmAgent\twork ").text == "How does LlmAgent work"


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
    once = normalise(text).text
    assert normalise(once).text == once


TRACEBACK = """Traceback (most recent call last):
  File "/env/acme/pots.py", line 3, in boil
    raise PotError(f"No lid for {pot}")
acme.PotError: No lid for big_pot"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TRACEBACK, "traceback"),
        (f"why do I get this?\n\n{TRACEBACK}", "traceback"),
        ("ValueError: no tool is named x", "error"),
        ("why does it say google.adk.NotFoundError: Session not found", "error"),
        ("Runner.run_async", "names"),
        ("LlmAgent output_key", "names"),
        ("Runner", "names"),
        ("agent = LlmAgent(name='helper')", "code"),
        ("from google.adk import Agent", "code"),
        ("for event in events:\n    print(event)\n    save(event", "code"),
        ("how do I retry when a tool throws?", "question"),
        ("how do I set max_llm_calls in RunConfig?", "question"),
        ("return to the parent agent", "question"),
        ("What is a ValueError?", "question"),
        ("sessions and state\n\nhow do they differ?", "question"),
    ],
)
def test_the_kind_of_a_query_shows_in_its_structure(text: str, kind: str):
    assert normalise(text).kind == kind


def test_a_pasted_error_can_be_read_as_a_question():
    query = normalise(f"why?\n\n{TRACEBACK}", errors=False)
    assert (query.kind in ("traceback", "error"), query.traceback, query.message) == (False, None, "")
    assert query.text.startswith("why? Traceback (most recent call last)")
    assert normalise("how do I retry?", errors=False) == normalise("how do I retry?")


def test_a_pasted_error_is_searched_by_its_message_and_the_words_around_it():
    query = normalise(f"how can I cover it?\n\n{TRACEBACK}")
    assert query.text == "how can I cover it? PotError: No lid for big_pot"
    assert (query.error_type, query.message) == ("PotError", "No lid for big_pot")


def test_a_long_traceback_loses_its_middle_and_any_other_long_text_is_refused():
    frame = '  File "/home/me/a.py", line 1, in f\n    f()\n'
    head, _, tail = TRACEBACK.partition("\n")
    query = normalise(EvidenceRequest(query=f"why?\n{head}\n{frame * 400}{tail}").query)
    assert query.traceback is not None and query.traceback.words == "why?"
    assert query.traceback.last.frames[-1].path == "/env/acme/pots.py"
    assert query.message == "No lid for big_pot"
    with pytest.raises(ValidationError, match="no traceback"):
        EvidenceRequest(query="x " * 8000)


@pytest.mark.parametrize("after", ["", "INFO served\n" * 2000])
def test_the_traceback_of_a_long_log_is_found_wherever_it_stands(after: str):
    query = EvidenceRequest(query="why?\n" + "INFO waiting\n" * 3000 + f"{TRACEBACK}\n\n{after}").query
    assert len(query) <= MAX_QUERY_CHARS
    found = normalise(query)
    assert found.kind == "traceback" and found.message == "No lid for big_pot"


def test_a_text_is_bounded_even_with_a_traceback():
    with pytest.raises(ValidationError, match="100000"):
        EvidenceRequest(query=TRACEBACK + "x" * MAX_PASTED_CHARS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do I keep state between two sessions?", True),
        ("LlmAgent output_key", True),
        ("how do I make it say 你好 in Chinese", True),
        ("Why does this fail?\n```python\n# não há sessão para este usuário\n```", True),
        ("Como configuro um timeout próprio para cada ferramenta do agente?", False),
        ("Comment déployer mon agent sur Cloud Run ?", False),
        ("Wie kann ich einen Agenten auf Cloud Run ausrollen?", False),
        ("Как добавить инструмент агенту?", False),
        ("如何让 LlmAgent 调用工具", False),
    ],
)
def test_a_question_in_another_language_shows_by_its_words_and_letters(text: str, expected: bool) -> None:
    assert is_in_english(text) is expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "class Desk(LlmAgent):\n    async def run(self): ...\n\nfine before, now the framework calls my run()",
            "fine",
        ),
        ("```python\nx = 1\n```\nwhy does the model never see this value?", "why"),
        ("how do I call a tool twice?", ""),
        ("runner = Runner(\n    agent=agent)\nand now?", ""),
    ],
)
def test_what_is_said_in_words_beside_code(text: str, words: str) -> None:
    found = words_beside_code(text)
    assert found.split()[:1] == words.split() and "Runner" not in found and "x = 1" not in found
