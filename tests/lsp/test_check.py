"""`adk/check`: what became of the texts that a saved pack cites."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.lsp.rpc import RawClient
from tests.lsp.test_protocol_schema import problems

QUESTION = "how do I retry when a tool throws?"


@pytest.fixture(scope="module")
def pack(client: RawClient) -> dict[str, Any]:
    result: dict[str, Any] = client.result("adk/evidence", {"query": QUESTION, "maxResults": 6})
    return result


def states(found: dict[str, Any]) -> dict[str, str]:
    return {one["candidate_id"]: one["verification"]["state"] for one in found["candidates"]}


def test_a_pack_of_today_holds_however_the_editor_wrote_it(client: RawClient, pack: dict[str, Any]) -> None:
    alone = {name: value for name, value in pack.items() if name != "queryUsed"}
    # JavaScript writes 1.0 as 1.
    rewritten = json.loads(
        json.dumps(pack), parse_float=lambda text: int(float(text)) if float(text) % 1 == 0 else float(text)
    )
    for saved in (pack, alone, rewritten):
        # A pack that the command line saved lacks `queryUsed`, which the protocol names; the server takes such a pack.
        assert problems("CheckParams", {"pack": {**saved, "queryUsed": pack["queryUsed"]}}) == []
        found = client.result("adk/check", {"pack": saved})
        assert problems("CheckResult", found) == []
        assert found["intact"] is True
        assert states(found) == {one["candidate_id"]: "exact" for one in pack["candidates"]}


def test_an_edited_pack_is_told(client: RawClient, pack: dict[str, Any]) -> None:
    first, *others = pack["candidates"]
    edited = {**pack, "candidates": [{**first, "text": f"{first['text']}\n# invented"}, *others]}
    assert client.result("adk/check", {"pack": edited})["intact"] is False


@pytest.mark.parametrize("sent", [{}, {"candidates": [{}]}])
def test_what_is_no_pack_is_refused_with_a_sentence(client: RawClient, sent: dict[str, Any]) -> None:
    error = client.request("adk/check", {"pack": sent})["error"]
    assert "pack" in error["message"] and "Traceback" not in error["message"]
