"""What the self-supervised questions are made of on the code side: definitions, their docstrings and overrides."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from adk_evidence.readers import python

_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
# A longer class is represented by what stands above its first method.
_WHOLE_CLASS_LINES = 80


@dataclass(frozen=True)
class Definition:
    """A class, function or method; lines are 1-based and inclusive, decorators included.

    `head_end` is the last line of what introduces it: all of a function, a long class's part above its methods.
    `bases` are the unqualified names of a class's bases.
    """

    path: str
    symbol: str
    start: int
    end: int
    head_end: int
    docstring: str
    bases: tuple[str, ...] = ()
    is_class: bool = False

    @property
    def name(self) -> str:
        return self.symbol.rpartition(".")[2]

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, on one line."""
        first = self.docstring.strip().split("\n\n")[0]
        return _SENTENCE_END.split(" ".join(first.split()))[0]


def module_definitions(path: str, text: str) -> list[Definition]:
    """Classes, functions and methods of a module, but not those inside functions; none where it does not parse."""
    tree = python.parse_quietly(text)
    return list(_definitions(path, tree.body, "")) if tree else []


def _definitions(path: str, body: list[ast.stmt], prefix: str) -> Iterator[Definition]:
    for node in body:
        if not isinstance(node, python.Definition):
            continue
        head_end = end = python.last_line(node)
        bases: list[ast.expr] = []
        if isinstance(node, ast.ClassDef):
            bases = node.bases
            inner = [python.first_line(child) for child in node.body if isinstance(child, python.Definition)]
            if inner and end - node.lineno >= _WHOLE_CLASS_LINES:
                head_end = max(node.lineno, min(inner) - 1)
        yield Definition(
            path=path,
            symbol=f"{prefix}{node.name}",
            start=python.first_line(node),
            end=end,
            head_end=head_end,
            docstring=ast.get_docstring(node) or "",
            bases=tuple(ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in bases),
            is_class=isinstance(node, ast.ClassDef),
        )
        if isinstance(node, ast.ClassDef):
            yield from _definitions(path, node.body, f"{prefix}{node.name}.")


def overrides(definitions: list[Definition]) -> Iterator[tuple[Definition, list[Definition]]]:
    """Methods with the methods that override them in direct and indirect subclasses.

    Classes are matched by their unqualified names; a name that two modules define is left out.
    """
    named: dict[str, list[Definition]] = {}
    methods: dict[tuple[str, str], Definition] = {}
    for definition in definitions:
        if definition.is_class:
            named.setdefault(definition.name, []).append(definition)
        else:
            methods[definition.path, definition.symbol] = definition
    classes = {name: found[0] for name, found in named.items() if len(found) == 1}
    below: dict[str, list[Definition]] = {}
    for one in classes.values():
        for base in _ancestors(one, classes):
            below.setdefault(base, []).append(one)
    for method in methods.values():
        owner, _, name = method.symbol.rpartition(".")
        if owner in below and classes[owner].path == method.path:
            inherited = (methods.get((one.path, f"{one.symbol}.{name}")) for one in below[owner])
            if found := [one for one in inherited if one is not None]:
                yield method, found


def _ancestors(one: Definition, classes: dict[str, Definition]) -> set[str]:
    found: set[str] = set()
    waiting = list(one.bases)
    while waiting:
        base = waiting.pop()
        if base in classes and base not in found and base != one.name:
            found.add(base)
            waiting += classes[base].bases
    return found
