"""The text of one module, and what its syntax tree holds."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from adk_evidence.readers.python import Definition, definitions, parse_quietly


@dataclass(frozen=True)
class ModuleText:
    """A module of the corpus: dotted name, path within the repository, source."""

    name: str
    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree, or None where the source does not parse."""
        return parse_quietly(self.text)

    @cached_property
    def definitions(self) -> dict[str, list[Definition]]:
        """The classes and functions by their qualified names within the module."""
        return definitions(self.tree) if self.tree is not None else {}

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes by their qualified names within the module; of several that are called alike, the last."""
        found = self.definitions.items()
        return {name: node for name, nodes in found for node in nodes if isinstance(node, ast.ClassDef)}

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    @property
    def package(self) -> str:
        """Dotted name of the package that relative imports start at."""
        return self.name if self.is_package else self.name.rpartition(".")[0]
