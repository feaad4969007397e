"""Calls that lack what a version of the ADK requires, and methods that do not fit the method that they override.

As in `drift.py`, only what is sure is told. A call with arguments that stand for others (`*args`, `**kwargs`) is left
out, and so is a method behind a decorator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal, NamedTuple

from adk_evidence.identifiers import is_private
from adk_evidence.readers.python import Function, dotted_name, walk
from adk_evidence.symbols.document import Mention, PythonDocument, Scope
from adk_evidence.symbols.drift import DriftChecker, without_module
from adk_evidence.symbols.history import Place
from adk_evidence.symbols.meaning import Names
from adk_evidence.symbols.parameters import Parameters

UseKind = Literal["argument", "override"]


class Use(NamedTuple):
    """A call that lacks something, or an override; `symbol` is what it calls or overrides.

    `line`, `start` and `end` are where the name stands, in lines and characters from 0. `problem` says what is
    wrong, and is empty of an override that fits.
    """

    kind: UseKind
    symbol: str
    line: int
    start: int
    end: int
    problem: str = ""


def uses_in(checker: DriftChecker, document: PythonDocument) -> Iterator[Use]:
    """The calls that lack arguments and all overrides of a document, in no particular order."""
    if checker.may_concern(document.lines, {}):
        names = checker.names_in(document)
        yield from _incomplete_calls(checker, document, names)
        for scope in document.scopes:
            if isinstance(scope.node, ast.ClassDef):
                yield from _overrides(checker, document, scope.node, scope, names)


def _incomplete_calls(checker: DriftChecker, document: PythonDocument, names: Names) -> Iterator[Use]:
    calls = {id(node.func): node for node in walk(document.tree) if isinstance(node, ast.Call)}
    for mention in document.mentions:
        call = calls.get(id(mention.expression))
        if call is None or mention.line in names.uncertain.lines or _passes_on(call):
            continue
        path = _called(mention, names)
        lacking = _lacking(checker, path, call, names, mention) if path else []
        if path and lacking:
            told = " and ".join(f"`{name}`" for name in lacking)
            problem = f"`{without_module(path)}` of {checker.label} requires {told}, which the call lacks."
            yield Use("argument", path, mention.line, mention.start, mention.end, problem)


def _passes_on(call: ast.Call) -> bool:
    """Whether a call has arguments that stand for others."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)


def _called(mention: Mention, names: Names) -> str | None:
    """The path of the class or function that is called."""
    value = names.value(mention.expression, mention.scope, mention.line)
    return value.path if value and not value.is_instance and names.kind(value.path) in "cfa" else None


def _lacking(checker: DriftChecker, path: str, call: ast.Call, names: Names, mention: Mention) -> list[str]:
    known = checker.history.keywords_at(checker.number, path)
    place = checker.history.find(checker.number, path)
    if known is None or not isinstance(place, Place):
        return []
    missing = known.required - {one.arg for one in call.keywords}
    if call.args:
        payload = checker.history.payload(checker.number, place) or ""
        # The table has the order of the parameters of a function. A method of a class itself is called with the object.
        if payload[:1] not in ("f", "a") or _is_of_class(call.func, names, mention):
            return []
        missing = missing - set(Parameters.of_table(payload).positional[: len(call.args)])
    return sorted(missing)


def _is_of_class(function: ast.expr, names: Names, mention: Mention) -> bool:
    if not isinstance(function, ast.Attribute):
        return False
    owner = names.value(function.value, mention.scope, mention.line)
    return owner is not None and not owner.is_instance and names.kind(owner.path) == "c"


def _overrides(
    checker: DriftChecker, document: PythonDocument, node: ast.ClassDef, scope: Scope, names: Names
) -> Iterator[Use]:
    found = [names.value(base, scope.parent or scope, node.lineno - 1) for base in node.bases]
    bases = [value.path for value in found if value and not value.is_instance and names.kind(value.path) == "c"]
    for method in node.body:
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) or is_private(method.name):
            continue
        if any(not (dotted_name(one) or "").endswith("override") for one in method.decorator_list):
            continue
        for base in bases:
            symbol = f"{base}.{method.name}"
            place = checker.history.find(checker.number, symbol)
            payload = checker.history.payload(checker.number, place) if isinstance(place, Place) else None
            if payload is not None:
                # The first base class that has the name counts, also where the name is no method.
                if payload[0] in "fa":
                    own = f"{node.name}.{method.name}"
                    problem = "" if _fits(method, payload) else _unfit(checker, own, symbol, payload)
                    yield _override(document, method, symbol, problem)
                break


def _override(document: PythonDocument, method: Function, symbol: str, problem: str) -> Use:
    line = method.lineno - 1
    # The first mention of its own name in the line is that of the definition; without one, the line stands for it.
    named = next((one for one in document.mentions_in((line, 0), (line + 1, 0)) if one.name == method.name), None)
    start, end = (named.start, named.end) if named else (0, len(document.lines[line]))
    return Use("override", symbol, line, start, end, problem)


def _unfit(checker: DriftChecker, own: str, symbol: str, payload: str) -> str:
    start = "async def" if payload[0] == "a" else "def"
    form = f"{start} {own.rpartition('.')[2]}({Parameters.of_table(payload).written()})"
    return f"`{own}` does not fit `{without_module(symbol)}` of {checker.label}, which it overrides: write `{form}`."


def _fits(method: Function, payload: str) -> bool:
    if payload[0] == "a" and isinstance(method, ast.FunctionDef) and not _may_return_awaitable(method):
        return False
    # A function that is not asynchronous may be declared to return something to await.
    return Parameters.of_method(method).fits(Parameters.of_table(payload))


def _may_return_awaitable(method: ast.FunctionDef) -> bool:
    """Whether a method returns what another one made."""
    returned = (node.value for node in walk(method) if isinstance(node, ast.Return))
    return any(isinstance(value, ast.Call | ast.Name | ast.Attribute) for value in returned)
