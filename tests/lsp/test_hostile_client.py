"""A client that sends whatever it likes: each request gets an answer, and the server goes on answering others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lsp.conftest import RUNS_COMMANDS, Start
from tests.lsp.rpc import RawClient

URI = "file:///work/a%20b/%C3%BC%25.py"
TEXT = "from google.adk.agents import LlmAgent\n\nagent = '\U0001f600', LlmAgent\n"
WHERE = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 30}}
DOCUMENT = {"textDocument": {"uri": URI}}
# Parameters that are right, but for those of ingestions: no mode is, so that none begins.
RIGHT: dict[str, dict[str, Any]] = {
    "adk/evidence": {"query": "RetryPlugin", "taskMode": "build", "maxResults": 2, "filters": {"sources": ["code"]}},
    "adk/symbol": {"name": "LlmAgent", **DOCUMENT, "position": WHERE["end"]},
    "adk/targets": {"query": "LlmAgent", "limit": 2, "mode": "auto", "python": "/nowhere", "supersedeKey": "k"},
    "adk/source": {"path": "docs/tools/retry.md", "lines": {"start": 1, "end": 2}},
    "adk/ingest": {"mode": "nothing", "docs": "/nowhere", "offline": True},
    "adk/render": {"pack": {"candidates": []}, "format": "markdown", "maxTokens": 5},
    "textDocument/hover": {**DOCUMENT, "position": {"line": 2, "character": 24}},
    "textDocument/codeAction": {
        **DOCUMENT,
        "range": WHERE,
        "context": {"diagnostics": [{"range": WHERE, "message": "x"}]},
    },
    "workspace/symbol": {"query": "Agent"},
    "workspace/executeCommand": {"command": "adkEvidence.server.showEvidence", "arguments": [{"query": "Runner"}]},
}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["", "\x00", "../../etc/passwd", "%2e%2e", "debug", "\ud83d\ude00", "x" * 9000, 2**31, -1])
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in a JSON value something can be put in the place of something else."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, Any]:
    """A request with one part of its parameters replaced, or with a member more."""
    method = draw(st.sampled_from(sorted(RIGHT)))
    params = json.loads(json.dumps(RIGHT[method]))
    *above, last = draw(st.sampled_from([path for path in places(params) if path]))
    holder = params
    for key in above:
        holder = holder[key]
    way = draw(st.sampled_from(["replace", "remove", "add", "anything"]))
    if method == "adk/ingest" and (way == "anything" or last == "mode"):
        way = "add"
    match way:
        case "replace":
            holder[last] = draw(ANYTHING)
        case "remove":
            del holder[last]
        case "add":
            params[draw(st.text(min_size=1, max_size=8))] = draw(ANYTHING)
        case _:
            return method, draw(ANYTHING)
    return method, params


@pytest.fixture(scope="module")
def editor(client: RawClient) -> RawClient:
    client.open(URI, TEXT)
    return client


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=requests())
def test_every_request_is_answered_whatever_its_parameters(editor: RawClient, request: tuple[str, Any]) -> None:
    method, params = request
    answer = editor.request(method, params)
    if "error" in answer:
        assert answer["error"]["code"] in (-32602, -32803), answer
        assert "Traceback" not in answer["error"]["message"] and len(answer["error"]["message"]) < 600


@pytest.mark.parametrize("member", ["docs", "code"])
def test_a_path_with_a_null_character_is_refused(editor: RawClient, member: str) -> None:
    error = editor.request("adk/ingest", {"mode": "all", "offline": True, member: "/a\x00b"})["error"]
    assert error["code"] == -32602


@pytest.mark.parametrize(
    "more",
    [
        {"rootUri": "file:///a%ZZ b/%00"},
        {"rootUri": "untitled:x", "rootPath": "\x00"},
        {"workspaceFolders": [{"uri": "file:///work/%C3%BC", "name": "ü"}, {"uri": "file:///work/%C3%BC", "name": ""}]},
        {"initializationOptions": {"home": "/a\x00b"}},
        {"initializationOptions": {"home": 7, "taskMode": "unheard of"}},
        {"processId": 2**40},
    ],
    ids=str,
)
def test_odd_initialisations_are_answered_and_the_server_serves(start: Start, more: dict[str, Any]) -> None:
    server = start(initialize=False)
    assert "result" in server.initialize(
        capabilities={**RUNS_COMMANDS, "general": {"positionEncodings": ["utf-16"]}}, **more
    )
    assert server.result("adk/symbol", {"name": "LlmAgent"})["name"] == "LlmAgent"


def test_odd_notifications_harm_nobody(editor: RawClient) -> None:
    edge = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 10**6}}
    for method, params in (
        ("textDocument/didOpen", {"textDocument": {"uri": "", "languageId": "python", "version": 1, "text": "x"}}),
        ("textDocument/didOpen", {"textDocument": {"uri": "a%ZZ", "languageId": "", "version": -1, "text": "x"}}),
        ("textDocument/didChange", {"textDocument": {"uri": "file:///unopened", "version": 1}, "contentChanges": []}),
        (
            "textDocument/didChange",
            {
                "textDocument": {"uri": URI, "version": 0},
                "contentChanges": [{"range": edge, "text": TEXT}, {"text": TEXT}],
            },
        ),
        ("textDocument/didClose", {"textDocument": {"uri": "file:///never"}}),
        (
            "workspace/didChangeWorkspaceFolders",
            {"event": {"added": [], "removed": [{"uri": "file:///x", "name": "x"}]}},
        ),
        ("workspace/didChangeConfiguration", {"settings": [1]}),
        ("window/workDoneProgress/cancel", {"token": "unknown"}),
        ("$/setTrace", {"value": "verbose"}),
        ("$/cancelRequest", {"id": {}}),
        ("initialized", {}),
        ("\x00", 7),
    ):
        editor.notify(method, params)
    assert editor.result("textDocument/hover", RIGHT["textDocument/hover"]) is not None


def test_a_text_with_the_version_of_another_is_read_anew(client: RawClient) -> None:
    uri = "file:///work/again.py"
    client.open(uri, "from google.adk.agents import LlmAgent as name\nname\n", version=1)
    assert "class LlmAgent" in (client.hover(uri, 1, 1) or "")
    changed = [{"text": "from google.adk.runners import Runner as name\nname\n"}]
    client.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 1}, "contentChanges": changed})
    assert "class Runner" in (client.hover(uri, 1, 1) or "")


@pytest.mark.parametrize("language", ["python", "json"])
def test_a_very_large_document_keeps_nobody_waiting(client: RawClient, language: str) -> None:
    uri = f"file:///work/large.{language}"
    client.open(uri, "[1, {'a': [2, 3]}],\n" * 200_000, language=language)
    place = {"line": 199_999, "character": 3}
    large = client.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})
    small = client.ask("adk/symbol", {"name": "Runner"})
    assert client.answer(small, timeout=5)["result"]["name"] == "Runner"
    assert client.answer(large, timeout=5)["result"] is None
    asked = client.request("adk/evidence", {"textDocument": {"uri": uri}, "position": place, "maxResults": 1})
    assert asked["result"]["queryUsed"]["origin"] == "line"
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_one_token_for_two_requests_is_the_progress_of_one(start: Start) -> None:
    server = start()
    first = server.ask("adk/evidence", {"query": "HOLD one", "workDoneToken": 7})
    server.notification("test/reached")
    assert server.result("adk/evidence", {"query": "RetryPlugin", "workDoneToken": 7, "maxResults": 1})
    server.notify("test/release", {})
    assert "result" in server.answer(first)


def test_an_answer_that_nobody_asked_for_does_not_silence_a_request(start: Start) -> None:
    server = start()
    number = server.ask("adk/evidence", {"query": "HOLD one", "maxResults": 1})
    server.notification("test/reached")
    for answer in ({"result": 7}, {"error": {"code": 1, "message": "no"}}):
        server.send({"jsonrpc": "2.0", "id": number, **answer})
    server.notify("test/release", {})
    assert server.answer(number)["result"]["candidates"]


def test_the_cancel_of_a_request_may_come_at_any_moment(client: RawClient) -> None:
    for method in ("adk/evidence", "adk/symbol", "adk/targets", "adk/source", "adk/status", "textDocument/codeAction"):
        for times in range(3):
            number = client.ask(method, RIGHT.get(method, {}))
            for _ in range(times):
                client.notify("$/cancelRequest", {"id": number})
            answer = client.answer(number)
            assert "result" in answer or answer["error"]["code"] in (-32800, -32803, -32602), answer
    assert client.result("adk/symbol", {"name": "Runner"})["name"] == "Runner"


def test_two_folders_with_odd_names_share_one_server(start: Start, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("with space", "ünï %25")]
    for folder in folders:
        folder.mkdir()
    server = start(initialize=False)
    server.initialize(workspaceFolders=[{"uri": folder.as_uri(), "name": folder.name} for folder in folders])
    for folder in folders:
        uri = (folder / "a.py").as_uri()
        server.open(uri, TEXT)
        assert "class LlmAgent" in (server.hover(uri, 2, 20) or "")
