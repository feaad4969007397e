"""Python source, one chunk a symbol, by its syntax tree (SPEC 3 section 5.2).

A definition takes its decorators and the comments directly above it. Overloads form one unit with what they belong to,
and so do the alternatives of an `if` or `try` that fits into one chunk and defines a single name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from adk_evidence.models.chunk import SymbolKind
from adk_evidence.readers.licences import strip_licence
from adk_evidence.readers.python import Definition as Node
from adk_evidence.readers.python import (
    bound_names,
    decorator_names,
    dotted_name,
    every_statement,
    first_line,
    first_paragraph,
    last_line,
    parse,
    signature,
    statements,
)
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import SourceFile
from adk_ingest.chunking.cutting import Lines
from adk_ingest.chunking.outline import INSIDE_STATEMENT, Definition, Outline

# Cost of a cut inside a string; statements cost their depth, which syntax keeps below 100.
_INSIDE_STRING = 2 * INSIDE_STATEMENT


def module_name(path: str) -> str | None:
    """Dotted name of the module at a repository path (`src/google/adk/x.py` -> `google.adk.x`), or None."""
    pure = PurePosixPath(path)
    parts = list(pure.with_suffix("").parts) if pure.suffix == ".py" else []
    if parts and parts[0] in ("src", "lib"):
        parts = parts[1:]
    if parts and parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else None


def read_python(file: SourceFile, chunking: ChunkingSettings) -> Outline | None:
    """What a file defines, also where parts of it do not parse; None where it holds no more than a licence."""
    if not strip_licence(file.text).strip():
        return None
    # Citations count `\n` only, Python counts `\r` too: a lone `\r` must not end a line.
    tree, broken = parse(file.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " "))
    reader = _Reader(Lines(file.lines), tree, chunking.code.max_symbol_chunk_chars)
    return replace(reader.outline(), module=module_name(file.path), broken=broken)


class _Unit(NamedTuple):
    """Lines of one name: a definition, with its overloads, or the alternatives of an `if` or `try`."""

    start: int
    end: int
    nodes: tuple[Node, ...]

    @property
    def main(self) -> Node:
        return self.nodes[-1]


class _Reader:
    def __init__(self, lines: Lines, tree: ast.Module, limit: int) -> None:
        self._lines = lines
        self._tree = tree
        self._limit = limit

    def outline(self) -> Outline:
        return Outline(
            "py",
            tuple(self._definitions(self._units(self._tree.body))),
            self._names(),
            first_paragraph(self._tree),
            self._cut_cost,
            joins_namesakes=False,
            decorators=self._decorators(),
        )

    def _units(self, body: list[ast.stmt]) -> list[_Unit]:
        units: list[_Unit] = []
        for statement in body:
            if isinstance(statement, Node):
                units.append(_unit(statement))
                continue
            inner = list(_nested_definitions(statement))
            whole = _Unit(statement.lineno, last_line(statement), tuple(inner))
            one_name = len({node.name for node in inner}) == 1
            if one_name and self._lines.trimmed_size(whole.start, whole.end) <= self._limit:
                units.append(whole)
            else:
                units += map(_unit, inner)
        return _join_overloads(units)

    def _definitions(self, units: Iterable[_Unit], owner: str | None = None) -> Iterator[Definition]:
        floor = 1
        for unit in units:
            yield self._definition(unit, floor, owner)
            floor = unit.end + 1

    def _definition(self, unit: _Unit, floor: int, owner: str | None) -> Definition:
        node = unit.main
        name = f"{owner}.{node.name}" if owner else node.name
        function: SymbolKind = "method" if owner else "function"
        is_class = isinstance(node, ast.ClassDef)
        alone = len(unit.nodes) == 1
        # Members are read once, with the part that holds them, or the work doubles with each level of alternatives.
        members = self._units(node.body) if is_class and alone else []
        return Definition(
            name,
            "class" if is_class else function,
            self._with_comments(unit.start, floor),
            unit.end,
            node.lineno,
            signature(node),
            first_paragraph(node),
            members=tuple(self._definitions(members, name)),
            parts=() if alone else tuple(self._definitions(map(_unit, unit.nodes), owner)),
        )

    def _with_comments(self, start: int, floor: int) -> int:
        top = self._top_comment(start, floor)
        above = range(top, start)
        # A comment block that opens the file is its licence; a string's last line may begin with `#`.
        quoted = any({'"', "'"} & set(self._lines.line(line)) and line in self._string_lines for line in above)
        return start if top == 1 or quoted else top

    def _top_comment(self, start: int, floor: int) -> int:
        """The first of the comment lines that directly precede line `start`, not above line `floor`."""
        while start > floor and self._lines.line(start - 1).lstrip().startswith("#"):
            start -= 1
        return start

    def _names(self) -> dict[int, list[str]]:
        """Qualified names by the line that defines them: classes, functions, fields and module variables."""
        found: dict[int, list[str]] = {}
        stack: list[tuple[ast.AST, str, bool]] = [(self._tree, "", True)]
        while stack:
            node, prefix, has_fields = stack.pop()
            for child in statements(node):
                if isinstance(child, Node):
                    name = f"{prefix}{child.name}"
                    found.setdefault(child.lineno, []).append(name)
                    stack.append((child, f"{name}.", isinstance(child, ast.ClassDef)))
                    continue
                names = bound_names(child) if has_fields else []
                for name in names:
                    if not name.startswith("_"):
                        found.setdefault(child.lineno, []).append(f"{prefix}{name}")
                stack.append((child, prefix, has_fields))
        return found

    def _decorators(self) -> dict[int, list[str]]:
        """Names of decorators by line, without arguments; a decorator that is no name has none."""
        found: dict[int, list[str]] = {}
        for node in every_statement(self._tree):
            for decorator in node.decorator_list if isinstance(node, Node) else ():
                name = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
                if name is not None:
                    found.setdefault(decorator.lineno, []).append(name)
        return found

    def _cut_cost(self, line: int) -> int:
        cost = self._statement_depth.get(line)
        if cost is not None:
            return 2 * cost + (0 if self._lines.blank(line - 1) else 1)
        return _INSIDE_STRING if line in self._string_lines else INSIDE_STATEMENT

    @cached_property
    def _statement_depth(self) -> dict[int, int]:
        """Depth of the statement that begins on a line, comments directly above it included."""
        depths: dict[int, int] = {}
        stack: list[tuple[ast.AST, int]] = [(self._tree, 0)]
        while stack:
            node, depth = stack.pop()
            floor = getattr(node, "lineno", 0) + 1
            for child in statements(node):
                first = first_line(child)
                if first >= floor:
                    depths.setdefault(self._top_comment(first, floor), depth)
                stack.append((child, depth + 1))
                floor = last_line(child) + 1
        return depths

    @cached_property
    def _string_lines(self) -> set[int]:
        """Lines that begin inside a string."""
        inside: set[int] = set()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                inside.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
        return inside


def _nested_definitions(statement: ast.stmt) -> Iterator[Node]:
    """Definitions below an `if`, `try` or the like, in the order of the source."""
    stack = list(statements(statement))[::-1]
    while stack:
        child = stack.pop()
        if isinstance(child, Node):
            yield child
        else:
            stack += list(statements(child))[::-1]


def _unit(node: Node) -> _Unit:
    return _Unit(first_line(node), last_line(node), (node,))


def _join_overloads(units: list[_Unit]) -> list[_Unit]:
    joined: list[_Unit] = []
    for unit in units:
        if joined and _is_overload(joined[-1].main) and joined[-1].main.name == unit.main.name:
            before = joined.pop()
            unit = _Unit(before.start, unit.end, before.nodes + unit.nodes)
        joined.append(unit)
    return joined


def _is_overload(node: Node) -> bool:
    return "overload" in decorator_names(node)
