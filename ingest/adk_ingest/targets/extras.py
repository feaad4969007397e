"""Which extra of a distribution an import needs, e.g. `google-adk[mcp]`: from what the code imports and requires.

Nothing is imported. An import that a module itself survives the lack of is not needed.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from packaging.metadata import parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from adk_evidence.api.module import ModuleText
from adk_evidence.readers.python import absolute, blocks, is_type_checking, last_name, unparse
from adk_evidence.targets.imports import named_extras
from adk_evidence.text.textfile import read_small

MAX_DECLARED_BYTES = 4_000_000
_EXTRA = re.compile(r"extra == ['\"]([\w.-]+)['\"]")
# `google.cloud.pubsub_v1` is of google-cloud-pubsub.
_API_VERSION = re.compile(r"_v\d+\w*$")
_MISSING = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


# Extras that nobody installs in order to use the distribution.
_FOR_DEVELOPERS = frozenset({"all", "dev", "docs", "test"})
# Distributions that some extras ask for, and that these bring in any case.
_BROUGHT = {"anyio": {"httpx", "starlette"}}


@dataclass(frozen=True)
class Declared:
    """What a distribution requires, by canonical names: always, and for each of its extras."""

    name: str
    always: frozenset[str]
    extras: Mapping[str, frozenset[str]]


def declared_at(root: Path, distribution: str) -> Declared | None:
    """What the distribution in a folder says that it requires; None where the folder does not tell.

    Args:
        root: A checkout with a `pyproject.toml`, or a folder with the `*.dist-info` of the distribution.
        distribution: Its canonical name.
    """
    stem = distribution.replace("-", "_")
    for path in sorted(root.glob(f"{stem}-*.dist-info/METADATA")):
        text = read_small(path, MAX_DECLARED_BYTES)
        if text is not None:
            found, _ = parse_email(text)
            return _declared(distribution, ((each, "") for each in found.get("requires_dist", ())))
    text = read_small(root / "pyproject.toml", MAX_DECLARED_BYTES)
    return _of_project(distribution, text) if text is not None else None


def _of_project(distribution: str, text: str) -> Declared | None:
    try:
        project: Any = tomllib.loads(text).get("project", {})
        if canonicalize_name(project["name"]) != distribution:
            return None
        optional = project.get("optional-dependencies", {})
        always = [(each, "") for each in project.get("dependencies", ())]
        extra = [(each, name) for name, listed in optional.items() for each in listed]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return _declared(distribution, [*always, *extra])


def _declared(distribution: str, requirements: Iterable[tuple[str, str]]) -> Declared:
    """Sort requirements, each with the extra under which it is listed, or "" where its marker tells."""
    always: set[str] = set()
    extras: dict[str, set[str]] = {}
    own: list[tuple[str, str]] = []
    for text, listed in requirements:
        try:
            requirement = Requirement(text)
        except (InvalidRequirement, TypeError):
            continue
        name = canonicalize_name(requirement.name)
        # Conditions on Python or the system are those of the reader's machine.
        of_extras = [listed] if listed else _EXTRA.findall(str(requirement.marker or ""))
        for extra in of_extras:
            if name == distribution:
                own += [(extra, inner) for inner in requirement.extras]
            else:
                extras.setdefault(extra, set()).add(name)
        if not of_extras:
            always.add(name)
    # `all = ["google-adk[mcp,a2a]"]`; one pass for each extra that such a list may lead through.
    for _ in own:
        for extra, inner in own:
            extras.setdefault(extra, set()).update(extras.get(inner, ()))
    return Declared(distribution, frozenset(always), {name: frozenset(found) for name, found in extras.items()})


@dataclass(frozen=True)
class _Imports:
    """What importing a module needs: optional distributions, other modules, and extras without which it raises.

    `told` are the extras that the text of a module names where the module needs a distribution.
    """

    needed: frozenset[str]
    own: frozenset[str]
    named: frozenset[str]
    told: frozenset[str]


_NOTHING = _Imports(frozenset(), frozenset(), frozenset(), frozenset())


class _Optional(NamedTuple):
    """An optional distribution, and the path that is imported of it, e.g. `google.cloud.bigquery`."""

    path: str
    name: str


class NeededExtras:
    """The extras that imports of public symbols need.

    Args:
        modules: The code of the distribution.
        declared: What the distribution requires.
    """

    def __init__(self, modules: Sequence[ModuleText], declared: Declared) -> None:
        self._modules = {module.name: module for module in modules}
        self._declared = declared
        optional = {name for found in declared.extras.values() for name in found}
        self._always = {*declared.always, *(name for name, by in _BROUGHT.items() if declared.always & by)}
        self._provided = {_squeezed(name): name for name in sorted({*optional, *declared.always})}
        # Small extras before large ones.
        self._extras = dict(sorted(declared.extras.items(), key=lambda item: (len(item[1]), item[0])))
        self._imports = functools.cache(self._read_imports)
        self.of = functools.cache(self._needed)

    def by_import(self) -> dict[str, str]:
        """What brings the optional packages that the code imports anywhere, by the paths that the code imports."""
        needed: dict[str, str] = {}
        told: dict[str, set[str]] = {}
        for module in self._modules.values():
            named = _named_extras(self._declared, module.text)
            for node in ast.walk(module.tree) if module.tree is not None else ():
                for path in _paths(module, node) if isinstance(node, ast.Import | ast.ImportFrom) else ():
                    found = None if self._is_own(path) else self._distribution(path)
                    if found is not None:
                        needed[found.path] = found.name
                        told.setdefault(found.path, set()).update(named)
        extras = {path: self._installed({name}, told[path]) for path, name in needed.items()}
        return {path: extras[path] for path in sorted(extras)}

    def _needed(self, module: str) -> str:
        """What an import of a module needs, e.g. `google-adk[mcp]`; empty where the distribution alone will do."""
        found = self._through(module)
        return self._installed(found.needed, found.told, found.named)

    def _installed(self, needed: Set[str], told: Container[str], named: Iterable[str] = ()) -> str:
        """The distribution with extras that bring what is needed: those that are `named`, then rather those `told`."""
        chosen = set(named)
        left = needed - {name for extra in chosen for name in self._declared.extras[extra]}
        order = sorted(self._extras, key=lambda name: name not in told)
        while helpful := [name for name in order if left & self._extras[name]]:
            usual = [name for name in helpful if name not in _FOR_DEVELOPERS]
            best = max(usual or helpful, key=lambda name: len(left & self._extras[name]))
            chosen.add(best)
            left -= self._extras[best]
        return f"{self._declared.name}[{','.join(sorted(chosen))}]" if chosen else ""

    def _through(self, module: str) -> _Imports:
        """What a module needs through all that it imports, and through the packages around it."""
        found: list[_Imports] = []
        waiting = list(self._packages(module))
        seen = set(waiting)
        while waiting:
            found.append(self._imports(waiting.pop()))
            waiting += found[-1].own - seen
            seen |= found[-1].own
        each = zip(*((one.needed, one.own, one.named, one.told) for one in found), strict=True)
        return _Imports(*(frozenset().union(*parts) for parts in each)) if found else _NOTHING

    def _read_imports(self, name: str) -> _Imports:
        module = self._modules[name]
        steps = list(_at_import(module))
        paths = [one for one in steps if isinstance(one, str)]
        raised = (_named_extras(self._declared, unparse(one) or "") for one in steps if isinstance(one, ast.Raise))
        own = [path for path in paths if self._is_own(path)]
        others = (self._distribution(path) for path in paths if path not in own)
        needed = frozenset(found.name for found in others if found is not None)
        return _Imports(
            needed,
            frozenset(each for path in own for each in self._packages(path)),
            frozenset(extra for extras in raised for extra in extras),
            _named_extras(self._declared, module.text) if needed else frozenset(),
        )

    def _is_own(self, path: str) -> bool:
        return any(".".join(path.split(".")[:end]) in self._modules for end in range(2, path.count(".") + 2))

    def _packages(self, path: str) -> Iterator[str]:
        """A module and the packages around it, as far as they are known."""
        parts = path.split(".")
        yield from (name for end in range(1, len(parts) + 1) if (name := ".".join(parts[:end])) in self._modules)

    def _distribution(self, path: str) -> _Optional | None:
        """The optional distribution that a path of another package is of; None where that is not known."""
        parts = path.split(".")
        if parts[0] in sys.stdlib_module_names:
            return None
        for end in range(len(parts), 0, -1):
            known = ".".join(parts[:end])
            name = self._provided.get(_squeezed(_API_VERSION.sub("", known)))
            if name is not None:
                return None if name in self._always else _Optional(known, name)
        # `a2a` is of a2a-sdk, `llama_index` of several that one extra brings; `google` may be of any.
        alike = [name for name in self._provided.values() if name.startswith(f"{canonicalize_name(parts[0])}-")]
        together = any(found.issuperset(alike) for name, found in self._extras.items() if name not in _FOR_DEVELOPERS)
        return _Optional(parts[0], alike[0]) if alike and together else None


def _squeezed(name: str) -> str:
    """A name without what distributions and packages write differently: google-api-python-client, `googleapiclient`."""
    return re.sub(r"[-_.]|python", "", name.lower())


def _named_extras(declared: Declared, text: str) -> frozenset[str]:
    """The extras that a text says to install, as far as there are such."""
    return frozenset(named_extras(text, declared.name) & declared.extras.keys())


def _at_import(module: ModuleText) -> Iterator[str | ast.Raise]:
    """What a module does when it is imported: the dotted paths that it needs, and what it may raise."""
    waiting: list[list[ast.stmt]] = list(blocks(module.tree)) if module.tree is not None else []
    while waiting:
        for node in waiting.pop():
            match node:
                case ast.Import() | ast.ImportFrom():
                    yield from _paths(module, node)
                case ast.Raise():
                    yield node
                case ast.Try():
                    waiting += [node.finalbody] if _survives(node) else list(blocks(node))
                case ast.If():
                    waiting += [node.orelse] if is_type_checking(node.test) else list(blocks(node))
                case ast.With() | ast.ClassDef():
                    waiting += list(blocks(node))


def _paths(module: ModuleText, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The dotted paths that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    else:
        base = absolute(module.package, f"{'.' * node.level}{node.module or ''}")
        yield from (f"{base}.{alias.name}" if alias.name != "*" else base for alias in node.names)


def _survives(node: ast.Try) -> bool:
    """Whether a `try` goes on where an import in it fails."""
    for handler in node.handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        names = {last_name(kind) if kind is not None else "Exception" for kind in kinds}
        if names & set(_MISSING):
            return not any(isinstance(one, ast.Raise) for one in ast.walk(handler))
    return False
