"""Python environments as they lie on the disk. Their files are read; nothing is imported or run."""

from __future__ import annotations

import configparser
import functools
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from adk_evidence.text.textfile import read_small

# What tools call the environment that they make in a project, the most common first.
USUAL_NAMES = (".venv", "venv", "env", ".conda", ".pixi/envs/default")
MAX_FOLDERS = 200
MAX_METADATA_BYTES = 4_000_000
MAX_CONFIG_BYTES = 64_000
_VERSION = re.compile(r"^Version: *(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Installed:
    """An installed distribution: its version, and the folder that its packages are imported from.

    `origin` says where the distribution came from, if that is no release: `editable`, or the commit of a repository.
    """

    version: str
    root: Path
    origin: str = ""


def environment_at(python: Path) -> tuple[Path, list[Path]]:
    """The folder of an environment, and where the environment keeps distributions, in the order of imports.

    `python` is an interpreter, the folder of a virtual environment, or the prefix of a conda environment. No
    distributions can be kept where `python` is neither.
    """
    for prefix in _prefixes(python):
        if libraries := _libraries(prefix):
            return prefix, [*libraries, *_shared(prefix)]
    running = _is_file(python) and python.samefile(sys.executable)
    return python, [Path(sysconfig.get_path("purelib"))] if running else []


def site_packages(python: Path) -> list[Path]:
    """Where an interpreter or an environment keeps distributions; empty where `python` is neither."""
    return environment_at(python)[1]


def installed_in(name: str, folders: Sequence[Path]) -> Installed | None:
    """The distribution in the first of the folders that holds a sound one."""
    state: list[tuple[str, int]] = []
    for folder in folders:
        with suppress(OSError, ValueError):
            state.append((str(folder), folder.stat().st_mtime_ns))
    return _look_up(name, tuple(state))


def environments_in(folder: Path) -> Iterator[Path]:
    """The environments that lie in a project's folder, those with usual names first."""
    usual = [folder / name for name in USUAL_NAMES]
    yield from (path for path in usual if _is_environment(path))
    try:
        with os.scandir(folder) as entries:
            # A link that leads in a circle is no folder here, where `is_dir` of the entry would raise.
            folders = (entry.name for entry in entries if os.path.isdir(entry))  # noqa: PTH112
            others = sorted(name for name in folders if name not in USUAL_NAMES)
    except (OSError, ValueError):
        return
    yield from (folder / name for name in others[:MAX_FOLDERS] if _is_environment(folder / name))


def _prefixes(python: Path) -> Iterator[Path]:
    if os.path.isdir(python):  # noqa: PTH112 - where a folder may not be read, this does not raise
        yield python
        return
    if not _is_interpreter(python):
        return
    yield from _above(python)
    # The interpreter of a virtual environment is a link that leads out of it: where it leads counts last.
    with suppress(OSError, RuntimeError, ValueError):
        yield from _above(python.resolve())


def _above(python: Path) -> Iterator[Path]:
    folder = python.parent
    # On Windows, conda keeps the interpreter at the top of the environment.
    yield folder.parent if folder.name.lower() in ("bin", "scripts") else folder


def _libraries(prefix: Path) -> list[Path]:
    found: list[Path] = []
    for pattern in ("lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages"):
        with suppress(OSError, ValueError):
            found += sorted(prefix.glob(pattern))
    # On a file system that ignores case, `lib` and `Lib` are one folder.
    return list(dict.fromkeys(found))


def _shared(prefix: Path) -> list[Path]:
    """The folders of the Python that a virtual environment was made from, if the environment shares them."""
    text = read_small(prefix / "pyvenv.cfg", MAX_CONFIG_BYTES)
    config = configparser.RawConfigParser(strict=False)
    with suppress(configparser.Error):
        config.read_string(f"[venv]\n{text or ''}")
    if config.get("venv", "include-system-site-packages", fallback="").strip().lower() != "true":
        return []
    home = Path(config.get("venv", "home", fallback=""))
    if not home.is_absolute():
        return []
    return _libraries(home.parent if home.name.lower() in ("bin", "scripts") else home)


def _is_environment(path: Path) -> bool:
    return any(_is_file(path / mark) for mark in ("pyvenv.cfg", "conda-meta/history"))


def _is_file(path: Path) -> bool:
    # `Path.is_file` would raise where a folder may not be read.
    return os.path.isfile(path)  # noqa: PTH113


def _is_interpreter(path: Path) -> bool:
    return _is_file(path) and re.fullmatch(r"pythonw?[\d.]*t?(\.exe)?", path.name, re.IGNORECASE) is not None


@functools.lru_cache(maxsize=256)
def _look_up(name: str, folders: tuple[tuple[str, int], ...]) -> Installed | None:
    # The times make the cache notice what is installed or removed. To read metadata takes milliseconds.
    stem = canonicalize_name(name).replace("-", "_")
    for folder, _ in folders:
        for info in sorted(Path(folder).glob(f"{stem}-*.dist-info")):
            # A damaged one lacks the file, or has one that is too large to read.
            version = _VERSION.search(read_small(info / "METADATA", MAX_METADATA_BYTES) or "")
            if version is not None:
                return Installed(version[1], Path(folder), _origin(info))
    return None


def _origin(info: Path) -> str:
    """What `direct_url.json` says of a distribution that was not installed from a release."""
    try:
        told: Any = json.loads(read_small(info / "direct_url.json", MAX_CONFIG_BYTES) or "{}")
    except (ValueError, RecursionError):
        return ""
    told = told if isinstance(told, dict) else {}
    folder, repository = told.get("dir_info"), told.get("vcs_info")
    if isinstance(folder, dict):
        return "editable" if folder.get("editable") is True else "a folder"
    if isinstance(repository, dict):
        commit = re.fullmatch(r"[0-9a-f]{7,64}", str(repository.get("commit_id")))
        return f"commit {commit[0][:12]}" if commit else "a repository"
    return ""
