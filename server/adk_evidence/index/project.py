"""Which google-adk a project uses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ProjectAdk:
    """The google-adk of a project.

    `version` is the exact version, or for a range the newest released version that the range admits. `taken_from` says
    for people what named the version, relative to the project: `.venv`, `uv.lock`, `pyproject.toml`. `asked` is the
    range as written, where `exact` is False. `python` is the environment that has the version installed, if there is
    one.
    """

    version: str
    taken_from: str
    exact: bool
    asked: str = ""
    python: Path | None = None
