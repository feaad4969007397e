"""What the expressions of Python code mean in a version of the ADK, as far as that is sure.

Nothing is imported or run. Values whose class the code does not say have no meaning, nor have names that may mean two
things.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Literal, NamedTuple

from adk_evidence.api.history import VersionApi
from adk_evidence.documents.document import Binding, Mention, PythonDocument, Scope
from adk_evidence.readers.annotations import said_type
from adk_evidence.readers.python import Function, last_line, last_name, walk

# What a name that a version lacks would be: something imported, an attribute, or a keyword of a call.
NameKind = Literal["import", "name", "keyword"]
# Longest chain of names that is followed.
MAX_DEPTH = 12
# What a call with a wrong keyword, or of a missing attribute, raises.
_CATCHES_CALLS = frozenset({"TypeError", "AttributeError", "ValidationError", "ValueError"})
# What such an error may be, too.
_CATCHES_ALL = frozenset({"", "Exception", "BaseException"})
_CATCHES_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
# Every class has these, the last one where it derives from `abc.ABC`.
_OF_EVERY_CLASS = frozenset({*dir(type), "register"})
# What code asks before it uses what some versions alone have.
_VERSION = re.compile(r"__version__|(?:[A-Z\d]+_)*(?:VERSION|V\d+|HAS|HAVE|AVAILABLE|INSTALLED)(?:_[A-Z\d]+)*")
# The last one is `patch.object` of `unittest.mock`.
_ASKING = frozenset({"hasattr", "getattr", "setattr", "delattr", "__setattr__", "object"})
_UNCERTAIN = (
    *(ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.If, ast.Delete, ast.MatchAs, ast.MatchStar),
    *(ast.Call, ast.comprehension, ast.Lambda, ast.Attribute, ast.Compare, ast.Subscript),
    *(ast.Global, ast.Nonlocal, ast.Assign, ast.AnnAssign, ast.AugAssign),
)


@dataclass
class Uncertain:
    """What may mean something else than it seems to.

    `names` are bound by something that has no binding, or in part of the code. `stored` are attributes that the code
    sets, `replaced` those that it sets more than once or on anything but `self`, `members` the names in its classes.
    `asked` are attributes and keywords of which the code asks whether they are there, as with `hasattr`. Calls in
    `lines` are meant to fail, or the code goes on without a word where they do, or they are for some versions alone.
    `imports` are lines whose imports may fail, or stand in for imports that failed.
    """

    names: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)
    imports: set[int] = field(default_factory=set)


class Value(NamedTuple):
    """A module, class or function by its path, or an instance of the class at the path; after `*` the class of items.

    `declared`: the ADK says so, and the instance may be of a class that derives from this one.
    """

    path: str
    is_instance: bool = False
    declared: bool = False


@dataclass
class Names:
    """What the expressions of a snippet mean in one version.

    `given` has the classes of parameters without an annotation, by the ids of their bindings. Without `typed`, what
    the version says of the types of its members and results does not count.
    """

    api: VersionApi
    uncertain: Uncertain = field(default_factory=Uncertain)
    given: Mapping[int, str] = field(default_factory=dict)
    typed: bool = True
    # By the ids of bindings and of expressions of the document; and the bindings that are being read.
    _known: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    _open: list[int] = field(default_factory=list)

    def symbol(self, mention: Mention) -> tuple[str | None, NameKind]:
        """The path of what a mention names, where the version surely has what the name belongs to."""
        if mention.keyword_of is not None:
            if mention.name in self.uncertain.asked:
                return None, "keyword"
            called = self.value(mention.keyword_of, mention.scope, mention.line)
            is_known = called is not None and self.is_callable(called)
            return (f"{called.path}({mention.name}=)" if called and is_known else None), "keyword"
        node = mention.expression
        if isinstance(node, ast.Name):
            value = self.value(node, mention.scope, mention.line)
            return (value.path if value and not value.is_instance else None), "import"
        if not isinstance(node, ast.Attribute) or node.attr in self.uncertain.asked:
            return None, "name"
        context = getattr(node, "ctx", None)
        if isinstance(context, ast.Store):
            if node.attr in self.uncertain.members:
                return None, "name"
            base = self._base_that_refuses(node.value, node.attr, mention.scope, mention.line)
            value = Value(base, is_instance=True) if base else self.value(node.value, mention.scope, mention.line)
            if value is None or not value.is_instance or value.declared:
                return None, "name"
            return (f"{value.path}.{node.attr}" if self._refuses(value.path, node.attr) else None), "name"
        # A method that may override another one has no context.
        if not isinstance(context, ast.Load) or node.attr in self.uncertain.stored:
            return None, "name"
        value = self.value(node.value, mention.scope, mention.line)
        if value and not value.is_instance and node.attr in _OF_EVERY_CLASS and self.api.kind(value.path) == "c":
            return None, "name"
        # An attribute of a function or of a value says nothing.
        is_known = value is not None and self.api.kind(value.path) in "mc"
        # A class that derives from the declared one may have more.
        if value and value.declared and self.api.kind(f"{value.path}.{node.attr}") == "-":
            return None, "name"
        return (f"{value.path}.{node.attr}" if value and is_known else None), "name"

    def methods(self, mention: Mention) -> list[str]:
        """The paths of the attribute that a mention names of the objects of each class that may be meant.

        None where one of them is not sure.
        """
        node = mention.expression
        # What the code sets on some object may hide the method.
        if not isinstance(node, ast.Attribute) or self._may_be_other(node.attr):
            return []
        owners = self.values(node.value, mention.scope, mention.line)
        return [f"{one.path}.{node.attr}" for one in owners] if all(one.is_instance for one in owners) else []

    def is_callable(self, called: Value) -> bool:
        """Whether a value is a class or function whose parameters the version surely says."""
        return not called.is_instance and not called.declared and self.api.kind(called.path) in "cfa"

    def value(self, node: ast.expr | None, scope: Scope, line: int) -> Value | None:
        """What an expression at a line of a scope means; None where that is not sure."""
        found = self.values(node, scope, line)
        return found[0] if len(found) == 1 else None

    def values(self, node: ast.expr | None, scope: Scope, line: int) -> tuple[Value, ...]:
        """All that an expression of a document may mean; nothing where a part of that is not sure."""
        if id(node) not in self._known:
            self._known[id(node)] = self._values(node, scope, line, 0)
        return self._known[id(node)]

    def _values(self, node: ast.expr | None, scope: Scope, line: int, depth: int) -> tuple[Value, ...]:
        if depth > MAX_DEPTH:
            return ()
        match node:
            case ast.Name(id=name):
                return self._name(name, scope, line, depth)
            case ast.Attribute(value=inner, attr=name):
                own = self._of_self(inner, name, scope, line, depth)
                owners = self._values(inner, scope, line, depth + 1) if own is None else ()
                return self._either([self._attribute(owner, name) for owner in owners]) if own is None else own
            case ast.Call(func=ast.Name(id=name)) if (found := self._own_function(name, scope, line)) is not None:
                function, home = found
                is_plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
                return self._annotated(function.returns, home, function.lineno - 1, depth) if is_plain else ()
            case ast.Call(func=function):
                return self._results(self._values(function, scope, line, depth + 1), "cf")
            case ast.Await(value=ast.Call(func=function)):
                return self._results(self._values(function, scope, line, depth + 1), "a")
            case ast.NamedExpr(value=inner):
                return self._values(inner, scope, line, depth + 1)
            case ast.IfExp() | ast.BoolOp(op=ast.Or()):
                parts = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
                # Of `None`, nothing can be used.
                return self._either([self._values(one, scope, line, depth + 1) for one in parts if not _is_none(one)])
            case ast.Subscript(value=inner, slice=place) if not isinstance(place, ast.Slice):
                return _items(self._values(inner, scope, line, depth + 1))
            case _:
                return ()

    def _attribute(self, owner: Value, name: str) -> tuple[Value, ...]:
        path = f"{owner.path}.{name}"
        kind = self.api.kind(path)
        said = self._type_of(path) if owner.is_instance and kind not in "fac" else ""
        if said and name not in self.uncertain.replaced:
            return (self._declared(said),)
        # What the code sets may be another function.
        return () if kind in "fa" and self._may_be_other(name) else (Value(path, declared=owner.declared),)

    def _may_be_other(self, name: str) -> bool:
        return name in self.uncertain.stored or name in self.uncertain.asked

    def _type_of(self, path: str) -> str:
        return self.api.type_of(path) if self.typed else ""

    def _refuses(self, path: str, name: str) -> bool:
        return self.typed and self.api.refuses(path, name)

    def _declared(self, said: str) -> Value:
        return Value(said, is_instance=True, declared=self.api.is_derived(said.lstrip("*")))

    def _results(self, called: tuple[Value, ...], kinds: str) -> tuple[Value, ...]:
        """What calls give, of functions and classes of some kinds; an asynchronous generator gives items."""
        found: list[tuple[Value, ...]] = []
        for one in called:
            kind = "" if one.is_instance else self.api.kind(one.path)
            said = self._type_of(one.path) if kind in ("f", "a") else ""
            if kind == "c" and "c" in kinds:
                found.append((Value(one.path, is_instance=True),))
            elif said and (kind in kinds or (kind == "a" and said.startswith("*"))):
                found.append((self._declared(said),))
            else:
                found.append(_items((Value(one.path.removesuffix(".pop"), True),)) if one.path.endswith(".pop") else ())
        return self._either(found)

    @staticmethod
    def _either(found: Sequence[tuple[Value, ...]]) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(value for values in found for value in values)) if all(found) else ()

    def _of_self(self, inner: ast.expr, name: str, scope: Scope, line: int, depth: int) -> tuple[Value, ...] | None:
        """What an attribute that a class of the document sets on itself means; None of other attributes."""
        known = scope.lookup(inner.id, line) if isinstance(inner, ast.Name) else None
        owner = known[0].owner if known else None
        if owner is None or (name not in owner.attributes and name not in owner.bindings):
            return None
        if name in self.uncertain.replaced or (known and known[0].is_class):
            return ()
        # What the class annotates may be of a derived class.
        said = self._all_bound(owner.bindings.get(name, ()), owner, depth)
        found = [tuple(value._replace(declared=True) for value in one) for one in said]
        for value, home in owner.attributes.get(name, ()):
            if not _is_none(value):
                found.append(self._values(value, home, value.lineno - 1, depth + 1))
        return self._either(found)

    def _name(self, name: str, scope: Scope, line: int, depth: int) -> tuple[Value, ...]:
        known = scope.lookup(name, line)
        if known is None or name in self.uncertain.names:
            return ()
        return self._either(self._all_bound(known[1].bindings[name], known[1], depth))

    def _all_bound(self, bindings: Iterable[Binding], home: Scope, depth: int) -> list[tuple[Value, ...]]:
        found: list[tuple[Value, ...]] = []
        for binding in bindings:
            key = id(binding)
            # `x = x or X()` adds to what else binds the name. A longer circle is not known.
            if self._open[-1:] == [key] or _is_none(binding.value):
                continue
            if key not in self._known:
                self._known[key] = ()
                self._open.append(key)
                self._known[key] = self._read(binding, home, depth)
                self._open.pop()
            found.append(self._known[key])
        return found

    def _read(self, binding: Binding, home: Scope, depth: int) -> tuple[Value, ...]:
        if binding.imported is not None:
            return (Value(binding.imported),)
        # What stands on the right side was bound before this line.
        if binding.annotation is not None:
            return self._annotated(binding.annotation, home.parent or home, binding.line, depth)
        if binding.items_of is not None:
            return _items(self._values(binding.items_of, home, binding.line - 1, depth + 1))
        if binding.value is not None:
            found = self._values(binding.value, home, binding.line - 1, depth + 1)
            # Of most contexts, the table does not say what they give.
            is_known = all(one.is_instance and self.typed and self.api.enters_itself(one.path) for one in found)
            return found if is_known or not binding.entered else ()
        given = self.given.get(id(binding), "")
        return (self._declared(given),) if self.api.kind(given) == "c" else ()

    def _annotated(self, annotation: ast.expr | None, scope: Scope, line: int, depth: int) -> tuple[Value, ...]:
        """An object of the class that an annotation in a scope means."""
        said = said_type(annotation) if annotation is not None else ""
        node = ast.parse(said.lstrip("*"), mode="eval").body if said else None
        found = self._values(node, scope, line, depth + 1)
        is_class = all(not one.is_instance and self.api.kind(one.path) == "c" for one in found)
        star = "*" if said.startswith("*") else ""
        return tuple(Value(star + one.path, is_instance=True) for one in found) if is_class else ()

    def _own_function(self, name: str, scope: Scope, line: int) -> tuple[Function, Scope] | None:
        """The function of the document that a name surely means, and the scope that has it."""
        known = scope.lookup(name, line) if name not in self.uncertain.names else None
        function = known[0].function if known and len(known[1].bindings[name]) == 1 else None
        return (function, known[1]) if known and function else None

    def _base_that_refuses(self, node: ast.expr, name: str, scope: Scope, line: int) -> str | None:
        """The class of the ADK because of which objects of a class of the document cannot be given an attribute."""
        known = scope.lookup(node.id, line) if isinstance(node, ast.Name) else None
        owner = known[0].owner if known and not known[0].is_class else None
        cls = owner.node if owner else None
        if owner is None or not isinstance(cls, ast.ClassDef) or cls.decorator_list or cls.keywords:
            return None
        is_open = not {"model_config", "__setattr__", "__slots__"}.isdisjoint(owner.bindings)
        paths = [path for path in self.known_bases(owner) if self._refuses(path, name)]
        return paths[0] if not is_open and len(paths) == len(cls.bases) and paths else None

    def known_bases(self, cls: Scope) -> list[str]:
        """The paths of the first bases of a class of the document, up to one that is not known to be of the ADK."""
        found: list[str] = []
        node = cls.node
        if not isinstance(node, ast.ClassDef):
            return found
        for base in node.bases:
            value = self.value(base, cls.parent or cls, node.lineno - 1)
            if value is None or value.is_instance or self.api.kind(value.path) != "c":
                break
            found.append(value.path)
        return found


def _items(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The items of values that have some."""
    found = tuple(one._replace(path=one.path[1:]) for one in values if one.path.startswith("*"))
    return found if len(found) == len(values) else ()


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def uncertain_in(document: PythonDocument) -> Uncertain:
    """What is uncertain in some code."""
    found = Uncertain(members={name for scope in document.scopes if scope.is_class for name in scope.bindings})
    names, asked, lines = found.names, found.asked, found.lines
    # What sets an attribute of `self` to one value; a statement comes before what is in it.
    plain: set[int] = set()
    # Names that say which version there is.
    versions: set[str] = set()
    tests: list[ast.If] = []
    for node in document.nodes:
        # Most nodes are none of these, and asking for each in turn takes longer.
        if not isinstance(node, _UNCERTAIN):
            continue
        match node:
            case ast.comprehension():
                names |= {inner.id for inner in walk(node.target) if isinstance(inner, ast.Name)}
            case ast.Lambda():
                names |= {item.arg for item in walk(node.args) if isinstance(item, ast.arg)}
            case ast.Assign(targets=targets, value=value):
                plain.update(map(id, targets))
                if any(_is_version(part) for part in walk(value)):
                    versions |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Attribute() as target):
                plain.add(id(target))
            case ast.Attribute(value=owner, attr=name, ctx=ast.Store() | ast.Del()):
                found.stored.add(name)
                if id(node) not in plain or getattr(owner, "id", "") != "self":
                    found.replaced.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.AugAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Call(func=called, args=[_, ast.Constant(value=str(name)), *_]) if last_name(called) in _ASKING:
                asked.add(name)
            case ast.Call(func=called, args=[ast.Constant(value=str(name)), *_]) if last_name(called) == "patch":
                asked.add(name.rpartition(".")[2])
            case (
                ast.Subscript(value=ast.Attribute(attr="__dict__"), slice=ast.Constant(value=str(name)))
                | ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()])
            ):
                asked.add(name)
            case ast.Global() | ast.Nonlocal():
                names |= set(node.names)
            case ast.Delete(targets=targets):
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.If():
                tests.append(node)
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), _]):
                # Where the test holds, the value may be of a derived class.
                names.add(name)
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Attribute(attr=name), _]):
                found.replaced.add(name)
            case ast.Try() | ast.TryStar():
                lines |= _lines_of(node.body) if any(map(_goes_on, node.handlers)) else set()
                if any(one.type is None or _catches(one.type, _CATCHES_IMPORTS) for one in node.handlers):
                    found.imports |= _lines_of([*node.body, *(part for one in node.handlers for part in one.body)])
            case ast.With() | ast.AsyncWith():
                contexts = [item.context_expr for item in node.items]
                lines |= _lines_of(node.body) if any(map(_expects_failure, contexts)) else set()
                if any(_suppresses(context, _CATCHES_IMPORTS) for context in contexts):
                    found.imports |= _lines_of(node.body)
    for one in tests:
        if any(_is_version(part, versions) for part in walk(one.test)):
            lines |= _lines_of([*one.body, *one.orelse])
    return found


def _is_version(node: ast.AST, known: Collection[str] = ()) -> bool:
    """Whether a node names a version, or asks whether a module is there."""
    name = getattr(node, "id", None) or getattr(node, "attr", None) or ""
    return name in known or name == "find_spec" or _VERSION.fullmatch(name) is not None


def _goes_on(handler: ast.ExceptHandler) -> bool:
    """Whether code goes on where a call fails: it handles this error, or passes over every error."""
    if _catches(handler.type, _CATCHES_CALLS):
        return True
    passes = all(
        isinstance(part, ast.Pass | ast.Continue | ast.Break)
        or (isinstance(part, ast.Expr | ast.Return) and isinstance(part.value, ast.Constant | NoneType))
        for part in handler.body
    )
    return passes and _catches(handler.type, _CATCHES_ALL)


def _expects_failure(context: ast.expr) -> bool:
    """Whether a call in a `with` may fail: below `pytest.raises`, `self.assertRaises` and `contextlib.suppress`."""
    name = last_name(context.func) if isinstance(context, ast.Call) else ""
    return name == "raises" or name.startswith("assertRaises") or _suppresses(context, _CATCHES_CALLS | _CATCHES_ALL)


def _lines_of(body: Sequence[ast.stmt]) -> set[int]:
    return {line for statement in body for line in range(statement.lineno - 1, last_line(statement))}


def _catches(caught: ast.expr | None, names: frozenset[str]) -> bool:
    """Whether an error, or one of a tuple of errors, has one of some names, with or without its module."""
    each = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(last_name(error) in names for error in each)


def _suppresses(context: ast.expr, names: frozenset[str]) -> bool:
    """Whether a `with` is `contextlib.suppress` of an error that has one of some names."""
    return (
        isinstance(context, ast.Call)
        and last_name(context.func) == "suppress"
        and any(_catches(error, names) for error in context.args)
    )
