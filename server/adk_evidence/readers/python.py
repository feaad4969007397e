"""Python source by its syntax tree, also where parts of it are broken."""

from __future__ import annotations

import ast
import copy
import functools
import math
import re
import warnings
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple, TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef
ParameterKind = Literal["positional only", "positional", "rest", "named", "more"]
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

MAX_SIGNATURE_CHARS = 400
# Decorators that make an attribute of a method.
PROPERTIES = frozenset({"property", "cached_property"})

_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
# The fields of nodes that hold contexts, operators or no nodes at all. Others may hold nodes.
_PLAIN = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "level", "module", "asname"})
_MAX_DEPTH = 100
# Each part costs as much as parsing so many characters, however short the part is.
_PART_COST = 100
_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
_HEADER = re.compile(r"[ \t]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b|[)\]}]")
_TRIPLE_QUOTE = re.compile(r"\"{3}|'{3}")
# What may stand behind a string.
_BEHIND_STRING = re.compile(r"\s*(?:$|[)\]},.:%#])")

_Placed = TypeVar("_Placed", bound=ast.stmt)


def parse(text: str, effort: float = math.inf) -> tuple[ast.Module, str | None]:
    """The syntax tree of what can be understood of a text, and the reason where that is not the whole text.

    A text that does not parse is read part by part, as its indentation shows them. What is broken is an expression of
    an empty name; a definition whose header is broken has no parameters and no bases.

    A broken part is read again as smaller parts, and deep nesting repeats this up to a hundred times. `effort` limits
    the characters of all parts together. Lines beyond the limit count as broken, and layout alone shows definitions.
    """
    try:
        return _parse(text), None
    except SyntaxError as exc:
        reason = f"{exc.msg} (line {exc.lineno})"
    except _NOT_PYTHON as exc:
        reason = type(exc).__name__
    return _Parts(text, effort).module(), reason


def parse_quietly(text: str) -> ast.Module | None:
    """The syntax tree of a text, or None where it is not Python."""
    try:
        return _parse(text)
    except _NOT_PYTHON:
        return None


def unquoted(annotation: ast.expr) -> ast.expr:
    """The annotation that stands in quotes; any other one, and what is no expression, as it is."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        tree = parse_quietly(annotation.value)
        if tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            return tree.body[0].value
    return annotation


def parse_lines(text: str, above: int = 0) -> list[ast.stmt] | None:
    """The statements of some lines of a file, which may be indented; None where they are not whole.

    `above` is how many lines of the file stand above these.
    """
    indented = text[:1].isspace()
    # An indented text is put under an `if`: dedenting it could change its string literals.
    tree = parse_quietly(f"if True:\n{text}" if indented else text)
    if tree is None:
        return None
    found = tree.body
    if indented:
        only = found[0] if len(found) == 1 else None
        if not isinstance(only, ast.If) or only.orelse:
            return None
        found, above = only.body, above - 1
    for node in found if above else ():
        ast.increment_lineno(node, above)
    return found


# The same chunks answer many questions.
@functools.lru_cache(maxsize=1024)
def string_lines(text: str) -> int:
    """How many of the first lines of some lines of a file are of a string that begins before these.

    0 where the lines begin as code, and where the string does not end among them.
    """
    found = _TRIPLE_QUOTE.search(text)
    if found is None:
        return 0
    head, (behind, _, tail) = text[: found.start()], text[found.end() :].partition("\n")
    # Nearly all quotes begin a string, which is told without parsing: words follow, or what needs a string precedes.
    above = head.rstrip().rpartition("\n")[2].lstrip()
    begins = above.endswith(("=", "(", "[")) or (above.endswith(":") and (_HEADER.match(above) or above[0] in ")]"))
    if not _BEHIND_STRING.match(behind) or not above or begins or parse_lines(head) is not None:
        return 0
    # The lines may end inside another string.
    tail = tail.lstrip("\n")
    ends = any(parse_lines(tail + end) is not None for end in ("", f"\n{found[0]}"))
    return head.count("\n") + 1 if ends else 0


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in other people's code are not ours to report
        return ast.parse(text)


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly inside a statement or module, in the order of the source."""
    for name in _BLOCKS:
        parts = getattr(node, name, ())
        if isinstance(parts, list) and parts:
            if isinstance(parts[0], ast.stmt):
                yield parts
            else:
                yield from (part.body for part in parts)


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements directly inside a statement or module, in the order of the source."""
    for block in blocks(node):
        yield from block


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each type of node that may hold other nodes than contexts and operators."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = () if issubclass(kind, ast.Constant) else tuple(name for name in kind._fields if name not in _PLAIN)
        self[kind] = found
        return found


_fields_of = _Fields()


def children(node: ast.AST) -> list[ast.AST]:
    """What `ast.iter_child_nodes` gives, but for contexts and operators, in a third of its time."""
    found: list[ast.AST] = []
    for name in _fields_of[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes below it in the order of `ast.walk`, but for contexts and operators."""
    waiting = deque([node])
    while waiting:
        node = waiting.popleft()
        waiting.extend(children(node))
        yield node


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those inside of inner functions and classes."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Definition | ast.Lambda):
            waiting += children(node)


def every_statement(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements of a tree, in the order of `ast.walk`, which visits ten times as many expressions as well."""
    waiting = deque([tree])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.stmt):
            yield node
        for name in _BLOCKS:
            parts = getattr(node, name, ())
            if isinstance(parts, list):
                waiting.extend(parts)


def scope_blocks(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a scope and of its `if`, `try` and the like, but not of inner definitions."""
    waiting = list(blocks(scope))
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [inner for node in block if not isinstance(node, Definition) for inner in blocks(node)]


def definitions(tree: ast.AST) -> dict[str, list[Definition]]:
    """All classes and functions by their qualified names."""
    found: dict[str, list[Definition]] = {}
    for name, node, _ in named_statements(tree, functions=True):
        if isinstance(node, Definition):
            found.setdefault(name, []).append(node)
    return found


def named_statements(tree: ast.AST, *, functions: bool = False) -> Iterator[tuple[str, ast.stmt, ast.stmt | None]]:
    """All that binds names, classes and, if asked, functions inside: qualified name, statement, next statement."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, scope = waiting.pop()
        for block in scope_blocks(scope):
            for node, following in zip(block, [*block[1:], None], strict=True):
                yield from ((prefix + name, node, following) for name in bound_names(node))
                if isinstance(node, Definition if functions else ast.ClassDef):
                    waiting.append((f"{prefix}{node.name}.", node))


def decorator_names(node: ast.stmt) -> set[str]:
    """The names of the decorators of a definition, without their modules and arguments."""
    marks = node.decorator_list if isinstance(node, Definition) else []
    return {decorator_name(mark) for mark in marks}


def decorator_name(mark: ast.expr) -> str:
    called = mark.func if isinstance(mark, ast.Call) else mark
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def bound_names(node: ast.stmt) -> list[str]:
    """The names that a definition or an assignment binds."""
    if isinstance(node, Definition):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    if type(node).__name__ == "TypeAlias":  # Python 3.12 and later
        targets = [node.name]  # type: ignore[attr-defined]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def imports(tree: ast.AST, package: str) -> dict[str, str]:
    """What the imports of a tree bind, wherever they stand: name to dotted path; of `import *`, `*<path>` to the path.

    Args:
        tree: A module or a part of it.
        package: Dotted path of the package, which relative imports start at.
    """
    found: dict[str, str] = {}
    for node in every_statement(tree):
        if isinstance(node, ast.ImportFrom):
            base = absolute(package, "." * node.level + (node.module or ""))
            for alias in node.names:
                if alias.name == "*":
                    found[f"*{base}"] = base
                else:
                    found[alias.asname or alias.name] = f"{base}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
    return found


def is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is `TYPE_CHECKING`, which only type checkers take for true."""
    return last_name(test) == "TYPE_CHECKING"


def absolute(package: str, module: str) -> str:
    """The dotted path of a module that a module of `package` imports, e.g. `..tools`."""
    name = module.lstrip(".")
    level = len(module) - len(name)
    if not level:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])


def first_line(node: ast.stmt) -> int:
    """The line where a statement begins, decorators included."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(item.lineno for item in decorators)])


def last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


class Parameter(NamedTuple):
    """A parameter of a function. `default` is None where a call must give it, and of `*args` and `**kwargs`."""

    node: ast.arg
    kind: ParameterKind
    default: ast.expr | None

    @property
    def name(self) -> str:
        return self.node.arg

    @property
    def is_positional(self) -> bool:
        return self.kind in ("positional only", "positional")

    @property
    def can_be_named(self) -> bool:
        return self.kind in ("positional", "named")


def parameters(given: ast.arguments) -> list[Parameter]:
    """The parameters of a function in their order."""
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
    first = len(given.posonlyargs)
    kinds: list[ParameterKind] = ["positional only" if place < first else "positional" for place in range(len(plain))]
    return [
        *map(Parameter, plain, kinds, defaults),
        *([Parameter(given.vararg, "rest", None)] if given.vararg else ()),
        *(Parameter(item, "named", value) for item, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)),
        *([Parameter(given.kwarg, "more", None)] if given.kwarg else ()),
    ]


def signature(node: Definition) -> str | None:
    """A definition's header on one line without decorators; None where `unparse` cannot write it."""
    bare = copy.copy(node)
    bare.body = [ast.Pass()]
    bare.decorator_list = []
    text = unparse(bare)
    return clip(text.rsplit(":", 1)[0], MAX_SIGNATURE_CHARS) if text else None


def call_form(signature: str) -> str:
    """A signature with names alone: `async find(query, *, limit=...)`, where `limit` may be left out.

    The name with `(...)` where a signature was cut or cannot be read.
    """
    head, bracket, _ = signature.partition("(")
    if not bracket:
        return signature
    # Python knows no `async with` before a name.
    tree = parse_quietly(f"def {signature[head.rfind(' ') + 1 :]}: ...")
    made = tree.body[0] if tree is not None else None
    names = unparse(_bare(made.args)) if isinstance(made, ast.FunctionDef) else None
    return f"{head}(...)" if names is None else f"{head}({names})"


def _bare(arguments: ast.arguments) -> ast.arguments:
    """Parameters without their annotations, with dots for their defaults."""
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    arguments.defaults = [ast.Constant(...) for _ in arguments.defaults]
    arguments.kw_defaults = [default and ast.Constant(...) for default in arguments.kw_defaults]
    return arguments


def unparse(node: ast.AST) -> str | None:
    """The source of a node; None where it is nested too deeply, or before Python 3.12 holds some f-strings."""
    try:
        return ast.unparse(node)
    # ValueError: an expression in an f-string would need a backslash.
    except (RecursionError, ValueError):
        return None


def bare_string(node: ast.stmt | None) -> str | None:
    """The string that a statement consists of, as a docstring does; None of any other statement."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return None


def first_paragraph(node: Definition | ast.Module) -> str | None:
    """The first paragraph of a docstring on one line."""
    return paragraph(ast.get_docstring(node))


def paragraph(doc: str | None) -> str | None:
    """The first paragraph of a text on one line."""
    return " ".join((doc or "").strip().split("\n\n", 1)[0].split()) or None


def clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def dotted_name(node: ast.expr | None) -> str | None:
    """`a.b.c` of a name or an attribute of names, None of anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def last_name(node: ast.expr | None) -> str:
    """`c` of `a.b.c`; empty of anything else than a name or an attribute of names."""
    return (dotted_name(node) or "").rpartition(".")[2]


class _Parts:
    """Reads a text that does not parse by its layout, part by part.

    Python's own parser reads every part that is whole. tree-sitter's grammar of Python was tried: a broken header costs
    it the definitions around, and 6 kB of nonsense make its recovery take more than a gigabyte of memory.
    """

    def __init__(self, text: str, effort: float) -> None:
        self._lines = text.split("\n")
        self._columns = [_column(line) for line in self._lines]
        self._quotes = [_TRIPLE_QUOTE.findall(line) for line in self._lines]
        self._effort = effort

    def module(self) -> ast.Module:
        return ast.Module(self._statements(0, len(self._lines), 0), [])

    def _statements(self, start: int, end: int, depth: int) -> list[ast.stmt]:
        """The statements of lines `start` to `end`, 0-based, end exclusive."""
        while start < end and self._columns[start] is None:
            start += 1
        if start == end or depth > _MAX_DEPTH:
            return []
        found: list[ast.stmt] = []
        for first, last in self._split(start, end):
            if self._effort <= 0:
                return [*found, *self._outline(first, end)]
            whole = self._parsed(first, last)
            found += [self._broken(first, last, depth)] if whole is None else whole
        return found

    def _split(self, start: int, end: int, *, quotes: bool = True) -> list[tuple[int, int]]:
        """The parts that begin at the smallest indentation; decorators and `else` stay with what they belong to."""
        self._effort -= end - start
        outermost = min(column for column in self._columns[start:end] if column is not None)
        borders = [start]
        decorated, quote = False, ""
        for line in range(start, end):
            if self._columns[line] == outermost and not quote:
                content = self._lines[line].lstrip()
                if not _CONTINUES.match(content):
                    if line > start and not decorated:
                        borders.append(line)
                    decorated = content.startswith("@")
            for mark in self._quotes[line] if quotes else ():
                quote = "" if quote == mark else quote or mark
        if quote:  # nothing closes it, so it does not hide what follows
            return self._split(start, end, quotes=False)
        return list(pairwise([*borders, end]))

    def _parsed(self, start: int, end: int, more: str = "") -> list[ast.stmt] | None:
        """The statements of lines that are whole, at their own lines; None also where the effort is used up."""
        text = "\n".join(self._lines[start:end]) + more
        self._effort -= _PART_COST
        if len(text) > self._effort:
            return None
        self._effort -= len(text)
        return parse_lines(text, start)

    def _broken(self, start: int, end: int, depth: int) -> ast.stmt:
        """A statement that is broken somewhere, with what is whole inside."""
        while self._columns[end - 1] is None:
            end -= 1
        heads = [line for line in range(start, end) if self._columns[line] == self._columns[start]]
        named = next((line for line in heads if _HEADER.match(self._lines[line])), None)
        made = self._header(named, heads[-1] + 1) if named is not None else None
        if made is not None:
            heads = heads[-1:]
        inner = [self._statements(head + 1, last, depth + 1) for head, last in pairwise([*heads, end])]
        body = [node for part in inner for node in part]
        if named is None:
            return _placed(ast.If(_nameless(start), body, []) if body else ast.Expr(_nameless(start)), start, end)
        made = made or self._loose(named)
        if named > start:
            made.decorator_list = [_nameless(start)]
        made.body = body
        return _placed(made, named, end)

    def _outline(self, start: int, end: int) -> list[ast.stmt]:
        """The definitions of some lines by layout alone; every other line is broken."""
        found: list[ast.stmt] = []
        made: list[Definition] = []
        around = [(-1, found)]  # the columns and bodies of the definitions around a line
        for line in range(start, end):
            column = self._columns[line]
            if column is None:
                continue
            if not _CONTINUES.match(self._lines[line].lstrip()):
                while column <= around[-1][0]:
                    around.pop()
            body = around[-1][1]
            if len(around) <= _MAX_DEPTH and _HEADER.match(self._lines[line]):
                made.append(_placed(self._loose(line), line, line + 1))
                body.append(made[-1])
                around.append((column, made[-1].body))
            elif body and isinstance(body[-1], ast.Expr):
                body[-1].end_lineno = line + 1
            else:
                body.append(_placed(ast.Expr(_nameless(line)), line, line + 1))
        for node in reversed(made):
            if node.body:
                node.end_lineno = node.body[-1].end_lineno
        return found

    def _header(self, start: int, end: int) -> Definition | None:
        """A definition's header, if it is whole."""
        found = self._parsed(start, end, " pass") if self._lines[end - 1].rstrip().endswith(":") else None
        return found[0] if found and isinstance(found[0], Definition) else None

    def _loose(self, line: int) -> Definition:
        """A definition of which only the name is sure."""
        match = _HEADER.match(self._lines[line])
        word, name = match.groups() if match else ("def", "")
        if word == "class":
            return ast.ClassDef(name=name, bases=[], keywords=[], body=[], decorator_list=[])
        arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.FunctionDef(name=name, args=arguments, body=[], decorator_list=[])


def _column(line: str) -> int | None:
    """The indentation of a line; None of a blank line and of a comment."""
    content = line.lstrip()
    # Without the content: a tab in it reaches to the next stop of the whole line.
    return len(line[: -len(content)].expandtabs()) if content and content[0] != "#" else None


def _nameless(line: int) -> ast.Name:
    return ast.Name("", ast.Load(), lineno=line + 1, col_offset=0)


def _placed(node: _Placed, start: int, end: int) -> _Placed:
    node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = start + 1, end, 0, 0
    return node
