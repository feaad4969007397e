from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_evidence.search.question.query import normalise
from adk_evidence.search.ranking.opposites import asked_beside, is_opposite
from adk_evidence.search.rerankers.base import RerankDocument
from adk_evidence.search.rerankers.local import LocalReranker
from tests.core.factories import payload


def called(symbol: str):
    return payload("code", symbol, "", symbol=symbol)


@pytest.mark.parametrize(
    ("question", "symbol"),
    [
        ("how do I add a callback before a tool", "BasePlugin.after_tool_callback"),
        ("run code before each tool call", "after_tool_callback"),
        ("log something after calling the model", "before_model_callback"),
        ("log something after the models", "before_model_callback"),
        ("what does before_tool_callback get", "after_tool_callback"),
        ("set the input schema of an agent", "LlmAgent.output_schema"),
        ("the schema of a tool input", "check_tool_output"),
        ("how do I load an artifact", "save_artifact"),
    ],
)
def test_what_is_called_by_the_opposite_beside_the_same_word_is_the_opposite(question: str, symbol: str) -> None:
    assert is_opposite(asked_beside(question), called(symbol))


@pytest.mark.parametrize(
    ("question", "symbol"),
    [
        ("how do I add a callback before a tool", "before_tool_callback"),
        ("how do I add a callback before a tool", "after_model_callback"),
        ("what runs before and what runs after a tool", "after_tool_callback"),
        ("what runs before a tool and after a tool", "after_tool_callback"),
        ("change the response of the model before it is shown to the user", "after_model_callback"),
        ("change the tool response before the model sees it", "after_tool_callback"),
        ("how do I load an artifact", "load_or_save_artifact_then_load_artifact"),
        ("how do I load an artifact", "save_session"),
        ("how do I retry a tool", "after_tool_callback"),
        ("before", "after_tool_callback"),
        ("", "after_tool_callback"),
    ],
)
def test_a_word_of_a_pair_elsewhere_or_both_words_say_nothing(question: str, symbol: str) -> None:
    assert not is_opposite(asked_beside(question), called(symbol))


def test_a_page_is_called_by_its_file_and_its_headings() -> None:
    asked = asked_beside("how do I add a callback before a tool")
    page = payload("doc", "1", "").model_copy(update={"path": "docs/after_tool.md", "headings": ("Callbacks",)})
    assert is_opposite(asked, page)
    assert not is_opposite(asked, page.model_copy(update={"headings": ("Before tool callbacks",)}))


@given(st.text(max_size=80), st.text(max_size=40))
def test_any_text_can_be_asked(question: str, symbol: str) -> None:
    is_opposite(asked_beside(question), called(symbol))


@pytest.mark.parametrize(("question", "first"), [("callback before a tool", 0), ("callback after a tool", 1)])
def test_of_two_that_score_alike_the_one_that_was_asked_for_stands_first(question: str, first: int) -> None:
    same = {"dense": 0.5, "sparse": 3.0}
    documents = [
        RerankDocument(called(symbol), body_tokens=100, scores=same)
        for symbol in ("before_tool_callback", "after_tool_callback")
    ]
    scores = [score.score for score in LocalReranker().rerank(normalise(question), "build", documents)]
    assert scores.index(max(scores)) == first
    assert scores[0] != scores[1]
