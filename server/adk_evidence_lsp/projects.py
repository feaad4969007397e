"""The projects of the workspace: which google-adk each one uses."""

from __future__ import annotations

import logging
import re
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from adk_evidence.errors import EvidenceError, InvalidRequestError

if TYPE_CHECKING:
    from adk_evidence.index.project import ProjectAdk
    from adk_evidence.settings import Settings

_LOG = logging.getLogger(__name__)
_DRIVE = re.compile(r"/[A-Za-z]:")


@dataclass(frozen=True)
class Project:
    """A folder of the workspace, and the interpreter that the client uses there, if the client has named one."""

    uri: str
    folder: Path
    python: Path | None = None


def projects_of(folders: Iterable[str], interpreters: Mapping[str, str]) -> list[Project]:
    """The projects of a workspace.

    Args:
        folders: URIs of the folders; those that are not on a disk are left out.
        interpreters: The client's interpreters by the URIs of folders.
    """
    pythons = {path: Path(python) for uri, python in interpreters.items() if (path := path_of(uri)) is not None}
    found = ((uri, path_of(uri)) for uri in folders)
    return [Project(uri, path, pythons.get(path)) for uri, path in found if path is not None]


def project_at(uri: str | None, projects: list[Project]) -> Project | None:
    """The project of a document or folder: the innermost folder that holds it, or the only one of the workspace."""
    path = path_of(uri) if uri is not None else None
    holding = [each for each in projects if path is not None and path.is_relative_to(each.folder)]
    if holding:
        return max(holding, key=lambda each: len(each.folder.parts))
    return projects[0] if len(projects) == 1 else None


def path_of(uri: str) -> Path | None:
    """The path of a `file:` URI; None of other ones."""
    with suppress(ValueError):
        parts = urlsplit(uri)
        path = unquote(parts.path)
        if parts.scheme == "file" and path and "\0" not in path:
            if parts.netloc:
                return Path(f"//{unquote(parts.netloc)}{path}")
            return Path(path[1].lower() + path[2:] if _DRIVE.match(path) else path)
    return None


def codebase_for(
    settings: Settings, project: Project | None, document: str | None, folder: str | None = None
) -> Settings | None:
    """The settings of the index of the codebase that holds a document, or else a folder; or None.

    Args:
        settings: Of the main index.
        project: The folder of the workspace, within which the codebase must be.
        document: The URI of a document.
        folder: The URI of a folder; where there is no project, the codebase must be within this one.
    """
    from adk_evidence.index.registry import codebase_at, settings_of

    asked = path_of(folder) if folder is not None else None
    within = project.folder if project is not None else asked
    if within is None:
        return None
    place = path_of(document) if document is not None else asked
    found = (codebase_at(settings, one, within) for one in (place, within) if one is not None)
    return next((settings_of(settings, name) for name in found if name is not None), None)


def used_adk(settings: Settings, project: Hashable) -> ProjectAdk | None:
    """The google-adk of a project; None where it is not known, or where the settings say not to look."""
    return adk_of(project) if isinstance(project, Project) and settings.project.detect else None


def adk_of(project: Project) -> ProjectAdk | None:
    """The google-adk of a project; None where it is not known."""
    from adk_evidence.index.project import find_adk

    try:
        return find_adk(project.folder, project.python)
    except InvalidRequestError:
        # The client's interpreter is gone, or of a kind that keeps its packages elsewhere.
        return find_adk(project.folder)
    except EvidenceError as exc:
        _LOG.warning("The project's google-adk is not known (%s)", exc.code)
    return None
