"""Links what the files of one version say: what its public modules have, and where packages export definitions."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from adk_evidence.api.facts import ModuleFacts, read_module
from adk_evidence.api.module import ModuleText
from adk_evidence.api.table import DEPRECATED, OPEN, TYPE, public_path
from adk_evidence.text.identifiers import is_private

# Longest chain of re-exports that is followed.
MAX_HOPS = 12
_ELSEWHERE = "~"
# Nobody imports these from here.
_TYPING = ("~typing.", "~typing_extensions.", "~collections.abc.")
# What a text on deprecation says to use: `use X`, `replaced by X`, `X from package`.
_USE = re.compile(
    r"\b(?:use|using|favou?r of|replaced by|replaced with|moved to|renamed to|import it from|see)\s+(?:the\s+)?"
    r"[`'\":~]{0,4}(?P<name>[A-Za-z_][\w.]*\w)(?:\(\))?[`'\"]{0,2}(?:\s+from\s+[`'\"]{0,2}(?P<module>[A-Za-z_][\w.]*\w))?",
    re.IGNORECASE,
)


def link(package: str, modules: Iterable[ModuleFacts], *more: str) -> dict[str, dict[str, str]]:
    """What the public modules of a package have, imports followed, with the private definitions that they lead to.

    Args:
        package: The dotted path that the distribution's own modules begin with.
        modules: All modules of one version.
        more: Further packages that the modules are of.
    """
    known = {facts.name: facts for facts in modules}
    for name in list(known):
        # A folder without an `__init__.py` is a package, too.
        while (name := name.rpartition(".")[0]).startswith(f"{package}."):
            known.setdefault(name, ModuleFacts(name))
    return _Linker((package, *more), known).snapshot()


class _Linker:
    def __init__(self, packages: tuple[str, ...], modules: Mapping[str, ModuleFacts]) -> None:
        self._inside = tuple(f"{package}." for package in packages)
        self._modules = modules
        self._members = functools.cache(self._by_top)
        self._open = functools.cache(self._is_open)
        self._snapshot: dict[str, dict[str, str]] = {}
        self._waiting: list[tuple[str, str]] = []
        self._names = functools.cache(self._all_names)

    def snapshot(self) -> dict[str, dict[str, str]]:
        for name, facts in self._modules.items():
            # The first versions shipped their tests, which nobody imports.
            if not is_private(name) and (facts.open or "tests" not in name.split(".")):
                self._snapshot[name] = {"": OPEN if self._open(name) else "m"}
        for name in list(self._snapshot):
            for bound in self._names(name):
                if not bound.startswith("_"):
                    self._add(name, bound)
        while self._waiting:
            self._add_definition(*self._waiting.pop())
        self._add_types()
        self._add_deprecations()
        return {module: dict(sorted(names.items())) for module, names in sorted(self._snapshot.items())}

    def _all_names(self, module: str) -> set[str]:
        """All that `from module import ...` gives, but submodules."""
        facts = self._modules[module]
        own = facts.at_top | facts.named
        for star in facts.stars:
            own |= self._starred(star, {module})
        return own

    def _is_open(self, module: str) -> bool:
        """Whether a module may have names that its file, and those whose names the file takes over, do not say."""
        facts = self._modules[module]
        others = (star for star in facts.stars if star != module)
        return facts.open or any(
            star not in self._modules or (self._modules[star].listed is None and self._open(star)) for star in others
        )

    def _by_top(self, module: str) -> dict[str, list[str]]:
        """The names that a module defines, by those at its top."""
        facts, found = self._modules[module], dict[str, list[str]]()
        for name in (*facts.defined, *facts.classes):
            found.setdefault(name.partition(".")[0], []).append(name)
        return found

    def _starred(self, module: str, seen: set[str]) -> set[str]:
        facts = self._modules.get(module)
        if facts is None or module in seen:
            return set()
        if facts.listed is not None:
            return set(facts.listed)
        found = facts.at_top
        for star in facts.stars:
            found |= self._starred(star, seen | {module})
        return {name for name in found if not name.startswith("_")}

    def _add(self, module: str, name: str) -> None:
        """A name of a public module as the module gives it."""
        facts = self._modules[module]
        if name in facts.defined or name in facts.classes:
            self._waiting.append((module, name))
            return
        target = self._resolve(f"{module}.{name}")
        if target == f"{module}.{name}":
            if name in facts.aliases:
                self._snapshot[module][name] = "v"
        elif target is not None and not (target.startswith(_TYPING) and target.endswith(f".{name}")):
            self._snapshot[module][name] = _ELSEWHERE if target.startswith(_ELSEWHERE) else f"={target}"
            found = self._definition(target)
            if found is not None:
                self._waiting.append(found)

    def _definition(self, path: str) -> tuple[str, str] | None:
        """Module and name of a definition; None of a module."""
        module, _, name = path.rpartition(".")
        facts = self._modules.get(module)
        return (module, name) if facts is not None and facts.binds(name) and path not in self._modules else None

    def _add_definition(self, module: str, name: str) -> None:
        facts, rows = self._modules[module], self._snapshot.setdefault(module, {})
        if name in rows:
            return
        inside = self._members(module).get(name, [])
        rows.update({known: facts.defined[known] for known in inside if known in facts.defined})
        if name in facts.aliases:
            rows[name] = "v"
        for known in inside:
            if (found := facts.classes.get(known)) is not None:
                bases = [self._base(module, base) for base in found.bases]
                rows[known] = f"c{found.flags}:{' '.join(bases)}"
                self._waiting += [place for base in bases if (place := self._definition(base)) is not None]

    def _base(self, module: str, dotted: str | None) -> str:
        return (self._resolve_in(module, dotted) if dotted else None) or "?"

    def _resolve_in(self, module: str, dotted: str) -> str | None:
        first = dotted.partition(".")[0]
        if first in self._names(module):
            return self._resolve(f"{module}.{dotted}")
        # A builtin such as `Exception`.
        return f"{_ELSEWHERE}{dotted}"

    def _resolve(self, path: str) -> str | None:
        """The definition or module that an importable path leads to; after `~` where it is of another distribution.

        None where nothing is there.
        """
        for _ in range(MAX_HOPS):
            if not f"{path}.".startswith(self._inside):
                return f"{_ELSEWHERE}{path}"
            module, rest = self._split(path)
            if module is None:
                return None
            if not rest:
                return module
            name, _, below = rest.partition(".")
            facts = self._modules[module]
            if name in facts.defined or name in facts.classes or name in facts.named:
                return path if name not in facts.named else f"{_ELSEWHERE}{path}"
            following = facts.bound.get(name)
            if following is None and name in facts.aliases:
                other = facts.aliases[name]
                first = other.partition(".")[0]
                # A builtin, or an attribute of something that is not imported.
                if first == name or first not in self._names(module):
                    return path
                following = f"{module}.{other}"
                if "." in other and (first in facts.defined or first in facts.classes):
                    return path
            if following is None:
                # The last one binds the name.
                stars = (star for star in reversed(facts.stars) if name in self._starred(star, {module}))
                star = next(stars, None)
                if star is None:
                    unsure = f"{_ELSEWHERE}{path}" if self._open(module) else None
                    return path if f"{module}.{name}" in self._modules else unsure
                following = f"{star}.{name}"
            path = f"{following}.{below}" if below else following
        return None

    def _split(self, path: str) -> tuple[str | None, str]:
        """The module that a path begins with, the longest, and what follows."""
        module, name = path.rpartition(".")[::2]
        facts = self._modules.get(module)
        # A name of a package hides a module of the same name; `from . import name` is that module.
        if facts is not None and facts.binds(name) and facts.bound.get(name) != path:
            return module, name
        module = path
        while module and module not in self._modules:
            module = module.rpartition(".")[0]
        return (module or None), path[len(module) + 1 :]

    def _add_types(self) -> None:
        """The classes that members and results are of, where the table has these classes."""
        for module, rows in self._snapshot.items():
            facts = self._modules[module]
            for name, said in facts.types.items():
                first, dot, rest = said.lstrip("*").partition(".")
                path = f"{facts.typing[first]}{dot}{rest}" if first in facts.typing else None
                target = self._resolve(path) if path else self._resolve_in(module, f"{first}{dot}{rest}")
                place, _, cls = (target or "").rpartition(".")
                if name in rows and self._snapshot.get(place, {}).get(cls, "").startswith("c"):
                    rows[f"{name}{TYPE}"] = f"{'*' if said[0] == '*' else ''}{target}"

    def _add_deprecations(self) -> None:
        public = self._public_paths()
        by_name: dict[str, list[str]] = {}
        for fqn, path in public.items():
            by_name.setdefault(fqn.rpartition(".")[2], []).append(path)
            if fqn.rpartition(".")[2] != path.rpartition(".")[2]:
                by_name.setdefault(path.rpartition(".")[2], []).append(path)
        for module, rows in self._snapshot.items():
            for name, text in self._modules[module].deprecated.items():
                if name in rows:
                    use = next(self._replacements(module, name, text, by_name), "")
                    rows[f"{name}{DEPRECATED}"] = f"{use}|{text}".replace("\t", " ")

    def _public_paths(self) -> dict[str, str]:
        """The public path of each definition at the top of a module."""
        found: dict[str, list[str]] = {}
        for module, rows in self._snapshot.items():
            for name, payload in rows.items():
                if name and "." not in name and not is_private(module):
                    fqn = payload[1:] if payload.startswith("=") else f"{module}.{name}"
                    found.setdefault(fqn, []).append(f"{module}.{name}")
        packages = {module.rpartition(".")[0] for module in self._snapshot}
        return {fqn: public_path(fqn, paths, packages) for fqn, paths in found.items()}

    def _replacements(self, module: str, name: str, text: str, by_name: Mapping[str, list[str]]) -> Iterator[str]:
        """What a text says to use instead, as far as this version has that."""
        own = name.rpartition(".")[2] or module.rpartition(".")[2]
        for match in _USE.finditer(text):
            wanted, inside = match["name"], match["module"]
            if wanted == own:
                continue
            for path in (f"{inside}.{wanted}", wanted) if inside else (wanted,):
                if path.startswith(self._inside) and not is_private(path):
                    target = self._resolve(path)
                    if target is not None and not target.startswith(_ELSEWHERE):
                        yield path
            owner = name.rpartition(".")[0]
            if owner and f"{owner}.{wanted}" in self._snapshot[module]:
                yield f"{module}.{owner}.{wanted}"
            first, _, member = wanted.partition(".")
            # A name in small letters may be a mere English word.
            paths = by_name.get(first, []) if first != first.lower() or "_" in first else []
            if len(set(paths)) == 1 and (not member or self._has_member(paths[0], member)):
                yield f"{paths[0]}.{member}" if member else paths[0]

    def _has_member(self, path: str, member: str) -> bool:
        module, _, name = (self._resolve(path) or "").rpartition(".")
        return f"{name}.{member}" in self._snapshot.get(module, {})


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
        origin = _origin(path, exports)
        best = public.get(origin)
        if best is None or _closeness(path, origin) > _closeness(best, origin):
            public[origin] = path
    return public


def package_of(path: str) -> str | None:
    """The package that an `__init__.py` makes, by its repository path; None for other files."""
    place = PurePosixPath(path.removeprefix("src/"))
    return ".".join(place.parent.parts) if place.name == "__init__.py" else None


def _origin(path: str, exports: Mapping[str, str]) -> str:
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
