"""The text of one module, and what its syntax tree holds."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from adk_evidence.readers.python import first_line, named_statements, parse_quietly
from adk_evidence.text.textfile import split_lines


@dataclass(frozen=True)
class ModuleText:
    """A module of the corpus: dotted name, path within the repository, source."""

    name: str
    path: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        return split_lines(self.text)

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree, or None where the source does not parse."""
        # Citations count `\n` only, Python counts `\r` and form feeds too.
        return parse_quietly(self.text.replace("\r\n", "\n").replace("\r", " ").replace("\f", " "))

    @cached_property
    def statements(self) -> dict[str, list[ast.stmt]]:
        """Classes, functions and variables by their qualified names within the module, each in the order of lines."""
        found: dict[str, list[ast.stmt]] = {}
        for name, node, _ in named_statements(self.tree) if self.tree is not None else ():
            found.setdefault(name, []).append(node)
        for nodes in found.values():
            nodes.sort(key=first_line)
        return found

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes by their qualified names within the module; of several that are called alike, the last."""
        found = self.statements.items()
        return {name: node for name, nodes in found for node in nodes if isinstance(node, ast.ClassDef)}

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    @property
    def package(self) -> str:
        """Dotted name of the package that relative imports start at."""
        return self.name if self.is_package else self.name.rpartition(".")[0]
