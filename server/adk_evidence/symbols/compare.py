"""Compares the public definitions of two versions of the code. Files are read; nothing is imported or run.

A definition is what it was as long as some public import path leads to it. Where none does, a definition of the same
name, or one of nearly the same lines, takes its place; without either, the definition is gone.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic.alias_generators import to_camel

from adk_evidence.identifiers import is_private
from adk_evidence.models.chunk import sha256_text
from adk_evidence.models.citation import code_citation
from adk_evidence.models.difference import Change, ChangeKind, DefinitionKind, Place
from adk_evidence.models.pack import LineSpan, Verification
from adk_evidence.readers.python import (
    Definition,
    Function,
    bound_names,
    clip,
    first_line,
    last_line,
    parse,
    scope_blocks,
    signature,
    unparse,
)
from adk_evidence.symbols import history
from adk_evidence.symbols.history import History, Keywords
from adk_evidence.symbols.history_table import DEPRECATED, public_path
from adk_evidence.symbols.signatures import (
    Told,
    code_of,
    compare_bases,
    compare_fields,
    compare_functions,
    compare_texts,
    is_abstract,
)
from adk_evidence.textfile import split_lines

# How alike the lines of two definitions must be, so that one is taken for the other under a new path or a new name.
SAME_NAME_LIKENESS = 0.4
NEW_NAME_LIKENESS = 0.8
# Shorter definitions are alike by chance.
MIN_RENAMED_LINES = 6

# The order of a list; breaking changes of any kind come before.
_ORDER: tuple[ChangeKind, ...] = (
    "gone",
    "renamed",
    "incompatible",
    "deprecated",
    "changed",
    "moved",
    "added",
    "text",
)
_KINDS: Mapping[str, DefinitionKind] = {
    "m": "module",
    "c": "class",
    "f": "function",
    "a": "function",
    "p": "property",
    "r": "field",
    "o": "field",
    "n": "field",
    "s": "attribute",
    "v": "variable",
}
# What modules keep for their own use, although its name does not say so.
_OWN_USE = frozenset({"logger"})
Spot = history.Place


@dataclass(frozen=True)
class SourceModule:
    """A file of Python: its path within the repository, and its text with `\\n` newlines."""

    path: str
    text: str


@dataclass(frozen=True)
class Release:
    """The code of one version.

    `read` gives the text of a file as it is now, for the check of citations; None where the file is gone.
    """

    version: str
    repo: str
    commit: str
    modules: Mapping[str, SourceModule]
    read: Callable[[str], str | None]


@dataclass(frozen=True)
class Found:
    """A definition in the text: its node, and the lines that hold the node."""

    module: SourceModule
    node: ast.stmt
    lines: LineSpan

    @property
    def text(self) -> list[str]:
        return split_lines(self.module.text)[self.lines.start - 1 : self.lines.end]


@dataclass
class Pair:
    """One difference before it is shown: the definition on both sides, by its home and by its public path.

    `lost` is an import path that no longer leads to the definition.
    """

    change: ChangeKind
    kind: DefinitionKind
    before: Spot | None
    after: Spot | None
    name_before: str = ""
    name_after: str = ""
    told: list[Told] = field(default_factory=list)
    breaking: bool = False
    members: tuple[str, ...] = ()
    use: str | None = None
    lost: str | None = None

    @property
    def name(self) -> str:
        """The name that people look for: of what they must write in another way, the name that they wrote."""
        return self.lost or (self.name_before if self.change == "renamed" else self.name_after or self.name_before)

    @property
    def order(self) -> tuple[object, ...]:
        return (not self.breaking, _ORDER.index(self.change), self.name)


class _Side:
    """One version as the comparison sees it: `number` is its number in the table of both versions."""

    def __init__(self, release: Release, table: History, number: int) -> None:
        self.release = release
        self.history = table
        self.number = number
        self._trees: dict[str, dict[str, list[ast.stmt]]] = {}
        self._found: dict[Spot, Found | None] = {}

    @cached_property
    def modules(self) -> frozenset[str]:
        """The public modules."""
        return frozenset(
            module
            for module in self.history.table.modules
            if not is_private(module) and self.payload(Spot(module, "")) is not None
        )

    @cached_property
    def packages(self) -> frozenset[str]:
        return frozenset(module.rpartition(".")[0] for module in self.history.table.modules)

    @cached_property
    def public(self) -> dict[Spot, list[str]]:
        """The public import paths of what stands at the top of a module.

        What modules import for their own use has no path of its own.
        """
        found: dict[Spot, list[str]] = {}
        for module in sorted(self.modules):
            for name in self.history.table.rows(module):
                payload = self.payload(Spot(module, name)) if name and "." not in name else None
                if payload is None or payload == "~" or name.endswith(DEPRECATED) or name in _OWN_USE:
                    continue
                path = f"{module}.{name}"
                place = self.find(path)
                if place is not None and place.name and (place.path == path or module in self.packages):
                    found.setdefault(place, []).append(path)
        return found

    def payload(self, place: Spot) -> str | None:
        return self.history.payload(self.number, place)

    def find(self, path: str) -> Spot | None:
        found = self.history.find(self.number, path)
        return found if isinstance(found, Spot) else None

    def has(self, path: str) -> bool:
        """Whether a path leads to something, be it of another distribution."""
        return self.history.find(self.number, path) is not None

    def members(self, place: Spot) -> dict[str, str]:
        """The public members that a class itself defines, with their payloads."""
        inside = f"{place.name}."
        found: dict[str, str] = {}
        for name in self.history.table.rows(place.module):
            member = name[len(inside) :]
            if name.startswith(inside) and "." not in member and not name.endswith(DEPRECATED):
                payload = self.payload(Spot(place.module, name))
                if payload is not None:
                    found[member] = payload
        return found

    def kind(self, place: Spot) -> DefinitionKind:
        payload = self.payload(place) or "v"
        kind = _KINDS.get(payload[0], "variable")
        return "method" if kind == "function" and "." in place.name else kind

    def shown(self, place: Spot) -> str:
        """The public path of a definition or member; where there is none, its own."""
        top, _, member = place.name.partition(".")
        home = Spot(place.module, top)
        paths = self.public.get(home)
        path = public_path(home.path, paths, self.packages) if paths else home.path
        return f"{path}.{member}" if member else path

    def found(self, place: Spot) -> Found | None:
        """The definition in the text; of a module the whole file."""
        if place not in self._found:
            self._found[place] = self._look_up(place)
        return self._found[place]

    def takes(self, owner: Spot, name: str) -> bool:
        """Whether a class is made with a keyword."""
        keywords = self.history.keywords_at(self.number, self.shown(owner))
        return keywords is not None and name in keywords.names

    def foreign_bases(self, place: Spot) -> frozenset[str]:
        """The bases of a class that the table cannot look into."""
        payload = self.payload(place) or "c:"
        return frozenset(base for base in payload.partition(":")[2].split() if base.startswith(("~", "?")))

    def _look_up(self, place: Spot) -> Found | None:
        module = self.release.modules.get(place.module)
        if module is None:
            return None
        if not place.name:
            lines = LineSpan(start=1, end=max(1, len(split_lines(module.text))))
            return Found(module, ast.Pass(), lines)
        nodes = self._nodes(place.module, module).get(place.name, ())
        if not nodes:
            return self._attribute(module, place)
        node = next((item for item in nodes if not _is_aside(item)), nodes[0])
        return Found(module, node, LineSpan(start=first_line(node), end=last_line(node)))

    def _attribute(self, module: SourceModule, place: Spot) -> Found | None:
        """The first statement of a method that sets an attribute."""
        owner, _, name = place.name.rpartition(".")
        for scope in self._nodes(place.module, module).get(owner, ()):
            sets = (
                item
                for item in ast.walk(scope)
                if isinstance(item, ast.Assign | ast.AnnAssign)
                and any(
                    isinstance(inner, ast.Attribute) and inner.attr == name and isinstance(inner.ctx, ast.Store)
                    for inner in ast.walk(item)
                )
            )
            for node in sorted(sets, key=first_line):
                return Found(module, node, LineSpan(start=first_line(node), end=last_line(node)))
        return None

    def _nodes(self, name: str, module: SourceModule) -> dict[str, list[ast.stmt]]:
        found = self._trees.get(name)
        if found is None:
            # Citations count `\n` only, Python counts `\r` and form feeds too.
            tree, _ = parse(module.text.replace("\r", " ").replace("\f", " "))
            found = self._trees[name] = _definitions(tree)
        return found


def _definitions(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    """All definitions and variables by their qualified names, in the order of the source."""
    found: dict[str, list[ast.stmt]] = {}
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, scope = waiting.pop()
        for block in scope_blocks(scope):
            for node in block:
                for name in bound_names(node):
                    found.setdefault(prefix + name, []).append(node)
                if isinstance(node, ast.ClassDef):
                    waiting.append((f"{prefix}{node.name}.", node))
    for nodes in found.values():
        nodes.sort(key=first_line)
    return found


def _is_aside(node: ast.stmt) -> bool:
    """Whether a function only declares an overload, or sets or deletes a property."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    names = {item.attr if isinstance(item, ast.Attribute) else getattr(item, "id", "") for item in decorators}
    return bool(names & {"overload", "setter", "deleter"})


class Comparison:
    """The differences between two versions.

    Args:
        before: The earlier version.
        after: The later version.
        table: What both versions have: number 0 is `before`, number 1 is `after`.
        released: The table of all released versions, for the version that made a difference.
    """

    def __init__(self, before: Release, after: Release, table: History, released: History | None = None) -> None:
        self._old = _Side(before, table, 0)
        self._new = _Side(after, table, 1)
        self._table = table
        self._released = released

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every difference, breaking ones first."""
        return tuple(sorted(self._pairs(), key=lambda pair: pair.order))

    def of(self, path: str) -> tuple[Pair, ...]:
        """The differences of what an import path leads to and of what stands inside."""
        old, new = self._old.find(path), self._new.find(path)
        return tuple(pair for pair in self.pairs if _concerns(pair, path, old, new))

    def path_of(self, name: str) -> str | None:
        """The import path that a name means in either version, the likeliest; None where neither has the name."""
        dotted = history.bare(name)
        for path in self._table.paths(dotted) if dotted else ():
            if not is_private(path) and (self._old.find(path) is not None or self._new.find(path) is not None):
                return path
        return None

    def is_module(self, path: str) -> bool:
        """Whether a path is that of a module or package in either version."""
        return any(place is not None and not place.name for place in (self._old.find(path), self._new.find(path)))

    def change(self, pair: Pair, *, lines: bool = False) -> Change:
        """A difference as it is shown; `lines` adds the unified diff of the definition's lines."""
        told = sorted(pair.told, key=lambda one: not one.breaking)
        before = self._place(self._old, pair.before, pair.name_before)
        after = self._place(self._new, pair.after, pair.name_after)
        return Change(
            change=pair.change,
            breaking=pair.breaking,
            kind=pair.kind,
            name=pair.name,
            details=tuple(one.text for one in told),
            since=self._since(pair),
            use=pair.use,
            members=pair.members,
            before=before,
            after=after,
            diff=self._diff(pair) if lines and pair.kind != "module" else "",
        )

    def places(self, path: str) -> tuple[Place, ...]:
        """A definition in both versions, the earlier one first."""
        found = (self._place(side, side.find(path), path) for side in (self._old, self._new))
        return tuple(place for place in found if place is not None)

    # Which definition became which

    def _pairs(self) -> Iterator[Pair]:
        matched = dict(self._matches())
        gone = [place for place in self._old.public if place not in matched]
        came = [place for place in self._new.public if place not in set(matched.values())]
        moved = self._moved(gone, came)
        matched |= moved
        lost, made = self._changed_modules(matched, moved)
        yield from lost.values()
        yield from made.values()
        for place, now in matched.items():
            yield from self._compare(place, now, lost, moved=place in moved)
        covered = {name for pair in lost.values() for name in pair.members}
        for place in gone:
            if place not in moved and self._old.shown(place) not in covered:
                yield self._gone(place)
        added = {name for pair in made.values() for name in pair.members}
        taken = set(moved.values())
        for place in came:
            if place not in taken and self._new.shown(place) not in added:
                yield self._added(place)

    def _matches(self) -> Iterator[tuple[Spot, Spot]]:
        """Definitions that a public path of theirs still leads to."""
        for place, paths in self._old.public.items():
            preferred = self._old.shown(place)
            for path in (preferred, *paths):
                now = self._new.find(path)
                if now is not None and now.name:
                    yield place, now
                    break

    def _moved(self, gone: Sequence[Spot], came: Sequence[Spot]) -> dict[Spot, Spot]:
        """Definitions that stand under another path or name now, each with the new one that is most alike."""
        rated: list[tuple[float, str, str, Spot, Spot]] = []
        for place in gone:
            kind = self._old.kind(place)
            for now in came:
                same = place.name == now.name
                if self._new.kind(now) != kind or kind == "variable":
                    continue
                alike = self._likeness(place, now, SAME_NAME_LIKENESS if same else NEW_NAME_LIKENESS, same=same)
                if alike:
                    rated.append((alike + same, place.path, now.path, place, now))
        found = _best(rated)
        # A variable is short: only what went the same way as others of its module is the same.
        ways = {(place.module, now.module) for place, now in found.items()}
        for place in gone:
            same = [now for now in came if now.name == place.name and (place.module, now.module) in ways]
            if self._old.kind(place) == "variable" and len(same) == 1 and self._new.kind(same[0]) == "variable":
                found[place] = same[0]
        return found

    def _likeness(self, place: Spot, now: Spot, least: float, *, same: bool) -> float:
        """How alike the lines of two definitions are, from `least` to 1; 0 below."""
        old, new = self._old.found(place), self._new.found(now)
        if old is None or new is None:
            return 0.0
        ours, theirs = ([line.strip() for line in found.text if line.strip()] for found in (old, new))
        if not same and min(len(ours), len(theirs)) < MIN_RENAMED_LINES:
            return 0.0
        matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
        if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
            return 0.0
        ratio = matcher.ratio()
        return ratio if ratio >= least else 0.0

    # Modules

    def _changed_modules(
        self, matched: Mapping[Spot, Spot], moved: Mapping[Spot, Spot]
    ) -> tuple[dict[str, Pair], dict[str, Pair]]:
        """Public modules that are gone and new, the outermost of each, with the definitions that went or came."""
        lost = {name: Pair("gone", "module", Spot(name, ""), None, name) for name in self._outermost_lost()}
        for name, pair in lost.items():
            homes = [place for place in self._old.public if _inside(place.module, name)]
            targets = {self._new.shown(matched[place]).rpartition(".")[0] for place in homes if place in matched}
            whole = bool(homes) and all(place in matched for place in homes)
            if whole and len(targets) == 1:
                target = targets.pop()
                pair.change, pair.name_after, pair.lost = "moved", target, name
                pair.after = self._new.find(target)
                pair.told.append(Told(f"import from `{target}` now, not from `{name}`", breaking=True))
            else:
                pair.told.append(Told("the module is gone", breaking=True))
            pair.breaking = True
            pair.members = tuple(sorted(self._old.shown(place) for place in homes if place not in matched))
            if not whole:
                for place in homes:
                    if place in matched:
                        pair.told.append(Told(f"`{place.name}` is in `{self._new.shown(matched[place])}`"))
        new = [name for name in sorted(self._new.modules) if not self._old.has(name)]
        outer = [name for name in new if not any(_inside(name, one) and name != one for one in new)]
        made: dict[str, Pair] = {}
        for name in outer:
            names = sorted(
                self._new.shown(place)
                for place in self._new.public
                if _inside(self._new.shown(place).rpartition(".")[0], name)
            )
            if names and not any(pair.name_after == name for pair in lost.values()):
                made[name] = Pair("added", "module", None, Spot(name, ""), name_after=name, members=tuple(names))
        return lost, made

    def _outermost_lost(self) -> list[str]:
        gone = [name for name in sorted(self._old.modules) if not self._new.has(name)]
        return [name for name in gone if not any(_inside(name, one) and name != one for one in gone)]

    # One definition

    def _gone(self, place: Spot) -> Pair:
        pair = Pair("gone", self._old.kind(place), place, None, self._old.shown(place), breaking=True)
        told = self._table.deprecation(0, pair.name_before)
        if told is not None:
            pair.use = told[0] or None
            pair.told.append(Told(f"was deprecated: {told[1]}"))
        if pair.kind == "class":
            pair.members = tuple(sorted(name for name in self._old.members(place) if not is_private(name)))
        return pair

    def _added(self, place: Spot) -> Pair:
        pair = Pair("added", self._new.kind(place), None, place, name_after=self._new.shown(place))
        if pair.kind == "class":
            pair.members = tuple(sorted(name for name in self._new.members(place) if not is_private(name)))
        return pair

    def _compare(self, place: Spot, now: Spot, lost: Mapping[str, Pair], *, moved: bool) -> Iterator[Pair]:
        names = self._old.shown(place), self._new.shown(now)
        pair = Pair("changed", self._new.kind(now), place, now, *names)
        gone = [path for path in self._old.public[place] if not self._new.has(path)]
        # The entry of a module that is gone says where its definitions are.
        gone = [path for path in gone if not any(_inside(path.rpartition(".")[0], module) for module in lost)]
        if gone or moved:
            renamed = place.name != now.name
            if renamed and moved:
                pair.told.append(Told(f"is called `{names[1]}` now, not `{names[0]}`", breaking=True))
                pair.change = "renamed"
            elif gone:
                shown = ", ".join(f"`{path}`" for path in gone)
                pair.told.append(Told(f"cannot be imported as {shown} any more", breaking=True))
                pair.change = "moved"
            pair.lost = gone[0] if gone else None
            pair.use = names[1] if gone else None
        elif self._new.release.modules.get(now.module) and self._path(self._old, place) != self._path(self._new, now):
            pair.told.append(Told(f"is defined in {self._path(self._new, now)} now"))
            pair.change = "moved"
        pair.told += self._differences(place, now)
        if self._old.kind(place) == self._new.kind(now) == "class":
            pair.told += self._constructor(place, now)
        yield from self._finished(pair, place, now)
        if self._old.kind(place) == self._new.kind(now) == "class":
            yield from self._members(place, now)

    def _finished(self, pair: Pair, place: Spot, now: Spot) -> Iterator[Pair]:
        """The difference with its kind, if there is one."""
        old = self._table.deprecation(0, pair.name_before)
        new = self._table.deprecation(1, pair.name_after)
        if new is not None and old is None and self._says_so(now):
            pair.told.append(Told(f"is deprecated: {new[1]}"))
            pair.use = pair.use or new[0] or None
            if pair.change == "changed":
                pair.change = "deprecated"
        texts = self._texts(place, now)
        if pair.change == "changed" and any(one.breaking for one in pair.told):
            pair.change = "incompatible"
        elif pair.change == "changed" and not pair.told:
            pair.change = "text"
        pair.told += texts
        pair.breaking = any(one.breaking for one in pair.told)
        if pair.told:
            yield pair

    def _says_so(self, place: Spot) -> bool:
        """Whether a definition itself is deprecated: of a member, its class may be, which is said once."""
        return self._new.payload(Spot(place.module, place.name + DEPRECATED)) is not None

    def _differences(self, place: Spot, now: Spot) -> list[Told]:
        """What differs for those who use a definition."""
        kinds = self._old.kind(place), self._new.kind(now)
        payloads = self._old.payload(place) or "v", self._new.payload(now) or "v"
        if kinds[0] != kinds[1]:
            breaking = "method" in kinds or "function" in kinds or kinds[0] == "class"
            return [Told(f"is a {kinds[1]} now, not a {kinds[0]}", breaking=breaking)]
        if kinds[0] == "attribute" or self._same_file(place, now):
            return []
        old, new = self._old.found(place), self._new.found(now)
        if old is None or new is None:
            return []
        if isinstance(old.node, Function) and isinstance(new.node, Function):
            if kinds[0] == "property":
                return [
                    Told(one.text.replace("returns", "gives", 1), one.breaking)
                    for one in compare_functions(old.node, new.node, bound=True)
                ]
            return compare_functions(old.node, new.node, bound="." in place.name)
        if isinstance(old.node, ast.ClassDef) and isinstance(new.node, ast.ClassDef):
            return compare_bases(old.node, new.node)
        if isinstance(old.node, Definition) or isinstance(new.node, Definition):
            return []
        found = compare_fields(old.node, new.node)
        before, after = (Spot(one.module, one.name.rpartition(".")[0]) for one in (place, now))
        name = place.name.rpartition(".")[2]
        if self._old.takes(before, name) and payloads[0][0] in "ro":
            if payloads[0][0] == "o" and payloads[1][0] == "r":
                found.append(Told("is required now", breaking=True))
            elif not self._new.takes(after, name):
                found.append(Told("cannot be set any more when the class is made", breaking=True))
        return found

    def _same_file(self, place: Spot, now: Spot) -> bool:
        old, new = self._old.release.modules.get(place.module), self._new.release.modules.get(now.module)
        return old is not None and old == new and place.name == now.name

    def _texts(self, place: Spot, now: Spot) -> list[Told]:
        if self._same_file(place, now) or self._new.kind(now) in ("attribute", "field", "variable"):
            return []
        old, new = self._old.found(place), self._new.found(now)
        return compare_texts(old.node, new.node) if old is not None and new is not None else []

    # Members of a class

    def _members(self, place: Spot, now: Spot) -> Iterator[Pair]:
        old, new = self._old.members(place), self._new.members(now)
        names = self._old.shown(place), self._new.shown(now)
        gone = {name for name in old if name not in new and self._new.find(f"{names[1]}.{name}") is None}
        came = {name for name in new if name not in old and self._old.find(f"{names[0]}.{name}") is None}
        # `__init__` is the class's own matter.
        renamed = self._renamed(place, now, gone - {"__init__"}, came - {"__init__"})
        # A new base of another distribution may bring what is missed.
        unknown = bool(self._new.foreign_bases(now) - self._old.foreign_bases(place))
        for name in sorted(old.keys() - {"__init__"}):
            here = Spot(place.module, f"{place.name}.{name}")
            shown = f"{names[0]}.{name}"
            if name in new:
                there = Spot(now.module, f"{now.name}.{name}")
                pair = Pair("changed", self._new.kind(there), here, there, shown, f"{names[1]}.{name}")
                pair.told += self._differences(here, there)
                yield from self._finished(pair, here, there)
            elif name in renamed:
                there = Spot(now.module, f"{now.name}.{renamed[name]}")
                after = f"{names[1]}.{renamed[name]}"
                pair = Pair("renamed", self._new.kind(there), here, there, shown, after, use=after)
                pair.told.append(Told(f"is called `{renamed[name]}` now, not `{name}`", breaking=True))
                pair.told += self._differences(here, there)
                yield from self._finished(pair, here, there)
            elif name in gone and not unknown:
                pair = Pair("gone", self._old.kind(here), here, None, shown, breaking=True)
                told = self._table.deprecation(0, shown)
                if told is not None and self._old.payload(Spot(here.module, here.name + DEPRECATED)) is not None:
                    pair.use = told[0] or None
                    pair.told.append(Told(f"was deprecated: {told[1]}"))
                yield pair
        for name in sorted(came - set(renamed.values()) - {"__init__"}):
            there = Spot(now.module, f"{now.name}.{name}")
            pair = Pair("added", self._new.kind(there), None, there, name_after=f"{names[1]}.{name}")
            found = self._new.found(there)
            if new[name][0] == "r" and self._new.takes(now, name):
                pair.told.append(Told("must be set when the class is made", breaking=True))
            elif found is not None and is_abstract(found.node):
                pair.told.append(Told("is abstract: subclasses must implement it", breaking=True))
            if pair.told:
                pair.change, pair.breaking = "incompatible", True
            yield pair

    def _renamed(self, place: Spot, now: Spot, gone: Iterable[str], came: Iterable[str]) -> dict[str, str]:
        """Members that stand under another name now: their code is the same, or nearly."""
        rated: list[tuple[float, str, str, Spot, Spot]] = []
        for name in gone:
            here = Spot(place.module, f"{place.name}.{name}")
            for other in came:
                there = Spot(now.module, f"{now.name}.{other}")
                if self._old.kind(here) != self._new.kind(there) or self._old.kind(here) not in ("method", "property"):
                    continue
                alike = self._likeness(here, there, NEW_NAME_LIKENESS, same=False)
                old, new = self._old.found(here), self._new.found(there)
                if not alike and old is not None and new is not None:
                    code = code_of(old.node)
                    alike = float(len(code) > 200 and code == code_of(new.node))
                if alike:
                    rated.append((alike, here.path, there.path, here, there))
        found = _best(rated)
        return {old.name.rpartition(".")[2]: new.name.rpartition(".")[2] for old, new in found.items()}

    def _constructor(self, place: Spot, now: Spot) -> list[Told]:
        """What differs in how a class is made, as far as neither its own fields nor its bases say it."""
        init = [Spot(one.module, f"{one.name}.__init__") for one in (place, now)]
        if self._old.payload(init[0]) is not None and self._new.payload(init[1]) is not None:
            return [
                Told(f"made with: {one.text}", one.breaking)
                for one in self._differences(*init)
                if not one.text.startswith("returns")
            ]
        before, after = (self._keywords(side, one) for side, one in ((self._old, place), (self._new, now)))
        if before is None or after is None:
            return []
        told = self._keyword_differences(before, after)
        said = {name for side, one in ((self._old, place), (self._new, now)) for name in side.members(one)}
        said |= {to_camel(name) for name in said}
        for base in self._shared_bases(place):
            ours, theirs = self._keywords(self._old, base[0]), self._keywords(self._new, base[1])
            if ours is not None and theirs is not None:
                said |= {name for name, _ in self._keyword_differences(ours, theirs)}
        return [one for name, one in told if name not in said]

    def _keywords(self, side: _Side, place: Spot) -> Keywords | None:
        return side.history.keywords_at(side.number, side.shown(place))

    def _keyword_differences(self, before: Keywords, after: Keywords) -> list[tuple[str, Told]]:
        found = [
            (name, Told(f"made with: keyword `{name}` is gone", breaking=True))
            for name in sorted(before.names - after.names - after.hidden)
            if not after.open
        ]
        for name in sorted(after.names - before.names):
            required = name in after.required
            text = f"made with: new keyword `{name}`{' is required' if required else ''}"
            if not before.open:
                found.append((name, Told(text, breaking=required)))
        found += [
            (name, Told(f"made with: keyword `{name}` is required now", breaking=True))
            for name in sorted((after.required - before.required) & before.names)
        ]
        return found

    def _shared_bases(self, place: Spot) -> Iterator[tuple[Spot, Spot]]:
        """The bases of a class that both versions have as classes."""
        payload = self._old.payload(place) or "c:"
        for base in payload.partition(":")[2].split():
            if not base.startswith(("~", "?")):
                old, new = self._old.find(base), self._new.find(base)
                if old is not None and new is not None:
                    yield old, new

    # What is shown

    def _path(self, side: _Side, place: Spot) -> str:
        module = side.release.modules.get(place.module)
        return module.path if module else ""

    def _place(self, side: _Side, place: Spot | None, name: str) -> Place | None:
        found = side.found(place) if place is not None else None
        if place is None or found is None:
            return None
        release, path, lines = side.release, found.module.path, found.lines
        shown = ""
        if place.name:
            node = found.node
            text = signature(node) if isinstance(node, Definition) else unparse(node)
            shown = clip(text or "", 400)
        return Place(
            name=name or side.shown(place),
            citation=code_citation(release.repo, release.commit, path, lines.start, lines.end),
            path=path,
            lines=lines,
            signature=shown,
            verification=_checked(release, found),
        )

    def _diff(self, pair: Pair) -> str:
        """The unified diff of a definition that both versions have; of a class, without what its members say."""
        if pair.before is None or pair.after is None:
            return ""
        old, new = self._old.found(pair.before), self._new.found(pair.after)
        if old is None or new is None:
            return ""
        names = [f"{side.release.commit}:{found.module.path}" for side, found in ((self._old, old), (self._new, new))]
        return unified(_own_lines(old), _own_lines(new), *names, old.lines.start, new.lines.start)

    def _since(self, pair: Pair) -> str | None:
        """The first released version after the earlier one in which the name is as it is in the later one."""
        released = self._released
        if released is None:
            return None
        ends = [released.nearest(side.release.version) for side in (self._old, self._new)]
        if any(end is None or not end.exact for end in ends):
            return None
        first, last = (end.number for end in ends if end is not None)
        test = self._test(released, pair, last)
        between = range(first + 1, last + 1)
        return next((released.versions[number] for number in between if test(number)), None) if test else None

    def _test(self, released: History, pair: Pair, last: int) -> Callable[[int], bool] | None:
        """What tells whether a version, by its number, already has the difference; None where nothing tells."""
        lost = pair.lost or (pair.name_before if pair.change in ("gone", "renamed") else None)
        if lost is not None:
            return lambda number: released.has_at(number, lost) is False
        if pair.before is None:
            return lambda number: released.has_at(number, pair.name) is True
        if pair.change == "deprecated":
            return lambda number: released.deprecation(number, pair.name) is not None
        if pair.kind in ("class", "function", "method") and pair.change in ("incompatible", "changed"):
            theirs = released.keywords_at(last, pair.name)
            if theirs is not None and theirs != self._table.keywords_at(0, pair.name_before):
                return lambda number: released.keywords_at(number, pair.name) == theirs
        return None


def _own_lines(found: Found) -> list[str]:
    """The lines of a definition; of a class, those before its first method."""
    inner = found.node.body if isinstance(found.node, ast.ClassDef) else []
    end = next((first_line(node) for node in inner if isinstance(node, Definition)), None)
    return found.text if end is None else found.text[: end - found.lines.start]


def unified(
    before: Sequence[str], after: Sequence[str], name_before: str, name_after: str, start_before: int, start_after: int
) -> str:
    """A unified diff of some lines of two files, with the line numbers of the files."""
    found = list(difflib.unified_diff(before, after, name_before, name_after, lineterm="", n=2))
    return "\n".join(_placed(line, start_before - 1, start_after - 1) for line in found)


def _placed(line: str, before: int, after: int) -> str:
    """A line of a diff, whose header counts from the beginning of the file."""
    if not line.startswith("@@ -"):
        return line
    old, new = line.split()[1:3]
    return f"@@ -{_shifted(old[1:], before)} +{_shifted(new[1:], after)} @@"


def _shifted(part: str, by: int) -> str:
    start, comma, count = part.partition(",")
    return f"{int(start) + by}{comma}{count}"


def _checked(release: Release, found: Found) -> Verification:
    """Whether the cited lines stand in the file as it is now."""
    text = release.read(found.module.path)
    lines = split_lines(text)[found.lines.start - 1 : found.lines.end] if text is not None else []
    if sha256_text("\n".join(lines)) == sha256_text("\n".join(found.text)):
        return Verification(state="exact")
    return Verification(state="unverified", reason="The file cannot be read any more.")


def _best(rated: Sequence[tuple[float, str, str, Spot, Spot]]) -> dict[Spot, Spot]:
    """Each definition with the one that is most alike, none taken twice."""
    found: dict[Spot, Spot] = {}
    for _, _, _, place, now in sorted(rated, key=lambda item: (-item[0], item[1], item[2])):
        if place not in found and now not in found.values():
            found[place] = now
    return found


def _inside(path: str, module: str) -> bool:
    return path == module or path.startswith(f"{module}.")


def _concerns(pair: Pair, path: str, old: Spot | None, new: Spot | None) -> bool:
    """Whether a difference is of a definition, of what stands inside, or of what the definition went or came with."""
    for name in (pair.name_before, pair.name_after):
        if name and (_inside(name, path) or (_inside(path, name) and bool(pair.members))):
            return True
    return any(
        place is not None and wanted is not None and bool(wanted.name) and _inside(place.path, wanted.path)
        for place, wanted in ((pair.before, old), (pair.after, new))
    )
