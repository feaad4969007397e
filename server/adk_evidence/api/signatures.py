"""What differs between two definitions of a name for those who call the name, and what their bodies differ in."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from adk_evidence.readers.python import (
    Definition,
    Function,
    Parameter,
    bare_string,
    clip,
    decorator_name,
    decorator_names,
    dotted_name,
    last_name,
    own_nodes,
    parameters,
    unparse,
    unquoted,
)

MAX_VALUE_CHARS = 120

ToldKind = Literal["result", "deprecation", "other"]
# A union that is written as a call for types: `Optional[X]`, `Union[X, Y]`.
_UNIONS = {"Optional", "Union"}
_BUILTINS = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset", "Type": "type"}
_ASYNC_GENERATORS = {"AsyncGenerator", "AsyncIterator", "AsyncIterable"}
_GENERATORS = {"Generator", "Iterator"}
CONTEXT_MANAGERS = {"contextmanager", "asynccontextmanager"}
_STATIC, _CLASS, _INSTANCE = "a static method", "a class method", "an instance method"
_PLAIN = "a plain function"
_SAID_OF_FIELDS = frozenset({"description", "title", "examples", "deprecated", "exclude", "repr"})


@dataclass(frozen=True)
class Told:
    """A difference in words, and whether code that worked before may fail because of it.

    `kind` is "result" where the returned type differs, and "deprecation" of a decorator that deprecates.
    """

    text: str
    breaking: bool = False
    kind: ToldKind = "other"


def compare_uses(before: ast.stmt, after: ast.stmt, *, member: bool) -> list[Told]:
    """What differs for those who use a definition; of classes, without their members."""
    if isinstance(before, Function) and isinstance(after, Function):
        return _compare_functions(before, after, member=member)
    if isinstance(before, ast.ClassDef) and isinstance(after, ast.ClassDef):
        return _compare_bases(before, after)
    if isinstance(before, Definition) or isinstance(after, Definition):
        return []
    return _compare_fields(before, after)


def _compare_functions(before: Function, after: Function, *, member: bool) -> list[Told]:
    """What differs in parameters, result and the way of calling; of members, without `self` and `cls`."""
    found = list(_parameters(before, after, bound=member))
    bindings = _binding(before), _binding(after)
    if member and bindings[0] != bindings[1]:
        # Static methods and class methods are called alike.
        found.append(Told(f"is {bindings[1]} now, not {bindings[0]}", breaking=_INSTANCE in bindings))
    ways = _way(before), _way(after)
    if ways[0] != ways[1]:
        found.append(Told(f"is {ways[1]} now, not {ways[0]}", breaking=True))
    result = _changed_type(before.returns, after.returns)
    if result is not None:
        found.append(Told(f"{'gives' if is_property(after) else 'returns'} {result}", kind="result"))
    if is_abstract(after) and not is_abstract(before):
        found.append(Told("is abstract now: subclasses must implement it", breaking=True))
    return found


def _compare_fields(before: ast.stmt, after: ast.stmt) -> list[Told]:
    """What differs in the type and the value of a field or variable."""
    found: list[Told] = []
    kind = _changed_type(getattr(before, "annotation", None), getattr(after, "annotation", None))
    if kind is not None:
        found.append(Told(f"its type is {kind}"))
    old, new = _value(before), _value(after)
    if old is not None and new is not None and not _is_same(old, new):
        found.append(Told(f"its value is {_shown(new)}, not {_shown(old)}"))
    elif new is not None and old is None:
        found.append(Told(f"its value is {_shown(new)} by default"))
    return found


def _compare_bases(before: ast.ClassDef, after: ast.ClassDef) -> list[Told]:
    """What differs in the bases of a class; by which way a base was imported does not count."""
    names = [[_plain(base) for base in node.bases] for node in (before, after)]
    if names[0] == names[1]:
        return []
    shown = [", ".join(unparse(base) or "?" for base in node.bases) or "nothing" for node in (before, after)]
    return [Told(f"derives from `{shown[1]}`, not `{shown[0]}`")]


def compare_texts(before: ast.stmt, after: ast.stmt) -> list[Told]:
    """Whether the docstrings, the decorators and the code differ; layout and comments do not count.

    Of a class, only the docstring counts: its members are compared by themselves.
    """
    found: list[Told] = []
    if isinstance(before, Definition) and isinstance(after, Definition):
        if _doc(before) != _doc(after):
            found.append(Told("docstring changed" if _doc(after) else "docstring gone"))
        old, new = ({_dump(mark): mark for mark in _marks(node)} for node in (before, after))
        found += [_marked(f"has the decorator {_shown(new[key])} now", new[key]) for key in new if key not in old]
        found += [_marked(f"has no decorator {_shown(old[key])} any more", old[key]) for key in old if key not in new]
        if isinstance(before, Function) and isinstance(after, Function) and code_of(before) != code_of(after):
            found.append(Told("code changed"))
    return found


def is_abstract(node: ast.stmt) -> bool:
    """Whether a method must be implemented by subclasses."""
    return isinstance(node, Function) and "abstractmethod" in decorator_names(node)


def is_property(node: ast.stmt) -> bool:
    """Whether a method is read as an attribute, also by a decorator of the project's own, as its name says."""
    return isinstance(node, Function) and any(name.lower().endswith("property") for name in decorator_names(node))


def code_of(node: Definition) -> str:
    """The code of a definition without its name, docstring and decorators, in one normal form."""
    return "\n".join(_dump(item) for item in _statements(node))


def _marks(node: Definition) -> Iterator[ast.expr]:
    """The decorators apart from those that bind a method, which are compared by themselves."""
    return (mark for mark in node.decorator_list if decorator_name(mark) not in ("staticmethod", "classmethod"))


def _marked(text: str, decorator: ast.expr) -> Told:
    return Told(text, kind="deprecation" if decorator_name(decorator) == "deprecated" else "other")


def _parameters(before: Function, after: Function, *, bound: bool) -> Iterator[Told]:
    old, new = _listed(before, bound=bound), _listed(after, bound=bound)
    ours, theirs = ({item.name: item for item in items if item.kind not in ("rest", "more")} for items in (old, new))
    renamed = _renamed(old, new)
    more = any(item.kind == "more" for item in new)
    for name, item in ours.items():
        if name in theirs:
            yield from _changed(item, theirs[name])
        elif name in renamed:
            now = theirs[renamed[name]]
            yield Told(f"parameter `{name}` is called `{now.name}` now", breaking=item.can_be_named)
            yield from _changed(item, now)
        elif more and item.can_be_named:
            yield Told(f"parameter `{name}` is no longer declared; `**kwargs` takes it")
        else:
            yield Told(f"parameter `{name}` is gone", breaking=True)
    added = [item for name, item in theirs.items() if name not in ours and name not in renamed.values()]
    for item in added:
        if item.default is None:
            yield Told(f"new parameter `{item.name}` is required", breaking=True)
        else:
            yield Told(f"new parameter `{item.name}`, by default {_shown(item.default)}")
    order = _order(old, new, renamed)
    if order is not None:
        yield Told(f"the order of positional parameters is {order} now", breaking=True)
    for kind, sign in (("rest", "*args"), ("more", "**kwargs")):
        had, has = (any(item.kind == kind for item in items) for items in (old, new))
        if had and not has:
            yield Told(f"takes no `{sign}` any more", breaking=True)
        elif has and not had:
            yield Told(f"takes `{sign}`")


def _changed(before: Parameter, after: Parameter) -> Iterator[Told]:
    name = after.name
    if before.default is not None and after.default is None:
        yield Told(f"parameter `{name}` is required now", breaking=True)
    elif before.default is None and after.default is not None:
        yield Told(f"parameter `{name}` is optional now, by default {_shown(after.default)}")
    elif before.default is not None and after.default is not None and not _is_same(before.default, after.default):
        yield Told(f"the default of `{name}` is {_shown(after.default)}, not {_shown(before.default)}")
    if before.kind != "named" and after.kind == "named":
        yield Told(f"parameter `{name}` must be named now", breaking=True)
    elif before.can_be_named and not after.can_be_named:
        yield Told(f"parameter `{name}` cannot be named any more", breaking=True)
    kind = _changed_type(before.node.annotation, after.node.annotation)
    if kind is not None:
        yield Told(f"`{name}` is {kind}")


def _listed(node: Function, *, bound: bool) -> list[Parameter]:
    """The parameters that callers give; `bound` of a member, whose first one Python gives."""
    found = parameters(node.args)
    return found[1:] if bound and _binding(node) != _STATIC and found[:1] and found[0].is_positional else found


def _renamed(old: Sequence[Parameter], new: Sequence[Parameter]) -> dict[str, str]:
    """Parameters that stand at the same place with the same type under another name."""
    ours, theirs = {item.name for item in old}, {item.name for item in new}
    found: dict[str, str] = {}
    for before, after in zip(old, new, strict=False):
        same = before.kind == after.kind and before.is_positional
        typed = before.node.annotation is not None and _type(before.node.annotation) == _type(after.node.annotation)
        if same and typed and before.name not in theirs and after.name not in ours:
            found[before.name] = after.name
    return found


def _order(old: Sequence[Parameter], new: Sequence[Parameter], renamed: dict[str, str]) -> str | None:
    """The new order, where an argument at some place would reach another parameter that both have."""
    before = [renamed.get(item.name, item.name) for item in old if item.is_positional]
    after = [item.name for item in new if item.is_positional]
    kept = [name for name in before if name in after]
    shifted = [name for name in kept if before.index(name) < after.index(name)]
    if kept == [name for name in after if name in kept] and not shifted:
        return None
    return ", ".join(f"`{name}`" for name in after)


def _binding(node: Function) -> str:
    """How a method is bound to its class."""
    decorators = decorator_names(node)
    return _STATIC if "staticmethod" in decorators else _CLASS if "classmethod" in decorators else _INSTANCE


def yields_asynchronously(node: Function) -> bool:
    """Whether a call of a function gives something for `async for`."""
    return _way(node) == "an asynchronous generator"


def _way(node: Function) -> str:
    """How a function is called.

    The annotated result counts where the body cannot tell: a `def` may return a generator that another function made,
    and a body without code, as of an abstract method, yields nothing.
    """
    if decorator_names(node) & CONTEXT_MANAGERS:
        # The decorator takes the generator; callers get a context manager.
        return _PLAIN
    yields = any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in own_nodes(node))
    result = _outer(node.returns)
    if isinstance(node, ast.AsyncFunctionDef):
        told = result in _ASYNC_GENERATORS and all(isinstance(item, ast.Raise) for item in _statements(node))
        return "an asynchronous generator" if yields or told else "a coroutine, to be awaited"
    if result in _ASYNC_GENERATORS:
        return "an asynchronous generator"
    return "a generator" if yields or result in _GENERATORS else _PLAIN


def _outer(annotation: ast.expr | None) -> str:
    """The name of an annotated type without what stands in brackets."""
    annotation = unquoted(annotation) if annotation is not None else None
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    return last_name(annotation)


def _changed_type(before: ast.expr | None, after: ast.expr | None) -> str | None:
    """The words "`B`, not `A`" where two annotations differ by more than their spelling; None where one is missing."""
    if before is None or after is None or _type(before) == _type(after):
        return None
    shown = [f"`{clip(_unquoted(item), MAX_VALUE_CHARS)}`" for item in (after, before)]
    return f"{shown[0]}, not {shown[1]}"


def _unquoted(node: ast.expr) -> str:
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else unparse(node)
    return " ".join((text or "?").split())


def _type(node: ast.expr | None) -> object:
    """An annotation in one spelling: unions as sets, names without their modules, texts read."""
    match node:
        case None:
            return None
        case ast.Constant(value=str(text)):
            said = unquoted(node)
            return text if said is node else _type(said)
        case ast.Constant(value=value):
            return repr(value)
        case ast.BinOp(op=ast.BitOr()):
            return _union([_type(part) for part in _alternatives(node)])
        case ast.Subscript(value=outer, slice=inside):
            name = _plain(outer)
            items = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            if name in _UNIONS:
                parts = [_type(item) for item in items]
                return _union([*parts, "None"] if name == "Optional" else parts)
            if name == "Annotated":
                return _type(items[0])
            if name == "Literal":
                return ("Literal", frozenset(map(_dump, items)))
            return (_BUILTINS.get(name, name), tuple(_type(item) for item in items))
        case ast.Name() | ast.Attribute():
            name = _plain(node)
            return _BUILTINS.get(name, name)
        case ast.List(elts=elements):
            return tuple(_type(item) for item in elements)
        case _:
            return _dump(node)


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of a union, which stand ever deeper: `A | B | C` is `(A | B) | C`."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield node.right
        node = node.left
    yield node


def _union(parts: Iterable[object]) -> object:
    found: set[object] = set()
    for part in parts:
        found |= part if isinstance(part, frozenset) else {part}
    return frozenset(found)


def _plain(node: ast.expr) -> str:
    """The last part of a dotted name; of anything else, its source."""
    name = dotted_name(node)
    return name.rpartition(".")[2] if name else unparse(node) or _dump(node)


def _value(node: ast.stmt) -> ast.expr | None:
    """The value that a field or variable gets, without what is said of a field: `1` for `Field(default=1, ...)`."""
    value: ast.expr | None = getattr(node, "value", None)
    if isinstance(value, ast.Call) and last_name(value.func) == "Field":
        given = [item for item in value.keywords if item.arg not in _SAID_OF_FIELDS]
        if not value.args and [item.arg for item in given] == ["default"]:
            return given[0].value
        value = copy.copy(value)
        value.keywords = given
    return value


def _is_same(one: ast.AST, other: ast.AST) -> bool:
    return _dump(one) == _dump(other)


def _dump(node: ast.AST) -> str:
    """What `ast.dump` is for, but without its recursion, which long sums exceed.

    Each node is written with the names of its fields, and each list with the number of its items.
    """
    found: list[str] = []
    waiting: list[object] = [node]
    while waiting:
        match waiting.pop():
            case ast.AST() as inner:
                fields = dict(ast.iter_fields(inner))
                found.append(f"{type(inner).__name__}({','.join(fields)})")
                waiting += reversed(fields.values())
            case list() as items:
                found.append(f"[{len(items)}]")
                waiting += reversed(items)
            case value:
                # Python writes no number of thousands of decimal digits.
                found.append(hex(value) if type(value) is int else repr(value))
    return " ".join(found)


def _shown(value: ast.expr) -> str:
    return f"`{clip(' '.join((unparse(value) or '?').split()), MAX_VALUE_CHARS)}`"


def _doc(node: Definition) -> str:
    return " ".join(inspect.cleandoc(bare_string(node.body[0] if node.body else None) or "").split())


def _statements(node: Definition) -> list[ast.stmt]:
    """The statements of a body that do something, unlike docstrings, `pass` and `...`."""
    return [
        item
        for item in node.body
        if not isinstance(item, ast.Pass) and bare_string(item) is None and not _is_ellipsis(item)
    ]


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...
