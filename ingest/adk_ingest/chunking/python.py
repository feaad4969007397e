"""Python source, one chunk a symbol, by its syntax tree (SPEC 3 section 5.2); outline.py cuts it.

A definition takes its decorators and the comments directly above it. Overloads are one with what they belong to, and so
are the alternatives of an `if` or `try` that fits into one chunk and defines a single name.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from adk_evidence.models.chunk import SymbolKind
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import ChunkedFile, SourceFile
from adk_ingest.chunking.fallback import FallbackChunker, Lines, ModuleName
from adk_ingest.chunking.outline import INSIDE_STATEMENT, Definition, Outline, clip_signature, outline_chunks
from adk_ingest.lexical import strip_licence

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_BODY_FIELDS = ("body", "handlers", "orelse", "finalbody", "cases")

# Cost of a cut inside a string; statements cost their depth, which syntax keeps below 100.
_INSIDE_STRING = 2 * INSIDE_STATEMENT


class PythonChunker:
    """Splits Python files by symbol; files that do not parse go to `FallbackChunker`.

    Args:
        chunking: Sizes in characters.
        module_name: Gives the dotted module of a path, None where the path is not importable.
    """

    version = f"python-ast-2+{FallbackChunker.version}"

    def __init__(self, chunking: ChunkingSettings, *, module_name: ModuleName) -> None:
        self._chunking = chunking
        self._module_name = module_name
        self._fallback = FallbackChunker(chunking, module_name=module_name)

    def chunk(self, file: SourceFile) -> ChunkedFile:
        """Split a file; its invariants are those of `Chunker.chunk`. One that holds a licence alone says nothing."""
        if not strip_licence(file.text).strip():
            return ChunkedFile([])
        try:
            reader = _Reader(file, self._chunking.code.max_symbol_chunk_chars)
            outline = reader.outline(self._module_name(file.path))
            return ChunkedFile(outline_chunks(file, outline, self._chunking))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
            chunked = self._fallback.chunk(file)
            chunked.parse_failed = True
            chunked.warnings.append(
                f"{file.path} was split by its layout, as its syntax was not understood: {_reason(exc)}"
            )
            return chunked


def _reason(exc: Exception) -> str:
    if isinstance(exc, SyntaxError):
        return f"{exc.msg} (line {exc.lineno})"
    return type(exc).__name__


@dataclass(frozen=True)
class _Unit:
    """Lines of one name: a definition, with its overloads, or the alternatives of an `if` or `try`."""

    start: int
    end: int
    nodes: tuple[_Definition, ...]

    @property
    def main(self) -> _Definition:
        return self.nodes[-1]


class _Reader:
    def __init__(self, file: SourceFile, limit: int) -> None:
        self._limit = limit
        self._lines = Lines(file.lines)
        self._tree = _parse(file.text)

    def outline(self, module: str | None) -> Outline:
        return Outline(
            "py",
            tuple(self._definitions(self._units(self._tree.body))),
            self._names(),
            _first_paragraph(self._tree),
            self._cut_cost,
            module,
            joins_namesakes=False,
        )

    def _units(self, body: list[ast.stmt]) -> list[_Unit]:
        units: list[_Unit] = []
        for statement in body:
            if isinstance(statement, _Definition):
                units.append(_unit(statement))
                continue
            inner = list(_nested_definitions(statement))
            whole = _Unit(statement.lineno, _last_line(statement), tuple(inner))
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
        # Members are read once, with their own part, or the work doubles with each level of alternatives in classes.
        members = self._units(node.body) if is_class and len(unit.nodes) == 1 else []
        parts = map(_unit, unit.nodes) if len(unit.nodes) > 1 else []
        return Definition(
            name,
            "class" if is_class else function,
            self._with_comments(unit.start, floor),
            unit.end,
            node.lineno,
            signature(node),
            _first_paragraph(node),
            members=tuple(self._definitions(members, name)),
            parts=tuple(self._definitions(parts, owner)),
        )

    def _with_comments(self, start: int, floor: int) -> int:
        top = self._lines.with_comments(start, floor)
        above = range(top, start)
        # A comment block that opens the file is its licence; a string's last line may begin with `#`.
        quoted = any({'"', "'"} & set(self._lines.line(line)) and line in self._string_lines for line in above)
        return start if top == 1 or quoted else top

    def _names(self) -> dict[int, list[str]]:
        """Qualified names by the line that defines them: classes, functions, fields and module variables."""
        found: dict[int, list[str]] = {}
        stack: list[tuple[ast.AST, str, bool]] = [(self._tree, "", True)]
        while stack:
            node, prefix, has_fields = stack.pop()
            for child in _children(node):
                if isinstance(child, _Definition):
                    name = f"{prefix}{child.name}"
                    found.setdefault(child.lineno, []).append(name)
                    stack.append((child, f"{name}.", isinstance(child, ast.ClassDef)))
                    continue
                if has_fields:
                    names = [f"{prefix}{name}" for name in _assigned_names(child)]
                    if names:
                        found.setdefault(child.lineno, []).extend(names)
                stack.append((child, prefix, has_fields))
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
            children = list(_children(node))
            for before, child in pairwise([None, *children]):
                if child is None:
                    continue
                floor = (_last_line(before) if before is not None else getattr(node, "lineno", 0)) + 1
                first = _first_line(child)
                if first >= floor:
                    depths.setdefault(self._lines.with_comments(first, floor), depth)
                stack.append((child, depth + 1))
        return depths

    @cached_property
    def _string_lines(self) -> set[int]:
        """Lines that begin inside a string."""
        inside: set[int] = set()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                inside.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
        return inside


def _parse(text: str) -> ast.Module:
    # Citations count `\n` only, Python counts `\r` too: a lone one must not end a line.
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the corpus are not ours to report
        return ast.parse(text)


def _children(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements directly inside a statement or module, in the order of the source."""
    for field in _BODY_FIELDS:
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from child.body


def _nested_definitions(statement: ast.stmt) -> Iterator[_Definition]:
    """Definitions below an `if`, `try` or the like, in the order of the source."""
    stack = list(_children(statement))[::-1]
    while stack:
        child = stack.pop()
        if isinstance(child, _Definition):
            yield child
        else:
            stack += list(_children(child))[::-1]


def _unit(node: _Definition) -> _Unit:
    return _Unit(_first_line(node), _last_line(node), (node,))


def _join_overloads(units: list[_Unit]) -> list[_Unit]:
    joined: list[_Unit] = []
    for unit in units:
        if joined and _is_overload(joined[-1].main) and joined[-1].main.name == unit.main.name:
            before = joined.pop()
            unit = _Unit(before.start, unit.end, before.nodes + unit.nodes)
        joined.append(unit)
    return joined


def _is_overload(node: _Definition) -> bool:
    names = (getattr(decorator, "attr", getattr(decorator, "id", "")) for decorator in node.decorator_list)
    return "overload" in names


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, _Definition) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _assigned_names(statement: ast.stmt) -> list[str]:
    """Public names that a statement at module or class level binds."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    elif type(statement).__name__ == "TypeAlias":  # Python 3.12 and later
        targets = [statement.name]  # type: ignore[attr-defined]
    return [target.id for target in targets if isinstance(target, ast.Name) and not target.id.startswith("_")]


def signature(node: _Definition) -> str | None:
    """A definition's header on one line without decorators, shortened to `MAX_SIGNATURE_CHARS`."""
    bare = copy.copy(node)
    bare.body = [ast.Pass()]
    bare.decorator_list = []
    try:
        header = ast.unparse(bare).rsplit(":", 1)[0]
    except RecursionError:
        return None
    return clip_signature(header)


def _first_paragraph(node: _Definition | ast.Module) -> str | None:
    paragraph = (ast.get_docstring(node) or "").strip().split("\n\n", 1)[0]
    return " ".join(paragraph.split()) or None
