"""The table of agents: how each is found, which files it reads, and what stands in them."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

NAME = "adk-evidence"
# Where all but Claude Code find skills, below the user's home folder or that of a project: https://agentskills.io
_SKILLS = Path(".agents/skills")


# The names of agents on the command line, in small letters.
Agent = StrEnum("Agent", ["CLAUDE", "CODEX", "CURSOR", "GEMINI", "VSCODE", "WINDSURF", "ZED"])


@dataclass(frozen=True)
class Client:
    """An agent, with its configuration of the user and, below the folder of a project, that of a project."""

    name: Agent
    title: str
    user: Path
    project: str | None
    # The table of servers in these files.
    table: str
    # A folder that is there where the agent was used, and its program on PATH.
    folder: Path
    program: str
    typed: bool = False  # an entry names its transport
    user_skills: Path = _SKILLS
    skills: Path = _SKILLS
    # Where the editor has the extension, which brings the tools by itself: a pattern below the user's home folder.
    extension: str = ""

    def is_found(self) -> bool:
        """Whether the user has it, and needs more for it than an extension."""
        is_here = self.user.exists() or self.folder.exists() or shutil.which(self.program) is not None
        return is_here and not (self.extension and any(Path.home().glob(self.extension)))

    def configuration(self, project: Path | None) -> Path:
        return self.user if project is None else project / str(self.project)

    def skill(self, project: Path | None) -> Path:
        folder = Path.home() / self.user_skills if project is None else project / self.skills
        return folder / NAME / "SKILL.md"


def clients() -> tuple[Client, ...]:
    """All agents, with the files of this user on this system."""
    home = Path.home()
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    claude, claude_json = Path(moved or home / ".claude"), Path(moved or home) / ".claude.json"
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    cursor, gemini, windsurf = home / ".cursor", home / ".gemini", home / ".codeium" / "windsurf"
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    code, zed = config / "Code/User", config / "zed"
    if sys.platform == "win32":
        roaming = Path(os.environ.get("APPDATA") or home / "AppData/Roaming")
        code, zed = roaming / "Code/User", roaming / "Zed"
    elif sys.platform == "darwin":
        code, zed = home / "Library/Application Support/Code/User", home / ".config/zed"
    theirs = "mcpServers"
    # fmt: off
    return (
        # https://code.claude.com/docs/en/mcp, /skills, /env-vars
        Client(Agent.CLAUDE, "Claude Code", claude_json, ".mcp.json", theirs, claude, "claude", typed=True,
               user_skills=claude / "skills", skills=Path(".claude/skills")),
        # https://developers.openai.com/codex/mcp, /skills
        Client(Agent.CODEX, "Codex", codex / "config.toml", ".codex/config.toml", "mcp_servers", codex, "codex"),
        # https://cursor.com/docs/mcp, /skills
        Client(Agent.CURSOR, "Cursor", cursor / "mcp.json", ".cursor/mcp.json", theirs, cursor, "cursor", typed=True),
        # https://geminicli.com/docs/tools/mcp-server, /cli/using-agent-skills
        Client(Agent.GEMINI, "Gemini CLI", gemini / "settings.json", ".gemini/settings.json", theirs, gemini, "gemini"),
        # https://code.visualstudio.com/docs/agents/reference/mcp-configuration, /docs/agent-customization/agent-skills
        Client(Agent.VSCODE, "VS Code", code / "mcp.json", ".vscode/mcp.json", "servers", code, "code", typed=True,
               extension=".vscode/extensions/adk-evidence.adk-evidence-*"),
        # https://docs.windsurf.com/windsurf/cascade/mcp, /skills
        Client(Agent.WINDSURF, "Windsurf", windsurf / "mcp_config.json", None, theirs, windsurf, "windsurf"),
        # https://zed.dev/docs/ai/mcp, /skills
        Client(Agent.ZED, "Zed", zed / "settings.json", ".zed/settings.json", "context_servers", zed, "zed"),
    )
    # fmt: on
