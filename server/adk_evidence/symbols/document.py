"""A Python document in an editor: its scopes, what names are bound to, and the names at a position.

Lines count from 0 and columns in characters from 0, as in editors. A document that does not parse is read by
patterns. Most documents do not parse while somebody types; imports, simple assignments and annotations are enough to
understand the name under a cursor.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from adk_evidence.readers.python import parse_quietly

# Patterns skip longer lines: no person wrote them, and they would take too long.
MAX_SCANNED_CHARS = 1000
# No person wrote a longer document, and reading it would stop everything else for seconds.
MAX_READ_CHARS = 1_000_000

_NAME = r"[A-Za-z_]\w*"
_DOTTED = rf"{_NAME}(?:\.{_NAME})*"
_CHAIN = re.compile(rf"(?<![\w.]){_DOTTED}")
_FROM_IMPORT = re.compile(
    rf"^[ \t]*from[ \t]+({_DOTTED})[ \t]+import[ \t]*(?:\(([^()]{{0,20000}})\)|([^\n(;]*))", re.MULTILINE
)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n;#]+)", re.MULTILINE)
_ASSIGNED = re.compile(rf"(?<![\w.])({_NAME})[ \t]*=[ \t]*(?:await[ \t]+)?({_DOTTED})[ \t]*\(")
_ANNOTATED = re.compile(rf"(?<![\w.])({_NAME})[ \t]*:[ \t]*['\"]?({_DOTTED})")
_BLOCK = re.compile(rf"([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+({_NAME})")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"#.*")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Binding:
    """What a name is bound to from a line on. At most one of the parts is set; none where the value is not known.

    `imported` is a dotted path, `value` an expression, `annotation` the expression of the name's type. `owner` is the
    class that the name is an instance of, or, with `is_class`, the class that the name means.
    """

    line: int
    imported: str | None = None
    value: ast.expr | None = None
    annotation: ast.expr | None = None
    owner: Scope | None = None
    is_class: bool = False


@dataclass
class Scope:
    """The document, a class or a function, with the names that it binds."""

    name: str
    node: ast.AST | None
    parent: Scope | None
    first: int
    last: int
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    attributes: dict[str, tuple[ast.expr, Scope]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        """Whether the scope is a class: functions inside it do not see its names."""
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name: str, binding: Binding) -> None:
        """Add a binding of a name."""
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


@dataclass(frozen=True)
class Mention:
    """A name in the document: an expression, an imported path or a keyword of a call."""

    name: str
    line: int
    start: int
    end: int
    scope: Scope
    expression: ast.expr | None = None
    imported: str | None = None
    keyword_of: ast.expr | None = None


class PythonDocument:
    """One version of a document's text.

    Args:
        text: The text; all kinds of newlines count.
        python: Whether it is Python. Of other documents, and of very long ones, the lines alone are known.
    """

    def __init__(self, text: str, *, python: bool = True) -> None:
        self.lines = split_document(text)
        self._text = "\n".join(self.lines)
        readable = python and len(text) <= MAX_READ_CHARS
        tree = parse_quietly(self._text) if readable else None
        self.parses = tree is not None
        self.module = Scope("", tree, None, 0, len(self.lines))
        self._scopes = [self.module]
        self._mentions: dict[int, list[Mention]] = {}
        if tree is not None:
            self._read(tree)
        elif readable:
            self._scan()
        for scope in self._scopes:
            for bindings in scope.bindings.values():
                bindings.sort(key=_line_of)

    def mention_at(self, line: int, column: int) -> Mention | None:
        """The name at a position, or None in a string, a comment or empty space."""
        found = [m for m in self._mentions_of(line) if m.start <= column <= m.end]
        return min(found, key=lambda m: (m.end - m.start, m.start), default=None)

    def mentions_in(self, start: tuple[int, int], end: tuple[int, int]) -> Iterator[Mention]:
        """The names in a range of (line, column), in the order of the text."""
        for line in range(start[0], min(end[0], len(self.lines) - 1) + 1):
            for mention in sorted(self._mentions_of(line), key=lambda m: (m.start, m.end)):
                if (line, mention.end) > start and (line, mention.start) < end:
                    yield mention

    def text_in(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text of a range of (line, column)."""
        last = min(end[0], len(self.lines) - 1)
        lines = self.lines[start[0] : last + 1]
        if not lines:
            return ""
        if last == end[0]:
            lines[-1] = lines[-1][: end[1]]
        lines[0] = lines[0][start[1] :]
        return "\n".join(lines)

    def enclosing(self, line: int) -> str:
        """Qualified name of the innermost function or class around a line, e.g. `Shop.build`; empty at the top."""
        if not self.parses:
            return self._enclosing_by_layout(line)
        scope = self._scope_at(line)
        names = []
        while scope.parent is not None:
            names.append(scope.name)
            scope = scope.parent
        return ".".join(reversed(names))

    def _scope_at(self, line: int) -> Scope:
        around = [scope for scope in self._scopes if scope.first <= line <= scope.last]
        return max(around, key=lambda scope: (scope.first, -scope.last), default=self.module)

    def _mentions_of(self, line: int) -> list[Mention]:
        if self.parses:
            return self._mentions.get(line, [])
        return list(self._scan_line(line)) if 0 <= line < len(self.lines) else []

    # By the syntax tree

    def _read(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, Scope]] = [(tree, self.module)]
        while stack:
            node, scope = stack.pop()
            if isinstance(node, _Function):
                stack += self._enter_function(node, scope)
            elif isinstance(node, ast.ClassDef):
                stack += self._enter_class(node, scope)
            else:
                self._bind(node, scope)
                self._note(node, scope)
                stack += [(child, scope) for child in ast.iter_child_nodes(node)]

    def _enter_function(self, node: _Function, scope: Scope) -> list[tuple[ast.AST, Scope]]:
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        inner = Scope(node.name, node, scope, first - 1, (node.end_lineno or node.lineno) - 1)
        self._scopes.append(inner)
        scope.bind(node.name, Binding(node.lineno - 1))
        arguments = node.args
        plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        starred = [item for item in (arguments.vararg, arguments.kwarg) if item is not None]
        for item in plain:
            inner.bind(item.arg, Binding(node.lineno - 1, annotation=item.annotation))
            self._note_name(item, item.arg, inner)
        for item in starred:
            inner.bind(item.arg, Binding(node.lineno - 1))
        decorators = {item.id for item in node.decorator_list if isinstance(item, ast.Name)}
        if scope.is_class and plain and plain[0].annotation is None and "staticmethod" not in decorators:
            owner = Binding(node.lineno - 1, owner=scope, is_class="classmethod" in decorators)
            inner.bindings[plain[0].arg] = [owner]
        outside = [*node.decorator_list, *arguments.defaults, *(item for item in arguments.kw_defaults if item)]
        outside += [item.annotation for item in (*plain, *starred) if item.annotation]
        outside += [node.returns] if node.returns else []
        return [*((item, scope) for item in outside), *((item, inner) for item in node.body)]

    def _enter_class(self, node: ast.ClassDef, scope: Scope) -> list[tuple[ast.AST, Scope]]:
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        inner = Scope(node.name, node, scope, first - 1, (node.end_lineno or node.lineno) - 1)
        self._scopes.append(inner)
        scope.bind(node.name, Binding(node.lineno - 1, owner=inner, is_class=True))
        outside = [*node.decorator_list, *node.bases, *(item.value for item in node.keywords)]
        return [*((item, scope) for item in outside), *((item, inner) for item in node.body)]

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Import():
                self._bind_import(node, scope)
            case ast.ImportFrom():
                self._bind_from(node, scope)
            case ast.Assign():
                for target in node.targets:
                    self._bind_target(target, node.lineno - 1, scope, value=node.value)
            case ast.AnnAssign():
                self._bind_target(node.target, node.lineno - 1, scope, annotation=node.annotation)
            case ast.NamedExpr():
                self._bind_target(node.target, node.lineno - 1, scope, value=node.value)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._bind_target(item.optional_vars, node.lineno - 1, scope, value=item.context_expr)
            case ast.For() | ast.AsyncFor():
                self._bind_target(node.target, node.lineno - 1, scope)
            case ast.comprehension():
                # A comprehension's own scope ends with it; what it binds must not hide names elsewhere.
                pass
            case ast.ExceptHandler(name=str(name)):
                scope.bind(name, Binding(node.lineno - 1, annotation=node.type))
            case _:
                pass

    def _bind_target(
        self,
        target: ast.expr,
        line: int,
        scope: Scope,
        *,
        value: ast.expr | None = None,
        annotation: ast.expr | None = None,
    ) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, Binding(line, value=value, annotation=annotation))
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and value is not None:
            known = scope.lookup(target.value.id, line)
            if known is not None and known[0].owner is not None:
                known[0].owner.attributes.setdefault(target.attr, (value, scope))
        elif isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self._bind_target(item.value if isinstance(item, ast.Starred) else item, line, scope)

    def _bind_import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            scope.bind(bound, Binding(node.lineno - 1, imported=alias.name if alias.asname else bound))
            self._note_alias(alias, alias.name, scope)

    def _bind_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            # A relative import leads into the user's own package.
            path = f"{node.module}.{alias.name}" if node.level == 0 and node.module else None
            if alias.name == "*":
                scope.stars += [node.module] if node.level == 0 and node.module else []
                continue
            scope.bind(alias.asname or alias.name, Binding(node.lineno - 1, imported=path))
            if path:
                self._note_alias(alias, path, scope)
        if node.level == 0 and node.module:
            line = node.lineno - 1
            start = self.lines[line].find(node.module, self._column(line, node.col_offset))
            if start >= 0:
                self._note_path(line, start, node.module, scope)

    def _note(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Name):
            self._note_name(node, node.id, scope, expression=node)
        elif isinstance(node, ast.Attribute) and node.end_lineno is not None and node.end_col_offset is not None:
            line = node.end_lineno - 1
            end = self._column(line, node.end_col_offset)
            self._put(Mention(node.attr, line, end - len(node.attr), end, scope, expression=node))
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg is not None:
                    self._note_name(keyword, keyword.arg, scope, keyword_of=node.func)

    def _note_name(
        self,
        node: ast.Name | ast.arg | ast.keyword,
        name: str,
        scope: Scope,
        *,
        expression: ast.expr | None = None,
        keyword_of: ast.expr | None = None,
    ) -> None:
        line = node.lineno - 1
        start = self._column(line, node.col_offset)
        if expression is None and keyword_of is None:
            expression = ast.Name(id=name, lineno=node.lineno, col_offset=node.col_offset)
        self._put(Mention(name, line, start, start + len(name), scope, expression, keyword_of=keyword_of))

    def _note_alias(self, alias: ast.alias, path: str, scope: Scope) -> None:
        line = alias.lineno - 1
        start = self._column(line, alias.col_offset)
        if "." in alias.name:
            self._note_path(line, start, alias.name, scope)
        else:
            self._put(Mention(alias.name, line, start, start + len(alias.name), scope, imported=path))
        if alias.asname and alias.end_lineno is not None and alias.end_col_offset is not None:
            end = self._column(alias.end_lineno - 1, alias.end_col_offset)
            self._put(Mention(alias.asname, alias.end_lineno - 1, end - len(alias.asname), end, scope, imported=path))

    def _note_path(self, line: int, start: int, path: str, scope: Scope) -> None:
        """Each part of a dotted path means the path up to there."""
        end = start
        for part in path.split("."):
            begin, end = end, end + len(part)
            self._put(Mention(part, line, begin, end, scope, imported=path[: end - start]))
            end += 1

    def _put(self, mention: Mention) -> None:
        self._mentions.setdefault(mention.line, []).append(mention)

    def _column(self, line: int, offset: int) -> int:
        """A column in characters from one in bytes of UTF-8."""
        text = self.lines[line]
        return (
            offset if text.isascii() else len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))
        )

    # By patterns

    def _scan(self) -> None:
        starts = [0, *(match.end() for match in re.finditer("\n", self._text))]
        for match in _FROM_IMPORT.finditer(self._text):
            module, inside, rest = match.groups()
            line = bisect.bisect_right(starts, match.start()) - 1
            for item in _COMMENT.sub("", inside or rest or "").replace("\\", "").split(","):
                name, _, alias = item.partition(" as ")
                if name.strip().isidentifier():
                    path = f"{module}.{name.strip()}"
                    self.module.bind(alias.strip() or name.strip(), Binding(line, imported=path))
                elif name.strip() == "*":
                    self.module.stars.append(module)
        for match in _IMPORT.finditer(self._text):
            line = bisect.bisect_right(starts, match.start()) - 1
            for item in match[1].split(","):
                name, _, alias = (part.strip() for part in item.partition(" as "))
                first = name.partition(".")[0]
                if first.isidentifier():
                    self.module.bind(alias or first, Binding(line, imported=name if alias else first))
        for line, text in enumerate(self.lines):
            if len(text) > MAX_SCANNED_CHARS:
                continue
            for name, value in _ASSIGNED.findall(text):
                self.module.bind(name, Binding(line, value=_expression(f"{value}()")))
            for name, annotation in _ANNOTATED.findall(text):
                self.module.bind(name, Binding(line, annotation=_expression(annotation)))

    def _scan_line(self, line: int) -> Iterator[Mention]:
        text = self.lines[line]
        if len(text) > MAX_SCANNED_CHARS:
            return
        imported = _FROM_IMPORT.match(text)
        for match in _CHAIN.finditer(text):
            if _quoted(text[: match.start()]):
                continue
            end = match.start()
            for part in match.group().split("."):
                begin, end = end, end + len(part)
                chain = text[match.start() : end]
                if imported and match.start() > imported.end(1):
                    yield Mention(part, line, begin, end, self.module, imported=f"{imported[1]}.{chain}")
                elif imported and match.start() == imported.start(1):
                    yield Mention(part, line, begin, end, self.module, imported=chain)
                else:
                    expression = _expression(chain)
                    if expression is not None:
                        expression.lineno = line + 1
                        yield Mention(part, line, begin, end, self.module, expression=expression)
                end += 1

    def _enclosing_by_layout(self, line: int) -> str:
        names: list[str] = []
        indent = None
        for text in reversed(self.lines[: line + 1]):
            if not text.strip():
                continue
            depth = len(text) - len(text.lstrip())
            block = _BLOCK.match(text)
            if indent is None:
                indent = depth + 1 if block else depth
            if block and len(block[1]) < indent:
                names.append(block[2])
            indent = min(indent, depth)
        return ".".join(reversed(names))


def _line_of(binding: Binding) -> int:
    return binding.line


def split_document(text: str) -> list[str]:
    """The lines of a document as editors count them, without their ends; at least one."""
    return _NEWLINE.split(text)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _quoted(before: str) -> bool:
    """Whether a place on a line seems to be inside a string or a comment, by what stands before it."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", before)
    return any(mark in bare for mark in "#'\"")
