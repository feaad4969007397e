"""Compares the public definitions of two versions of the code.

A definition is what it was as long as some public import path leads to it. Where none does, a definition of the same
name, or one of nearly the same lines, takes its place; without either, the definition is gone.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from adk_evidence.api.history import History, Place, bare
from adk_evidence.api.parameters import Keywords
from adk_evidence.api.release import Release, Side
from adk_evidence.api.signatures import (
    Told,
    code_of,
    compare_texts,
    compare_uses,
    is_abstract,
    is_property,
)
from adk_evidence.api.table import DEPRECATED
from adk_evidence.models.difference import ChangeKind, DefinitionKind
from adk_evidence.readers.python import Definition, Function
from adk_evidence.text.identifiers import is_private, to_camel

# How alike the lines of two definitions must be, so that one is taken for the other under a new path or a new name.
SAME_NAME_LIKENESS = 0.4
NEW_NAME_LIKENESS = 0.8
# How alike two names must be, so that one is taken for the other spelled correctly.
RESPELLED_LIKENESS = 0.85
# Shorter definitions are alike by chance.
MIN_RENAMED_LINES = 6
# Of a syntax tree written out: shorter code is the same by chance.
MIN_CODE_CHARS = 200

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

_KINDS: Mapping[DefinitionKind, str] = {
    "module": "a module",
    "class": "a class",
    "function": "a function",
    "method": "a method",
    "property": "a property",
    "field": "a field",
    "attribute": "an attribute",
    "variable": "a variable",
}


@dataclass
class Pair:
    """One difference before it is shown: the definition on both sides, by its home and by its public path.

    `lost` is an import path that no longer leads to the definition.
    """

    change: ChangeKind
    kind: DefinitionKind
    before: Place | None
    after: Place | None
    name_before: str = ""
    name_after: str = ""
    told: list[Told] = field(default_factory=list)
    breaking: bool = False
    members: tuple[str, ...] = ()
    use: str | None = None
    lost: str | None = None

    @property
    def name(self) -> str:
        """The name that people know: of what both versions have, the name in the earlier version."""
        return self.lost or self.name_before or self.name_after

    def is_gone_with(self, path: str) -> bool:
        """Whether a path leads to the definition, or inside, and the definition is gone."""
        return self.change == "gone" and _inside(path, self.name_before)

    @property
    def order(self) -> tuple[object, ...]:
        return (not self.breaking, _ORDER.index(self.change), self.name)


class Comparison:
    """The differences between two versions.

    Args:
        before: The earlier version.
        after: The later version.
        table: What both versions have: its first version is `before`, its second one is `after`.
    """

    def __init__(self, before: Release, after: Release, table: History) -> None:
        self.old = Side(before, table.each[0])
        self.new = Side(after, table.each[1])
        self.table = table

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every difference, breaking ones first."""
        return tuple(sorted(self._pairs(), key=lambda pair: pair.order))

    def of(self, path: str) -> tuple[Pair, ...]:
        """The differences of what an import path leads to and of what stands inside."""
        old, new = self._definitions(path)
        found = tuple(pair for pair in self.pairs if _concerns(pair, path, old, new))
        if old is not None and not self.new.has(path):
            told = any(pair.lost == path or pair.kind == "module" or pair.is_gone_with(path) for pair in found)
            return found if told else (self._lost(path, old), *found)
        if new is not None and not self.old.has(path) and not found:
            return (Pair("added", self.new.kind(new), None, new, name_after=path),)
        return found

    def _lost(self, path: str, place: Place) -> Pair:
        """A path that the later version lacks, although the path's definition is there: a module merely imported it."""
        now = self._matched.get(place)
        told = [Told(f"cannot be imported as `{path}` any more", breaking=True)]
        kind = self.old.kind(place)
        if now is None:
            return Pair("gone", kind, place, None, path, told=told, breaking=True, lost=path)
        shown = self.new.shown(now)
        return Pair("moved", kind, place, now, path, shown, told, breaking=True, use=shown, lost=path)

    def path_of(self, name: str) -> str | None:
        """The import path that a name means in either version, the likeliest; None where neither has the name."""
        dotted = bare(name)
        for path in self.table.paths(dotted) if dotted else ():
            if not is_private(path) and self._definitions(path) != (None, None):
                return path
        return None

    def is_module(self, path: str) -> bool:
        """Whether a path is that of a module or package in either version."""
        return any(place is not None and not place.name for place in self._definitions(path))

    def _definitions(self, path: str) -> tuple[Place | None, Place | None]:
        """What an import path leads to in the earlier version and in the later one."""
        return self.old.api.definition(path), self.new.api.definition(path)

    # Which definition became which

    def _pairs(self) -> Iterator[Pair]:
        matched = dict(self._matched)
        gone = [place for place in self.old.public if place not in matched]
        reached = set(matched.values())
        came = [place for place in self.new.public if place not in reached]
        moved = self._moved(gone, came)
        matched |= moved
        lost, made = self._changed_modules(matched, moved)
        yield from lost.values()
        yield from made.values()
        for place, now in matched.items():
            yield from self._compare(place, now, lost, moved=place in moved)
        covered = {name for pair in lost.values() for name in pair.members}
        for place in gone:
            if place not in moved and self.old.shown(place) not in covered:
                yield self._gone(place, self.old.shown(place))
        added = {name for pair in made.values() for name in pair.members}
        taken = set(moved.values())
        for place in came:
            if place not in taken and self.new.shown(place) not in added:
                yield self._added(place, self.new.shown(place))

    @cached_property
    def _matched(self) -> dict[Place, Place]:
        return dict(self._matches())

    def _matches(self) -> Iterator[tuple[Place, Place]]:
        """Definitions that a public path of theirs still leads to."""
        for place, paths in self.old.public.items():
            preferred = self.old.shown(place)
            for path in (preferred, *paths):
                now = self.new.api.definition(path)
                if now is not None and now.name:
                    yield place, now
                    break

    def _moved(self, gone: Sequence[Place], came: Sequence[Place]) -> dict[Place, Place]:
        """Definitions that stand under another path or name now, each with the new one that is most alike."""
        rated: list[tuple[float, str, str, Place, Place]] = []
        for place in gone:
            kind = self.old.kind(place)
            for now in came:
                same = place.name == now.name
                if self.new.kind(now) != kind:
                    continue
                if self._is_respelled(place, now):
                    rated.append((1.0, place.path, now.path, place, now))
                if kind == "variable":
                    continue
                alike = self._likeness(place, now, SAME_NAME_LIKENESS if same else NEW_NAME_LIKENESS, same=same)
                if alike:
                    rated.append((alike + same, place.path, now.path, place, now))
        found = _best(rated)
        # A variable is short: only what went the same way as others of its module is the same.
        ways = {(place.module, now.module) for place, now in found.items()}
        for place in gone:
            twins = [now for now in came if now.name == place.name and (place.module, now.module) in ways]
            if self.old.kind(place) == "variable" and len(twins) == 1 and self.new.kind(twins[0]) == "variable":
                found[place] = twins[0]
        return found

    def _is_respelled(self, place: Place, now: Place) -> bool:
        """Whether a short definition is the same under a name that differs in a few letters."""
        if place.module != now.module or place.name == now.name:
            return False
        if difflib.SequenceMatcher(None, place.name, now.name).ratio() < RESPELLED_LIKENESS:
            return False
        old, new = self.old.found(place), self.new.found(now)
        if old is None or new is None:
            return False
        texts = ["\n".join(found.text) for found in (old, new)]
        return texts[0].replace(place.name, "") == texts[1].replace(now.name, "")

    def _likeness(self, place: Place, now: Place, least: float, *, same: bool) -> float:
        """How alike the lines of two definitions are, from `least` to 1; 0 below."""
        old, new = self.old.found(place), self.new.found(now)
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
        self, matched: Mapping[Place, Place], moved: Mapping[Place, Place]
    ) -> tuple[dict[str, Pair], dict[str, Pair]]:
        """Public modules that are gone and new, the outermost of each, with the definitions that went or came."""
        lost_modules = _outermost(name for name in self.old.modules if not self.new.has(name))
        lost = {name: Pair("gone", "module", Place(name, ""), None, name) for name in lost_modules}
        homes_of: dict[str, list[Place]] = {}
        for place in self.old.public:
            for name in _around(place.module):
                homes_of.setdefault(name, []).append(place)
        for name, pair in lost.items():
            homes = homes_of.get(name, [])
            targets = {self.new.shown(matched[place]).rpartition(".")[0] for place in homes if place in matched}
            whole = bool(homes) and all(place in matched for place in homes)
            if whole and len(targets) == 1:
                target = targets.pop()
                pair.change, pair.name_after, pair.lost = "moved", target, name
                pair.after = self.new.api.definition(target)
                pair.told.append(Told(f"import from `{target}` now, not from `{name}`", breaking=True))
            else:
                pair.told.append(Told("the module is gone", breaking=True))
            pair.breaking = True
            pair.members = tuple(sorted(self.old.shown(place) for place in homes if place not in matched))
            if not whole:
                for place in homes:
                    if place in matched:
                        pair.told.append(Told(f"`{place.name}` is in `{self.new.shown(matched[place])}`"))
        names_in: dict[str, list[str]] = {}
        for shown in sorted(map(self.new.shown, self.new.public)):
            for name in _around(shown.rpartition(".")[0]):
                names_in.setdefault(name, []).append(shown)
        moved_to = {pair.name_after for pair in lost.values()}
        made: dict[str, Pair] = {}
        for name in _outermost(name for name in self.new.modules if not self.old.has(name)):
            names = names_in.get(name)
            if names and name not in moved_to:
                made[name] = Pair("added", "module", None, Place(name, ""), name_after=name, members=tuple(names))
        return lost, made

    # One definition

    def _gone(self, place: Place, name: str) -> Pair:
        pair = Pair("gone", self.old.kind(place), place, None, name, breaking=True)
        told = self.old.api.deprecation(name)
        # That a whole class is deprecated is not said of each member.
        if told is not None and ("." not in place.name or _says_so(self.old, place)):
            pair.use = told[0] or None
            pair.told.append(Told(f"was deprecated: {told[1]}"))
        pair.members = _public_members(self.old, place)
        return pair

    def _added(self, place: Place, name: str) -> Pair:
        return Pair(
            "added", self.new.kind(place), None, place, name_after=name, members=_public_members(self.new, place)
        )

    def _compare(self, place: Place, now: Place, lost: Mapping[str, Pair], *, moved: bool) -> Iterator[Pair]:
        names = self.old.shown(place), self.new.shown(now)
        pair = Pair("changed", self.new.kind(now), place, now, *names)
        gone = [path for path in self.old.public[place] if not self.new.has(path)]
        # The entry of a module that is gone says where its definitions are.
        gone = [path for path in gone if lost.keys().isdisjoint(_around(path.rpartition(".")[0]))]
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
        elif self.new.release.modules.get(now.module) and self._path(self.old, place) != self._path(self.new, now):
            pair.told.append(Told(f"is defined in {self._path(self.new, now)} now"))
            pair.change = "moved"
        pair.told += self._differences(place, now)
        if self.old.kind(place) == self.new.kind(now) == "class":
            pair.told += self._constructor(place, now)
        yield from self._finished(pair, place, now)
        if self.old.kind(place) == self.new.kind(now) == "class":
            yield from self._members(place, now)

    def _finished(self, pair: Pair, place: Place, now: Place) -> Iterator[Pair]:
        """The difference with its kind, if there is one."""
        old = self.old.api.deprecation(pair.name_before)
        new = self.new.api.deprecation(pair.name_after)
        if new is not None and old is None and _says_so(self.new, now):
            pair.told.append(Told(f"is deprecated: {new[1]}"))
            pair.use = pair.use or new[0] or None
            if pair.change == "changed":
                pair.change = "deprecated"
        # What `deprecated` says is told already.
        texts = [one for one in self._texts(place, now) if new is None or one.kind != "deprecation"]
        if pair.change == "moved" and pair.lost is None and len(pair.told) > 1:
            # That another file holds a definition matters less than how the definition differs.
            pair.change = "changed"
        if pair.change == "changed" and any(one.breaking for one in pair.told):
            pair.change = "incompatible"
        elif pair.change == "changed" and not pair.told:
            pair.change = "text"
        pair.told += texts
        pair.breaking = any(one.breaking for one in pair.told)
        if pair.told:
            yield pair

    def _differences(self, place: Place, now: Place) -> list[Told]:
        """What differs for those who use a definition."""
        kinds = self.old.kind(place), self.new.kind(now)
        payloads = self.old.api.payload(place) or "v", self.new.api.payload(now) or "v"
        if kinds[0] != kinds[1]:
            nodes = [found.node for found in (self.old.found(place), self.new.found(now)) if found is not None]
            if len(nodes) == 2 and all(map(is_property, nodes)):
                return []
            breaking = "method" in kinds or "function" in kinds or kinds[0] == "class"
            return [Told(f"is {_KINDS[kinds[1]]} now, not {_KINDS[kinds[0]]}", breaking=breaking)]
        if kinds[0] == "attribute" or self._same_file(place, now):
            return []
        old, new = self.old.found(place), self.new.found(now)
        if old is None or new is None:
            return []
        found = compare_uses(old.node, new.node, member="." in place.name)
        if isinstance(old.node, Definition) or isinstance(new.node, Definition):
            return found
        before, after = (Place(one.module, one.name.rpartition(".")[0]) for one in (place, now))
        name = place.name.rpartition(".")[2]
        if self.old.takes(before, name) and payloads[0][0] in "ro":
            if payloads[0][0] == "o" and payloads[1][0] == "r":
                found.append(Told("is required now", breaking=True))
            elif not self.new.takes(after, name):
                found.append(Told("cannot be set any more when the class is made", breaking=True))
        return found

    def _same_file(self, place: Place, now: Place) -> bool:
        old, new = self.old.release.modules.get(place.module), self.new.release.modules.get(now.module)
        return old is not None and old == new and place.name == now.name

    def _texts(self, place: Place, now: Place) -> list[Told]:
        if self._same_file(place, now) or self.new.kind(now) in ("attribute", "field", "variable"):
            return []
        old, new = self.old.found(place), self.new.found(now)
        return compare_texts(old.node, new.node) if old is not None and new is not None else []

    # Members of a class

    def _members(self, place: Place, now: Place) -> Iterator[Pair]:
        old, new = self.old.api.own_members(place), self.new.api.own_members(now)
        names = self.old.shown(place), self.new.shown(now)
        gone = {name for name in old if name not in new and self.new.api.definition(f"{names[1]}.{name}") is None}
        came = {name for name in new if name not in old and self.old.api.definition(f"{names[0]}.{name}") is None}
        # `__init__` is the class's own matter.
        renamed = self._renamed(place, now, gone - {"__init__"}, came - {"__init__"})
        # A new base of another distribution may bring what is missed.
        unknown = bool(self.new.foreign_bases(now) - self.old.foreign_bases(place))
        for name in sorted(old.keys() - {"__init__"}):
            here = Place(place.module, f"{place.name}.{name}")
            shown = f"{names[0]}.{name}"
            called = name if name in new else renamed.get(name)
            if called is not None:
                there, after = Place(now.module, f"{now.name}.{called}"), f"{names[1]}.{called}"
                pair = Pair("changed", self.new.kind(there), here, there, shown, after)
                if called != name:
                    pair.change, pair.use = "renamed", after
                    pair.told.append(Told(f"is called `{called}` now, not `{name}`", breaking=True))
                pair.told += self._differences(here, there)
                yield from self._finished(pair, here, there)
            elif name in gone and not unknown:
                yield self._gone(here, shown)
        for name in sorted(came - set(renamed.values()) - {"__init__"}):
            there = Place(now.module, f"{now.name}.{name}")
            pair = self._added(there, f"{names[1]}.{name}")
            found = self.new.found(there)
            if new[name][0] == "r" and self.new.takes(now, name):
                pair.told.append(Told("must be set when the class is made", breaking=True))
            elif found is not None and is_abstract(found.node):
                pair.told.append(Told("is abstract: subclasses must implement it", breaking=True))
            if pair.told:
                pair.change, pair.breaking = "incompatible", True
            yield pair

    def _renamed(self, place: Place, now: Place, gone: Iterable[str], came: Iterable[str]) -> dict[str, str]:
        """Members that stand under another name now: their code is the same, or nearly."""
        rated: list[tuple[float, str, str, Place, Place]] = []
        for name in gone:
            here = Place(place.module, f"{place.name}.{name}")
            for other in came:
                there = Place(now.module, f"{now.name}.{other}")
                if self.old.kind(here) != self.new.kind(there) or self.old.kind(here) not in ("method", "property"):
                    continue
                alike = self._likeness(here, there, NEW_NAME_LIKENESS, same=False)
                old, new = self.old.found(here), self.new.found(there)
                nodes = [found.node for found in (old, new) if found is not None and isinstance(found.node, Function)]
                if not alike and len(nodes) == 2:
                    codes = [code_of(node) for node in nodes]
                    alike = float(len(codes[0]) > MIN_CODE_CHARS and codes[0] == codes[1])
                if alike:
                    rated.append((alike, here.path, there.path, here, there))
        found = _best(rated)
        return {old.name.rpartition(".")[2]: new.name.rpartition(".")[2] for old, new in found.items()}

    def _constructor(self, place: Place, now: Place) -> list[Told]:
        """What differs in how a class is made, as far as neither its own fields nor its bases say it."""
        init = [Place(one.module, f"{one.name}.__init__") for one in (place, now)]
        if self.old.api.payload(init[0]) is not None and self.new.api.payload(init[1]) is not None:
            return [
                Told(f"constructor: {one.text}", one.breaking)
                for one in self._differences(*init)
                if one.kind != "result"
            ]
        before, after = (self._keywords(side, one) for side, one in ((self.old, place), (self.new, now)))
        if before is None or after is None:
            return []
        told = self._keyword_differences(before, after)
        said = {name for side, one in ((self.old, place), (self.new, now)) for name in side.api.own_members(one)}
        said |= {to_camel(name) for name in said}
        for base in self._shared_bases(place):
            ours, theirs = self._keywords(self.old, base[0]), self._keywords(self.new, base[1])
            if ours is not None and theirs is not None:
                said |= {name for name, _ in self._keyword_differences(ours, theirs)}
        return [one for name, one in told if name not in said]

    def _keywords(self, side: Side, place: Place) -> Keywords | None:
        return side.api.keywords(side.shown(place))

    def _keyword_differences(self, before: Keywords, after: Keywords) -> Iterator[tuple[str, Told]]:
        for name in sorted(before.names - after.names - after.hidden) if not after.open else ():
            yield name, Told(f"constructor: keyword `{name}` is gone", breaking=True)
        for name in sorted(after.names - before.names) if not before.open else ():
            required = name in after.required
            text = f"constructor: new keyword `{name}`{' is required' if required else ''}"
            yield name, Told(text, breaking=required)
        for name in sorted((after.required - before.required) & before.names):
            yield name, Told(f"constructor: keyword `{name}` is required now", breaking=True)

    def _shared_bases(self, place: Place) -> Iterator[tuple[Place, Place]]:
        """The bases of a class that both versions have as classes."""
        for base in self.old.api.bases(place):
            if not base.startswith(("~", "?")):
                old, new = self._definitions(base)
                if old is not None and new is not None:
                    yield old, new

    def _path(self, side: Side, place: Place) -> str:
        module = side.release.modules.get(place.module)
        return module.path if module else ""


def _says_so(side: Side, place: Place) -> bool:
    """Whether a definition itself is deprecated: of a member, its class may be, which is said once."""
    return side.api.payload(Place(place.module, place.name + DEPRECATED)) is not None


def _public_members(side: Side, place: Place) -> tuple[str, ...]:
    is_class = side.kind(place) == "class"
    return tuple(sorted(name for name in side.api.own_members(place) if not is_private(name))) if is_class else ()


def _best(rated: Sequence[tuple[float, str, str, Place, Place]]) -> dict[Place, Place]:
    """Each definition with the one that is most alike, none taken twice."""
    found: dict[Place, Place] = {}
    taken: set[Place] = set()
    for _, _, _, place, now in sorted(rated, key=lambda item: (-item[0], item[1], item[2])):
        if place not in found and now not in taken:
            found[place] = now
            taken.add(now)
    return found


def _around(module: str) -> Iterator[str]:
    """A module and the packages that it stands in."""
    while module:
        yield module
        module = module.rpartition(".")[0]


def _outermost(modules: Iterable[str]) -> list[str]:
    """The modules that stand in none of the others, in alphabetical order."""
    known = set(modules)
    return sorted(name for name in known if known.isdisjoint(_around(name.rpartition(".")[0])))


def _inside(path: str, module: str) -> bool:
    return path == module or path.startswith(f"{module}.")


def _concerns(pair: Pair, path: str, old: Place | None, new: Place | None) -> bool:
    """Whether a difference is of a definition, of what stands inside, or of what the definition went or came with."""
    if any(name and _inside(name, path) for name in (pair.name_before, pair.name_after)):
        return True
    # What went or came with its module or class has no difference of its own.
    around = pair.name_before or pair.name_after
    if (pair.kind == "module" or pair.members) and _inside(path, around):
        return True
    return any(
        place is not None and wanted is not None and bool(wanted.name) and _inside(place.path, wanted.path)
        for place, wanted in ((pair.before, old), (pair.after, new))
    )
