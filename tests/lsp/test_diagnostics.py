"""Diagnostics on what the project's version of the ADK lacks, their quick fixes, and named actions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from adk_evidence.admission import BusyError
from adk_evidence_lsp.answers.diagnostics import diagnose
from adk_evidence_lsp.documents import Snapshot
from adk_evidence_lsp.protocol import ClientSettings
from adk_evidence_lsp.server import EvidenceServer
from tests.corpora import Workplace, write_files
from tests.environments import write_environment
from tests.lsp.conftest import Start, command
from tests.lsp.rpc import RawClient
from tests.released import released

URI = "file:///work/remarks.py"
TEXT = """\
from google.adk.agents import LlmAgent

agent = LlmAgent(name="𝒂", modle="m", colour="red")
"""
AGENT = {
    "google.adk": {"": "m"},
    "google.adk.agents": {"": "m", "LlmAgent": "=google.adk.agents.llm_agent.LlmAgent"},
    "google.adk.agents.llm_agent": {
        "": "m",
        "LlmAgent": "c: ~pydantic.BaseModel",
        "LlmAgent.name": "r:",
        "LlmAgent.model": "o:",
        "LlmAgent.run_async": "a:context",
        "LlmAgent.flow": "v",
        "LlmAgent.flow!": "|Gone soon.",
    },
}


@pytest.fixture
def known(indexed: Workplace) -> Iterator[None]:
    """A table of released versions that knows the indexed version."""
    with released(indexed.root, {"9.8.0": AGENT, "9.9.0": AGENT}):
        yield


def diagnostics(server: RawClient, uri: str = URI) -> list[dict[str, Any]]:
    report = server.result("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert report["kind"] == "full"
    items: list[dict[str, Any]] = report["items"]
    return items


def actions(server: RawClient, where: Any, found: list[dict[str, Any]], *, invoked: bool = False, **more: Any) -> Any:
    context = {"diagnostics": found, "triggerKind": 1 if invoked else 2, **more}
    return server.result("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": where, "context": context})


def span(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


@pytest.mark.usefixtures("known")
def test_a_wrong_keyword_has_a_diagnostic_with_its_citation_and_a_quick_fix(client: RawClient) -> None:
    client.open(URI, TEXT)
    near, far = diagnostics(client)
    # The letter before the keyword is two units of UTF-16.
    assert near["range"] == span(2, 28, 33)
    assert (near["severity"], near["source"], near["code"]) == (2, "ADK Evidence", "unknown-keyword")
    assert near["message"] == (
        "google-adk 9.9.0 has no `LlmAgent(modle=)`: no version has it. The nearest keyword is `model`."
    )
    (related,) = near["relatedInformation"]
    assert related["location"]["uri"].endswith("/src/google/adk/agents/llm_agent.py")
    assert related["message"].startswith("LlmAgent.model: adk-python@")
    assert near["data"]["source"]["path"] == "src/google/adk/agents/llm_agent.py"
    assert far["relatedInformation"][0]["message"].startswith("LlmAgent: ")
    hover = client.hover(URI, 2, 30) or ""
    assert "The nearest keyword is `model`." in hover and "agents%2Fllm_agent.py%23L" in hover

    change, find = actions(client, near["range"], [near])
    assert (change["title"], change["isPreferred"]) == ("Change to model", True)
    assert change["edit"]["changes"] == {URI: [{"range": near["range"], "newText": "model"}]}
    assert find["title"] == "Find evidence for LlmAgent.model"
    assert find["command"]["arguments"] == [
        {"query": "LlmAgent.model", "textDocument": {"uri": URI}, "range": near["range"]}
    ]
    used = client.result("adk/evidence", find["command"]["arguments"][0])["queryUsed"]
    assert (used["text"], used["origin"]) == ("LlmAgent.model", "given")
    (find_class,) = actions(client, far["range"], [far])
    assert find_class["title"] == "Find evidence for LlmAgent"


@pytest.mark.usefixtures("known")
def test_what_lies_beside_the_adk_has_diagnostics_and_quick_fixes(indexed: Workplace, tmp_path: Path) -> None:
    packages = write_environment(tmp_path / ".venv", "9.9.0") / "lib/python3.12/site-packages"
    write_files(packages / "mcp-2.3.0.dist-info", {"METADATA": "Version: 2.3.0\n"})
    write_files(packages / "mcp", {"__init__.py": "class Session:\n    def __init__(self, *, timeout=3): ...\n"})
    uri = (tmp_path / "agent.py").as_uri()
    with RawClient(command(indexed.root), {"home": str(indexed.home)}) as client:
        client.initialize(workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
        client.notify("test/prepare", {})
        client.open(uri, "from mcp import Session\n\nSession(timeuot=3)\n")
        (found,) = diagnostics(client, uri)
        assert found["message"] == "mcp 2.3.0 has no `Session(timeuot=)`. The nearest keyword is `timeout`."
        where = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found]}}
        fix = client.result("textDocument/codeAction", where)[0]
        assert fix["title"] == "Change to timeout"
        hover = client.hover(uri, 2, 2) or ""
        assert "Session(*, timeout=3)" in hover and "`mcp@2.3.0:mcp/__init__.py#L1-L2`" in hover


CALLS = """\
from google.adk.agents import LlmAgent

LlmAgent().run_asink()
class Mine(LlmAgent):
    def run_async(self): ...
"""


@pytest.mark.usefixtures("known")
def test_members_arguments_and_overrides_have_diagnostics(client: RawClient) -> None:
    client.open(URI, CALLS)
    member, argument, override = diagnostics(client)
    assert (member["code"], member["range"]) == ("unknown-name", span(2, 11, 20))
    assert member["message"].endswith("`LlmAgent` has `run_async`.")
    change, *_ = actions(client, member["range"], [member])
    assert change["edit"]["changes"][URI] == [{"range": member["range"], "newText": "run_async"}]
    assert (argument["code"], argument["range"]) == ("missing-argument", span(2, 0, 8))
    assert argument["message"] == "`LlmAgent` of google-adk 9.9.0 requires `name`, which the call lacks."
    assert (override["code"], override["range"]) == ("unfit-override", span(4, 8, 17))
    assert override["message"].endswith("write `async def run_async(self, context)`.")
    change, find = actions(client, argument["range"], [argument])
    assert (change["title"], change["isPreferred"]) == ("Add name", False)
    assert change["edit"]["changes"][URI] == [{"range": span(2, 9, 9), "newText": "name=..."}]
    assert find["title"].startswith("Find evidence")
    change, *_ = actions(client, override["range"], [override])
    assert change["title"] == "Change to fit LlmAgent.run_async"
    assert [one["newText"] for one in change["edit"]["changes"][URI]] == ["async ", ", context"]


AWAITS = """\
from google.adk.agents import LLMAgent, LlmAgent

async def ask(agent: LlmAgent):
    agent.run_async(1).text
    print(agent.flow)  # adk: ignore[unknown-name]
    LlmAgent(name="a", Model="m")
    LlmAgent(modle="m")  # adk: ignore
"""


@pytest.mark.usefixtures("known")
def test_the_editor_tells_what_lint_tells_as_gravely_as_the_user_wants(client: RawClient, start: Start) -> None:
    client.open(URI, AWAITS)
    found = {one["code"]: one for one in diagnostics(client)}
    assert {code: one["severity"] for code, one in found.items()} == {
        "unknown-import": 2, "missing-await": 2, "deprecated-name": 4, "unknown-keyword": 2,
    }  # fmt: skip
    assert found["deprecated-name"]["tags"] == [2] and found["missing-await"]["range"] == span(3, 10, 19)
    lint = {one["line"] - 1 for one in client.result("adk/checkCode", {"text": AWAITS})["problems"]}
    assert lint == {one["range"]["start"]["line"] for one in found.values()}
    strict = start(diagnostics={"severity": {"missing-await": "error", "unknown-import": "off", "other": "hint"}})
    strict.open(URI, AWAITS)
    assert {one["code"]: one["severity"] for one in diagnostics(strict)} == {
        "missing-await": 1, "deprecated-name": 4, "unknown-keyword": 2,
    }  # fmt: skip


@pytest.mark.usefixtures("known")
def test_all_that_is_certain_is_mended_in_one_action(client: RawClient, start: Start) -> None:
    client.open(URI, AWAITS)
    for only in ("source", "source.fixAll", "source.fixAll.adkEvidence"):
        (every,) = actions(client, span(0, 0, 0), [], only=[only])
        assert every["kind"] == "source.fixAll.adkEvidence"
        assert every["edit"]["changes"][URI] == [
            {"range": span(3, 4, 4), "newText": "(await "},
            {"range": span(3, 22, 22), "newText": ")"},
            {"range": span(5, 23, 28), "newText": "model"},
        ]
    assert actions(client, span(0, 0, 0), [], only=["source.fixAll.ruff"]) == []
    quiet = start(diagnostics={"enabled": False})
    quiet.open(URI, AWAITS)
    assert actions(quiet, span(0, 0, 0), [], only=["source.fixAll"]) == []


@pytest.mark.usefixtures("known")
def test_a_quick_fix_of_an_import_changes_what_uses_the_import(client: RawClient) -> None:
    client.open(URI, "from google.adk.agents import LLMAgent\nLLMAgent()\n")
    (wrong,) = diagnostics(client)
    change, *_ = actions(client, wrong["range"], [wrong])
    assert change["edit"]["changes"][URI] == [
        {"range": span(0, 30, 38), "newText": "LlmAgent"},
        {"range": span(1, 0, 8), "newText": "LlmAgent"},
    ]
    # The text has changed since.
    assert actions(client, wrong["range"], [{**wrong, "range": span(0, 29, 38), "data": None}]) == []


@pytest.mark.usefixtures("known")
def test_diagnostics_follow_the_text_and_end_with_the_document(client: RawClient) -> None:
    client.open(URI, TEXT)
    assert len(diagnostics(client)) == 2
    change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": TEXT + "def broken(:\n"}]}
    client.notify("textDocument/didChange", change)
    assert len(diagnostics(client)) == 2
    change = {"textDocument": {"uri": URI, "version": 3}, "contentChanges": [{"text": "agent = LlmAgent(modle=1)\n"}]}
    client.notify("textDocument/didChange", change)
    assert diagnostics(client) == []
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert diagnostics(client) == []


def test_diagnostics_are_for_python_alone_and_can_be_turned_off(
    client: RawClient, start: Start, request: pytest.FixtureRequest
) -> None:
    client.open(URI, TEXT)
    # Of an unknown version, nothing is said.
    assert diagnostics(client) == [] and client.result("adk/checkCode", {"text": TEXT}) is None
    request.getfixturevalue("known")
    client.open("file:///work/notes.md", TEXT, language="markdown")
    assert diagnostics(client, "file:///work/notes.md") == []
    quiet = start(diagnostics={"enabled": False})
    quiet.open(URI, TEXT)
    assert diagnostics(quiet) == []


@pytest.mark.usefixtures("known")
def test_forged_data_changes_nothing(client: RawClient) -> None:
    client.open(URI, TEXT)
    near = diagnostics(client)[0]
    forged = {**near, "data": {"replacement": "model=1); import os; os.system(", "asked": "[x](command:y)"}}
    (change,) = actions(client, near["range"], [forged])
    assert change["edit"]["changes"] == {URI: [{"range": near["range"], "newText": "model"}]}
    assert actions(client, near["range"], [{**forged, "code": "missing-argument"}]) == []


def test_a_name_or_selection_has_an_action_that_names_it_where_somebody_asks(client: RawClient) -> None:
    client.open(URI, TEXT.replace("modle", "model"))
    (action,) = actions(client, span(2, 10, 10), [], invoked=True)
    assert action["title"] == "Find evidence for LlmAgent"
    (request,) = action["command"]["arguments"]
    assert client.result("adk/evidence", request)["queryUsed"]["symbols"] == ["google.adk.agents.llm_agent.LlmAgent"]
    (action,) = actions(client, span(2, 0, 40), [], invoked=True)
    assert action["title"].startswith("Find evidence for LlmAgent and ")
    assert actions(client, span(2, 10, 10), []) == []
    assert actions(client, span(1, 0, 0), [], invoked=True) == []


@pytest.mark.asyncio
async def test_a_busy_server_lets_the_client_ask_for_diagnostics_again() -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise BusyError(2, 1000, 3)

    server = SimpleNamespace(
        configuration=SimpleNamespace(client=ClientSettings()),
        snapshot=lambda uri: Snapshot(uri, 1, "from google.adk import Agent\n", "python", "utf-16"),
        project=lambda uri: None,
        executor=SimpleNamespace(run=refuse),
    )
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier("file:///a.py"))
    with pytest.raises(JsonRpcException) as refused:
        await diagnose(cast(EvidenceServer, server), params)
    error = refused.value.to_response_error()
    assert error.code == types.LSPErrorCodes.ServerCancelled and error.data == {"retriggerRequest": True}


@pytest.mark.usefixtures("known")
def test_code_and_the_code_of_a_text_are_checked_on_request(client: RawClient) -> None:
    page = f"Do this:\n\n```python\n{TEXT}```\n\nand\n\n```python\nother = LlmAgent(...)\nother.run_asink()\n```\n"
    found = client.result("adk/checkCode", {"text": page, "language": "markdown"})
    assert [(one["line"], one["kind"], one["instead"]) for one in found["problems"]] == [
        (6, "keyword", "model"),
        (6, "keyword", None),
        (13, "name", "run_async"),
    ]
    assert found["version"] == "9.9.0" and "google.adk.agents.LlmAgent(name=)" in found["confirmed"]
    alone = client.result("adk/checkCode", {"text": TEXT})
    assert [one["line"] for one in alone["problems"]] == [3, 3]
    assert client.request("adk/checkCode", {})["error"]["code"] == -32602
