"""Every request of the server, as a client sees it: right, wrong and unexpected parameters, each with an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adk_evidence.models.pack import EvidencePack
from tests.corpora import CODE_COMMIT, Workplace
from tests.lsp.conftest import AGENTS, Start
from tests.lsp.driver import SECRET
from tests.lsp.rpc import ROOT, RawClient

QUESTION = "how do I retry when a tool throws?"
URI = "file:///work/shop.py"
SHOP = """\
from google.adk.agents import LlmAgent
from google.adk.plugins import RetryPlugin

# how do I retry when a tool throws?

class Shop:
    def build(self):
        return LlmAgent(model="m")
"""
INVALID_PARAMS = -32602
REQUEST_FAILED = -32803
OWN = ("adk/evidence", "adk/symbol", "adk/source", "adk/status", "adk/ingest")


def place(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def selection(start: tuple[int, int], end: tuple[int, int]) -> dict[str, Any]:
    return {"textDocument": {"uri": URI}, "range": {"start": place(*start), "end": place(*end)}}


@pytest.fixture
def shop(client: RawClient) -> RawClient:
    client.open(URI, SHOP)
    return client


def pack_of(result: dict[str, Any]) -> EvidencePack:
    return EvidencePack.model_validate({key: value for key, value in result.items() if key != "queryUsed"})


# adk/evidence


def test_a_question_is_answered_with_a_pack_and_the_query_that_was_used(client: RawClient) -> None:
    result = client.result("adk/evidence", {"query": QUESTION, "taskMode": "debug", "maxResults": 3})
    pack = pack_of(result)
    assert pack.status == "success"
    assert (pack.task_mode, len(pack.candidates)) == ("debug", 3)
    assert pack.pack_id == pack.with_id().pack_id
    used = result["queryUsed"]
    assert (used["text"], used["origin"]) == (QUESTION, "given")


def test_a_long_traceback_is_taken(client: RawClient) -> None:
    log = (
        "why?\n"
        + "INFO waiting\n" * 3000
        + "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'"
    )
    pack = pack_of(client.result("adk/evidence", {"query": log}))
    assert [error.type for error in pack.errors] == ["KeyError"]


def test_a_selection_asks_with_what_is_around_it(shop: RawClient) -> None:
    request = selection((7, 15), (7, 24))
    results = [shop.result("adk/evidence", request) for _ in range(2)]
    used = results[0]["queryUsed"]
    assert used == {
        "text": "LlmAgent( (in Shop.build; using LlmAgent)",
        "origin": "selection",
        "selection": "LlmAgent(",
        "enclosing": "Shop.build",
        "symbols": ["google.adk.agents.llm_agent.LlmAgent"],
    }
    assert results[0]["query"] == used["text"]
    assert results[0]["pack_id"] == results[1]["pack_id"]


def test_the_definitions_of_a_selection_lead_the_pack(shop: RawClient) -> None:
    first = pack_of(shop.result("adk/evidence", selection((7, 0), (7, 40)))).candidates[0]
    assert (first.symbol, first.why.named) == ("LlmAgent", "defines LlmAgent, LlmAgent.model")


def test_a_given_question_is_about_its_symbols_and_its_place(shop: RawClient) -> None:
    where = {**selection((7, 15), (9, 0)), "query": QUESTION, "symbols": ["google.adk.plugins.RetryPlugin"]}
    found = pack_of(shop.result("adk/evidence", where))
    assert found.query == QUESTION
    assert [candidate.symbol for candidate in found.candidates[:2]] == ["RetryPlugin", "LlmAgent"]
    closed = {**where, "textDocument": {"uri": "file:///work/closed.py"}}
    assert pack_of(shop.result("adk/evidence", closed)).candidates[0].symbol == "RetryPlugin"


def test_other_wordings_of_a_question_are_searched_beside_it(client: RawClient) -> None:
    found = pack_of(client.result("adk/evidence", {"query": QUESTION, "wordings": ["RetryPlugin"]}))
    assert found.query == QUESTION
    assert found.retrieval_plan is not None and found.retrieval_plan.wordings == ("RetryPlugin",)
    assert client.request("adk/evidence", {"query": QUESTION, "wordings": ["a"] * 4})["error"]["code"] == -32602


def test_numbers_that_json_lacks_are_null(client: RawClient) -> None:
    assert client.result("adk/evidence", {"query": "NAN retry"})["debug"] == {"nan": None, "inf": [None]}


def test_an_unexpected_failure_is_answered_without_its_text(client: RawClient) -> None:
    error = client.request("adk/evidence", {"query": "BREAK"})["error"]
    assert error["code"] == -32603
    assert error["data"]["code"] == "internal_error"
    assert SECRET not in str(error) and str(ROOT) not in str(error) and "Traceback" not in str(error)


# adk/symbol


def test_a_symbol_is_found_by_name_path_and_place(shop: RawClient) -> None:
    asked: list[dict[str, Any]] = [
        {"name": "LlmAgent"},
        {"name": "google.adk.agents.Agent"},
        {"textDocument": {"uri": URI}, "position": place(7, 20)},
    ]
    found = [shop.result("adk/symbol", params) for params in asked]
    assert {symbol["fqn"] for symbol in found} == {"google.adk.agents.llm_agent.LlmAgent"}
    lines = found[0]["lines"]
    assert AGENTS.splitlines()[lines["start"] - 1] == "class LlmAgent(BaseAgent):"
    assert found[0]["citation"].endswith(f"#L{lines['start']}-L{lines['end']}")


def test_a_name_of_nothing_is_null(shop: RawClient) -> None:
    assert shop.result("adk/symbol", {"name": "Nothing.of.the.kind"}) is None
    assert shop.result("adk/symbol", {"textDocument": {"uri": URI}, "position": place(6, 9)}) is None
    assert shop.result("adk/symbol", {"textDocument": {"uri": URI}, "position": place(2**31 - 1, 2**31 - 1)}) is None


# adk/source


def test_every_citation_of_a_pack_opens_at_its_lines(client: RawClient, indexed: Workplace) -> None:
    result = client.result("adk/evidence", {"query": QUESTION, "maxResults": 12})
    assert {candidate["source_type"] for candidate in result["candidates"]} == {"docs", "code"}
    for candidate in result["candidates"]:
        for params in ({"citation": candidate["citation"]}, {"candidateId": candidate["candidate_id"]}):
            source = client.result("adk/source", params)
            assert source["path"] == candidate["path"]
            assert source["matches_index"] and source["local_matches"]
            assert Path(source["local_file"]).read_text() == source["text"]
            lines = source["text"].split("\n")[source["lines"]["start"] - 1 : source["lines"]["end"]]
            cited = source["text"].split("\n")[candidate["lines"]["start"] - 1 : candidate["lines"]["end"]]
            assert set(cited) <= set(lines)


def test_every_part_of_an_outline_opens_at_its_lines(client: RawClient) -> None:
    outlines = client.result("adk/evidence", {"query": QUESTION, "maxResults": 12})["outlines"]
    assert outlines
    for outline in outlines:
        assert client.result("adk/source", {"citation": outline["citation"]})["path"] == outline["path"]
        for part in outline["parts"]:
            start, end = part["lines"]["start"], part["lines"]["end"]
            source = client.result("adk/source", {"citation": f"{outline['citation']}#L{start}-L{end}"})
            assert (source["path"], source["lines"]) == (outline["path"], part["lines"])


def test_a_candidate_of_a_version_that_is_not_indexed_is_refused(client: RawClient) -> None:
    asked = {"query": QUESTION, "filters": {"source_types": ["code"]}}
    first = client.result("adk/evidence", asked)["candidates"][0]
    other = first["candidate_id"].replace(CODE_COMMIT, "v1.0.0")
    assert "not hold this candidate" in client.request("adk/source", {"candidateId": other})["error"]["message"]


def test_a_path_opens_at_a_commit_and_lines(client: RawClient) -> None:
    params = {"path": "src/google/adk/runners.py", "commit": CODE_COMMIT, "lines": {"start": 6, "end": 12}}
    source = client.result("adk/source", params)
    assert (source["language"], source["lines"], source["corpus"]) == ("py", {"start": 6, "end": 12}, "adk_python")
    assert client.result("adk/source", {"path": "src/google/adk/runners.py"})["lines"] is None


OUTSIDE = [
    {"path": "/etc/passwd"},
    {"path": "src/google/adk/runners.py", "commit": "another"},
    {"path": "src/google/adk/runners.py", "repo": "someone/else"},
    {"citation": f"adk-docs@{CODE_COMMIT}:file:///etc/passwd"},
    {"candidateId": f"google/adk-python@{CODE_COMMIT}:/etc/passwd:{'0' * 40}"},
    {"path": "src\x00google"},
]


@pytest.mark.parametrize("params", OUTSIDE, ids=str)
def test_nothing_but_indexed_files_is_opened(client: RawClient, params: dict[str, str]) -> None:
    error = client.request("adk/source", params)["error"]
    assert error["code"] == REQUEST_FAILED
    assert error["data"]["code"] == "not_indexed"
    assert "root:" not in str(error)


# adk/status and commands


def test_the_status_says_what_is_indexed_and_what_is_amiss(client: RawClient, indexed: Workplace) -> None:
    status = client.result("adk/status")
    current = indexed.generations.current()
    assert current is not None
    assert status["index"]["generation"] == current.id
    assert Path(status["home"]) == indexed.home
    assert {"index", "home", "packages"} <= {finding["what"] for finding in status["findings"]}
    assert (status["ingesting"], status["settings_problem"]) == (False, None)
    assert status["services"] == [] and status["symbols"]
    # What the status item asks for while the first question waits.
    assert client.result("adk/status", {"examined": False}) == {**status, "findings": []}


def test_a_command_that_is_none_is_refused(shop: RawClient) -> None:
    def run(command: str, *arguments: Any) -> Any:
        return shop.request("workspace/executeCommand", {"command": command, "arguments": list(arguments)})

    for answer in (
        run("no.such.command", {}),
        shop.request("workspace/executeCommand", {"command": 7}),
        shop.request("workspace/executeCommand"),
        shop.request("textDocument/hover"),
    ):
        assert answer["error"]["code"] == INVALID_PARAMS


# Parameters that do not fit

BAD: list[tuple[str, Any]] = [
    *((method, params) for method in OWN for params in ([], "x", {"no": "such"}, {"jsonrpc": "2.0"})),
    *(
        ("adk/evidence", params)
        for params in (
            None,
            {"query": "  \n "},
            {"query": "\ud800"},
            {"query": "x", "maxResults": 101},
            {"query": "x", "maxResults": float("nan")},
            {"query": "x", "filters": {"nonsense": 1}},
            {"textDocument": {"uri": URI}},
            {"textDocument": {"uri": "file:///etc/passwd"}, "position": place(0, 0)},
            {"textDocument": {"uri": URI}, "position": place(-1, 0)},
            {"textDocument": {"uri": URI}, "position": place(2, 0)},
        )
    ),
    ("adk/symbol", {}),
    ("adk/symbol", {"textDocument": {"uri": URI}}),
    *(
        ("adk/source", params)
        for params in (
            {},
            {"citation": "no citation"},
            {"candidateId": "no candidate"},
            {"path": "x", "lines": {"start": 2, "end": 1}},
        )
    ),
    ("adk/targets", {"query": "  "}),
    ("adk/targets", {"query": "x", "python": "/nowhere/at/all"}),
    ("adk/ingest", {"mode": "all", "code": ""}),
]


@pytest.mark.parametrize(("method", "params"), BAD, ids=lambda value: str(value)[:60])
def test_wrong_parameters_get_a_sentence(shop: RawClient, method: str, params: Any) -> None:
    error = shop.request(method, params)["error"]
    assert error["code"] == INVALID_PARAMS
    assert error["message"].rstrip().endswith((".", "..."))
    assert "Traceback" not in str(error) and "pydantic" not in str(error)
    assert len(error["message"]) < 500


def test_what_is_no_request_is_answered_or_passed_over(client: RawClient) -> None:
    client.send_bytes(b"{not json")
    assert client.answer(None)["error"]["code"] == -32700
    client.send_bytes(b"\xff\xfe")
    assert client.answer(None)["error"]["code"] == -32700
    for message in ([], "x", 7, {"id": 1}, {"jsonrpc": "1.0", "method": "adk/status"}):
        client.send(message)
        client.answer(1 if message == {"id": 1} else None)
    client.send({"jsonrpc": "2.0", "id": {}, "method": "adk/status"})
    assert client.answer(None)["error"]["code"] == -32600
    client.send({"jsonrpc": "2.0", "id": "text", "method": "adk/symbol", "params": {"name": "Runner"}})
    assert client.answer("text")["result"]["name"] == "Runner"
    client.send({"jsonrpc": "2.0", "id": "unasked", "result": 7})
    client.notify("$/cancelRequest", {"id": "unknown"})
    client.notify("$/cancelRequest", {})
    client.notify("textDocument/didOpen", {"nonsense": 1})
    client.notify("no/such", None)
    assert client.request("no/such", {})["error"]["code"] == -32601
    assert client.result("adk/symbol", {"name": "Runner"})["name"] == "Runner"


def test_requests_before_initialize_and_after_shutdown_are_refused(start: Start) -> None:
    server = start(initialize=False)
    assert server.request("adk/status", {})["error"]["code"] == -32002
    server.initialize()
    assert server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["error"]
    server.request("shutdown")
    assert server.request("adk/status", {})["error"]["code"] == -32600
    server.notify("exit", None)
    assert server.process.wait(30) == 0


# Homes without an index, settings


def test_without_an_index_every_request_says_what_to_do(start: Start, tmp_path: Path) -> None:
    server = start(Workplace(tmp_path))
    server.open(URI, SHOP)
    for method, params in (
        ("adk/evidence", {"query": "x"}),
        ("adk/symbol", {"name": "x"}),
        ("adk/source", {"path": "x"}),
        ("adk/targets", {"query": "x"}),
    ):
        error = server.request(method, params)["error"]
        assert (error["code"], error["data"]["code"]) == (REQUEST_FAILED, "index_missing")
        assert "adk-ingest" in error["data"]["hint"]
    assert server.hover(URI, 7, 18) is None
    assert server.result("workspace/symbol", {"query": "Runner"}) == []
    status = server.result("adk/status", {})
    assert status["index"] is None
    assert any(finding["state"] == "broken" for finding in status["findings"])


def test_settings_are_pulled_and_take_effect_when_they_change(start: Start, indexed: Workplace, tmp_path: Path) -> None:
    server = start(Workplace(tmp_path), taskMode="explain", maxResults=2, profile="")
    assert server.request("adk/evidence", {"query": QUESTION})["error"]["data"]["code"] == "index_missing"
    server.settings = {"home": str(indexed.home), "taskMode": "explain", "maxResults": 2, "other": {"unknown": 1}}
    server.notify("workspace/didChangeConfiguration", {"settings": None})
    result = server.result("adk/evidence", {"query": QUESTION})
    assert (result["task_mode"], len(result["candidates"])) == ("explain", 2)
    server.settings = {**server.settings, "taskMode": "nonsense"}
    server.notify("workspace/didChangeConfiguration", {"settings": None})
    status = server.result("adk/status", {})
    assert "taskMode" in status["settings_problem"]
    assert server.result("adk/evidence", {"query": QUESTION})["task_mode"] == "explain"
    server.settings = {**server.settings, "taskMode": "build", "profile": "no-such"}
    server.notify("workspace/didChangeConfiguration", {"settings": None})
    assert server.request("adk/evidence", {"query": QUESTION})["error"]["data"]["code"] == "invalid_settings"


def test_the_client_sets_how_much_is_logged_while_the_server_runs(
    start: Start, indexed: Workplace, tmp_path: Path
) -> None:
    server = start(logLevel="warning")
    # Each change of the home is logged as information.
    for level in ("warning", "info", "error"):
        server.settings = {"home": str(tmp_path / level), "logLevel": level}
        server.notify("workspace/didChangeConfiguration", {"settings": None})
        assert server.result("adk/status", {})["home"] == server.settings["home"]
    server.end()
    for reader in server._readers:
        reader.join()
    assert "".join(server.log).count("Home or profile changed") == 1


def test_a_client_that_cannot_be_asked_sends_its_settings(start: Start, indexed: Workplace) -> None:
    server = start(initialize=False)
    server.settings = None
    options = {"home": str(indexed.home), "maxResults": 1, "apiKey": SECRET}
    server.initialize(initializationOptions=options)
    assert len(server.result("adk/evidence", {"query": QUESTION})["candidates"]) == 1
    changed = {"adkEvidence": {"home": str(indexed.home), "maxResults": 2, "hover": {"enabled": False}}}
    server.notify("workspace/didChangeConfiguration", {"settings": changed})
    assert len(server.result("adk/evidence", {"query": QUESTION})["candidates"]) == 2
    server.open(URI, SHOP)
    assert server.hover(URI, 7, 18) is None


def test_the_log_holds_neither_bodies_nor_secrets(start: Start, indexed: Workplace) -> None:
    server = start(initialize=False)
    server.initialize(initializationOptions={"apiKey": SECRET})
    server.notify("test/prepare", {})
    server.open(URI, SHOP + f"# {SECRET}\n")
    server.result("adk/evidence", {"query": f"{SECRET} retry"})
    server.request("adk/evidence", {"query": f"BREAK {SECRET}"})
    server.request("adk/evidence", {SECRET: SECRET})
    server.request("textDocument/hover", {SECRET: SECRET})
    server.notify("textDocument/didOpen", {SECRET: SECRET})
    server.send_bytes(b'{"x": "' + SECRET.encode())
    server.answer(None)
    server.end()
    for reader in server._readers:
        reader.join()
    log = "".join(server.log)
    assert "A request failed:" in log and "RuntimeError" in log
    assert SECRET not in log and "LlmAgent" not in log
