"""A Python document in an editor: its scopes, what names are bound to, and the names at a position.

Lines count from 0 and columns in characters from 0, as in editors. Most documents do not parse while somebody types:
the reader keeps every statement that is whole, and patterns read the lines of a broken one. Imports, simple
assignments and annotations are enough to understand the name under a cursor.
"""

from __future__ import annotations

import ast
import bisect
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, NamedTuple

from adk_evidence.readers.python import Definition, Function, absolute, children, first_line, last_line, parse, walk

# Patterns skip longer lines: no person wrote them, and they would take too long.
MAX_SCANNED_CHARS = 1000
# Patterns read no more lines of an import in parentheses.
MAX_IMPORT_LINES = 100
# No person wrote a longer document, and reading it would stop everything else for seconds.
MAX_READ_CHARS = 1_000_000
# A broken document is parsed part by part. What all parts may add up to grows with its length, from this on.
_MIN_EFFORT = 50_000

_NAME = r"[A-Za-z_]\w*"
_DOTTED = rf"{_NAME}(?:\.{_NAME})*"
_CHAIN = re.compile(rf"(?<![\w.]){_DOTTED}")
_FROM_IMPORT = re.compile(rf"[ \t]*from[ \t]+({_DOTTED})[ \t]+import[ \t]*\(?([^\n(;#]*)")
_IMPORT = re.compile(r"[ \t]*import[ \t]+([^\n;#]+)")
_ASSIGNED = re.compile(rf"(?<![\w.])({_NAME})[ \t]*=[ \t]*(?:await[ \t]+)?({_DOTTED})[ \t]*\(")
_ANNOTATED = re.compile(rf"(?<![\w.])({_NAME})[ \t]*:[ \t]*['\"]?({_DOTTED})")
# A tuple is asked in a third of the time of a union.
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Nodes that hold no names; most nodes are one of these or a name.
_NAMELESS = (ast.expr_context, ast.Constant, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
# What binds or mentions a name; most other nodes only hold some of these.
_NOTED = (
    *(ast.Name, ast.Attribute, ast.Call, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.NamedExpr),
    *(ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.ExceptHandler, ast.If, ast.Expr),
)
_NEWLINE = re.compile(r"\r\n|\r|\n")

# What a mention does with a name. A base class and a decorator count as calls: both run the code that they name.
Use = Literal["call", "keyword", "name", "annotation", "import"]


class Binding(NamedTuple):
    """What a name is bound to from a line on. At most one of the parts is set; none where the value is not known.

    `imported` is a dotted path, `value` an expression, `annotation` the expression of the name's type. `items_of` is an
    expression over whose items a loop runs, `function` a function of the document. `owner` is the class
    that the name is an instance of, or, with `is_class`, the class that the name means. `entered`: the name is bound to
    what `with` gets from the value, which most often, but not always, is the value itself.
    """

    line: int
    imported: str | None = None
    value: ast.expr | None = None
    annotation: ast.expr | None = None
    items_of: ast.expr | None = None
    function: Function | None = None
    owner: Scope | None = None
    is_class: bool = False
    entered: bool = False


@dataclass
class Scope:
    """The document, a class or a function, with the names that it binds."""

    name: str
    node: ast.AST | None
    parent: Scope | None
    first: int
    last: int
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    attributes: dict[str, list[tuple[ast.expr, Scope]]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        """Whether the scope is a class: functions inside it do not see its names."""
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name: str, binding: Binding) -> None:
        self.bindings.setdefault(name, []).append(binding)

    def lookup(self, name: str, line: int) -> tuple[Binding, Scope] | None:
        """The binding of a name at a line of this scope, with the scope that binds the name."""
        scope: Scope | None = self
        while scope is not None:
            known = scope.bindings.get(name)
            if known and (scope is self or not scope.is_class):
                # In an outer scope the name may be bound again before this code runs: its last binding counts.
                after = bisect.bisect_right(known, line, key=_line_of) if scope is self else len(known)
                return known[max(after - 1, 0)], scope
            scope = scope.parent
        return None


# A document has thousands: a named tuple is made in a third of the time of a frozen dataclass.
class Mention(NamedTuple):
    """A name in the document: an expression, an imported path or a keyword of a call."""

    name: str
    line: int
    start: int
    end: int
    scope: Scope
    expression: ast.expr | None = None
    imported: str | None = None
    keyword_of: ast.expr | None = None
    use: Use = "name"


class PythonDocument:
    """One version of a document's text. Of documents that are not Python, or too long, the lines alone are known.

    `tree` holds the statements that are whole; `broken` says why others are not, or is None. `package` is the dotted
    path that relative imports start at; where it is not known, they mean nothing.
    """

    def __init__(self, text: str, *, python: bool = True, package: str = "") -> None:
        self.lines = split_document(text)
        self._package = package
        self.module = Scope("", None, None, 0, len(self.lines))
        self.scopes = [self.module]
        # All that may hold names, but for parameters; a node comes before what it holds.
        self.nodes: list[ast.AST] = []
        self._mentions: dict[int, list[Mention]] = {}
        # The scopes of the lines of broken statements, and of all headers beside one.
        self._broken: dict[int, Scope] = {}
        # The columns of the bytes of lines that are not ASCII; counting anew for each name would take quadratic time.
        self._columns: dict[int, list[int]] = {}
        # What the parents of expressions do with them, by the id of the node.
        self._uses: dict[int, Use] = {}
        self.tree = ast.Module([], [])
        self.broken: str | None = None
        if not python or len(text) > MAX_READ_CHARS:
            return
        effort = min(2 * len(text) + _MIN_EFFORT, MAX_READ_CHARS)
        self.tree, self.broken = parse("\n".join(self.lines), effort)
        self._read(self.tree)
        # Nothing but the reading needs the uses.
        self._uses.clear()
        for line in sorted(self._broken.keys() - self._mentions.keys()):
            self._bind_broken(line, self._broken[line])
        for scope in self.scopes:
            for bindings in scope.bindings.values():
                bindings.sort(key=_line_of)

    @property
    def is_broken(self) -> bool:
        return self.broken is not None

    @functools.cached_property
    def imported(self) -> frozenset[str]:
        """The dotted paths that the document imports."""
        bound = (each.imported for scope in self.scopes for found in scope.bindings.values() for each in found)
        return frozenset(filter(None, (*bound, *(star for scope in self.scopes for star in scope.stars))))

    def given_to(self, called: ast.expr | None) -> frozenset[str]:
        """The keywords of a call, by the expression that is called."""
        call = self.calls.get(id(called))
        return frozenset(keyword.arg for keyword in call.keywords if keyword.arg) if call else frozenset()

    @functools.cached_property
    def calls(self) -> dict[int, ast.Call]:
        """The calls by the ids of what is called."""
        return {id(node.func): node for node in self.nodes if isinstance(node, ast.Call)}

    @property
    def mentions(self) -> Iterator[Mention]:
        """The names in the statements that are whole, in no particular order."""
        return chain.from_iterable(self._mentions.values())

    def mention_at(self, line: int, column: int) -> Mention | None:
        """The name at a position, or None in a string, a comment or empty space."""
        found = [m for m in self._mentions_of(line) if m.start <= column <= m.end]
        return min(found, key=lambda m: (m.end - m.start, m.start), default=None)

    def mentions_in(self, start: tuple[int, int] = (0, 0), end: tuple[int, int] | None = None) -> Iterator[Mention]:
        """The names in a range of (line, column), in the order of the text."""
        end = end or (len(self.lines), 0)
        for line in range(start[0], min(end[0], len(self.lines) - 1) + 1):
            for mention in sorted(self._mentions_of(line), key=lambda m: (m.start, m.end)):
                if (line, mention.end) > start and (line, mention.start) < end:
                    yield mention

    def text_in(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        last = min(end[0], len(self.lines) - 1)
        lines = self.lines[start[0] : last + 1]
        if not lines:
            return ""
        if last == end[0]:
            lines[-1] = lines[-1][: end[1]]
        lines[0] = lines[0][start[1] :]
        return "\n".join(lines)

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> tuple[tuple[int, int], tuple[int, int]]:
        """Where a node of the tree begins and ends."""
        line, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        return (line, self._column(line, node.col_offset)), (last, self._column(last, node.end_col_offset or 0))

    def enclosing(self, line: int) -> str:
        """Qualified name of the innermost function or class around a line, e.g. `Shop.build`; empty at the top."""
        around = [scope for scope in self.scopes if scope.first <= line <= scope.last]
        scope = max(around, key=lambda scope: (scope.first, -scope.last), default=self.module)
        names = []
        while scope.parent is not None:
            names.append(scope.name)
            scope = scope.parent
        return ".".join(reversed(names))

    def _mentions_of(self, line: int) -> list[Mention]:
        found = self._mentions.get(line, [])
        return list(self._scan(line, self._broken[line])) if not found and line in self._broken else found

    # By the syntax tree

    def _read(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, Scope]] = [(tree, self.module)]
        while stack:
            node, scope = stack.pop()
            if isinstance(node, _DEFINITIONS):
                self.nodes.append(node)
                stack += self._enter(node, scope)
            elif not isinstance(node, _NAMELESS):
                self.nodes.append(node)
                if isinstance(node, _NOTED):
                    self._note(node, scope)
                stack += [(child, scope) for child in children(node)]

    def _enter(self, node: Definition, scope: Scope) -> list[tuple[ast.AST, Scope]]:
        inner = Scope(node.name, node, scope, first_line(node) - 1, last_line(node) - 1)
        self.scopes.append(inner)
        if self.is_broken:
            end = first_line(node.body[0]) - 1 if node.body else inner.last + 1
            self._broken |= dict.fromkeys(range(inner.first, end), inner)
        outside: list[ast.AST] = [*node.decorator_list]
        self._mark("call", *node.decorator_list)
        if isinstance(node, ast.ClassDef):
            scope.bind(node.name, Binding(node.lineno - 1, owner=inner, is_class=True))
            self._mark("call", *node.bases)
            outside += [*node.bases, *(item.value for item in node.keywords)]
        else:
            scope.bind(node.name, Binding(node.lineno - 1, function=node))
            outside += self._bind_parameters(node, inner)
            if scope.is_class:
                self._note_override(node, inner)
        return [*((item, scope) for item in outside), *((item, inner) for item in node.body)]

    def _bind_parameters(self, node: Function, inner: Scope) -> list[ast.expr]:
        """Bind the parameters of a function; returns the expressions of its header."""
        line, arguments = node.lineno - 1, node.args
        plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        starred = [item for item in (arguments.vararg, arguments.kwarg) if item is not None]
        for item in plain:
            inner.bind(item.arg, Binding(line, annotation=item.annotation))
            start = self._column(item.lineno - 1, item.col_offset)
            self._put(item.arg, item.lineno - 1, start, inner, expression=ast.Name(item.arg))
        for item in starred:
            inner.bind(item.arg, Binding(line))
        decorators = {item.id for item in node.decorator_list if isinstance(item, ast.Name)}
        owner = inner.parent
        if owner and owner.is_class and plain and plain[0].annotation is None and "staticmethod" not in decorators:
            inner.bindings[plain[0].arg] = [Binding(line, owner=owner, is_class="classmethod" in decorators)]
        annotations = [item.annotation for item in (*plain, *starred)]
        self._annotate(*annotations, node.returns)
        return [item for item in (*arguments.defaults, *arguments.kw_defaults, *annotations, node.returns) if item]

    def _note_override(self, node: Function, inner: Scope) -> None:
        """A method mentions the method of a base class that it overrides, if there is one."""
        line = node.lineno - 1
        start = self.lines[line].find(node.name, self._column(line, node.col_offset) + len("def "))
        if start >= 0:
            inherited = ast.Attribute(ast.Call(ast.Name("super"), [], []), node.name)
            self._put(node.name, line, start, inner, expression=inherited, use="call")

    def _mark(self, use: Use, *nodes: ast.AST | None) -> None:
        self._uses |= {id(node): use for node in nodes if node is not None}

    def _annotate(self, *annotations: ast.expr | None) -> None:
        for annotation in annotations:
            self._mark("annotation", *(walk(annotation) if annotation else ()))

    def _note(self, node: ast.AST, scope: Scope) -> None:
        """Bind what a node binds, and keep the names that it mentions."""
        line = getattr(node, "lineno", 1) - 1
        match node:
            case ast.Name(id=str(name)) if name:
                use = self._uses.get(id(node), "name")
                self._put(name, line, self._column(line, node.col_offset), scope, expression=node, use=use)
            case ast.Attribute(attr=str(name)):
                line = (node.end_lineno or node.lineno) - 1
                end = self._column(line, node.end_col_offset or 0)
                use = self._uses.get(id(node), "name")
                self._put(name, line, end - len(name), scope, expression=node, use=use)
            case ast.Call():
                self._mark("call", node.func)
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        line = keyword.lineno - 1
                        start = self._column(line, keyword.col_offset)
                        self._put(keyword.arg, line, start, scope, keyword_of=node.func, use="keyword")
            case ast.Import():
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    scope.bind(bound, Binding(line, imported=alias.name if alias.asname else bound))
                    self._note_alias(alias, alias.name, scope)
            case ast.ImportFrom():
                self._bind_from(node, scope)
            case ast.Assign():
                for target in node.targets:
                    self._bind(target, Binding(line, value=node.value), scope)
            case ast.AnnAssign():
                self._annotate(node.annotation)
                is_name = isinstance(node.target, ast.Name)
                said = Binding(line, annotation=node.annotation) if is_name else Binding(line, value=node.value)
                self._bind(node.target, said, scope)
            case ast.NamedExpr():
                self._bind(node.target, Binding(line, value=node.value), scope)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, Binding(line, value=item.context_expr, entered=True), scope)
            # A comprehension's own scope ends with it; what it binds must not hide names elsewhere.
            case ast.For() | ast.AsyncFor():
                self._bind(node.target, Binding(line, items_of=node.iter), scope)
            case ast.ExceptHandler(name=str(name)):
                scope.bind(name, Binding(line, annotation=node.type))
            # The reader puts an empty name where something is broken.
            case ast.If(test=ast.Name(id="")) | ast.Expr(value=ast.Name(id="")):
                self._broken |= dict.fromkeys(range(line, last_line(node)), scope)
            case _:
                pass

    def _bind(self, target: ast.expr, binding: Binding, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, binding)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and binding.value is not None:
            known = scope.lookup(target.value.id, binding.line)
            if known is not None and known[0].owner is not None:
                known[0].owner.attributes.setdefault(target.attr, []).append((binding.value, scope))
        elif isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self._bind(item.value if isinstance(item, ast.Starred) else item, Binding(binding.line), scope)

    def _bind_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        line = node.lineno - 1
        module = node.module
        if node.level:
            # A relative import leads into the user's own package.
            module = absolute(self._package, "." * node.level + (module or "")) if self._package else None
        for alias in node.names:
            if alias.name == "*":
                scope.stars += [module] if module else []
                continue
            path = f"{module}.{alias.name}" if module else None
            scope.bind(alias.asname or alias.name, Binding(line, imported=path))
            if path:
                self._note_alias(alias, path, scope)
        if module:
            start = self.lines[line].find(module, self._column(line, node.col_offset))
            if start >= 0:
                self._note_path(line, start, module, scope)

    def _note_alias(self, alias: ast.alias, path: str, scope: Scope) -> None:
        line = alias.lineno - 1
        start = self._column(line, alias.col_offset)
        if "." in alias.name:
            self._note_path(line, start, alias.name, scope)
        else:
            self._put(alias.name, line, start, scope, imported=path, use="import")
        if alias.asname and alias.end_lineno is not None and alias.end_col_offset is not None:
            end = self._column(alias.end_lineno - 1, alias.end_col_offset)
            self._put(alias.asname, alias.end_lineno - 1, end - len(alias.asname), scope, imported=path, use="import")

    def _note_path(self, line: int, start: int, path: str, scope: Scope) -> None:
        """Each part of a dotted path means the path up to there."""
        for begin, end in _parts(path):
            self._put(path[begin:end], line, start + begin, scope, imported=path[:end], use="import")

    def _put(self, name: str, line: int, start: int, scope: Scope, **meaning: Any) -> None:
        self._mentions.setdefault(line, []).append(Mention(name, line, start, start + len(name), scope, **meaning))

    def _column(self, line: int, offset: int) -> int:
        """A column in characters from one in bytes of UTF-8."""
        text = self.lines[line]
        if text.isascii():
            return offset
        if line not in self._columns:
            sizes = (len(char.encode("utf-8", "surrogatepass")) for char in text)
            self._columns[line] = [column for column, size in enumerate(sizes) for _ in range(size)]
        columns = self._columns[line]
        return columns[offset] if offset < len(columns) else len(text)

    # By patterns

    def _bind_broken(self, line: int, scope: Scope) -> None:
        text = self.lines[line]
        if len(text) > MAX_SCANNED_CHARS:
            return
        if imported := _FROM_IMPORT.match(text):
            is_open = "(" in imported[0] and ")" not in text
            for name, alias in _imported(imported[2] + (self._up_to_parenthesis(line + 1) if is_open else "")):
                if name.isidentifier():
                    scope.bind(alias or name, Binding(line, imported=f"{imported[1]}.{name}"))
                elif name == "*":
                    scope.stars.append(imported[1])
        elif imported := _IMPORT.match(text):
            for name, alias in _imported(imported[1]):
                first = name.partition(".")[0]
                if first.isidentifier():
                    scope.bind(alias or first, Binding(line, imported=name if alias else first))
        for name, value in _ASSIGNED.findall(text):
            scope.bind(name, Binding(line, value=_expression(f"{value}()")))
        for name, annotation in _ANNOTATED.findall(text):
            scope.bind(name, Binding(line, annotation=_expression(annotation)))

    def _up_to_parenthesis(self, line: int) -> str:
        """The rest of an import from a line up to the parenthesis that closes the import, without comments."""
        found = [""]
        for text in self.lines[line : line + MAX_IMPORT_LINES]:
            # Another parenthesis opens in another statement.
            if "(" in text or len(text) > MAX_SCANNED_CHARS:
                break
            found.append(text.partition("#")[0].partition(")")[0])
            if ")" in text:
                break
        return "\n".join(found)

    def _scan(self, line: int, scope: Scope) -> Iterator[Mention]:
        text = self.lines[line]
        if len(text) > MAX_SCANNED_CHARS:
            return
        imported = _FROM_IMPORT.match(text)
        for match in _CHAIN.finditer(text):
            if _quoted(text[: match.start()]):
                continue
            is_import = imported is not None and match.start() >= imported.start(1)
            package = f"{imported[1]}." if imported and match.start() > imported.start(1) else ""
            for begin, end in _parts(match[0]):
                chain, start = match[0][:end], match.start()
                path = f"{package}{chain}" if is_import else None
                expression = None if is_import else _expression(chain)
                called = end == len(match[0]) and text.startswith("(", match.end())
                use: Use = "import" if is_import else "call" if called else "name"
                yield Mention(chain[begin:], line, start + begin, start + end, scope, expression, path, use=use)


def _line_of(binding: Binding) -> int:
    return binding.line


def _parts(path: str) -> Iterator[tuple[int, int]]:
    """Where each part of a dotted path begins and ends."""
    end = -1
    for part in path.split("."):
        begin, end = end + 1, end + 1 + len(part)
        yield begin, end


def split_document(text: str) -> list[str]:
    """The lines of a document as editors count them, without their ends; at least one."""
    return _NEWLINE.split(text)


def _imported(names: str) -> Iterator[tuple[str, str]]:
    """Each name of an import statement with its alias, or an empty alias."""
    for item in names.strip(" \t)\\").split(","):
        name, _, alias = (part.strip() for part in item.partition(" as "))
        yield name, alias


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _quoted(before: str) -> bool:
    """Whether a place on a line seems to be inside a string or a comment, by what stands before it."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", before)
    return any(mark in bare for mark in "#'\"")
