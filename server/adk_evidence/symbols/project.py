"""Which google-adk a project uses, where ranges mean the newest release that the table of versions knows."""

from __future__ import annotations

from pathlib import Path

from adk_evidence.api.history import History
from adk_evidence.index.project import ProjectAdk, find_adk


def project_adk(folder: Path | None = None, python: Path | None = None, *, active: bool = False) -> ProjectAdk | None:
    """See `find_adk`."""

    def released() -> tuple[str, ...]:
        return History.load().versions

    return find_adk(folder, python, active=active, released=released)
