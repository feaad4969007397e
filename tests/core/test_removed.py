"""What was removed is refused with what to do instead."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from adk_evidence import removed
from adk_evidence.errors import SettingsError
from adk_evidence.settings import load_settings
from adk_evidence_console import CommandLine


@pytest.fixture(autouse=True)
def some_were_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"tool old": "Ask `tool new`.", "tool new --fast": "It is always fast.", "rerank.gone": "Leave it out."}
    monkeypatch.setattr(removed, "INSTEAD", table)


@pytest.fixture
def tool() -> CommandLine:
    app = CommandLine("A tool.", "tool")
    app.command("new")(lambda: None)
    app.command("other")(lambda: None)
    return app


def test_a_removed_command_says_what_to_do_instead(tool: CommandLine) -> None:
    result = CliRunner().invoke(tool, ["old", "--whatever"])
    assert result.exit_code == 2
    assert "old was removed." in result.stderr
    assert "Ask `tool new`." in result.stderr


@pytest.mark.parametrize("option", ["--fast", "--fast=3"])
def test_a_removed_option_says_what_to_do_instead(tool: CommandLine, option: str) -> None:
    result = CliRunner().invoke(tool, ["new", option])
    assert result.exit_code == 2
    assert "--fast was removed." in result.stderr
    assert "It is always fast." in result.stderr


def test_an_option_is_removed_from_its_own_command_alone(tool: CommandLine) -> None:
    result = CliRunner().invoke(tool, ["other", "--fast"])
    assert result.exit_code == 2
    assert "removed" not in result.stderr


@pytest.mark.parametrize("name", ["gone", "gone__part"])
def test_a_removed_setting_says_what_to_do_instead(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"ADK_EVIDENCE_RERANK__{name.upper()}", "1")
    with pytest.raises(SettingsError, match=r"was removed\. Leave it out\."):
        load_settings()
