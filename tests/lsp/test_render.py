"""`adk/render`: packs as text to paste, the chosen results of them, and what is no pack."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.rpc import RawClient

QUESTION = "how do I retry when a tool throws?"


@pytest.fixture(scope="module")
def pack(client: RawClient) -> dict[str, Any]:
    result: dict[str, Any] = client.result("adk/evidence", {"query": QUESTION, "maxResults": 4})
    assert len(result["candidates"]) == 4
    return result


def rendered(client: RawClient, pack: dict[str, Any], text_format: str, **more: Any) -> str:
    text: str = client.result("adk/render", {"pack": pack, "format": text_format, **more})["text"]
    return text


def test_a_pack_becomes_markdown_with_and_without_the_query_that_was_used(
    client: RawClient, pack: dict[str, Any]
) -> None:
    text = rendered(client, pack, "markdown")
    assert QUESTION in text and all(candidate["citation"] in text for candidate in pack["candidates"])
    alone = {key: value for key, value in pack.items() if key != "queryUsed"}
    assert rendered(client, alone, "markdown") == text
    empty = {**pack, "status": "no_results", "candidates": [], "index": None, "retrieval_plan": None}
    assert QUESTION in rendered(client, empty, "markdown")


def test_a_prompt_keeps_to_its_limits_and_has_a_conversation(client: RawClient, pack: dict[str, Any]) -> None:
    history = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hello."}]
    text = rendered(client, pack, "prompt", system="You help.", history=history)
    assert text.startswith("You help.\n\nSEARCH CONTEXT: ") and "USER:\n```text\nhello\n```\n\nASSISTANT:\n" in text
    result = client.result("adk/render", {"pack": pack, "format": "prompt", "maxTokens": 250})
    assert 1 <= result["included"] < 4 and result["tokens"] <= 250 and result["note"] == ""
    less = client.result("adk/render", {"pack": pack, "format": "prompt", "maxDocuments": 2, "maxDocumentTokens": 20})
    assert less["included"] == 2 and "\n[..." in less["text"]
    none = client.result("adk/render", {"pack": pack, "format": "prompt", "maxTokens": 10})
    assert none["included"] == 0 and "no room for evidence" in none["note"]


@pytest.mark.parametrize("text_format", ["markdown", "prompt"])
def test_chosen_results_alone_are_rendered_in_the_order_of_the_pack(
    client: RawClient, pack: dict[str, Any], text_format: str
) -> None:
    first, _, third, _ = (candidate["candidate_id"] for candidate in pack["candidates"])
    text = rendered(client, pack, text_format, candidateIds=[third, first, "of another pack"])
    citations = [candidate["citation"] for candidate in pack["candidates"]]
    assert text.index(citations[0]) < text.index(citations[2])
    assert citations[1] not in text and citations[3] not in text
    assert not any(citation in rendered(client, pack, text_format, candidateIds=[]) for citation in citations)


@pytest.mark.parametrize(
    "wrong",
    [{"pack": {"more": "secret"}}, {"maxTokens": 0}, {"history": [{"role": "system", "content": "secret"}]}],
)
def test_wrong_parameters_get_a_sentence(client: RawClient, pack: dict[str, Any], wrong: dict[str, Any]) -> None:
    error = client.request("adk/render", {"pack": pack, "format": "prompt", **wrong})["error"]
    assert error["code"] == -32602 and len(error["message"]) < 500
    assert not [word for word in ("Traceback", "pydantic", "secret") if word in str(error)]
