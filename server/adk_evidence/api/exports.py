"""Where packages export what their modules define."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from adk_evidence.api.facts import read_module
from adk_evidence.api.module import ModuleText


def build_export_map(files: Mapping[str, str]) -> dict[str, str]:
    """Where packages export what their modules define, from texts by repository path; see `join_exports`.

    Only each `__init__.py` is read; a broken one exports nothing.
    """
    packages = ((package_of(path), text) for path, text in files.items())
    return join_exports({package: read_exports(package, text) for package, text in packages if package is not None})


def join_exports(packages: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Where packages export what their modules define, from what `read_exports` gives for each package.

    Returns:
        Fully qualified name to public import path, e.g. `google.adk.agents.llm_agent.LlmAgent` to
        `google.adk.agents.LlmAgent`. Of several exporting packages below the root, the nearest to the definition.
    """
    exports: dict[str, str] = {}
    roots: dict[str, str] = {}
    for package, names in sorted(packages.items()):
        is_root = not any(package.startswith(f"{other}.") for other in packages)
        found = roots if is_root else exports  # the root package itself is not on the official page
        found.update({f"{package}.{name}": origin for name, origin in names.items()})
    beside = {o for path, o in roots.items() if o.rpartition(".")[0].rpartition(".")[0] == path.rpartition(".")[0]}
    public = {origin: origin for origin in beside if origin.rpartition(".")[0] not in packages}
    for path in exports:
        origin = _resolve(path, exports)
        best = public.get(origin)
        if best is None or _closeness(path, origin) > _closeness(best, origin):
            public[origin] = path
    return public


def package_of(path: str) -> str | None:
    """The package that an `__init__.py` makes, by its repository path; None for other files."""
    place = PurePosixPath(path.removeprefix("src/"))
    return ".".join(place.parent.parts) if place.name == "__init__.py" else None


def _resolve(path: str, exports: Mapping[str, str]) -> str:
    seen = set()
    while path in exports and path not in seen:
        seen.add(path)
        path = exports[path]
    return path


def _closeness(path: str, origin: str) -> tuple[bool, int]:
    package, _, name = path.rpartition(".")
    same = [left == right for left, right in zip(package.split("."), origin.split("."), strict=False)]
    return name == origin.rpartition(".")[2], [*same, False].index(False)


def read_exports(package: str, text: str) -> dict[str, str]:
    """Public name to origin of what an `__init__.py` imports and lists in `__all__`, eagerly or lazily."""
    facts = read_module(ModuleText(package, f"{package.replace('.', '/')}/__init__.py", text))
    # What a package lists and does not bind itself is a module of it.
    listed = (name for name in sorted(facts.listed or ()) if not facts.defines(name)) if facts else ()
    return {name: facts.bound.get(name, f"{package}.{name}") for name in listed} if facts else {}
