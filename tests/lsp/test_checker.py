"""The server that checks code before an environment is made: it needs Python and what it comes with, alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.rpc import ROOT, RawClient

TEXT = """\
from google.adk.agents import LlmAgent
from google.adk.tools import BaseTool

agent = LlmAgent(name="𝒂", instructions="Greet.", Model="m")
class Mine(BaseTool):
    def run_async(self): ...
print(LLMAgent := agent.nme)  # adk: ignore
BaseTool(name="a")
"""
SERVER = [sys.executable, "-c", "from adk_evidence_cli.main import run; run()", "serve", "lsp"]
OpenIn = Callable[..., RawClient]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the extension ships of it."""
    made = tmp_path_factory.mktemp("checker") / "checker"
    subprocess.run([sys.executable, ROOT / "extension" / "checker.py", made], check=True, capture_output=True)
    return made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "pröject #1"
    project.mkdir()
    (project / "requirements.txt").write_text("google-adk==1.18.0\n")
    return project


@pytest.fixture
def open_in(project: Path) -> Iterator[OpenIn]:
    """Starts a server with a document of the project."""
    with ExitStack() as stack:

        def start(words: list[str], settings: dict[str, Any] | None = None, text: str = TEXT) -> RawClient:
            client = stack.enter_context(RawClient(words, settings or {}))
            client.initialize(workspaceFolders=[{"uri": project.as_uri(), "name": "project"}])
            client.open(uri_in(project), text)
            return client

        yield start


def checking(folder: Path) -> list[str]:
    # No package of this environment, and no variable, helps.
    return [sys.executable, "-I", "-S", "-B", str(folder)]


def uri_in(project: Path) -> str:
    return (project / "agent.py").as_uri()


def said(client: RawClient, uri: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.result("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]
    return items


def actions(client: RawClient, uri: str, found: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    context = {"diagnostics": found, "triggerKind": 1, **more}
    asked = {"textDocument": {"uri": uri}, "range": where, "context": context}
    return [one for one in client.result("textDocument/codeAction", asked) if "edit" in one]


def test_it_says_and_mends_what_the_language_server_does(
    folder: Path, open_in: OpenIn, project: Path, tmp_path: Path
) -> None:
    uri = uri_in(project)
    checker = open_in(checking(folder))
    server = open_in(SERVER, {"home": str(tmp_path / "home")})
    found = said(checker, uri)
    assert [(one["code"], one["severity"]) for one in found] == [
        ("unknown-keyword", 2), ("unknown-keyword", 2), ("missing-argument", 2), ("unfit-override", 2),
    ]  # fmt: skip
    assert found[0]["message"] == (
        "google-adk 1.18.0 has no `LlmAgent(instructions=)`: no version has it. The nearest keyword is `instruction`."
    )
    assert found == said(server, uri)
    mended = actions(checker, uri, found)
    assert [one["title"] for one in mended] == [
        "Change to instruction", "Change to model", "Add description", "Change to fit BaseTool.run_async",
    ]  # fmt: skip
    assert mended == actions(server, uri, found)
    (everything,) = actions(checker, uri, [], only=["source.fixAll"])
    assert [everything] == actions(server, uri, [], only=["source.fixAll"])
    assert actions(checker, uri, [], only=["source.organizeImports"]) == []
    assert checker.end() == 0 and not checker.log


def test_it_follows_the_text_and_the_settings(folder: Path, open_in: OpenIn, project: Path) -> None:
    uri = uri_in(project)
    client = open_in(checking(folder), {"diagnostics": {"severity": {"unknown-keyword": "off"}}})
    # Its question for the settings stands before the answer, so that the second answer knows them.
    said(client, uri)
    assert [one["code"] for one in said(client, uri)] == ["missing-argument", "unfit-override"]
    client.settings = {"diagnostics": {"severity": {"unfit-override": "error"}}}
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    said(client, uri)
    assert [one["severity"] for one in said(client, uri)] == [2, 2, 2, 1]
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "import google.adk\n"}]}
    client.notify("textDocument/didChange", change)
    assert said(client, uri) == []
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert said(client, uri) == []


def test_what_it_does_not_know_leaves_it_running(folder: Path, open_in: OpenIn, project: Path) -> None:
    client = open_in(checking(folder), text="from google.adk import (\n")
    client.notify("$/setTrace", {"value": "off"})
    assert client.request("textDocument/hover", {})["error"]["code"] == -32601
    assert client.request("textDocument/codeAction", {})["error"]["message"] == "KeyError"
    assert said(client, uri_in(project)) == said(client, "file:///elsewhere.py") == []
    client.process.stdin.close()  # type: ignore[union-attr]
    assert client.process.wait(20) == 0
