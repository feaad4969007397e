"""`adk-evidence setup` in a home folder whose agents are configured by their users."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from adk_evidence_cli.setup import jsonc
from tests.agents.mcp_calls import answer, citations
from tests.corpora import Workplace, write_files

# As their users keep them: with remarks, secrets, other servers, and last commas where the agent takes them.
CODEX = """\
# Mine since May.
model = "gpt-5.1"   # the large one
approval_policy = "on-request"

[mcp_servers.files]  # read only
command = "npx"
args = [
  "-y", "files-mcp", # newest
]

[projects."/home/me/shop"]
trust_level = "trusted"
"""
ZED = """\
// Zed settings
{
  "theme": { "mode": "system", "light": "One Light" }, // day
  "context_servers": {
    "files": { "command": "npx", "args": ["-y", "files-mcp"], "env": { "TOKEN": "secret" } }, /* keep */
  },
  "ui_font_size": 16
}
"""
CLAUDE = '{"numStartups": 7, "projects": {"/home/me": {"mcpServers": {}}}, "mcpServers": {}}'
# Nothing needs a model then.
SETTINGS = "retrieval: {branches: [sparse]}\n"


class Home:
    """A user's home folder, in which the command runs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("SYSTEMROOT", "PYTHONPATH", "COVERAGE")}
        return {**kept, "HOME": str(self.path), "USERPROFILE": str(self.path), "PATH": str(self.path / "bin")}

    def run(self, *options: object, answer: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from adk_evidence_cli.main import run; run()", "setup", *map(str, options)]
        done = subprocess.run(
            command, input=answer, capture_output=True, text=True, env=self.environment, cwd=cwd or self.path
        )
        assert "Traceback" not in done.stderr
        return done

    def state(self) -> dict[str, object]:
        """Every file with its bytes and mode, every folder and every link."""
        return {
            str(path): path.readlink()
            if path.is_symlink()
            else (path.is_file() and path.read_bytes(), path.stat().st_mode)
            for path in sorted(self.path.rglob("*"))
        }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with Codex and Zed; Zed's settings are a link into a folder of dotfiles."""
    files = {".codex/config.toml": CODEX, "dotfiles/zed.json": ZED, ".config/adk-evidence/settings.yaml": SETTINGS}
    write_files(tmp_path / "me", files)
    (tmp_path / "me/.codex/config.toml").chmod(0o600)
    (tmp_path / "me/.config/zed").mkdir()
    (tmp_path / "me/.config/zed/settings.json").symlink_to("../../dotfiles/zed.json")
    return Home(tmp_path / "me")


pytestmark = pytest.mark.skipif(os.name == "nt", reason="the places and links of the POSIX kind")


@pytest.mark.slow
def test_agents_are_connected_asked_and_let_go_to_the_byte(home: Home, indexed: Workplace) -> None:
    before = home.state()
    done = home.run("--home", indexed.home, answer="y\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Change these files?") == 1
    codex, zed = (home.path / ".codex/config.toml").read_text(), (home.path / "dotfiles/zed.json").read_text()
    assert codex.startswith(CODEX) and all(line in zed for line in ZED.splitlines())
    written = tomllib.loads(codex)["mcp_servers"]["adk-evidence"]
    assert jsonc.parse(zed)["context_servers"]["adk-evidence"] == written
    skill = (home.path / ".agents/skills/adk-evidence/SKILL.md").read_text()
    assert "check_adk_code" in skill and len(skill.splitlines()) <= 40

    async def ask() -> str:
        server = StdioServerParameters(**written, env={"HOME": str(home.path)}, cwd=home.path)
        async with Client(server, read_timeout_seconds=60) as client:
            return await answer(client, "find_adk_evidence", query="RetryPlugin max_retries")

    assert any("plugins/retry.py" in citation for citation in citations(asyncio.run(ask())))

    connected = home.state()
    again = home.run("--home", indexed.home)
    assert again.returncode == 0 and "Nothing is to be changed." in again.stdout
    assert home.state() == connected
    assert home.run("--remove", answer="y\n").returncode == 0
    assert home.state() == before


def test_without_a_yes_and_with_print_nothing_is_written(home: Home) -> None:
    before = home.state()
    for options, said, code in (((), "", 1), ((), "n\n", 0), (("--print",), "", 0)):
        done = home.run(*options, answer=said)
        assert done.returncode == code
        assert "[mcp_servers.adk-evidence]" in done.stdout and '"context_servers"' in done.stdout
        assert (code == 0) != ("nobody agreed" in done.stderr)
        assert bool(said) == ("Nothing was changed." in done.stdout)
        assert ("Evidence before you write" in done.stdout) == bool(options)
    assert home.state() == before


def test_a_broken_file_stays_and_the_others_are_connected(home: Home) -> None:
    (home.path / "dotfiles/zed.json").write_text(ZED[:-2])
    done = home.run(answer="y\n")
    assert done.returncode == 1
    assert "Zed" in done.stdout and "is no valid JSON" in done.stdout and '{"context_servers": {' in done.stdout
    assert (home.path / "dotfiles/zed.json").read_text() == ZED[:-2]
    assert "adk-evidence" in (home.path / ".codex/config.toml").read_text()
    # Nothing has to be taken out of it.
    assert home.run("--remove", answer="y\n").returncode == 0


def test_a_skill_stays_as_long_as_an_agent_needs_it(home: Home) -> None:
    before = home.state()
    skill = home.path / ".agents/skills/adk-evidence/SKILL.md"
    home.run(answer="y\n")
    home.run("--remove", "--agent", "zed", answer="y\n")
    assert skill.exists() and (home.path / "dotfiles/zed.json").read_text() == ZED
    home.run("--remove", "--agent", "codex", answer="y\n")
    assert home.state() == before


def test_files_that_were_made_go_and_tables_that_were_empty_stay(home: Home) -> None:
    (home.path / ".claude.json").write_text(CLAUDE)
    before = home.state()
    assert home.run("--agent", "claude", "--agent", "gemini", answer="y\n").returncode == 0
    made = json.loads((home.path / ".gemini/settings.json").read_text())
    ours = {"type": "stdio", **made["mcpServers"]["adk-evidence"]}
    assert json.loads((home.path / ".claude.json").read_text())["mcpServers"] == {"adk-evidence": ours}
    assert (home.path / ".claude/skills/adk-evidence/SKILL.md").exists()
    home.run("--remove", answer="y\n")
    assert home.state() == before


def test_what_was_added_since_stays(home: Home) -> None:
    home.run("--agent", "cursor", answer="y\n")
    settings = home.path / ".cursor/mcp.json"
    values = json.loads(settings.read_text())
    values["mcpServers"]["adk-evidence"]["env"] = {"VOYAGE_API_KEY": "k"}
    values["mcpServers"]["files"] = {"command": "npx"}
    settings.write_text(json.dumps(values))
    skill = home.path / ".agents/skills/adk-evidence/SKILL.md"
    skill.write_text(skill.read_text() + "Ours.\n")
    assert "Nothing is to be changed." in home.run("--agent", "cursor").stdout
    done = home.run("--remove", answer="y\n")
    assert done.returncode == 1 and "was changed since, and stays" in done.stdout
    assert json.loads(settings.read_text()) == {"mcpServers": {"files": {"command": "npx"}}}
    assert skill.read_text().endswith("Ours.\n")


def test_a_project_gets_its_own_files_which_name_the_project(home: Home) -> None:
    project = write_files(home.path / "shop", {"agent.py": ""})
    (project / ".zed").symlink_to(home.path / "dotfiles")
    before = home.state()
    done = home.run("--project", "--agent", "claude", "--agent", "zed", answer="y\n", cwd=project)
    # What belongs to the project may come from anybody.
    assert done.returncode == 1 and ".zed/settings.json leads out of the project" in done.stdout
    arguments = json.loads((project / ".mcp.json").read_text())["mcpServers"]["adk-evidence"]["args"]
    assert arguments[2:] == ["--project", str(project), "--root", str(project)]
    home.run("--project", "--remove", answer="y\n", cwd=project)
    assert home.state() == before


def test_an_editor_whose_extension_brings_the_tools_is_left_alone(home: Home) -> None:
    write_files(home.path, {".config/Code/User/settings.json": "{}"})
    assert "VS Code" in home.run("--print").stdout
    write_files(home.path, {".vscode/extensions/adk-evidence.adk-evidence-0.1.0/package.json": "{}"})
    assert "VS Code" not in home.run("--print").stdout


def test_the_entry_names_the_link_of_a_tool_which_outlives_its_environment(home: Home) -> None:
    script = Path(sys.executable).with_name("adk-evidence")
    assert f'command = "{script}"' in home.run("--print").stdout
    (home.path / "bin").mkdir()
    (home.path / "bin/adk-evidence").symlink_to(script)
    assert f'command = "{home.path}/bin/adk-evidence"' in home.run("--print").stdout


def test_where_no_agent_is_found_one_can_be_named(tmp_path: Path) -> None:
    done = Home(tmp_path).run()
    assert done.returncode == 2 and "or name it with --agent" in done.stderr
    assert "Claude Code" in done.stderr and "Zed" in done.stderr
