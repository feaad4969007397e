"""Which google-adk a project uses. Its files are read; nothing of it is imported or run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from adk_evidence.api.history import History
from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.declared import Declared, declared_in, newest
from adk_evidence.index.environments import (
    USUAL_NAMES,
    environment_at,
    environments_in,
    installed_in,
)
from adk_evidence.paths import expanded
from adk_evidence.text.textfile import read_small
from adk_evidence.text.versions import read_release

DISTRIBUTION = "google-adk"
# How far up the folders of a repository are looked at.
MAX_LEVELS = 20
# Variables of an activated environment, and the one that names uv's environment of the project.
_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT")
MAX_PATH_BYTES = 8000
MAX_SHOWN_CHARS = 120
# What may be shown of the names in a stranger's project: too little for a sentence.
_SHORT_NAME = re.compile(r"[A-Za-z0-9._-]{1,32}")


@dataclass(frozen=True)
class ProjectAdk:
    """The google-adk that a project uses, and where that was read.

    `version` is the exact version, or for a range the newest released version in the range. `taken_from` is for people
    and models: a usual name relative to the project, or else a kind, such as `the active environment`; neither
    `taken_from` nor `asked` holds other text of the project or of this machine. `exact` is False where a range was
    read, or where the code is that of a checkout; `asked` then says which. `python` is the environment that has
    google-adk installed.
    """

    version: str
    taken_from: str
    exact: bool
    asked: str = ""
    python: Path | None = None


def find_adk(
    folder: Path | None = None,
    python: Path | None = None,
    *,
    active: bool = False,
    released: Callable[[], Sequence[str]] = lambda: History.load().versions,
) -> ProjectAdk | None:
    """The google-adk of a project, or None where nothing names one.

    The first of these that names a version counts: `python`, an environment in the folder, the active environment, an
    exact version in a lock file or a declaration, a range. Folders above count as well, up to the root of the
    repository.

    Args:
        folder: A folder of the project.
        python: The project's interpreter or environment.
        active: Whether the environment counts that is activated for this process.
        released: The released versions, of which a range takes the newest.

    Raises:
        InvalidRequestError: `python` is neither an interpreter nor an environment.
    """
    start = Path(os.path.abspath(folder)) if folder is not None else None  # noqa: PTH100 - a link stays a link
    if python is not None:
        python = expanded(python)
        prefix, folders = environment_at(python)
        if not folders:
            raise InvalidRequestError(
                f"{python} is neither a Python interpreter nor a virtual environment.", "Name one that exists."
            )
        found = _of_environment(prefix, folders, start)
        if found is not None:
            return found
    levels = list(_levels(start)) if start is not None else []
    return (
        _first(_installed(each, start) for level in levels for each in _environments(level))
        or (_active(start) if active else None)
        or _first(_locked(path, found, start) for path, found in _declarations(levels) if found.versions)
        or _first(_in_range(path, found, start, released) for path, found in _declarations(levels))
    )


def _first(found: Iterator[ProjectAdk | None]) -> ProjectAdk | None:
    return next((each for each in found if each is not None), None)


def _levels(folder: Path) -> Iterator[Path]:
    """The folder and those above, up to the root of the repository; the folder alone where there is no repository."""
    levels = [folder, *folder.parents][:MAX_LEVELS]
    # `Path.exists` would raise where a folder may not be read.
    root = next((place for place, level in enumerate(levels) if os.path.exists(level / ".git")), 0)  # noqa: PTH110
    yield from levels[: root + 1]


def _environments(folder: Path) -> Iterator[Path]:
    yield from environments_in(folder)
    # PDM notes the interpreter that it uses for the project.
    noted = (read_small(folder / ".pdm-python", MAX_PATH_BYTES) or "").strip()
    if noted and "\0" not in noted and Path(noted).is_absolute():
        yield Path(noted)


def _installed(python: Path, start: Path | None, taken_from: str = "") -> ProjectAdk | None:
    prefix, folders = environment_at(python)
    return _of_environment(prefix, folders, start, taken_from)


def _of_environment(
    prefix: Path, folders: Sequence[Path], start: Path | None, taken_from: str = ""
) -> ProjectAdk | None:
    found = installed_in(DISTRIBUTION, folders)
    version = read_release(found.version) if found else None
    if found is None or version is None:
        return None
    named = taken_from or _environment_name(prefix, start)
    return ProjectAdk(str(version), named, exact=not found.origin, asked=found.origin, python=prefix)


def _active(start: Path | None) -> ProjectAdk | None:
    for variable in _ACTIVE:
        named = os.environ.get(variable)
        # uv takes its variable relative to the project.
        found = _installed((start or Path()) / named, start, "the active environment") if named else None
        if found is not None:
            return found
    return None


def _declarations(levels: list[Path]) -> Iterator[tuple[Path, Declared]]:
    for level in levels:
        yield from declared_in(level, DISTRIBUTION)


def _locked(path: Path, found: Declared, start: Path | None) -> ProjectAdk | None:
    several = len(found.versions) > 1
    return ProjectAdk(
        found.versions[0],
        _file_name(path, found.kind, start),
        exact=not several,
        asked=_short(found.asked) if several else "",
    )


def _in_range(
    path: Path, found: Declared, start: Path | None, released: Callable[[], Sequence[str]]
) -> ProjectAdk | None:
    version = newest(found, released())
    if version is None:
        return None
    return ProjectAdk(
        version, _file_name(path, found.kind, start), exact=False, asked=_short(f"{DISTRIBUTION}{found.asked}")
    )


def _file_name(path: Path, kind: str, start: Path | None) -> str:
    """The file relative to the project; its kind where the name might hold a text of strangers."""
    return _relative(path, start) if _SHORT_NAME.fullmatch(path.name) else kind


def _environment_name(prefix: Path, start: Path | None) -> str:
    """The environment relative to the project where its name is a usual one; else where the environment lies."""
    if start is None:
        return "the given environment"
    level = next((level for level in _levels(start) if prefix.is_relative_to(level)), None)
    if level is None:
        return "an environment outside the project"
    is_usual = prefix.relative_to(level).as_posix() in USUAL_NAMES
    return _relative(prefix, start) if is_usual else "an environment of the project"


def _relative(path: Path, start: Path | None) -> str:
    return Path(os.path.relpath(path, start)).as_posix()


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}\u2026"
