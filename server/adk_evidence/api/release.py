"""One version of the code: its public definitions, the paths that lead to them, and their lines.

Files are read; nothing is imported or run.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adk_evidence.api.history import Place, VersionApi
from adk_evidence.api.module import ModuleText
from adk_evidence.api.table import DEPRECATED, public_path
from adk_evidence.models.difference import DefinitionKind
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers.python import Definition, decorator_names, first_line, last_line
from adk_evidence.text.identifiers import is_private

_KINDS: Mapping[str, DefinitionKind] = {
    "m": "module",
    "c": "class",
    "f": "function",
    "a": "function",
    "p": "property",
    "r": "field",
    "o": "field",
    "n": "field",
    "s": "attribute",
    "v": "variable",
}
# What modules keep for their own use, although its name does not say so.
_OWN_USE = frozenset({"logger"})


@dataclass(frozen=True)
class Release:
    """The code of one version.

    `read` gives the text of a file as it is now, for the check of citations; None where the file is gone.
    """

    version: str
    repo: str
    commit: str
    modules: Mapping[str, ModuleText]
    read: Callable[[str], str | None]


@dataclass(frozen=True)
class Found:
    """A definition in the text: its node, and the lines that hold the node."""

    module: ModuleText
    node: ast.stmt
    lines: LineSpan

    @property
    def text(self) -> list[str]:
        return self.module.lines[self.lines.start - 1 : self.lines.end]


class Side:
    """One version as the comparison sees it: its code, and `api`, what it has by the table of both versions."""

    def __init__(self, release: Release, api: VersionApi) -> None:
        self.release = release
        self.api = api
        self.found = functools.cache(self._look_up)

    @functools.cached_property
    def modules(self) -> frozenset[str]:
        """The public modules."""
        return frozenset(
            module
            for module in self.api.history.table.modules
            if not is_private(module) and self.api.payload(Place(module, "")) is not None
        )

    @functools.cached_property
    def packages(self) -> frozenset[str]:
        return frozenset(module.rpartition(".")[0] for module in self.release.modules)

    @functools.cached_property
    def public(self) -> dict[Place, list[str]]:
        """The public import paths of what stands at the top of a module.

        What modules import for their own use has no path of its own.
        """
        found: dict[Place, list[str]] = {}
        for module in sorted(self.modules):
            for name in self.api.history.table.rows(module):
                payload = self.api.payload(Place(module, name)) if name and "." not in name else None
                if payload is None or payload == "~" or name.endswith(DEPRECATED) or name in _OWN_USE:
                    continue
                path = f"{module}.{name}"
                place = self.api.definition(path)
                if place is not None and place.name and (place.path == path or module in self.packages):
                    found.setdefault(place, []).append(path)
        return found

    def has(self, path: str) -> bool:
        """Whether a path leads to something, be it of another distribution."""
        return self.api.find(path) is not None

    def kind(self, place: Place) -> DefinitionKind:
        payload = self.api.payload(place) or "v"
        kind = _KINDS.get(payload[0], "variable")
        return "method" if kind == "function" and "." in place.name else kind

    def shown(self, place: Place) -> str:
        """The public path of a definition or member; where there is none, its own."""
        top, _, member = place.name.partition(".")
        home = Place(place.module, top)
        paths = self.public.get(home)
        path = public_path(home.path, paths, self.packages) if paths else home.path
        return f"{path}.{member}" if member else path

    def takes(self, owner: Place, name: str) -> bool:
        """Whether a class is made with a keyword."""
        keywords = self.api.keywords(self.shown(owner))
        return keywords is not None and name in keywords.names

    def foreign_bases(self, place: Place) -> frozenset[str]:
        """The bases of a class that the table cannot look into."""
        return frozenset(base for base in self.api.bases(place) if base.startswith(("~", "?")))

    def _look_up(self, place: Place) -> Found | None:
        """The definition in the text; of a module the whole file."""
        module = self.release.modules.get(place.module)
        if module is None:
            return None
        if not place.name:
            lines = LineSpan(start=1, end=max(1, len(module.lines)))
            return Found(module, ast.Pass(), lines)
        nodes = module.statements.get(place.name, ())
        if not nodes:
            return self._attribute(module, place)
        node = next((item for item in nodes if not _is_aside(item)), nodes[0])
        return Found(module, node, LineSpan(start=first_line(node), end=last_line(node)))

    def _attribute(self, module: ModuleText, place: Place) -> Found | None:
        """The first statement of a method that sets an attribute."""
        owner, _, name = place.name.rpartition(".")
        for scope in module.statements.get(owner, ()):
            sets = (
                item
                for item in ast.walk(scope)
                if isinstance(item, ast.Assign | ast.AnnAssign)
                and any(
                    isinstance(inner, ast.Attribute) and inner.attr == name and isinstance(inner.ctx, ast.Store)
                    for inner in ast.walk(item)
                )
            )
            for node in sorted(sets, key=first_line):
                return Found(module, node, LineSpan(start=first_line(node), end=last_line(node)))
        return None


def own_span(node: ast.stmt) -> LineSpan:
    """The lines of a definition; of a class, those before its first method."""
    start, end = first_line(node), last_line(node)
    inner = node.body if isinstance(node, ast.ClassDef) else []
    first = next((first_line(item) for item in inner if isinstance(item, Definition)), end + 1)
    return LineSpan(start=start, end=max(start, first - 1))


def _is_aside(node: ast.stmt) -> bool:
    """Whether a function only declares an overload, or sets or deletes a property."""
    return bool(decorator_names(node) & {"overload", "setter", "deleter"})
