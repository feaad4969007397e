"""Names in questions and code: how they are found, split and expanded."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import alias_generators

from adk_evidence.api.history import History
from adk_evidence.text.identifiers import (
    code_identifiers,
    expand_identifiers,
    extract_identifiers,
    is_code_like,
    split_identifier,
    to_camel,
)
from adk_evidence.text.tokens import estimate_tokens, truncate_tokens


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getUserName", "get user name"),
        ("my_function", "my function"),
        ("HTTPServer", "http server"),
        ("LlmAgent", "llm agent"),
        ("MCPToolset", "mcp toolset"),
        ("A2A", "a2a"),
        ("toA2a", "to a2a"),
        ("OAuth2", "oauth2"),
        ("OAuth2Token", "oauth2 token"),
        ("listURLs", "list urls"),
        ("client.upsert", "client upsert"),
        ("__init__", "init"),
        ("x86_64", "x86 64"),
        ("naïve_Straße", "naïve straße"),
        ("", ""),
    ],
)
def test_names_are_split_into_their_words(name: str, words: str) -> None:
    assert split_identifier(name) == words.split()


def test_expansion_keeps_the_name_beside_its_words() -> None:
    assert expand_identifiers("my_function") == "my function my_function"
    assert expand_identifiers("ToolContext") == "tool context toolcontext"
    assert expand_identifiers("client.upsert") == "client.upsert client upsert"
    assert expand_identifiers("save the state, v1.2.3") == "save the state v1.2.3 v1 2 3"
    encoded = "aB3" * 60
    assert expand_identifiers(encoded) == encoded.lower()


def test_code_is_told_from_words() -> None:
    code = ["run_async", "LlmAgent", "getUser", "tool.run", "agent.py", "run()", "__init__", "HTTPServer"]
    words = ["agent", "Agent", "LLM", "LLMs", "e.g.", "e.g", "", "_", "42", "()"]
    assert [token for token in (*code, *words) if is_code_like(token)] == code


def test_code_is_told_apart_from_words_in_a_question() -> None:
    query = "Why does run_async() ignore ToolContext, e.g. in agent.py, and stop()?"
    assert code_identifiers(query) == ["run_async", "ToolContext", "agent.py", "stop"]
    assert "Why" in extract_identifiers(query)
    assert extract_identifiers("a b a") == ["a", "b"]
    keys = "node_input['task_a'] and state[\"user_name\"], or 'output_key'?"
    assert code_identifiers(keys) == ["node_input", "output_key"], "keys of dicts are no names"


@given(st.text(max_size=300))
def test_any_text_gives_lower_case_terms_without_spaces(text: str) -> None:
    expanded = expand_identifiers(text)
    assert expanded == " ".join(expanded.split())
    for term in expanded.split():
        assert term == term.lower()
    assert all(is_code_like(name) or is_code_like(f"{name}()") for name in code_identifiers(text))


def test_token_estimates_are_near_what_encoders_reach() -> None:
    prose = "The session service stores the state of a conversation between an agent and its user. " * 20
    assert 3.5 <= len(prose) / estimate_tokens(prose) <= 6
    code = "  def run_async(self, ctx: Context) -> None:\n    self._tools.append(ctx.tool_name)\n" * 20
    assert 2 <= len(code) / estimate_tokens(code) <= 4


@given(st.one_of(st.text(max_size=120), st.text(alphabet="abAB12 \n\t.-_é\xa0", max_size=120)))
def test_a_text_is_cut_only_below_its_estimate(text: str) -> None:
    tokens = estimate_tokens(text)
    assert truncate_tokens(text, tokens) == text
    if tokens:
        shorter = truncate_tokens(text, tokens - 1)
        assert shorter != text
        assert estimate_tokens(shorter) < tokens


def test_a_question_that_is_one_long_word_takes_no_longer_than_its_length() -> None:
    # With time that grows with the square of the length this would take minutes.
    assert code_identifiers("A" * 300_000) == []


def test_names_are_in_camel_case_as_pydantic_writes_them() -> None:
    history = History.load()
    words = {word for text in history.table.modules.values() for word in re.findall(r"\w+", text)}
    assert len(words) > 1000
    for word in (*words, "_a_b", "a1_b2c", "a__b", "x2y", "Big_one", ""):
        assert to_camel(word) == alias_generators.to_camel(word)
