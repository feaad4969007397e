"""What editors offer on errors and in hovers, and how evidence is shown in an editor that has no view for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest

from tests.corpora import Workplace
from tests.lsp.conftest import OPENS_DOCUMENTS, RUNS_COMMANDS, Start
from tests.lsp.rpc import RawClient

URI = "file:///work/shop.py"
SHOP = """\
import os
from google.adk.agents import LlmAgent
from google.adk.nowhere import Missing

agent = LlmAgent(model="m")
agent.hand_ovr(agent)
total = os.pathh
text = "Ein LlmAgent"
"""
OTHER = "import os\n\ntotal = os.pathh\nbuild(LlmAgent)\n"
QUESTION = "how do I retry when a tool throws?"
SERVER_COMMAND = "adkEvidence.server.showEvidence"


def diagnostic(line: int, message: str, severity: int | None = 1, marked: str = "", **more: Any) -> dict[str, Any]:
    """A diagnostic of a line of `SHOP` that marks a text, or else the whole line."""
    text = SHOP.splitlines()[line]
    start = text.index(marked)
    end = {"line": line, "character": start + len(marked or text)}
    where = {"start": {"line": line, "character": start}, "end": end}
    return {"range": where, "message": message, "severity": severity, **more}


def actions(server: RawClient, *diagnostics: dict[str, Any], uri: str = URI, only: list[str] | None = None) -> Any:
    context: dict[str, Any] = {"diagnostics": list(diagnostics)}
    if only is not None:
        context["only"] = only
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    return server.result("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": whole, "context": context})


@pytest.fixture
def shop(client: RawClient) -> RawClient:
    client.open(URI, SHOP)
    return client


def test_an_error_offers_evidence_for_its_message(shop: RawClient) -> None:
    (action,) = actions(shop, diagnostic(4, "Unknown field\n  'modle'"), diagnostic(4, "  "))
    assert action["command"]["command"] == "adkEvidence.findEvidence"
    (request,) = action["command"]["arguments"]
    assert (request["query"], request["taskMode"]) == ("Unknown field 'modle'", "debug")
    assert shop.result("adk/evidence", request)["task_mode"] == "debug"
    assert actions(shop, diagnostic(4, "Unknown field"), only=["source.organizeImports"]) == []


def test_several_errors_are_one_action_for_the_gravest(shop: RawClient) -> None:
    found = [diagnostic(4, f"warning {number}", 2) for number in range(12)]
    (action,) = actions(shop, *found, diagnostic(5, "the error"), diagnostic(6, "of another module"))
    assert action["command"]["arguments"][0]["query"] == "the error"
    assert [each["message"] for each in action["diagnostics"]] == [*(each["message"] for each in found), "the error"]


@pytest.mark.parametrize(
    ("line", "message", "marked"),
    [
        (4, "missing argument", "LlmAgent("),
        (4, 'No parameter named "modle"', "model"),
        (5, "no such attribute", "hand_ovr"),
        (2, "cannot be resolved", "google.adk.nowhere"),
        (2, "unknown import symbol", "Missing"),
        (6, "LlmAgent is not defined", ""),
        (6, "it is no LlmAgent", "pathh"),
        (6, "in google/adk/agents/llm_agent.py", ""),
        (6, "google-adk is not installed", ""),
        (6, "it is no RetryPlugin", ""),
    ],
)
def test_an_error_about_the_adk_has_an_action(shop: RawClient, line: int, message: str, marked: str) -> None:
    assert len(actions(shop, diagnostic(line, message, marked=marked))) == 1


@pytest.mark.parametrize(
    ("line", "message", "marked"),
    [
        (0, '"os" is not accessed', "os"),
        (6, '"pathh" is not a known attribute of module "os"', "pathh"),
        (7, "line too long", "in LlmAgent"),
        (4, 'Argument of type "str" is not int', '"m"'),
        (6, "google-adk-extras is not installed", ""),
        (6, "for the whole line", ""),
    ],
)
def test_an_error_about_something_else_has_none(shop: RawClient, line: int, message: str, marked: str) -> None:
    assert actions(shop, diagnostic(line, message, marked=marked)) == []


def test_an_error_that_leads_into_files_of_the_adk_has_an_action(shop: RawClient) -> None:
    def leading_to(uri: str) -> list[dict[str, Any]]:
        where = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
        return [{"location": {"uri": uri, "range": where}, "message": "declared here"}]

    within = leading_to("file:///env/lib/python3.12/site-packages/google/adk/agents/llm_agent.py")
    outside = leading_to("file:///env/lib/python3.12/site-packages/google/genai/types.py")
    own = leading_to("file:///work/src/google/adk/agents/llm_agent.py")
    assert len(actions(shop, diagnostic(6, "wrong type", relatedInformation=within))) == 1
    assert actions(shop, diagnostic(6, "wrong type", relatedInformation=own)) == []
    assert actions(shop, diagnostic(6, "wrong type", relatedInformation=outside)) == []


def test_an_error_in_a_file_of_the_adk_has_an_action(client: RawClient) -> None:
    uri = "file:///env/lib/python3.12/site-packages/google/adk/runners.py"
    client.open(uri, OTHER)
    assert len(actions(client, diagnostic(2, "no such attribute"), uri=uri)) == 1


def test_what_is_shown_faded_has_no_action(shop: RawClient) -> None:
    assert actions(shop, diagnostic(1, '"LlmAgent" is not accessed', 4, marked="LlmAgent", tags=[1])) == []
    assert len(actions(shop, diagnostic(1, '"LlmAgent" is deprecated', 4, marked="LlmAgent", tags=[2]))) == 1


def test_a_class_of_another_package_is_not_that_of_the_adk(client: RawClient) -> None:
    uri = "file:///work/other.py"
    client.open(uri, "from shop import RetryPlugin\n\n\nbuild(RetryPlugin)\n")
    assert actions(client, diagnostic(3, "it is no RetryPlugin"), uri=uri) == []


def test_a_file_that_does_not_import_the_adk_has_actions_on_its_names_alone(client: RawClient) -> None:
    uri = "file:///work/other.py"
    client.open(uri, OTHER)
    assert actions(client, diagnostic(2, "no such attribute"), uri=uri) == []
    assert len(actions(client, diagnostic(3, "LlmAgent is not defined"), uri=uri)) == 1


@pytest.mark.parametrize("language", ["markdown", "java"])
def test_other_languages_have_no_action(client: RawClient, language: str) -> None:
    uri = f"file:///work/shop.{language}"
    client.open(uri, SHOP, language=language)
    assert actions(client, diagnostic(4, "google.adk has no LlmAgent"), uri=uri) == []


def test_without_an_index_the_name_of_the_package_is_known(start: Start, tmp_path: Path) -> None:
    server = start(Workplace(tmp_path))
    server.open(URI, SHOP)
    assert len(actions(server, diagnostic(6, "No module named google.adk"))) == 1
    assert len(actions(server, diagnostic(1, "cannot be resolved"))) == 1
    assert actions(server, diagnostic(5, "no such attribute")) == []


# Editors that do not have the extension's command


@pytest.mark.parametrize("experimental", [None, {"commands": 7}, {"commands": {"commands": ["another.command"]}}])
def test_a_client_that_does_not_run_the_command_is_not_offered_it(start: Start, experimental: Any) -> None:
    server = start(capabilities={"experimental": experimental})
    server.open(URI, SHOP)
    shown = server.hover(URI, 4, 10) or ""
    assert "class LlmAgent" in shown and "command:" not in shown
    (action,) = actions(server, diagnostic(4, "missing argument"))
    assert action["command"]["command"] == SERVER_COMMAND


def test_the_offered_command_is_one_that_the_server_runs(start: Start) -> None:
    server = start(initialize=False)
    able = server.initialize(capabilities=OPENS_DOCUMENTS)["result"]["capabilities"]
    server.open(URI, SHOP)
    (action,) = actions(server, diagnostic(4, "missing argument: how do I retry?"))
    assert action["command"]["command"] in able["executeCommandProvider"]["commands"]
    command = {key: action["command"][key] for key in ("command", "arguments")}
    assert server.result("workspace/executeCommand", command)["opened"]


def test_a_client_that_runs_the_command_is_offered_it(start: Start) -> None:
    server = start(capabilities=RUNS_COMMANDS)
    server.open(URI, SHOP)
    assert "(command:adkEvidence.findEvidence" in (server.hover(URI, 4, 10) or "")


def show(server: RawClient, *arguments: Any) -> dict[str, Any]:
    return server.request("workspace/executeCommand", {"command": SERVER_COMMAND, "arguments": list(arguments)})


def document_of(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path))


@pytest.mark.parametrize("way", ["asked to end", "terminated"])
def test_evidence_opens_as_a_document_that_is_gone_with_the_server(start: Start, way: str) -> None:
    server = start(capabilities=OPENS_DOCUMENTS)
    shown = show(server, {"query": QUESTION})["result"]
    asked = server.notification("window/showDocument")
    assert (shown["opened"], asked["uri"], asked["takeFocus"]) == (True, shown["uri"], True)
    document = document_of(shown["uri"])
    text = document.read_text(encoding="utf-8")
    assert text.startswith("# ") and QUESTION in text and "adk-docs@" in text
    assert document.stat().st_mode & 0o777 == 0o400
    assert document_of(show(server, {"query": QUESTION})["result"]["uri"]) != document
    if way == "terminated":
        server.process.terminate()
        assert server.process.wait(30) == 1
    else:
        assert server.end() == 0
    assert not document.exists()


@pytest.mark.parametrize("way", ["cannot", "refuses", "is silent"])
def test_where_no_document_is_opened_a_message_names_the_best_citations(start: Start, way: str) -> None:
    server = start(capabilities={} if way == "cannot" else OPENS_DOCUMENTS)
    server.opens_documents = None if way == "is silent" else False
    shown = show(server, {"query": QUESTION})["result"]
    message = server.notification("window/showMessage")
    assert message["type"] == 3 and not shown["opened"]
    assert "1. adk-" in message["message"] and str(document_of(shown["uri"])) in message["message"]


def test_what_hinders_it_is_a_message_as_many_editors_only_log_errors(start: Start, tmp_path: Path) -> None:
    server = start(Workplace(tmp_path))
    assert show(server, {"query": QUESTION})["result"] is None
    message = server.notification("window/showMessage")
    assert message["type"] == 1 and "adk-ingest" in message["message"]


@pytest.mark.parametrize("arguments", [(), ({}, {}), ("x",), ({"query": 7},), ({"query": "x", "more": 1},)])
def test_wrong_arguments_are_refused(client: RawClient, arguments: tuple[Any, ...]) -> None:
    assert show(client, *arguments)["error"]["code"] == -32602
