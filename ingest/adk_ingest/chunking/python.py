"""Python source, one chunk a symbol, by its syntax tree (SPEC 3 section 5.2).

A file is partitioned into definitions and what lies between them, so that no line can be lost. Chunk 0 is
what comes before the first definition. A definition takes its decorators and the comments directly above it.
Statements between definitions are module chunks; those shorter than `min_chunk_chars` go with the definition
below, or above where none follows. A class beyond `max_symbol_chunk_chars` becomes its head and its methods;
methods shorter than `min_chunk_chars` are gathered until they reach it. What is still too long is cut between
statements.

`tail`: pieces of one symbol repeat the last lines of the piece before; a member of a split class repeats the
line of its `class` statement. Both stay within `code.overlap_chars`.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from adk_evidence.models.chunk import SymbolKind
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.chunking.fallback import FallbackChunker, Lines, ModuleName, Piece, file_module, piece_tail
from adk_ingest.lexical import strip_licence

MAX_SIGNATURE_CHARS = 400

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_BODY_FIELDS = ("body", "handlers", "orelse", "finalbody", "cases")

# Costs of a cut above a line; statements cost their depth, which syntax keeps below 100.
_INSIDE_STATEMENT = 1_000
_INSIDE_STRING = 2_000


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
            return ChunkedFile(_Splitter(file, self._chunking, self._module_name).chunks())
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


@dataclass(frozen=True)
class _Gap:
    """Statements between definitions."""

    start: int
    end: int


@dataclass(frozen=True)
class _Label:
    """What the chunks of some lines say about themselves."""

    symbol: str
    kind: SymbolKind
    fqn: str | None
    signature: str | None = None
    doc: str | None = None


@dataclass(frozen=True)
class _Scope:
    """Where definitions stand: prefix of their names, and the line that members of a split class repeat."""

    prefix: str = ""
    in_class: bool = False
    tail: str = ""


class _Splitter:
    def __init__(self, file: SourceFile, chunking: ChunkingSettings, module_name: ModuleName) -> None:
        self._chunking = chunking
        self._limit = chunking.code.max_symbol_chunk_chars
        self._lines = Lines(file.lines)
        self._tree = _parse(file.text)
        self._dotted = module_name(file.path)
        self._module = file_module(file.path, module_name)

    def chunks(self) -> list[RawChunk]:
        if not len(self._lines):
            return []
        label = _Label(self._module, "module", self._dotted, doc=_first_paragraph(self._tree))
        spans = self._partition(self._units(self._tree.body), 1, len(self._lines))
        return list(self._emit_all(spans, label, _Scope()))

    # Finding the units

    def _units(self, body: list[ast.stmt]) -> list[_Unit]:
        units: list[_Unit] = []
        for statement in body:
            if isinstance(statement, _Definition):
                units.append(_Unit(_first_line(statement), _last_line(statement), (statement,)))
                continue
            inner = list(_nested_definitions(statement))
            whole = _Unit(statement.lineno, _last_line(statement), tuple(inner))
            if len({node.name for node in inner}) == 1 and self._fits(whole.start, whole.end):
                units.append(whole)
            else:
                units += [_Unit(_first_line(node), _last_line(node), (node,)) for node in inner]
        return _join_overloads(units)

    def _partition(self, units: list[_Unit], start: int, end: int) -> list[_Unit | _Gap]:
        """Cover lines `start`..`end` with units and the gaps between them."""
        spans: list[_Unit | _Gap] = []
        cursor = start
        for unit in units:
            top = self._with_comments(unit.start, cursor)
            if top > cursor:
                spans.append(_Gap(cursor, top - 1))
            spans.append(replace(unit, start=top))
            cursor = unit.end + 1
        if cursor <= end:
            spans.append(_Gap(cursor, end))
        return self._join_gaps(spans)

    def _with_comments(self, start: int, floor: int) -> int:
        top = self._lines.with_comments(start, floor)
        above = range(top, start)
        # A comment block that opens the file is its licence; a string's last line may begin with `#`.
        quoted = any({'"', "'"} & set(self._lines.line(line)) and line in self._string_lines for line in above)
        return start if top == 1 or quoted else top

    def _join_gaps(self, spans: list[_Unit | _Gap]) -> list[_Unit | _Gap]:
        joined: list[_Unit | _Gap] = []
        for index, span in enumerate(spans):
            small = isinstance(span, _Gap) and index > 0 and self._small(span.start, span.end)
            following = spans[index + 1] if index + 1 < len(spans) else None
            before = joined[-1] if joined else None
            if small and isinstance(following, _Unit) and self._may_hold(following, span.start, following.end):
                spans[index + 1] = replace(following, start=span.start)
            elif small and isinstance(before, _Unit) and self._may_hold(before, before.start, span.end):
                joined[-1] = replace(before, end=span.end)
            else:
                joined.append(span)
        return joined

    def _may_hold(self, unit: _Unit, start: int, end: int) -> bool:
        return self._fits(start, end) or not self._fits(unit.start, unit.end)

    def _size(self, start: int, end: int) -> int:
        trimmed = self._lines.trim(start, end)
        return self._lines.size(*trimmed) if trimmed else 0

    def _fits(self, start: int, end: int) -> bool:
        return self._size(start, end) <= self._limit

    def _small(self, start: int, end: int) -> bool:
        return self._size(start, end) < self._chunking.min_chunk_chars

    # Turning spans into chunks

    def _emit_all(self, spans: list[_Unit | _Gap], owner: _Label, scope: _Scope) -> Iterator[RawChunk]:
        for span in spans:
            if isinstance(span, _Gap):
                yield from self._emit(span.start, span.end, owner, scope.tail)
            else:
                yield from self._emit_unit(span, scope)

    def _emit_unit(self, unit: _Unit, scope: _Scope) -> Iterator[RawChunk]:
        label = self._label(unit.main, scope)
        if self._fits(unit.start, unit.end):
            yield from self._emit(unit.start, unit.end, label, scope.tail)
        elif len(unit.nodes) > 1:
            units = [_Unit(_first_line(node), _last_line(node), (node,)) for node in unit.nodes]
            yield from self._emit_all(self._partition(units, unit.start, unit.end), label, scope)
        elif isinstance(unit.main, ast.ClassDef):
            yield from self._emit_class(unit, unit.main, label, scope)
        else:
            yield from self._emit(unit.start, unit.end, label, scope.tail)

    def _emit_class(self, unit: _Unit, node: ast.ClassDef, label: _Label, scope: _Scope) -> Iterator[RawChunk]:
        head, *members = self._partition(self._units(node.body), unit.start, unit.end)
        yield from self._emit(head.start, head.end, label, scope.tail)
        inner = _Scope(label.symbol, True, self._class_line(node))
        rest = replace(label, kind="block")
        methods = replace(label, kind="methods", signature=None, doc=None)
        for group in self._groups(members):
            first, last = group[0], group[-1]
            if len(group) > 1:
                yield from self._emit(first.start, last.end, methods, inner.tail)
            else:
                yield from self._emit_all([first], rest, inner)

    def _groups(self, members: list[_Unit | _Gap]) -> Iterator[list[_Unit | _Gap]]:
        """Small members in a row are one group, closed once it is no longer small; others stand alone."""
        group: list[_Unit | _Gap] = []
        for member in members:
            small = isinstance(member, _Unit) and self._small(member.start, member.end)
            if group and (not small or not self._small(group[0].start, group[-1].end)):
                yield group
                group = []
            if small:
                group.append(member)
            else:
                yield [member]
        if group:
            yield group

    def _class_line(self, node: ast.ClassDef) -> str:
        line = self._lines.line(node.lineno)
        return line if len(line) <= self._chunking.code.overlap_chars else ""

    def _emit(self, start: int, end: int, label: _Label, tail: str) -> Iterator[RawChunk]:
        previous: Piece | None = None
        for piece in self._lines.cut(start, end, self._chunking, self._cut_cost):
            if previous is not None:
                tail = piece_tail(self._lines, previous, self._chunking.code.overlap_chars)
            block = previous is not None and label.kind != "module"
            yield RawChunk(
                start_line=piece.start,
                end_line=piece.end,
                body=self._lines.text(piece),
                tail=tail,
                start_col=piece.start_col,
                end_col=piece.end_col,
                symbol=label.symbol,
                symbol_kind="block" if block else label.kind,
                symbols=self._symbols_in(piece),
                fqn=label.fqn,
                signature=label.signature,
                doc=label.doc,
                lang="py",
            )
            previous = piece

    def _label(self, node: _Definition, scope: _Scope) -> _Label:
        symbol = f"{scope.prefix}.{node.name}" if scope.prefix else node.name
        kind: SymbolKind = "method" if scope.in_class else "function"
        return _Label(
            symbol,
            "class" if isinstance(node, ast.ClassDef) else kind,
            f"{self._dotted}.{symbol}" if self._dotted else None,
            signature(node),
            _first_paragraph(node),
        )

    def _symbols_in(self, piece: Piece) -> tuple[str, ...]:
        if piece.start_col:  # they were listed with the line's first columns
            return ()
        found = (name for line in range(piece.start, piece.end + 1) for name in self._definitions.get(line, ()))
        return tuple(dict.fromkeys(found))

    @cached_property
    def _definitions(self) -> dict[int, list[str]]:
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
        return _INSIDE_STRING if line in self._string_lines else _INSIDE_STATEMENT

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
    return header if len(header) <= MAX_SIGNATURE_CHARS else header[: MAX_SIGNATURE_CHARS - 1] + "…"


def _first_paragraph(node: _Definition | ast.Module) -> str | None:
    paragraph = (ast.get_docstring(node) or "").strip().split("\n\n", 1)[0]
    return " ".join(paragraph.split()) or None
