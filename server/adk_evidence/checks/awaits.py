"""Calls whose results code uses at once: where such a function is asynchronous, an `await` is missing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from adk_evidence.readers.python import children

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# Attributes of coroutines and asynchronous generators: who reads them drives these by hand.
_DRIVING = frozenset({"send", "throw", "close", "asend", "athrow", "aclose", "__await__", "__aiter__", "__anext__"})
_DRIVING_PREFIXES = ("cr_", "ag_")


def used_without_await(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that stand alone as a statement, or whose result is read from where it arrives.

    A result that is returned, handed on, kept in anything but a name, or kept in a name that is bound more than once or
    that another function uses is left out: somebody else may await it. So is what a snippet itself puts in the place of
    a method.
    """
    scopes = _scopes(tree)
    shared = {name for scope in scopes for name in scope.shared}
    patched = {attribute for scope in scopes for attribute in scope.patched}
    kept = {name for scope in scopes for name in scope.kept} - shared
    elsewhere: Counter[tuple[int, str]] = Counter()
    for scope in scopes:
        for name in kept & scope.used.keys():
            home = scope.home_of(name)
            if home is not None and home is not scope:
                elsewhere[id(home), name] += 1
    for scope in scopes:
        calls = list(scope.calls)
        for name, call in scope.kept.items():
            only_read = 0 < scope.read[name] == scope.used[name]
            if name in kept and scope.bound[name] == 1 and only_read and not elsewhere[id(scope), name]:
                calls.append(call)
        yield from (call for call in calls if getattr(call.func, "attr", None) not in patched)


@dataclass(eq=False)
class _Scope:
    """A module, function or class: the calls whose results are used at once, and what becomes of each name.

    `kept` are the calls whose results names keep; `bound`, `used` and `read` count what is done with names. `shared`
    names are those of other scopes, and `patched` the attributes that code assigns.
    """

    outer: _Scope | None
    calls: list[ast.Call] = field(default_factory=list)
    kept: dict[str, ast.Call] = field(default_factory=dict)
    bound: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    shared: set[str] = field(default_factory=set)
    patched: set[str] = field(default_factory=set)

    def home_of(self, name: str) -> _Scope | None:
        """The scope that binds a name, from this one outwards."""
        scope: _Scope | None = self
        while scope is not None and not scope.bound[name]:
            scope = scope.outer
        return scope

    def take(self, node: ast.AST) -> None:
        match node:
            case ast.Expr(value=ast.Call() as call):
                self.calls.append(call)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                self.kept[name] = call
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as call):
                self.kept[name] = call
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self.shared.update(names)
            case ast.Name(id=name):
                (self.used if isinstance(node.ctx, ast.Load) else self.bound)[name] += 1
            case ast.arg(arg=name):
                self.bound[name] += 1
            case ast.Attribute(attr=name, ctx=ast.Store()):
                self.patched.add(name)
            case _:
                pass
        for value in _read_values(node):
            if isinstance(value, ast.Name):
                self.read[value.id] += 1
            elif isinstance(value, ast.Call):
                self.calls.append(value)


def _scopes(tree: ast.AST) -> list[_Scope]:
    # Without recursion: an expression may be nested deeper than calls may be.
    found = [_Scope(None)]
    todo: list[tuple[ast.AST, _Scope]] = [(tree, found[0])]
    while todo:
        node, scope = todo.pop()
        scope.take(node)
        if isinstance(node, _SCOPES):
            # Decorators and defaults belong to the scope around, where they count as used elsewhere, too.
            scope = _Scope(scope)
            found.append(scope)
        todo += [(child, scope) for child in children(node)]
    return found


def _read_values(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a node reads something from: an attribute, an item, its items, whether it is there."""
    match node:
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()):
            if name not in _DRIVING and not name.startswith(_DRIVING_PREFIXES):
                yield value
        case ast.Subscript(value=value, ctx=ast.Load()) | ast.For(iter=value) | ast.FormattedValue(value=value):
            yield value
        case ast.comprehension(iter=value, is_async=0):
            yield value
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from _tested(test)
        case _:
            pass


def _tested(test: ast.expr) -> Iterator[ast.expr]:
    """What a condition only looks at."""
    todo = [test]
    while todo:
        match todo.pop():
            case ast.BoolOp(values=values):
                todo += values
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                todo.append(operand)
            case ast.Compare(
                left=left, ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()], comparators=[ast.Constant()]
            ):
                yield left
            case ast.Name() as name:
                yield name
            case _:
                pass
