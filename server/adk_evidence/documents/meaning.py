"""What the expressions of Python code mean in a version of the ADK, as far as that is sure.

Nothing is imported or run. Values whose class the code does not say have no meaning, nor have names that may mean two
things.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Literal, NamedTuple

from adk_evidence.readers.annotations import annotation_names
from adk_evidence.documents.document import Mention, Scope
from adk_evidence.readers.python import dotted_name, last_line, walk

# What a name that a version lacks would be: something imported, an attribute, or a keyword of a call.
NameKind = Literal["import", "name", "keyword"]
# Longest chain of names that is followed.
MAX_DEPTH = 12
# What a call with a wrong keyword, or of a missing attribute, raises.
_CATCHES_CALLS = frozenset({"TypeError", "AttributeError", "ValidationError"})
GUARDS = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
# What such an error may be, too.
_CATCHES_ALL = frozenset({"", "Exception", "BaseException"})
# Every class has these, the last one where it derives from `abc.ABC`.
_OF_EVERY_CLASS = frozenset({*dir(type), "register"})
# What code asks before it uses what some versions alone have.
_VERSION = re.compile(r"__version__|(?:[A-Z\d]+_)*(?:VERSION|V\d+|HAS|HAVE|AVAILABLE|INSTALLED)(?:_[A-Z\d]+)*")
_ASKING = frozenset({"hasattr", "getattr", "setattr", "delattr"})
_UNCERTAIN = (
    *(*GUARDS, ast.Call, ast.comprehension, ast.Lambda, ast.Attribute, ast.Compare, ast.If),
    *(ast.Global, ast.Nonlocal, ast.AugAssign, ast.Delete),
)


@dataclass(frozen=True)
class Uncertain:
    """What may mean something else than it seems to.

    `names` are bound in more than one way, or in part of the code. `stored` are attributes that the code sets; `asked`
    are attributes and keywords of which the code asks whether they are there, as with `hasattr`. Calls in `lines` are
    meant to fail, or the code goes on without a word where they do, or they are for some versions alone.
    """

    names: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    lines: frozenset[int] = frozenset()


class Value(NamedTuple):
    """A module, class or function by its path, or an instance of the class at the path."""

    path: str
    is_instance: bool = False


@dataclass
class Names:
    """What the expressions of a snippet mean in one version; `kind` gives what a path is there."""

    kind: Callable[[str], str]
    uncertain: Uncertain = field(default_factory=Uncertain)

    def symbol(self, mention: Mention) -> tuple[str | None, NameKind]:
        """The path of what a mention names, where the version surely has what the name belongs to."""
        if mention.keyword_of is not None:
            if mention.name in self.uncertain.asked:
                return None, "keyword"
            called = self.value(mention.keyword_of, mention.scope, mention.line)
            is_known = called is not None and not called.is_instance and self.kind(called.path) in "cfa"
            return (f"{called.path}({mention.name}=)" if called and is_known else None), "keyword"
        node = mention.expression
        if isinstance(node, ast.Name):
            value = self.value(node, mention.scope, mention.line)
            return (value.path if value and not value.is_instance else None), "import"
        # A method that may override another one has no context.
        if not isinstance(node, ast.Attribute) or not isinstance(getattr(node, "ctx", None), ast.Load):
            return None, "name"
        if node.attr in self.uncertain.stored or node.attr in self.uncertain.asked:
            return None, "name"
        value = self.value(node.value, mention.scope, mention.line)
        if value and not value.is_instance and node.attr in _OF_EVERY_CLASS and self.kind(value.path) == "c":
            return None, "name"
        # An attribute of a function or of a value says nothing.
        is_known = value is not None and self.kind(value.path) in "mc"
        return (f"{value.path}.{node.attr}" if value and is_known else None), "name"

    def value(self, node: ast.expr | None, scope: Scope, line: int, depth: int = 0) -> Value | None:
        """What an expression at a line of a scope means; None where that is not sure."""
        if depth > MAX_DEPTH:
            return None
        match node:
            case ast.Name(id=name):
                return self._name(name, scope, line, depth)
            case ast.Attribute(value=inner, attr=name):
                owner = self.value(inner, scope, line, depth + 1)
                return Value(f"{owner.path}.{name}") if owner else None
            case ast.Call(func=function):
                called = self.value(function, scope, line, depth + 1)
                is_class = called is not None and not called.is_instance and self.kind(called.path) == "c"
                return Value(called.path, is_instance=True) if called and is_class else None
            case _:
                return None

    def _name(self, name: str, scope: Scope, line: int, depth: int) -> Value | None:
        known = scope.lookup(name, line)
        if known is None or name in self.uncertain.names:
            return None
        binding, home = known
        if binding.imported is not None:
            return Value(binding.imported)
        if binding.annotation is not None:
            named = list(annotation_names(binding.annotation))
            node = ast.parse(named[0], mode="eval").body if len(named) == 1 else None
            value = self.value(node, home.parent or home, binding.line, depth + 1)
            is_class = value is not None and not value.is_instance and self.kind(value.path) == "c"
            return Value(value.path, is_instance=True) if value and is_class else None
        # The table does not say what entering a context gives.
        if isinstance(binding.value, ast.Call) and not binding.entered:
            # The right side is looked up before this line, or `x = x.y` would not end.
            return self.value(binding.value, home, binding.line - 1, depth + 1)
        return None


def uncertain_in(nodes: Sequence[ast.AST], scopes: Sequence[Scope]) -> Uncertain:
    """What is uncertain in the nodes and scopes of a text."""
    names: set[str] = set()
    stored: set[str] = set()
    asked: set[str] = set()
    lines: set[int] = set()
    for scope in scopes:
        for name, bindings in scope.bindings.items():
            if len(bindings) > 1 and (bindings[0].imported is None or len({each.imported for each in bindings}) > 1):
                names.add(name)
    for node in nodes:
        # Most nodes are none of these, and asking for each in turn takes longer.
        if not isinstance(node, _UNCERTAIN):
            continue
        match node:
            case ast.comprehension():
                names |= {inner.id for inner in walk(node.target) if isinstance(inner, ast.Name)}
            case ast.Lambda():
                names |= {item.arg for item in walk(node.args) if isinstance(item, ast.arg)}
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                stored.add(name)
            case ast.Call(func=called, args=[_, ast.Constant(value=str(name)), *_]) if last_name(called) in _ASKING:
                asked.add(name)
            case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()]):
                asked.add(name)
            case ast.Global() | ast.Nonlocal():
                names |= set(node.names)
            case ast.AugAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Delete(targets=targets):
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.If(test=test) if any(_is_version(part) for part in walk(test)):
                lines |= _lines_of([*node.body, *node.orelse])
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), _]):
                # Where the test holds, the value may be of a derived class.
                names.add(name)
            case ast.Try() | ast.TryStar() if any(map(_goes_on, node.handlers)):
                lines |= _lines_of(node.body)
            case ast.With() | ast.AsyncWith() if any(_expects_failure(item.context_expr) for item in node.items):
                lines |= _lines_of(node.body)
            case _:
                pass
    return Uncertain(frozenset(names), frozenset(stored), frozenset(asked), frozenset(lines))


def _is_version(node: ast.AST) -> bool:
    return _VERSION.fullmatch(getattr(node, "id", None) or getattr(node, "attr", None) or "") is not None


def _goes_on(handler: ast.ExceptHandler) -> bool:
    """Whether code goes on where a call fails: it handles this error, or passes over every error."""
    if catches(handler.type, _CATCHES_CALLS):
        return True
    passes = all(
        isinstance(part, ast.Pass | ast.Continue | ast.Break)
        or (isinstance(part, ast.Expr | ast.Return) and isinstance(part.value, ast.Constant | NoneType))
        for part in handler.body
    )
    return passes and catches(handler.type, _CATCHES_ALL)


def _expects_failure(context: ast.expr) -> bool:
    """Whether a call in a `with` may fail: below `pytest.raises`, `self.assertRaises` and `contextlib.suppress`."""
    name = last_name(context.func) if isinstance(context, ast.Call) else ""
    return name == "raises" or name.startswith("assertRaises") or suppresses(context, _CATCHES_CALLS | _CATCHES_ALL)


def _lines_of(body: Sequence[ast.stmt]) -> set[int]:
    return {line for statement in body for line in range(statement.lineno - 1, last_line(statement))}


def catches(caught: ast.expr | None, names: frozenset[str]) -> bool:
    """Whether an error, or one of a tuple of errors, has one of some names, with or without its module."""
    each = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(last_name(error) in names for error in each)


def suppresses(context: ast.expr, names: frozenset[str]) -> bool:
    """Whether a `with` is `contextlib.suppress` of an error that has one of some names."""
    return (
        isinstance(context, ast.Call)
        and last_name(context.func) == "suppress"
        and any(catches(error, names) for error in context.args)
    )


def last_name(node: ast.expr | None) -> str:
    return (dotted_name(node) or "").rpartition(".")[2]
