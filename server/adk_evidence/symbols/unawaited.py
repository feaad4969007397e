"""Calls whose results code uses at once: where such a function is asynchronous, an `await` is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

# Where the result of a call may still be awaited, by the code around it or by what it is handed to.
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def used_without_await(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that stand alone as a statement, or whose result is read from where it arrives.

    A result that is returned, handed on, kept in anything but a name, or kept in a name that is bound more than once is
    left out: somebody else may await it.
    """
    for scope in ast.walk(tree):
        if isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _of_scope(list(_own_nodes(scope.body)))


def _of_scope(nodes: Sequence[ast.AST]) -> Iterator[ast.Call]:
    reads = _reads(nodes)
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Call() as call):
                yield call
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if reads.get(name):
                yield call
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as call) if reads.get(name):
                yield call
            case ast.Attribute(value=ast.Call() as call) | ast.Subscript(value=ast.Call() as call):
                yield call
            case ast.For(iter=ast.Call() as call) | ast.comprehension(iter=ast.Call() as call, is_async=0):
                yield call
            case _:
                pass


def _reads(nodes: Sequence[ast.AST]) -> dict[str, bool]:
    """Of each name, whether code reads from its value and does nothing else with it that could await the value."""
    bound: dict[str, int] = {}
    used: dict[str, int] = {}
    read: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, ast.Name):
            counts = used if isinstance(node.ctx, ast.Load) else bound
            counts[node.id] = counts.get(node.id, 0) + 1
        for value in _read_values(node):
            if isinstance(value, ast.Name):
                read[value.id] = read.get(value.id, 0) + 1
    return {name: bound.get(name) == 1 and count == used.get(name) for name, count in read.items()}


def _read_values(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a node reads something from: an attribute, an item, whether it is there."""
    match node:
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.For(iter=value):
            yield value
        case ast.comprehension(iter=value, is_async=0):
            yield value
        case ast.If(test=value) | ast.IfExp(test=value) | ast.UnaryOp(op=ast.Not(), operand=value):
            yield value
        case ast.BoolOp(values=values):
            yield from values
        case ast.Compare(left=left, comparators=others):
            yield from (left, *others)
        case ast.FormattedValue(value=value):
            yield value
        case _:
            pass


def _own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the functions in it; names that these use count as used."""
    for node in body:
        yield node
        if isinstance(node, _FUNCTIONS):
            yield from (name for name in ast.walk(node) if isinstance(name, ast.Name))
        elif isinstance(node, ast.ClassDef):
            yield from _own_nodes([*node.bases, *node.decorator_list])
        else:
            yield from _own_nodes(list(ast.iter_child_nodes(node)))
