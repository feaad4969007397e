"""What the names of a Python document mean: imports, aliases, attributes and instances are followed by reading."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adk_evidence.documents.document import Binding, Mention, PythonDocument, Scope, Use
from adk_evidence.readers.annotations import annotation_names
from adk_evidence.symbols.lookup import Symbols
from adk_evidence.symbols.table import SymbolEntry
from adk_evidence.text.identifiers import is_private

# Longest chain of names that is followed. No program needs a longer one, and a cycle ends here.
MAX_DEPTH = 16


@dataclass(frozen=True)
class _Path:
    """A module, class or function by its importable path."""

    dotted: str


@dataclass(frozen=True)
class _Instance:
    """An instance of an indexed class."""

    of: Reached


@dataclass(frozen=True, eq=False)
class _Local:
    """A class of the document, or an instance of it; with `above`, without what that class defines itself."""

    scope: Scope
    is_class: bool
    above: bool = False


# How much a use of a name says of what the code is about, the most telling first.
_TELLING: Sequence[Use] = ("call", "keyword", "name", "annotation", "import")


@dataclass(frozen=True)
class Named:
    """What a range of a document names.

    `entries` are the indexed symbols that the range is mainly about first. `claimed` are names that only the indexed
    code can define, such as an imported name or a keyword of an indexed class, whether or not that code defines them.
    """

    entries: tuple[SymbolEntry, ...]
    claimed: frozenset[str]


class Reached(NamedTuple):
    """An indexed symbol, and the path by which a document comes to it: by the class that the document names.

    What that class inherits, or is another name of, may stand elsewhere in other versions.
    """

    entry: SymbolEntry
    path: str


# What is reached by itself is an attribute of an instance.
_Value = _Path | Reached | _Instance | _Local


def resolve_at(document: PythonDocument, symbols: Symbols, line: int, column: int) -> SymbolEntry | None:
    """The indexed symbol that the name at a line and column means, or None."""
    found = reached_at(document, symbols, line, column)
    return found.entry if found else None


def reached_at(document: PythonDocument, symbols: Symbols, line: int, column: int) -> Reached | None:
    """What `resolve_at` finds, with the path that leads there."""
    mention = document.mention_at(line, column)
    return _Reader(symbols).meaning(mention) if mention else None


def parameter_at(document: PythonDocument, symbols: Symbols, line: int, column: int) -> tuple[Reached, str] | None:
    """The function of the index whose parameter the keyword at a place sets, and the parameter.

    The path of an `__init__` is that of its class.
    """
    mention = document.mention_at(line, column)
    taking = _Reader(symbols).taking(mention) if mention else None
    return (taking, mention.name) if mention and taking else None


def named_in(document: PythonDocument, symbols: Symbols, start: tuple[int, int], end: tuple[int, int]) -> Named:
    """The indexed symbols in a range of (line, column), each once, by what the range does with them.

    Calls come before other uses, names that are used more often before others, and private names last. A keyword names
    a field, or the function that has the parameter. Modules are named where nothing else is.
    """
    reader = _Reader(symbols)
    found: dict[SymbolEntry, list[Use]] = {}
    claimed = set()
    for mention in document.mentions_in(start, end):
        for reached in (reader.meaning(mention), reader.taking(mention)):
            if reached is not None:
                found.setdefault(reached.entry, []).append(mention.use)
        if reader.is_claimed(mention):
            claimed.add(mention.name)

    def importance(entry: SymbolEntry) -> tuple[bool, int, int]:
        return is_private(entry.symbol), min(map(_TELLING.index, found[entry])), -len(found[entry])

    named = [entry for entry in found if entry.symbol] or found
    # The sort is stable: what is equal otherwise stays in the order of the text.
    return Named(tuple(sorted(named, key=importance)), frozenset(claimed))


def uses_of(
    document: PythonDocument, symbols: Symbols, target: SymbolEntry, names: Collection[str], module: str | None
) -> Iterator[tuple[Mention, bool]]:
    """The mentions of a symbol in an indexed file, each with whether that is sure; see `_Reader.means`.

    `names` are what the symbol is called, to which come those that the file imports it by; `module` is the file's path
    with dots.
    """
    reader = _Reader(symbols, module)
    every = (item for scope in document.scopes for item in scope.bindings.items())
    renamed = (name for name, known in every if any((one.imported or "").rpartition(".")[2] in names for one in known))
    wanted = {*names, *renamed}
    for mention in document.mentions:
        if mention.name in wanted and (sure := reader.means(mention, target)) is not None:
            yield mention, sure


class _Reader:
    """Reads a document; what an indexed document defines itself is known by its `module`."""

    def __init__(self, symbols: Symbols, module: str | None = None) -> None:
        self._symbols = symbols
        self._module = module

    def means(self, mention: Mention, target: SymbolEntry) -> bool | None:
        """Whether a mention surely means a symbol; False where that is not known, None where it means another one."""
        node, scope, line = mention.expression, mention.scope, mention.line
        known = scope.lookup(node.id, line) if isinstance(node, ast.Name) else None
        if known is not None and known[0].imported is None:
            own = self._own(known[1], mention.name)
            return True if own and self._symbols.resolve(own.fqn) == target else None
        reached = self.meaning(mention)
        if reached is not None:
            return True if reached.entry == target else None
        is_member = "." in target.symbol
        if isinstance(node, ast.Attribute) and is_member:
            return False if self._value(node.value, scope, line, 0) is None else None
        return False if isinstance(node, ast.Name) and known is None and not is_member else None

    def _own(self, scope: Scope, *names: str) -> SymbolEntry | None:
        """What an indexed document defines: one of its classes, or a name in a scope."""
        path = list(names)
        while scope.parent is not None:
            path.insert(0, scope.name)
            scope = scope.parent
        return self._symbols.table.entries.get(".".join([self._module, *path])) if self._module else None

    def meaning(self, mention: Mention) -> Reached | None:
        """The symbol that a mention names, for a keyword the field that it sets, or None."""
        if mention.keyword_of is not None:
            value = self._value(mention.keyword_of, mention.scope, mention.line, 0)
            if isinstance(value, _Local):
                return self._reached(self._local(value.scope, mention.name, 0)) if value.is_class else None
            called = self._reached(value)
            is_class = called is not None and self._symbols.is_class(called.entry)
            return self._member(called, mention.name) if called and is_class else None
        if mention.imported is not None:
            return self._reached(_Path(mention.imported))
        node = mention.expression
        return self._reached(self._value(node, mention.scope, mention.line, 0)) if node else None

    def taking(self, mention: Mention) -> Reached | None:
        """The function that has the parameter which a keyword sets."""
        if mention.keyword_of is None:
            return None
        called = self._reached(self._value(mention.keyword_of, mention.scope, mention.line, 0))
        if called is not None and self._symbols.is_class(called.entry):
            made = self._symbols.member(called.entry, "__init__")
            called = called._replace(entry=made) if made else None
        return called if called and mention.name in self._symbols.definition(called.entry).parameters else None

    def is_claimed(self, mention: Mention) -> bool:
        """Whether the name is one that only indexed code can define: what it belongs to is indexed."""
        path, owner = mention.imported, mention.keyword_of
        match mention.expression:
            case ast.Name(id=name):
                known = mention.scope.lookup(name, mention.line)
                path = known[0].imported if known else None
            case ast.Attribute(value=inner):
                owner = inner
        if path is not None and path.rpartition(".")[2] == mention.name:
            while path and path not in self._symbols.table.modules:
                path = path.rpartition(".")[0]
            return bool(path)
        return owner is not None and self._reached(self._value(owner, mention.scope, mention.line, 0)) is not None

    def _reached(self, value: _Value | None) -> Reached | None:
        match value:
            case _Path(dotted):
                entry = self._symbols.resolve(dotted)
                return Reached(entry, dotted) if entry else None
            case Reached() | _Instance():
                return value.of if isinstance(value, _Instance) else value
            case _Local(scope, above=False):
                return _by_itself(self._own(scope))
            case _:
                return None

    def _member(self, owner: Reached, name: str) -> Reached | None:
        found = self._symbols.member(owner.entry, name)
        return Reached(found, f"{owner.path}.{name}") if found else None

    def _value(self, node: ast.expr, scope: Scope, line: int, depth: int) -> _Value | None:
        if depth > MAX_DEPTH:
            return None
        match node:
            case ast.Name(id=name):
                return self._name(name, scope, line, depth)
            case ast.Attribute(value=inner, attr=name):
                owner = self._value(inner, scope, line, depth + 1)
                return self._attribute(owner, name, depth) if owner else None
            case ast.Call(func=ast.Name(id="super")):
                known = scope.lookup("self", line) or scope.lookup("cls", line)
                return _Local(known[0].owner, is_class=False, above=True) if known and known[0].owner else None
            case ast.Call(func=ast.Name(id=name)) if (known := scope.lookup(name, line)) and known[0].function:
                returned = Binding(known[0].line, annotation=known[0].function.returns)
                return self._annotated(returned, known[1], depth)
            case ast.Call(func=function):
                return self._called(self._value(function, scope, line, depth + 1))
            case ast.Await(value=inner) | ast.NamedExpr(value=inner):
                return self._value(inner, scope, line, depth + 1)
            case ast.Subscript(value=inner):
                return self._item(inner, scope, line, depth)
            case ast.IfExp(body=first, orelse=second):
                return self._value(first, scope, line, depth + 1) or self._value(second, scope, line, depth + 1)
            case _:
                return None

    def _name(self, name: str, scope: Scope, line: int, depth: int) -> _Value | None:
        known = scope.lookup(name, line)
        if known is None:
            return self._starred(name, scope)
        binding, home = known
        if binding.imported is not None:
            return _Path(binding.imported)
        if binding.owner is not None:
            return _Local(binding.owner, binding.is_class)
        if binding.annotation is not None:
            return self._annotated(binding, home, depth)
        if binding.value is not None:
            # The right side is looked up before this line, or `x = x.y` would not end.
            return self._value(binding.value, home, binding.line - 1, depth + 1)
        if binding.items_of is not None:
            return self._item(binding.items_of, home, binding.line - 1, depth)
        return None

    def _item(self, node: ast.expr, scope: Scope, line: int, depth: int) -> _Value | None:
        """An item of what an expression yields or holds."""
        while isinstance(node, ast.Await):
            node = node.value
        known = scope.lookup(node.id, line) if isinstance(node, ast.Name) else None
        if known is not None and known[0].value is not None and depth <= MAX_DEPTH:
            return self._item(known[0].value, known[1], known[0].line - 1, depth + 1)
        is_call = isinstance(node, ast.Call)
        value = self._value(node.func if isinstance(node, ast.Call) else node, scope, line, depth + 1)
        found = None if isinstance(value, _Instance) else self._reached(value)
        item = self._symbols.value_class(found.entry, called=is_call, items=True) if found else None
        return _instance(_by_itself(item))

    def _starred(self, name: str, scope: Scope) -> _Value | None:
        while scope.parent is not None:
            scope = scope.parent
        paths = (f"{module}.{name}" for module in scope.stars)
        return next((_Path(path) for path in paths if self._symbols.resolve(path)), None)

    def _annotated(self, binding: Binding, scope: Scope, depth: int) -> _Value | None:
        for dotted in annotation_names(binding.annotation) if binding.annotation else ():
            node = ast.parse(dotted, mode="eval").body
            # An annotation is resolved in the scope around the function, not in the function.
            value = self._value(node, scope.parent or scope, binding.line, depth + 1)
            if isinstance(value, _Local):
                return _Local(value.scope, is_class=False)
            found = self._reached(value)
            if found is not None and self._symbols.is_class(found.entry):
                return _Instance(found)
        return None

    def _called(self, function: _Value | None) -> _Value | None:
        if isinstance(function, _Local):
            return _Local(function.scope, is_class=False) if function.is_class else None
        found = self._reached(function)
        if found is None or isinstance(function, _Instance):
            return None
        if self._symbols.is_class(found.entry):
            return _Instance(found)
        return _instance(_by_itself(self._symbols.value_class(found.entry, called=True)))

    def _attribute(self, owner: _Value, name: str, depth: int) -> _Value | None:
        match owner:
            case _Path(dotted):
                return _Path(f"{dotted}.{name}")
            case _Instance(of):
                return self._member(of, name)
            case Reached(entry):
                held = _by_itself(self._symbols.value_class(entry, called=False))
                return self._member(held, name) if held else None
            case _Local(scope, above=above):
                return self._inherited(scope, name, depth) if above else self._local(scope, name, depth)

    def _local(self, scope: Scope, name: str, depth: int) -> _Value | None:
        """An attribute that a class of the document defines, or inherits from an indexed class."""
        if depth > MAX_DEPTH:
            return None
        if name in scope.attributes:
            value, home = scope.attributes[name][0]
            return self._value(value, home, home.last, depth + 1)
        own = scope.bindings.get(name)
        if own and (entry := self._own(scope, name)):
            return _by_itself(entry)
        if own:
            return self._annotated(own[-1], scope, depth) if own[-1].annotation is not None else None
        return self._inherited(scope, name, depth)

    def _inherited(self, scope: Scope, name: str, depth: int) -> _Value | None:
        """An attribute that the bases of a class of the document define."""
        outside = scope.parent or scope
        for base in scope.node.bases if isinstance(scope.node, ast.ClassDef) else ():
            parent = self._value(base, outside, scope.first, depth + 1)
            if isinstance(parent, _Local):
                found = self._local(parent.scope, name, depth + 1)
            else:
                base_class = self._reached(parent)
                found = self._member(base_class, name) if base_class else None
            if found is not None:
                return found
        return None


def _by_itself(entry: SymbolEntry | None) -> Reached | None:
    """A symbol by the path where it stands."""
    return Reached(entry, entry.fqn) if entry else None


def _instance(cls: Reached | None) -> _Instance | None:
    return _Instance(cls) if cls else None
