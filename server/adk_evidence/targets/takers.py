"""Where objects of a class go: the parameters and fields whose type is the class or one of its bases.

Who finds a plugin or a configuration still needs to know what takes that: `App(plugins=)`,
`Runner.run_async(run_config=)`.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from adk_evidence.readers.python import dotted_name, last_name, unquoted
from adk_evidence.render.signatures import parameters
from adk_evidence.targets.fields import Fields
from adk_evidence.targets.target import Target, Targets
from adk_evidence.text.identifiers import ends_with

MAX_TAKERS = 3
# Few people call what ranks lower.
MAX_RANK = 1000
# What no page mentions has to rank higher, unless nothing else takes a class without bases.
MAX_RANK_UNMENTIONED = 100
# A class that at least so many functions take, and so many times as many as constructors do, is one whose objects the
# framework makes: `InvocationContext`.
HANDED_TO = 14
HANDED_SHARE = 3

_NAME = re.compile(r"[A-Za-z_]\w*")
# A parameter of such a type takes no object of the classes that are named inside.
_NO_OBJECTS = frozenset({"Callable", "ClassVar", "Literal", "Type", "type"})
_BY_KEY = frozenset({"Dict", "Mapping", "MutableMapping", "dict"})
# No annotation is nested as deeply.
_MAX_DEPTH = 12
MAX_KEPT = 2000


class Takers:
    """Looks up what takes an object of a class, the higher-ranking first; what is deprecated is left out."""

    def __init__(self, targets: Targets, fields: Fields) -> None:
        self._known = targets
        self._by_fqn = {fqn: target for fqn, target in targets.by_fqn.items() if target.type == "class"}
        # By its name, each class with the paths that it goes by; `ToolContext` is another name of `Context`.
        self._named: dict[str, dict[str, Target]] = defaultdict(dict)
        for target in targets.listed:
            is_other_name = target.type == "variable" and target.is_other_name
            cls = self._by_fqn.get((target.alias_of or "") if is_other_name else target.fqn)
            if cls is not None:
                self._named[target.name] |= dict.fromkeys((target.import_path, target.fqn), cls)
        self._heirs: dict[str, Target] = {}
        # By the class that is taken: the names of what each taker, by its place, takes.
        self._takers: dict[str, dict[int, list[str]]] = defaultdict(dict)
        self._targets = sorted(targets.listed, key=lambda one: one.rank)
        for place, target in enumerate(self._targets):
            self._note_heir(target)
            if not target.parts.deprecated:
                self._note_taken(place, target, fields)
        self._handed = {fqn for fqn, takers in self._takers.items() if self._is_handed(takers)}

    def of(self, target: Target) -> tuple[str, ...]:
        """The first takers of a class, e.g. `App(plugins=)`; none of a class whose objects the framework makes.

        Those of its class for what is another name or an instance of a class.
        """
        target = self._known.meant(target)
        found: dict[int, Sequence[str]] = {}
        for fqn in (target.fqn, *target.bases):
            if fqn not in self._handed:
                for place, names in self._takers.get(fqn, {}).items():
                    # What takes the class itself and a base of it takes the class by the parameter that is closer.
                    found.setdefault(place, names)
        places = [place for place in sorted(found) if self._targets[place].fqn not in self._handed]
        others = [place for place in places if self._called(place) != target.symbol]
        usual = [place for place in others if _is_usual(self._targets[place])]
        # Of a class with bases, what takes a base need not take each heir, and what takes the class is its own kin.
        made = [place for place in others if self._targets[place].type == "class" and not target.bases]
        told = (f"{self._called(place)}({', '.join(f'{name}=' for name in found[place])})" for place in usual or made)
        return tuple(dict.fromkeys(told))[:MAX_TAKERS]

    def _note_heir(self, target: Target) -> None:
        for base in target.bases:
            # An heir with a constructor of its own need not take what the base takes.
            if base in self._by_fqn and (self._by_fqn[base].is_model or target.is_bare_class):
                self._heirs.setdefault(base, target)

    def _note_taken(self, place: int, target: Target, fields: Fields) -> None:
        old = self._deprecated_parameters(target)
        for name, annotation in _taken(target, fields):
            for cls in self._meant(annotation, target) if name not in old else ():
                names = self._takers[cls.fqn].setdefault(place, [])
                if name not in names:
                    names.append(name)

    def _called(self, place: int) -> str:
        """The name of a taker; in place of a base that nobody makes, its first heir."""
        target = self._targets[place]
        heir = self._heirs.get(target.fqn) if target.type == "class" and target.name.startswith("Base") else None
        return target.symbol if heir is None else heir.symbol

    def _deprecated_parameters(self, target: Target) -> Collection[str]:
        """Those of a target, and of the bases of a class, to whose constructors it hands them."""
        return {name for one in self._known.with_bases(target) for name in one.deprecated_parameters}

    def _meant(self, annotation: str, target: Target) -> Iterator[Target]:
        """The classes whose objects an annotation takes; none for a name that may be of several classes."""
        if self._named.keys().isdisjoint(_NAME.findall(annotation)):
            return
        for name in _object_names(annotation):
            # `web.Session` is of another package, and has no entry.
            named = self._named.get(name, {})
            imported = [path for path in target.types if ends_with(path, name)]
            classes = {cls.fqn: cls for cls in (map(named.get, imported) if imported else named.values()) if cls}
            if not imported and len(classes) > 1:
                # The types of fields have no known imports.
                beside = _folder(target.path)
                near = {fqn: cls for fqn, cls in classes.items() if cls.path == target.path}
                classes = near or {fqn: cls for fqn, cls in classes.items() if _folder(cls.path) == beside}
            if len(classes) == 1:
                yield from classes.values()

    def _is_handed(self, takers: Mapping[int, object]) -> bool:
        made = sum(self._targets[place].type == "class" for place in takers)
        called = len(takers) - made
        return called >= HANDED_TO and called >= HANDED_SHARE * made


def _taken(target: Target, fields: Fields) -> Iterator[tuple[str, str]]:
    """What a target takes: names of parameters, and of the fields that a class is made with, with their annotations."""
    if target.type in ("class", "method", "function") and not target.is_bare_class:
        yield from parameters(target.signatures[0])
    if target.is_model:
        yield from fields.own(target)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _is_usual(taker: Target) -> bool:
    return taker.rank <= (MAX_RANK if taker.parts.docs_mentions else MAX_RANK_UNMENTIONED)


# The same annotations come again.
@functools.lru_cache(MAX_KEPT)
def _object_names(annotation: str) -> tuple[str, ...]:
    """The dotted names of the classes whose objects a parameter of this type takes, by themselves or in collections."""
    found: dict[str, None] = {}
    waiting: list[tuple[ast.AST, int]] = [(ast.Constant(annotation), 0)]
    while waiting:
        node, depth = waiting.pop(0)
        if depth > _MAX_DEPTH:
            continue
        if isinstance(node, ast.Constant):
            said = unquoted(node)
            waiting += [(said, depth + 1)] if said is not node else []
        elif isinstance(node, ast.Subscript):
            outer = last_name(node.value)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            parts = parts[1:] if outer in _BY_KEY else parts[:1] if outer == "Annotated" else parts
            waiting += [] if outer in _NO_OBJECTS else [(part, depth + 1) for part in parts]
        elif isinstance(node, ast.BinOp | ast.List | ast.Tuple):
            waiting += [(part, depth + 1) for part in ast.iter_child_nodes(node)]
        elif isinstance(node, ast.Name | ast.Attribute) and (name := dotted_name(node)) is not None:
            found[name] = None
    return tuple(found)
