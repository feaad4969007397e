"""Which google-adk a project uses. Its files are read; nothing of it is imported or run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.declared import Declared, declared_in, newest
from adk_evidence.index.environments import (
    Installed,
    environment_of,
    environments_in,
    installed_in,
    read_small,
    read_version,
    site_packages,
)
from adk_evidence.paths import expanded

DISTRIBUTION = "google-adk"
# How far up the folders of a repository are looked at.
MAX_LEVELS = 20
# Variables of an activated environment, and the one that names uv's environment of the project.
_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT")
MAX_PATH_BYTES = 8000
MAX_SHOWN_CHARS = 120


@dataclass(frozen=True)
class ProjectAdk:
    """The google-adk that a project uses, and where that was read.

    `version` is the exact version, or for a range the newest released version in the range. `taken_from` is for people:
    a path relative to the project, or `the active environment`. `exact` is False where a range was read, or where the
    code is that of a checkout; `asked` then says which. `python` is the environment that has google-adk installed.
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
    released: Callable[[], Sequence[str]] = tuple,
) -> ProjectAdk | None:
    """The google-adk of a project, or None where nothing names one.

    The first of these that names a version counts: `python`, an environment in the folder, the active environment, an
    exact version in a lock file or a declaration, a range. Folders above count as well, up to the root of the
    repository.

    Args:
        folder: A folder of the project.
        python: The project's interpreter or environment.
        active: Whether the environment counts that is activated for this process.
        released: The released versions, of which a range takes the newest. Without them, ranges do not count.

    Raises:
        InvalidRequestError: `python` is neither an interpreter nor an environment.
    """
    start = Path(os.path.abspath(folder)) if folder is not None else None  # noqa: PTH100 - a link stays a link
    if python is not None:
        python = expanded(python)
        if not site_packages(python):
            raise InvalidRequestError(
                f"{python} is neither a Python interpreter nor a virtual environment.", "Name one that exists."
            )
        found = _installed(python, start)
        if found is not None:
            return found
    levels = list(_levels(start)) if start is not None else []
    return (
        _first(_installed(each, start) for level in levels for each in _environments(level))
        or _first(_package_folder(level, start) for level in levels)
        or (_active(start) if active else None)
        or _first(_locked(path, found, start) for path, found in _declarations(levels) if found.versions)
        or _first(_in_range(path, found, start, released) for path, found in _declarations(levels) if found.ranges)
    )


def _first(found: Iterator[ProjectAdk | None]) -> ProjectAdk | None:
    return next((each for each in found if each is not None), None)


def _levels(folder: Path) -> Iterator[Path]:
    """The folder and those above, up to the root of the repository; the folder alone where there is no repository."""
    levels = [folder, *folder.parents][:MAX_LEVELS]
    root = next((place for place, level in enumerate(levels) if _exists(level / ".git")), 0)
    yield from levels[: root + 1]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _environments(folder: Path) -> Iterator[Path]:
    yield from environments_in(folder)
    # PDM notes the interpreter that it uses for the project.
    noted = (read_small(folder / ".pdm-python", MAX_PATH_BYTES) or "").strip()
    if noted and "\0" not in noted and Path(noted).is_absolute():
        yield Path(noted)


def _installed(python: Path, start: Path | None, taken_from: str = "") -> ProjectAdk | None:
    found = installed_in(DISTRIBUTION, site_packages(python))
    if found is None:
        return None
    prefix = environment_of(python) or python
    return _of_installed(found, taken_from or _shown(prefix, start), prefix)


def _of_installed(found: Installed, taken_from: str, prefix: Path | None) -> ProjectAdk | None:
    version = read_version(found.version)
    if version is None:
        return None
    # What a build adds behind `+` says nothing of the release.
    return ProjectAdk(version.public, taken_from, exact=not found.origin, asked=found.origin, python=prefix)


def _package_folder(folder: Path, start: Path | None) -> ProjectAdk | None:
    """What lies in `__pypackages__`, which takes the place of an environment (PEP 582)."""
    try:
        places = sorted((folder / "__pypackages__").glob("3.*/lib"), reverse=True)
    except (OSError, ValueError):
        return None
    found = installed_in(DISTRIBUTION, places)
    return _of_installed(found, _shown(folder / "__pypackages__", start), None) if found else None


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
        found.versions[0], _shown(path, start), exact=not several, asked=_plain(found.asked) if several else ""
    )


def _in_range(
    path: Path, found: Declared, start: Path | None, released: Callable[[], Sequence[str]]
) -> ProjectAdk | None:
    version = newest(found, released())
    space = "" if found.asked[:1] in tuple("<>=!~") else " "
    asked = f"{DISTRIBUTION}{space}{found.asked}".strip()
    return ProjectAdk(version, _shown(path, start), exact=False, asked=_plain(asked)) if version else None


def _shown(path: Path, start: Path | None) -> str:
    """A path for people: relative to the project, or to the home folder, or whole."""
    if start is not None and any(path.is_relative_to(level) for level in _levels(start)):
        return _plain(Path(os.path.relpath(path, start)).as_posix())
    # A container may run as a user without a home folder.
    with suppress(RuntimeError, ValueError):
        return _plain(f"~/{path.relative_to(Path.home()).as_posix()}")
    return _plain(path.as_posix())


def _plain(text: str) -> str:
    """One short line: names of files hold any bytes."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= MAX_SHOWN_CHARS else f"\u2026{line[1 - MAX_SHOWN_CHARS :]}"
