"""Calls that do not fit what a version of the ADK takes, methods that do not fit the method that they override,
callbacks that agents cannot call, and methods that are not called.

As in `drift.py`, only what is sure is told. Left out are calls with arguments that stand for others (`*args`,
`**kwargs`), methods behind a decorator or that their class binds again, classes behind a decorator or with a metaclass,
and what stands behind a base that is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from adk_evidence.api.parameters import Parameters
from adk_evidence.checks.callbacks import BY_POSITION, CALLED, passed_functions, takes
from adk_evidence.checks.drift import Code, DriftChecker, DriftKind
from adk_evidence.documents.document import Mention, PythonDocument, Scope
from adk_evidence.documents.meaning import Names
from adk_evidence.readers.python import Function, last_name, own_nodes
from adk_evidence.text.identifiers import is_private, listed, without_module

# Expressions whose value is nothing to await.
_PLAIN = (
    *(ast.Constant, ast.JoinedStr, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Compare),
    *(ast.DictComp, ast.ListComp, ast.SetComp),
)


RemarkKind = DriftKind | Literal["argument", "extra", "override", "callback", "method"]


@dataclass(frozen=True)
class Remark:
    """A name of a document that the version lacks, or that is called or overridden otherwise than the version has it.

    `line`, `start` and `end` are where the name stands, in lines and characters from 0. `symbol` is as in `Deviation`;
    of a call or an override, it is what is called or overridden, and `text` is empty of an override that fits.
    `replacement` is the name that the version has in its place, where one is near enough, and `instead` is as in
    `Deviation`. `cited` is the path of what shows that: of the replacement, or else of what lacks the name; empty where
    neither is in the version. `missing` are the arguments that a call lacks.
    """

    kind: RemarkKind
    symbol: str
    text: str
    line: int
    start: int
    end: int
    replacement: str | None = None
    cited: str = ""
    instead: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[int, int]:
        return self.line, self.start


def uses_in(
    checker: DriftChecker, code: Code, meant: Mapping[int, Collection[str]], *, shortened: bool = False
) -> Iterator[Remark]:
    """What is to say of the calls and methods of some code, and all its overrides, in no particular order.

    Args:
        checker: Knows the version.
        code: As of `DriftChecker.checks_of`.
        meant: What misspelt keywords of calls mean, by the ids of what is called. A call does not lack that.
        shortened: Whether a comment inside of a call may stand for arguments that are not shown.
    """
    names = code.names(checker.api)
    yield from _unfit_calls(checker, code, names, meant, shortened=shortened)
    for scope in code.document.scopes:
        yield from _overrides(checker, code.document, scope, names)


def _unfit_calls(
    checker: DriftChecker, code: Code, names: Names, meant: Mapping[int, Collection[str]], *, shortened: bool
) -> Iterator[Remark]:
    document = code.document
    for mention in document.mentions:
        node = mention.expression
        if node is None or mention.line in names.uncertain.lines:
            continue
        told: _Told | None = None
        path, keywords = None, list[ast.keyword]()
        if (call := document.calls.get(id(node))) is not None:
            path, way = _called(call, mention, names)
            keywords = call.keywords
            # A method of a class itself is called with the object.
            is_bound = way == "itself" and _is_of_class(call, names, mention)
            if path and way != "own class" and not (is_bound and not checker.api.is_of_class(path)):
                has_comment = shortened and "#" in document.text_in((call.lineno - 1, 0), (call.end_lineno or 0, 0))
                # The class itself may have defaults for what its base requires.
                lacking = way in ("itself", "declared") and not has_comment
                arguments = partial(_arguments, checker, call, meant.get(id(node), ()) if lacking else None)
                told = arguments(path)
                # Of what class the object is, is not sure: what is wrong for all classes of the version is told.
                heirs = checker.api.overriding(path) if told and way == "declared" else ()
                told = told if all(map(arguments, heirs)) else None
        elif (value := code.stored.get(id(node))) is not None:
            made = names.value(getattr(node, "value", None), mention.scope, mention.line)
            path, keywords = made.path if made and made.is_instance else None, [ast.keyword(mention.name, value)]
        elif node in code.tested:
            methods = names.methods(mention)
            if methods and all(checker.api.kind(one) in ("f", "a") for one in methods):
                of_version = f"`{without_module(methods[0])}` of {checker.label}"
                told = "method", methods[0], f"{of_version} is a method, which is always true: call it.", ()
        yield from _unfit_callbacks(checker, document, path, keywords, mention) if path else ()
        if told:
            kind, symbol, problem, missing = told
            yield Remark(kind, symbol, problem, mention.line, mention.start, mention.end, cited=symbol, missing=missing)


_Told = tuple[RemarkKind, str, str, tuple[str, ...]]


def _arguments(checker: DriftChecker, call: ast.Call, meant: Collection[str] | None, path: str) -> _Told | None:
    """What is to say of the arguments of a call; unless `meant` is None, also of missing ones that are not meant."""
    if _passes_on(call):
        return None
    if problem := _extra(checker, path, call):
        return "extra", path, problem, ()
    missing = [] if meant is None else sorted(_missing(checker, path, call).difference(meant))
    names = listed([f"`{name}`" for name in missing])
    problem = f"`{without_module(path)}` of {checker.label} requires {names}, which the call lacks."
    return ("argument", path, problem, tuple(missing)) if missing else None


def _extra(checker: DriftChecker, path: str, call: ast.Call) -> str:
    """What is to say of the positional arguments of a call."""
    takes, given = checker.api.made_with(path) if call.args else None, len(call.args)
    if takes is None:
        return ""
    most, start = len(takes.positional), f"`{without_module(path)}` of {checker.label}"
    if given > most and not takes.any_positional:
        at_most = f"at most {most}" if most else "no"
        return f"{start} takes {at_most} positional argument{'s' * (most != 1)}, and the call gives {given}."
    twice = [name for name in takes.positional[:given] if any(one.arg == name for one in call.keywords)]
    return f"{start} gets `{twice[0]}` twice: by its place and by its name." if twice else ""


def _unfit_callbacks(
    checker: DriftChecker, document: PythonDocument, path: str, keywords: Sequence[ast.keyword], mention: Mention
) -> Iterator[Remark]:
    for keyword in keywords:
        wanted = CALLED.get(keyword.arg or "")
        if wanted is None or checker.api.kind(path) != "c" or not checker.api.has(f"{path}({keyword.arg}=)"):
            continue
        version = checker.api.released
        for place, node, _, bound in passed_functions(document, keyword.value, mention):
            if takes(node, wanted, version, bound=bound):
                continue
            name, (start, end) = getattr(node, "name", "This function"), document.span(place)
            given = ", ".join(f"`{one}`" for one in wanted)
            way = "by name or by position" if version >= BY_POSITION else "by name"
            problem = f"`{name}` does not fit `{keyword.arg}` of {checker.label}, which gives {given} {way}."
            last = end[1] if end[0] == start[0] else len(document.lines[start[0]])
            yield Remark("callback", f"{path}({keyword.arg}=)", problem, start[0], start[1], last, cited=path)


def _passes_on(call: ast.Call) -> bool:
    """Whether a call has arguments that stand for others, also as `...`."""
    stands = (isinstance(one, ast.Starred) or getattr(one, "value", None) is ... for one in call.args)
    return any(stands) or any(one.arg is None for one in call.keywords)


_Way = Literal["itself", "declared", "own class", "super"]


def _called(call: ast.Call, mention: Mention, names: Names) -> tuple[str | None, _Way]:
    """The path of what a call is of in the ADK: that class or function `itself`, a method of the `declared` class of an
    object, the base of a class of the document that has no constructor, or the one base of a class whose constructor
    calls `super().__init__`.
    """
    value = names.value(call.func, mention.scope, mention.line)
    if value and names.is_callable(value):
        return value.path, "itself"
    if value and value.declared and not value.is_instance and names.api.kind(value.path) in ("f", "a"):
        return value.path, "declared"
    scope: Scope | None = None
    way: _Way = "own class"
    match call.func:
        case ast.Name():
            known = mention.scope.lookup(mention.name, mention.line)
            scope = known[0].owner if known and known[0].is_class else None
            scope = None if scope and "__init__" in scope.bindings else scope
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr="__init__"):
            scope, way = mention.scope.parent, "super"
    node = scope.node if scope else None
    if scope is None or not isinstance(node, ast.ClassDef) or (way == "super" and len(node.bases) != 1):
        return None, way
    return next(iter(names.known_bases(scope)), None), way


def _missing(checker: DriftChecker, path: str, call: ast.Call) -> set[str]:
    """The required arguments that a call lacks."""
    known = checker.api.keywords(path)
    taken = checker.api.made_with(path) if call.args else Parameters()
    if known is None or taken is None:
        return set()
    return known.lacking({one.arg for one in call.keywords if one.arg}) - set(taken.positional[: len(call.args)])


def _is_of_class(call: ast.Call, names: Names, mention: Mention) -> bool:
    """Whether a call gives arguments to a function of a class by way of the class itself."""
    if not call.args or not isinstance(call.func, ast.Attribute):
        return False
    owner = names.value(call.func.value, mention.scope, mention.line)
    return owner is not None and not owner.is_instance and names.api.kind(owner.path) == "c"


def _overrides(checker: DriftChecker, document: PythonDocument, scope: Scope, names: Names) -> Iterator[Remark]:
    """What is to say of the methods of a class that override others; the text is empty of a method that fits."""
    for method, symbol, payload in _overriding(checker, scope, names):
        made = {id(node) for node in own_nodes(method) if _makes_object(node, names, document, method)}
        problem = ""
        if not fits(method, payload, made):
            start = "async def" if payload[0] == "a" else "def"
            form = f"{start} {method.name}({Parameters.of_table(payload).written()})"
            overridden = f"`{without_module(symbol)}` of {checker.label}, which it overrides"
            problem = f"`{scope.name}.{method.name}` does not fit {overridden}: write `{form}`."
        line = method.lineno - 1
        # The first mention of its own name in the line is that of the definition; without one, the line stands for it.
        named = next((one for one in document.mentions_in((line, 0), (line + 1, 0)) if one.name == method.name), None)
        start_at, end = (named.start, named.end) if named else (0, len(document.lines[line]))
        yield Remark("override", symbol, problem, line, start_at, end, cited=symbol)


def _overriding(checker: DriftChecker, scope: Scope, names: Names) -> Iterator[tuple[Function, str, str]]:
    """The methods of a class that override one of the ADK, with the path of that one and its payload."""
    node = scope.node
    # What decorators and metaclasses do with a class is not known.
    if not isinstance(node, ast.ClassDef) or node.decorator_list or node.keywords:
        return
    bases = names.known_bases(scope)
    for method in node.body if bases else ():
        if not isinstance(method, Function) or is_private(method.name):
            continue
        again = len(scope.bindings.get(method.name, ())) > 1
        if again or any(last_name(one) != "override" for one in method.decorator_list):
            continue
        paths = [f"{base}.{method.name}" for base in bases]
        found = {place: path for path in paths if (place := checker.api.definition(path)) is not None}
        # Of several definitions, the order of inheritance chooses one.
        if len(found) == 1:
            ((place, symbol),) = found.items()
            payload = checker.api.payload(place) or ""
            if payload[:1] in ("f", "a"):
                yield method, symbol, payload


def _makes_object(node: ast.AST, names: Names, document: PythonDocument, method: Function) -> bool:
    """Whether a node of a method makes an object of a class that the version has, which is nothing to await."""
    if not isinstance(node, ast.Call):
        return False
    scope = next((one for one in document.scopes if one.node is method), document.module)
    value = names.value(node, scope, node.lineno - 1)
    return value is not None and value.is_instance and not value.declared


def fits(method: Function, payload: str, plain: Collection[int] = ()) -> bool:
    """Whether a method can be called as the function of a payload of the table can.

    `plain` are ids of further expressions whose value is nothing to await.
    """
    # An asynchronous method may override one that is declared to return something to await.
    if payload[0] == "a" and isinstance(method, ast.FunctionDef) and _surely_returns_plain(method, plain):
        return False
    return Parameters.of_code(method.args).fits(Parameters.of_table(payload))


def _surely_returns_plain(method: ast.FunctionDef, plain: Collection[int]) -> bool:
    """Whether nothing that a method returns can be awaited. Of a method that only raises, nobody knows."""
    own = list(own_nodes(method))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own):
        return True
    returned = [node.value for node in own if isinstance(node, ast.Return)]
    if not returned:
        return not isinstance(method.body[-1], ast.Raise)
    return all(value is None or isinstance(value, _PLAIN) or id(value) in plain for value in returned)
