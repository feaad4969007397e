"""A command that a sentence names reaches the home folder and the profile that the sentence is about."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adk_evidence import commands
from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.text.redaction import told
from adk_evidence_agents.session import AgentSession
from adk_evidence_cli.main import app as evidence
from adk_evidence_console import settings_from
from adk_evidence_lsp.protocol import ClientSettings
from adk_evidence_lsp.server import EvidenceServer
from adk_evidence_lsp.wire import to_json_rpc
from adk_ingest.commands.cli import app as ingest

NAMED = re.compile(r"`(adk-[^`]+)`")


@pytest.mark.parametrize(
    ("app", "arguments"),
    [
        (evidence, ["ask", "x"]),
        (evidence, ["symbol", "x"]),
        (evidence, ["doctor"]),
        (evidence, ["doctor", "--json"]),
        (ingest, ["status"]),
        (ingest, ["indexes"]),
        (ingest, ["verify"]),
    ],
)
def test_the_command_line_repeats_the_options_that_it_was_given(app, arguments, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [*arguments, "--home", "my home", "--profile", "local"])
    said = " ".join(result.output.split()) if "--json" not in arguments else str(json.loads(result.stdout))
    named = NAMED.findall(said)
    assert named
    for command in named:
        words = shlex.split(command)
        assert words[words.index("--home") + 1] == str(tmp_path / "my home")
        assert words[words.index("--profile") + 1] == "local"


def test_nothing_is_added_where_no_option_was_given(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ADK_EVIDENCE_HOME", str(tmp_path))
    result = CliRunner().invoke(ingest, ["status"])
    assert NAMED.findall(result.output) == ["adk-ingest all"]


def test_options_are_added_once_and_not_where_they_do_not_belong(tmp_path: Path) -> None:
    commands.remember_options(str(tmp_path), None)
    once = commands.with_options("Run `adk-ingest all`, see `adk-evidence ask --help`, `ls` and adk-ingest.")
    assert once == f"Run `adk-ingest all --home {tmp_path}`, see `adk-evidence ask --help`, `ls` and adk-ingest."
    assert commands.with_options(once) == once


def test_the_mcp_server_and_an_editor_say_the_options_too(tmp_path: Path) -> None:
    session = AgentSession(lambda: settings_from("local", str(tmp_path)))
    with pytest.raises(EvidenceError) as caught, session.desk.open() as indexes:
        indexes.named("nothing")
    for failure in (EvidenceError("No.", "Run `adk-ingest all`."), RuntimeError()):
        assert f"--home {tmp_path} --profile local" in str(told(failure))
    assert caught.value.hint
    EvidenceServer().configure(ClientSettings(home=str(tmp_path / "other")))
    error = to_json_rpc(InvalidRequestError("No.", "Run `adk-ingest all`."))
    assert f"--home {tmp_path / 'other'}`" in error.message


def test_a_path_in_a_command_is_quoted_for_the_shell() -> None:
    words = ["adk-ingest", "codebase", "/a b/$(x)\"'", "--name", "n"]
    assert shlex.split(commands.spelled(*words)) == words
