"""Calls whose results code uses at once: where such a function is asynchronous, an `await` is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from adk_evidence.documents.document import Mention, PythonDocument
from adk_evidence.readers.python import walk

# Attributes of coroutines and asynchronous generators: who reads them drives these by hand.
_DRIVING = frozenset({"send", "throw", "close", "asend", "athrow", "aclose", "__await__", "__aiter__", "__anext__"})
_DRIVING_PREFIXES = ("cr_", "ag_")
# Most nodes are none of these, and asking for each in turn takes longer.
_READING = (
    *(ast.Attribute, ast.Subscript, ast.For, ast.FormattedValue),
    *(ast.comprehension, ast.Assign, ast.BinOp, ast.Compare),
)
_TESTING = (
    *(ast.If, ast.While, ast.IfExp, ast.Assert, ast.UnaryOp),
    *(ast.comprehension, ast.match_case, ast.BoolOp, ast.Compare),
)
# Builtins that look at what they get, and wait for nothing.
_LOOKING = frozenset(
    {"len", "list", "tuple", "set", "dict", "sorted", "sum", "min", "max", "any", "all", "enumerate", "reversed"}
    | {"str", "bool", "int", "float", "print", "zip"}
)


def used_without_await(document: PythonDocument, tested: Iterable[ast.expr]) -> Iterator[ast.Call]:
    """The calls that stand alone as a statement, or whose result is read from where it arrives.

    A result that is returned, handed on, kept in anything but a name, or kept in a name that is bound more than once or
    that another function uses is left out: somebody else may await it. So is what a snippet itself puts in the place of
    a method.

    Args:
        document: Some code, which parses.
        tested: What `tested_values` gives of the code.
    """
    nodes = document.nodes
    read = [*tested, *(value for node in nodes if isinstance(node, _READING) for value in _read_values(node))]
    own = {name for scope in document.scopes for name in scope.bindings}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOKING - own:
            read += node.args
    calls = [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    calls += [value for value in read if isinstance(value, ast.Call)]
    calls += _only_read(document, {id(value) for value in read})
    patched = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    yield from (call for call in calls if getattr(call.func, "attr", None) not in patched)


def _only_read(document: PythonDocument, read: set[int]) -> Iterator[ast.Call]:
    """The calls whose results names keep that are read alone, in the scope that binds them; `read` are ids of nodes."""
    kept: dict[int, ast.Call] = {}
    aside: set[str] = set()
    for node in document.nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name() as target], value=ast.Call() as call)
                | ast.AnnAssign(target=ast.Name() as target, value=ast.Call() as call)
                | ast.NamedExpr(target=target, value=ast.Call() as call)
            ):
                kept[id(target)] = call
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                aside.update(names)
            case ast.Lambda():
                # Who calls it decides what becomes of the names in it.
                read = read.difference(map(id, walk(node)))
    # By the scope that binds it, all that is done with a name.
    done: dict[tuple[int, str], list[Mention]] = {}
    for mention in document.mentions if kept else ():
        known = mention.scope.lookup(mention.name, mention.line) if isinstance(mention.expression, ast.Name) else None
        if known is not None:
            done.setdefault((id(known[1]), mention.name), []).append(mention)
    for scope in document.scopes:
        for name in [name for name, bindings in scope.bindings.items() if len(bindings) == 1 and name not in aside]:
            mentions = done.get((id(scope), name), ())
            uses = [one for one in mentions if id(one.expression) not in kept]
            if uses and all(one.scope is scope and id(one.expression) in read for one in uses):
                yield from (kept[id(one.expression)] for one in mentions if id(one.expression) in kept)


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
        case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
            yield value
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.Compare(left=left, ops=operators, comparators=others):
            # Nothing that is awaited comes out of a comparison, but a name may be awaited elsewhere.
            yield from (value for value in (left, *others) if isinstance(value, ast.Call))
            pairs = zip(operators, others, strict=True)
            yield from (value for one, value in pairs if isinstance(one, ast.In | ast.NotIn))
        case _:
            pass


def tested_values(document: PythonDocument) -> Iterator[ast.expr]:
    """The expressions of which some code only asks whether they are true, or a plain value."""
    todo: list[ast.expr] = []
    for node in document.nodes:
        if not isinstance(node, _TESTING):
            continue
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                todo.append(test)
            case ast.UnaryOp(op=ast.Not(), operand=test) | ast.match_case(guard=ast.expr() as test):
                todo.append(test)
            case ast.comprehension(ifs=tests):
                todo += tests
            # The last value may be what comes out, to whoever waits for it.
            case ast.BoolOp(op=ast.And(), values=values):
                todo += values[:-1]
            case ast.Compare():
                todo.append(node)
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
            case ast.NamedExpr(value=value):
                todo += [value] if isinstance(value, ast.Attribute) else []
            case ast.Name() | ast.Call() | ast.Attribute() as value:
                yield value
