"""What code names beside google-adk, as the project's environment has that installed: google-genai, mcp, a2a-sdk.

The files of the packages are read; nothing is imported or run. What was read is kept: reading all of google-genai takes
seconds.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from adk_evidence import __version__
from adk_evidence.api.history import History, Place, VersionApi
from adk_evidence.api.module import ModuleText
from adk_evidence.api.table import HistoryTable, make_table
from adk_evidence.errors import EvidenceError
from adk_evidence.index.environments import Installed, installed_in, site_packages
from adk_evidence.text.textfile import read_small
from adk_evidence.text.versions import read_release

if TYPE_CHECKING:
    from adk_evidence.api.facts import ModuleFacts
    from adk_evidence.index.project import ProjectAdk
    from adk_evidence.settings import Settings

# The packages of each distribution; where the first one is not there, the distribution is not read.
PACKAGES = {"google-genai": ("google.genai",), "mcp": ("mcp", "mcp_types"), "a2a-sdk": ("a2a",)}
# No person wrote a longer module.
MAX_MODULE_BYTES = 5_000_000
# Of several environments and versions.
MAX_KEPT = 30
_MODULES = (".py", ".so", ".pyd")


class Environment(NamedTuple):
    """A project's Python environment, and the folder where what was read of environments is kept."""

    python: Path
    kept: Path


@dataclass(eq=False)
class Neighbour:
    """What an installed distribution has, and the folder that its packages are imported from."""

    api: VersionApi
    root: Path

    def __post_init__(self) -> None:
        self.module = functools.cache(self._read_module)

    def node(self, place: Place) -> ast.stmt | None:
        """The last statement that defines something; None where its file cannot be read or has changed."""
        module = self.module(place.module)
        return next(iter(reversed(module.statements.get(place.name, ()))), None) if module else None

    def _read_module(self, name: str) -> ModuleText | None:
        """The text of a module; None where it cannot be read."""
        stem = name.replace(".", "/")
        names = (f"{stem}.pyi", f"{stem}.py") if stem.endswith("_pb2") else (f"{stem}.py", f"{stem}/__init__.py")
        texts = ((path, read_small(self.root / path, MAX_MODULE_BYTES)) for path in names)
        return next((ModuleText(name, path, text) for path, text in texts if text is not None), None)


def environment_of(adk: ProjectAdk | None, settings: Settings) -> Environment | None:
    """The environment that a project's google-adk is installed in; None where there is none."""
    return Environment(adk.python, settings.paths.environments) if adk is not None and adk.python is not None else None


def neighbours(environment: Environment, imported: Collection[str]) -> list[Neighbour]:
    """The installed distributions that some imported paths are of, or may be of."""
    wanted = [name for name, packages in PACKAGES.items() if any(_concern(imported, one) for one in packages)]
    folders = site_packages(environment.python) if wanted else []
    found = ((name, installed_in(name, folders)) for name in wanted)
    known = [(one, _read(name, one, _changed(name, one), environment.kept)) for name, one in found if one is not None]
    return [Neighbour(api, one.root) for one, api in known if api is not None]


def _concern(paths: Collection[str], package: str) -> bool:
    return any(f"{path}.".startswith(f"{package}.") or package.startswith(f"{path}.") for path in paths)


def _changed(distribution: str, found: Installed) -> tuple[int, ...]:
    """When a distribution, and others that bring packages of it, were installed."""
    records = [found.root / f"{distribution.replace('-', '_')}-{found.version}.dist-info" / "RECORD"]
    records += [one for name in PACKAGES[distribution][1:] for one in found.root.glob(f"{name}-*.dist-info/RECORD")]
    return _times(records)


def _times(files: Iterable[Path]) -> tuple[int, ...]:
    with suppress(OSError):
        return tuple(file.stat().st_mtime_ns for file in files)
    return ()


@functools.lru_cache(maxsize=16)
def _read(distribution: str, found: Installed, changed: tuple[int, ...], kept: Path) -> VersionApi | None:
    """What an installed distribution has; None where its packages or its version cannot be read."""
    version = read_release(found.version)
    if version is None or not found.root.joinpath(*PACKAGES[distribution][0].split(".")).is_dir():
        return None
    # Other code may have read less.
    code = _times(Path(__file__).parent.with_name("api") / name for name in ("facts.py", "links.py", "table.py"))
    key = f"{__version__} {code} {found.root} {found.version} {changed}"
    file = kept / f"{distribution}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json.gz"
    with suppress(OSError, EvidenceError):
        return History(HistoryTable.parse(file.read_bytes())).each[0]
    # Where all was read before, these need not be loaded.
    from adk_evidence.api.links import link
    from adk_evidence.files import write_private

    first, *more = PACKAGES[distribution]
    facts = [one for package in (first, *more) for one in _modules(found.root, package)]
    table = make_table(distribution, {str(version): link(first, facts, *more)})
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
        write_private(file, table.dump())
        for old in sorted(kept.glob("*.json.gz"), key=os.path.getmtime)[:-MAX_KEPT]:
            old.unlink(missing_ok=True)
    return History(table).each[0]


def _modules(root: Path, package: str) -> Iterator[ModuleFacts]:
    """What the modules of a package say; of those that cannot be read, that they may have any names."""
    from adk_evidence.api.facts import ModuleFacts, read_module

    for folder, folders, files in os.walk(root.joinpath(*package.split("."))):
        inside = Path(folder).relative_to(root)
        if inside.name == "tests":
            # Nobody calls these.
            folders.clear()
            yield ModuleFacts(".".join(inside.parts), open=True)
            continue
        for stem in sorted({file.partition(".")[0] for file in files if file.endswith(_MODULES)}):
            # What protocol buffers and compilers make is said in stubs alone.
            is_said = f"{stem}.py" in files and not (stem.endswith("_pb2") and f"{stem}.pyi" in files)
            path = inside / (f"{stem}.py" if is_said else f"{stem}.pyi")
            name = ".".join(inside.parts if stem == "__init__" else (*inside.parts, stem))
            text = read_small(root / path, MAX_MODULE_BYTES)
            facts = read_module(ModuleText(name, path.as_posix(), text)) if text is not None else None
            yield facts or ModuleFacts(name, open=True)
