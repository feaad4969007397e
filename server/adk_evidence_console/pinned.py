"""Which google-adk a command is about: a version, a project's or an environment's, as options of command lines."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.paths import expanded
from adk_evidence_console import path_option

if TYPE_CHECKING:
    from adk_evidence.checks.drift import DriftChecker
    from adk_evidence.index.neighbours import Environment
    from adk_evidence.index.project import ProjectAdk
    from adk_evidence.settings import Settings

Adk = Annotated[str | None, typer.Option("--adk", help="Version of google-adk, e.g. 1.18.0.", show_default=False)]
Project = Annotated[Path | None, path_option("Folder of a project: the version of google-adk that the project uses.")]
Python = Annotated[
    Path | None, path_option("Interpreter or virtual environment: the version of google-adk that is installed there.")
]


def check_pinned(adk: str | None, project: Path | None, python: Path | None) -> None:
    """Raise `InvalidRequestError` where the options contradict each other, or name no version and no folder."""
    from adk_evidence.text.versions import checked_version

    if adk is not None:
        checked_version(adk)
        if project or python:
            other = "--project" if project else "--python"
            raise InvalidRequestError(f"--adk and {other} exclude each other.", "Give one of the two.")
    if project is not None and not expanded(project).is_dir():
        raise InvalidRequestError(f"--project names no folder: {project}.", "Name the folder of a project.")


def wanted_adk(
    adk: str | None, project: Path | None, python: Path | None, *, required: bool = True
) -> ProjectAdk | None:
    """The google-adk that the options name; None where no option is given, or where there is none and none is required.

    Raises:
        InvalidRequestError: The options contradict each other, or name no google-adk.
    """
    if adk is None and project is None and python is None:
        return None
    from adk_evidence.index.project import ProjectAdk, find_adk
    from adk_evidence.text.versions import checked_version

    check_pinned(adk, project, python)
    if adk is not None:
        return ProjectAdk(checked_version(adk), "", exact=True)
    folder = None if project is None else expanded(project)
    found = find_adk(folder, python)
    if found is None and required:
        raise InvalidRequestError(f"No google-adk is found in {python or project}.", "Name its version with --adk.")
    return found


def detected_adk(settings: Settings, *, ranges: bool = False) -> ProjectAdk | None:
    """The google-adk of the working folder's project or of the active environment, if `project.detect` is on.

    A version that is only the newest of a declared range counts with `ranges` alone.
    """
    from adk_evidence.index.project import find_adk

    if not settings.project.detect:
        return None
    # Nobody asked for it: what cannot be read must not keep a question from its answer.
    with suppress(EvidenceError, OSError):
        found = find_adk(Path.cwd(), active=True)
        return found if found and (found.exact or ranges) else None
    return None


def required_checker(version: str | None, environment: Environment | None = None) -> DriftChecker:
    """A checker of code for a version, and for what else an environment has installed.

    Raises:
        InvalidRequestError: The table does not know the version, or there is none.
    """
    from adk_evidence.api.history import History
    from adk_evidence.checks.drift import checker_for
    from adk_evidence.render.sanitize import one_line

    if version is None:
        raise InvalidRequestError(
            "It is not known which version to check against.",
            "Name one by --adk, e.g. 1.18.0, or a project by --project.",
        )
    checker = checker_for(version, environment=environment)
    if checker is None:
        known = History.load().versions
        raise InvalidRequestError(
            f"The table of google-adk's versions does not know {one_line(version)}.",
            f"It knows {known[0]} to {known[-1]}; a newer ADK Evidence knows newer ones.",
        )
    return checker
