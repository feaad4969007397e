"""Calls that lack what a version of the ADK requires, and methods that do not fit the method that they override.

As in `drift.py`, only what is sure is told. Left out are calls with arguments that stand for others (`*args`,
`**kwargs`), methods behind a decorator or that their class binds again, classes behind a decorator or with a metaclass,
and what stands behind a base that is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from adk_evidence.api.parameters import Parameters
from adk_evidence.checks.drift import Code, DriftChecker, DriftKind
from adk_evidence.documents.document import Mention, PythonDocument, Scope
from adk_evidence.documents.meaning import Names, last_name
from adk_evidence.readers.python import Function, own_nodes
from adk_evidence.text.identifiers import is_private, without_module

# Expressions whose value is nothing to await.
_PLAIN = (
    *(ast.Constant, ast.JoinedStr, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Compare),
    *(ast.DictComp, ast.ListComp, ast.SetComp),
)


RemarkKind = DriftKind | Literal["argument", "override"]


@dataclass(frozen=True)
class Remark:
    """A name of a document that the version lacks, or that is called or overridden otherwise than the version has it.

    `line`, `start` and `end` are where the name stands, in lines and characters from 0. `symbol` is as in `Deviation`;
    of a call or an override, it is what is called or overridden, and `text` is empty of an override that fits.
    `replacement` is the name that the version has in its place, where one is near enough. `cited` is the path of what
    shows that: of the replacement, or else of what lacks the name; empty where neither is in the version.
    """

    kind: RemarkKind
    symbol: str
    text: str
    line: int
    start: int
    end: int
    replacement: str | None = None
    cited: str = ""


def uses_in(checker: DriftChecker, code: Code, *, shortened: bool = False) -> Iterator[Remark]:
    """The calls that lack arguments and all overrides of some code, in no particular order.

    Args:
        checker: Knows the version.
        code: As of `DriftChecker.code_of`.
        shortened: Whether a comment inside of a call may stand for arguments that are not shown.
    """
    names = checker.names_in(code)
    yield from _incomplete_calls(checker, code, names, shortened=shortened)
    for scope in code.document.scopes:
        if isinstance(scope.node, ast.ClassDef):
            yield from _overrides(checker, code.document, scope.node, scope, names)


def _incomplete_calls(checker: DriftChecker, code: Code, names: Names, *, shortened: bool) -> Iterator[Remark]:
    document = code.document
    calls = {id(node.func): node for node in code.nodes if isinstance(node, ast.Call)}
    for mention in document.mentions:
        call = calls.get(id(mention.expression))
        if call is None or mention.line in names.uncertain.lines or _passes_on(call):
            continue
        if shortened and any("#" in line for line in document.lines[call.lineno - 1 : call.end_lineno]):
            continue
        path = _called(mention, names)
        # A method of a class itself is called with the object.
        if path is None or (call.args and _is_of_class(call.func, names, mention)):
            continue
        if lacking := [f"`{name}`" for name in missing_in(checker, path, call)]:
            told = " and ".join(filter(None, (", ".join(lacking[:-1]), lacking[-1])))
            problem = f"`{without_module(path)}` of {checker.label} requires {told}, which the call lacks."
            yield Remark("argument", path, problem, mention.line, mention.start, mention.end, cited=path)


def _passes_on(call: ast.Call) -> bool:
    """Whether a call has arguments that stand for others."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)


def _called(mention: Mention, names: Names) -> str | None:
    """The path of the class or function that is called."""
    value = names.value(mention.expression, mention.scope, mention.line)
    return value.path if value and not value.is_instance and names.kind(value.path) in "cfa" else None


def missing_in(checker: DriftChecker, path: str, call: ast.Call) -> list[str]:
    """The required arguments that a call lacks, sorted."""
    known = checker.api.keywords(path)
    place = checker.api.definition(path)
    if known is None or place is None:
        return []
    missing = known.lacking({one.arg for one in call.keywords if one.arg})
    if call.args:
        payload = checker.api.payload(place) or ""
        # The table has the order of the parameters of a function.
        if payload[:1] not in ("f", "a"):
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
) -> Iterator[Remark]:
    # What decorators and metaclasses do with a class is not known.
    bases = [] if node.decorator_list or node.keywords else _known_bases(node, scope, names)
    for method in node.body if bases else ():
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) or is_private(method.name):
            continue
        again = len(scope.bindings.get(method.name, ())) > 1
        if again or any(last_name(one) != "override" for one in method.decorator_list):
            continue
        found = {}
        for base in bases:
            place = checker.api.definition(f"{base}.{method.name}")
            if place is not None:
                found[place] = f"{base}.{method.name}"
        # Of several definitions, the order of inheritance chooses one.
        if len(found) == 1:
            ((place, symbol),) = found.items()
            payload = checker.api.payload(place) or ""
            if payload[:1] in ("f", "a"):
                own = f"{node.name}.{method.name}"
                problem = "" if fits(method, payload) else _unfit(checker, own, symbol, payload)
                yield _override(document, method, symbol, problem)


def _known_bases(node: ast.ClassDef, scope: Scope, names: Names) -> list[str]:
    """The paths of the first bases, up to one that is not known to be a class of the ADK."""
    found: list[str] = []
    for base in node.bases:
        value = names.value(base, scope.parent or scope, node.lineno - 1)
        if value is None or value.is_instance or names.kind(value.path) != "c":
            break
        found.append(value.path)
    return found


def _override(document: PythonDocument, method: Function, symbol: str, problem: str) -> Remark:
    line = method.lineno - 1
    # The first mention of its own name in the line is that of the definition; without one, the line stands for it.
    named = next((one for one in document.mentions_in((line, 0), (line + 1, 0)) if one.name == method.name), None)
    start, end = (named.start, named.end) if named else (0, len(document.lines[line]))
    return Remark("override", symbol, problem, line, start, end, cited=symbol)


def _unfit(checker: DriftChecker, own: str, symbol: str, payload: str) -> str:
    start = "async def" if payload[0] == "a" else "def"
    form = f"{start} {own.rpartition('.')[2]}({Parameters.of_table(payload).written()})"
    return f"`{own}` does not fit `{without_module(symbol)}` of {checker.label}, which it overrides: write `{form}`."


def fits(method: Function, payload: str) -> bool:
    """Whether a method can be called as the function of a payload of the table can."""
    # An asynchronous method may override one that is declared to return something to await.
    if payload[0] == "a" and isinstance(method, ast.FunctionDef) and _surely_returns_plain(method):
        return False
    return Parameters.of_method(method).fits(Parameters.of_table(payload))


def _surely_returns_plain(method: ast.FunctionDef) -> bool:
    """Whether nothing that a method returns can be awaited. Of a method that only raises, nobody knows."""
    own = list(own_nodes(method))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own):
        return True
    returned = [node.value for node in own if isinstance(node, ast.Return)]
    if not returned:
        return not isinstance(method.body[-1], ast.Raise)
    return all(value is None or isinstance(value, _PLAIN) for value in returned)
