"""Whether the user's installed google-adk has a symbol. Its files are read; nothing is imported or run."""

from __future__ import annotations

import functools
import os
import sys
from contextlib import suppress
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from adk_evidence.api.facts import ModuleFacts, read_module
from adk_evidence.api.module import ModuleText
from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.environments import Installed, installed_in, site_packages
from adk_evidence.paths import expanded
from adk_evidence.targets.target import Availability, Target
from adk_evidence.text.versions import is_same_version

PARSED_FILES = 512
MAX_FILE_BYTES = 4_000_000
# Bases that give a class no members of the corpus.
_PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "BaseModel", "Enum", "Exception"})


def find_installed(requirement: str | None, python: Path | None = None) -> Installed | None:
    """The distribution in the user's environment, or None where the distribution is not installed there.

    Args:
        requirement: The corpus's distribution, e.g. `google-adk==2.13.0`; the version does not count.
        python: An interpreter or the folder of a virtual environment; by default the active virtual environment
            (`VIRTUAL_ENV`), else the running interpreter.

    Raises:
        InvalidRequestError: `python` is neither an interpreter nor an environment.
    """
    if requirement is None:
        return None
    try:
        name = Requirement(requirement).name
    except InvalidRequirement:
        return None
    if python is not None:
        folders = site_packages(expanded(python))
        if not folders:
            raise InvalidRequestError(
                f"{python} is neither a Python interpreter nor a virtual environment.", "Name one that exists."
            )
        return installed_in(name, folders)
    active = os.environ.get("VIRTUAL_ENV")
    found = installed_in(name, site_packages(Path(active))) if active else None
    return found or installed_in(name, [Path(entry) for entry in sys.path if entry])


def availability(target: Target, installed: Installed | None, ref: str | None) -> Availability:
    """Whether an installed version has a target; the version that was indexed, e.g. `v2.13.0`, has every target."""
    if installed is None:
        return "unknown"
    if is_same_version(installed.version, ref) or installed.version == ref:
        return "true"
    module = _module(installed.root, target.package)
    if module is None:
        # Where the whole product is elsewhere (an editable installation), a missing file says nothing.
        holds = installed.root.joinpath(*target.package.split(".")[:2]).is_dir()
        return "false" if holds else "unknown"
    owner, _, member = target.symbol.partition(".")
    if not _gives(module, owner):
        # Another version may not export by the same package what it has all the same.
        defining = _module(installed.root, target.module)
        if defining is None or not _gives(defining, owner):
            return "false"
        module = defining
    if not member:
        return "true"
    return _has_member(installed, module, target, owner, member)


def _gives(module: ModuleFacts, name: str) -> bool:
    return module.binds(name) or name in (module.listed or ())


def _has_member(installed: Installed, exporting: ModuleFacts, target: Target, owner: str, member: str) -> Availability:
    """Whether the class has a member; it may be defined in another module than the one that exports it."""
    defining = exporting if owner in exporting.classes else _read(installed.root / target.path.removeprefix("src/"))
    if defining is None or owner not in defining.classes:
        defining = _module(installed.root, target.module)
    if defining is None or owner not in defining.classes:
        return "unknown"
    path = f"{owner}.{member.partition('.')[0]}"
    # The facts do not hold the options of a model, which every model has.
    if path in defining.defined or path in defining.classes or member == "model_config":
        return "true"
    # It may be inherited there.
    bases = {(base or "?").rpartition(".")[2] for base in defining.classes[owner].bases}
    return "unknown" if bases - _PLAIN_BASES else "false"


def _module(root: Path, dotted: str) -> ModuleFacts | None:
    base = root.joinpath(*dotted.split("."))
    return _read(base.with_name(f"{base.name}.py")) or _read(base / "__init__.py")


def _read(path: Path) -> ModuleFacts | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return _parsed(path, info.st_mtime_ns, info.st_size) if info.st_size <= MAX_FILE_BYTES else None


@functools.lru_cache(maxsize=PARSED_FILES)
def _parsed(path: Path, mtime_ns: int, size: int) -> ModuleFacts | None:
    # The time and the size make the cache notice a new version.
    with suppress(OSError):
        # Which names a file gives does not depend on where the file stands.
        return read_module(ModuleText(path.stem, path.as_posix(), path.read_text(encoding="utf-8", errors="replace")))
    return None
