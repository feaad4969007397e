"""What each released version of the ADK has: names, and the keywords of calls. Nothing is fetched or imported.

The table ships with the product; `python -m tests.releases` of the repository makes it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version
from pydantic.alias_generators import to_camel

from adk_evidence.api.bases import with_bases
from adk_evidence.api.parameters import Parameters
from adk_evidence.api.table import BEFORE, DEPRECATED, PASSED_ON, HistoryTable, public_path
from adk_evidence.errors import SourceError
from adk_evidence.settings import config_file
from adk_evidence.text.identifiers import is_private
from adk_evidence.text.versions import read_version

SHIPPED = "history.json.gz"
MAX_HOPS = 12
MAX_NAME_CHARS = 300
MAX_KEPT_NAMES = 2000
# Bases of other distributions that add no keyword; only pydantic's has members of its own.
_PLAIN = frozenset({"object", "ABC", "Protocol", "Generic", "BaseModel"})
_PYDANTIC = "BaseModel"
_PYDANTIC_MEMBER = re.compile(
    r"model_\w+|copy|dict|json|schema|schema_json|parse_\w+|construct|validate|from_orm|update_\w+"
)
_RECORDS = frozenset({"TypedDict", "NamedTuple"})
# `LlmAgent(max_retries=)`, `LlmAgent(max_retries=3, ...)`
_CALL = re.compile(r"(?P<callable>[A-Za-z_][\w.]*)\(\s*(?P<keyword>[A-Za-z_]\w*)\s*=")
# At most 12 parts, more than any path of the ADK has: each part of a name takes a search of the table.
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,11}")
_WORD = re.compile(r"\w+")


class Nearest(NamedTuple):
    """The released version that answers for some version: the nearest below, `exact` where it is that one itself."""

    version: str
    number: int
    exact: bool


@dataclass(frozen=True)
class Keywords:
    """What a call may name. An `open` callable may take others, too, which the table does not know.

    `hidden` are names that pydantic takes, too: fields that are declared as not to be set, and what a validator of the
    class may read before the fields are.
    """

    names: frozenset[str]
    required: frozenset[str] = frozenset()
    open: bool = False
    hidden: frozenset[str] = frozenset()

    def lacking(self, given: Collection[str]) -> set[str]:
        """The required names that a call does not give, also not in camel case where the class takes that."""
        known = self.names.intersection(given)
        return {name for name in self.required if known.isdisjoint((name, to_camel(name)))}


class Place(NamedTuple):
    """A definition: its module, and its name there; an empty name is the module itself."""

    module: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


class Call(NamedTuple):
    """A keyword of a call, as a person writes it."""

    callable: str
    keyword: str


@dataclass(frozen=True)
class _Elsewhere:
    """Something that the table cannot look into."""

    path: str


def read_call(name: str) -> Call | None:
    """The callable and the keyword of `LlmAgent(max_retries=)`, or None of a plain name."""
    match = _CALL.match(name.strip("` \t\n")[:MAX_NAME_CHARS])
    return Call(match["callable"], match["keyword"]) if match else None


def bare(name: str) -> str | None:
    """A dotted name without brackets, backticks and spaces around; None of what is no name."""
    text = name.strip("` \t\n").rstrip("()").strip("` \t\n")
    return text if len(text) <= MAX_NAME_CHARS and _NAME.fullmatch(text) else None


class History:
    """Answers from a table.

    A version that was never released, or is newer than the table, answers as the nearest released version below;
    `nearest` says which. Versions older than the table are unknown: every answer is None.
    """

    def __init__(self, table: HistoryTable) -> None:
        self.table = table
        # `google-adk` holds the package `google.adk`.
        self.package = table.distribution.replace("-", ".")
        if self.package not in table.modules:
            self.package = min(table.modules, key=lambda module: (module.count("."), module), default=self.package)
        self._released = [Version(version) for version in table.versions]
        self._found: dict[str, list[str]] = {}
        self._words_at: dict[int, frozenset[str]] = {}
        self._packages = {module.rpartition(".")[0] for module in table.modules}
        self._keywords = functools.lru_cache(maxsize=MAX_KEPT_NAMES)(self._read_keywords)

    @classmethod
    def load(cls, home: Path | None = None) -> History:
        """The table that ships, or the one at `home` (`settings.paths.history`) where that knows a newer version.

        Raises:
            SettingsError: The table that ships is missing.
            SourceError: The table that ships is damaged.
        """
        shipped = config_file(SHIPPED)
        kept = _read(shipped, shipped.stat().st_mtime_ns)
        if home is not None and home.is_file():
            # A damaged one in the home folder must not take the shipped one away.
            with suppress(SourceError, OSError):
                own = _read(home, home.stat().st_mtime_ns)
                if own._released and (not kept._released or own._released[-1] > kept._released[-1]):
                    return own
        return kept

    @property
    def versions(self) -> tuple[str, ...]:
        """The released versions that the table knows, oldest first."""
        return self.table.versions

    def nearest(self, version: str) -> Nearest | None:
        """The released version that answers for `version`; None of what is no version or older than the table."""
        wanted = read_version(version.strip())
        if wanted is None:
            return None
        below = [number for number, released in enumerate(self._released) if released <= wanted]
        if not below:
            return None
        return Nearest(self.versions[below[-1]], below[-1], self._released[below[-1]] == wanted)

    def has(self, version: str, name: str) -> bool | None:
        """Whether a version has a name: bare, dotted, an import path, or a keyword as `LlmAgent(max_retries=)`.

        None where the table cannot tell: private names, members that another distribution may bring, no such version.
        """
        known = self.nearest(version)
        return self.has_at(known.number, name) if known is not None else None

    def has_at(self, number: int, name: str) -> bool | None:
        """`has` of a version by its number in `versions`."""
        call = read_call(name)
        if call is not None:
            return self._takes(number, call)
        dotted = bare(name)
        if dotted is None or is_private(dotted):
            return None
        # A name that no version ever had is as surely absent as one that is gone.
        found: bool | None = False
        for path in self.paths(dotted):
            has = self._has_path(number, path)
            if has:
                return True
            if has is None:
                found = None
        return found

    def keywords(self, version: str, name: str) -> Keywords | None:
        """The keywords that a call of a class or function may have in a version, inherited ones included.

        None where the version has no such callable.
        """
        known = self.nearest(version)
        return self.keywords_at(known.number, name) if known is not None else None

    def keywords_at(self, number: int, name: str) -> Keywords | None:
        """`keywords` of a version by its number in `versions`."""
        dotted = bare(name)
        for path in self.paths(dotted) if dotted else ():
            place = self.find(number, path)
            found = self._keywords(number, place) if isinstance(place, Place) else None
            if found is not None:
                return found
        return None

    def names_in(self, number: int, module: str) -> list[str]:
        """The public names at the top of a module of a version, sorted; none of what is no module."""
        rows = self.table.rows(module) if module in self.table.modules else {}
        public = (name for name in rows if name.isidentifier() and not is_private(name))
        return sorted(name for name in public if self.table.payload(module, name, number) is not None)

    def modules_in(self, number: int, package: str) -> list[str]:
        """The public modules and packages right below a package of a version, sorted."""
        below = (module.rpartition(".") for module in self.table.modules)
        public = (name for owner, _, name in below if owner == package and not is_private(name))
        return sorted(name for name in public if self.table.payload(f"{package}.{name}", "", number) is not None)

    def members_of(self, number: int, path: str) -> list[str]:
        """The public methods, fields and attributes of a class in a version, inherited ones included, sorted."""
        place = self.find(number, path)
        if not isinstance(place, Place) or (self.payload(number, place) or "-")[0] != "c":
            return []
        found: set[str] = set()
        for base in self._mro(number, place):
            if isinstance(base, Place):
                found |= {name for name in self.own_members(number, base) if not is_private(name)}
        return sorted(name for name in found if isinstance(self._member(number, place, name), Place))

    def own_members(self, number: int, place: Place) -> dict[str, str]:
        """The names that a class itself defines in a version, private ones too, with their payloads."""
        inside = f"{place.name}."
        found: dict[str, str] = {}
        for name, runs in self.table.rows(place.module).items():
            member = name[len(inside) :]
            if name.startswith(inside) and member.isidentifier() and f".{member}" != BEFORE:
                payload = next((run.payload for run in runs if run.first <= number <= run.last), None)
                if payload is not None:
                    found[member] = payload
        return found

    def may_know(self, name: str) -> bool:
        """Whether some version may have a dotted name, or a keyword of a call. False is sure and found fast."""
        call = read_call(name)
        word = call.keyword if call else name.rpartition(".")[2]
        # The table does not hold the keywords in camel case that stand for fields.
        return word in self._words or (call is not None and word != word.lower())

    @functools.cached_property
    def _words(self) -> frozenset[str]:
        texts = (*self.table.modules, *self.table.modules.values())
        return frozenset(word for text in texts for word in _WORD.findall(text))

    def words_at(self, number: int) -> frozenset[str]:
        """Every word that a version has in a name, a parameter or the path of a module."""
        if number not in self._words_at:
            found: set[str] = set()
            for module in self.table.modules:
                for name, runs in self.table.rows(module).items():
                    for run in runs:
                        if run.first <= number <= run.last and not name.endswith(DEPRECATED):
                            found.update(_WORD.findall(f"{module} {name} {run.payload}"))
            self._words_at[number] = frozenset(found)
        return self._words_at[number]

    def paths(self, name: str) -> list[str]:
        """The import paths that a name may mean in some version, the likeliest first; an import path is its own."""
        if name == self.package or name.startswith(f"{self.package}."):
            return [name]
        found = self._found.get(name)
        if found is None:
            # Names come from people: what is kept has a limit.
            if len(self._found) >= MAX_KEPT_NAMES:
                self._found.clear()
            found = self._found[name] = list(self._paths(name))
        return found

    def import_path(self, number: int, place: Place) -> str | None:
        """The shortest public path of a definition in a version, or None where nothing public leads to it."""
        top, _, member = place.name.partition(".")
        fqn = f"{place.module}.{top}"
        found = [] if is_private(fqn) or not top else [fqn]
        wanted = f"={fqn}"
        for module, text in self.table.modules.items():
            if wanted in text and not is_private(module):
                rows = self.table.rows(module)
                found += [f"{module}.{name}" for name in rows if self.table.payload(module, name, number) == wanted]
        if not found:
            return place.module if not top and not is_private(place.module) else None
        path = public_path(fqn, found, self._packages)
        return f"{path}.{member}" if member else path

    def find(self, number: int, path: str) -> Place | _Elsewhere | None:
        """The definition that an import path leads to in a version; None where the version does not have the path."""
        return self._find(number, path, MAX_HOPS)

    def payload(self, number: int, place: Place) -> str | None:
        """What the table says of a definition in a version."""
        return self.table.payload(place.module, place.name, number)

    def deprecation(self, number: int, path: str) -> tuple[str, str] | None:
        """What to use in place of a path (empty where that is not known) and why, if a version calls it deprecated."""
        place = self.find(number, path)
        if not isinstance(place, Place):
            return None
        told = self.table.payload(place.module, place.name + DEPRECATED, number)
        if told is None and "." in place.name:
            told = self.table.payload(place.module, place.name.partition(".")[0] + DEPRECATED, number)
        if told is not None:
            use, _, text = told.partition("|")
            return use, text
        # The module that the path goes through may be deprecated, while what it passes on is not.
        module = path
        while module := module.rpartition(".")[0]:
            told = self.table.payload(module, DEPRECATED, number)
            if told is not None:
                use, _, text = told.partition("|")
                inside = f"{use}{path[len(module) :]}" if use else ""
                return (inside if inside and isinstance(self.find(number, inside), Place) else use), text
        return None

    def _paths(self, name: str) -> Iterator[str]:
        parts = name.split(".")
        for start, top in enumerate(parts):
            below = "".join(f".{part}" for part in parts[start + 1 :])
            places = self._top_level(top, ".".join(parts[:start]))
            yield from (f"{path}{below}" for path in places)
            if places:
                break
        if len(parts) == 1:
            # A bare name may also be that of a member, whatever stands at the top of some module.
            yield from self._members(name)

    def _top_level(self, name: str, inside: str) -> list[str]:
        """The paths of a name at the top of a module whose path ends with `inside`."""
        found: list[str] = []
        # Few modules have the name, so that this is asked first.
        for module, text in self.table.modules.items():
            has = text.startswith(f"{name}\t") or f"\n{name}\t" in text
            if not has and module.rpartition(".")[2] != name:
                continue
            if is_private(module) or not f".{module}".endswith(f".{inside}" if inside else ""):
                continue
            if not has:
                found.append(module)
            # What a module imports for its own use is no place to import it from.
            elif module in self._packages or any(run.payload[0] not in "=~" for run in self.table.rows(module)[name]):
                found.append(f"{module}.{name}")
        return sorted(found, key=self._likelihood)

    def _members(self, name: str) -> list[str]:
        found: list[str] = []
        for module, text in self.table.modules.items():
            if f".{name}\t" in text and not is_private(module):
                found += [f"{module}.{row}" for row in self.table.rows(module) if row.endswith(f".{name}")]
        return sorted(found, key=self._likelihood)

    def _likelihood(self, path: str) -> tuple[object, ...]:
        newest = len(self.versions) - 1
        place = self.find(newest, path)
        kind = self.payload(newest, place) if isinstance(place, Place) else None
        order = "cfap".find(kind[0]) if kind else -1
        return (place is None, order if order >= 0 else 9, path.count("."), path)

    def _has_path(self, number: int, path: str) -> bool | None:
        if is_private(path):
            return None
        found = self.find(number, path)
        if isinstance(found, _Elsewhere):
            return True if found.path == path else None
        return found is not None

    def _find(self, number: int, path: str, hops: int) -> Place | _Elsewhere | None:
        parts = path.split(".")
        for cut in range(len(parts), 0, -1):
            module = ".".join(parts[:cut])
            if module not in self.table.modules:
                continue
            found = self._inside(number, module, parts[cut:], hops)
            if found is not None:
                return found
        return None

    def _inside(self, number: int, module: str, names: list[str], hops: int) -> Place | _Elsewhere | None:
        if not names:
            return Place(module, "") if self.table.payload(module, "", number) else None
        first, *below = names
        payload = self.table.payload(module, first, number)
        if payload is None or hops == 0:
            return None
        path = ".".join((module, *names))
        if payload == "~":
            return _Elsewhere(path if not below else f"{path}?")
        if payload.startswith("="):
            found = self._find(number, ".".join((payload[1:], *below)), hops - 1)
            return _Elsewhere(path) if isinstance(found, _Elsewhere) and not below else found
        place: Place | _Elsewhere | None = Place(module, first)
        for name in below:
            if not isinstance(place, Place):
                return place
            place = self._member(number, place, name)
        return place

    def _member(self, number: int, owner: Place, name: str) -> Place | _Elsewhere | None:
        payload = self.payload(number, owner)
        if payload is None or payload[0] != "c":
            # An attribute of a value: its class is not known.
            return _Elsewhere(f"{owner.path}.{name}?") if payload and payload[0] in "vsnpro" else None
        found: _Elsewhere | None = None
        set_by_method: Place | None = None
        for base in self._mro(number, owner):
            if isinstance(base, Place):
                place = Place(base.module, f"{base.name}.{name}")
                member = self.payload(number, place)
                if member == "s":
                    # A base may declare what a method sets.
                    set_by_method = set_by_method or place
                elif member is not None:
                    return place
                if _takes_any(self.payload(number, base)):
                    found = _Elsewhere(f"{base.path}.{name}?")
            else:
                last = base.path.rpartition(".")[2]
                may = last not in _PLAIN or (last == _PYDANTIC and _PYDANTIC_MEMBER.fullmatch(name))
                found = _Elsewhere(f"{base.path}.{name}?") if may else found
        return set_by_method or found

    def _mro(self, number: int, owner: Place) -> list[Place | _Elsewhere]:
        """A class and all its bases."""

        def bases(cls: Place | _Elsewhere) -> Iterator[Place | _Elsewhere]:
            payload = self.payload(number, cls) if isinstance(cls, Place) else None
            for base in payload.partition(":")[2].split() if payload and payload[0] == "c" else ():
                known = self.find(number, base) if not base.startswith(("~", "?")) else None
                yield known or _Elsewhere(base.lstrip("~"))

        return with_bases(owner, bases)

    def _takes(self, number: int, call: Call) -> bool | None:
        found = self.keywords_at(number, call.callable)
        if found is None:
            # Without the callable there is no keyword of it.
            return False if self.has_at(number, call.callable) is False else None
        if call.keyword in found.names:
            return True
        return None if found.open or call.keyword in found.hidden else False

    def _read_keywords(self, number: int, place: Place) -> Keywords | None:
        payload = self.payload(number, place)
        if payload is None or payload[0] not in "cfa":
            return None
        if payload[0] != "c":
            return _parameters(payload)
        classes = self._mro(number, place)
        foreign = {base.path.rpartition(".")[2] for base in classes if isinstance(base, _Elsewhere)}
        return self._constructor(number, classes, bool(foreign - _PLAIN - _RECORDS), foreign)

    def _constructor(
        self, number: int, classes: list[Place | _Elsewhere], unknown: bool, foreign: set[str]
    ) -> Keywords:
        """The keywords of what the first class in the order of inheritance is made with."""
        own = [base for base in classes if isinstance(base, Place)]
        flags = "".join((self.payload(number, base) or "c:").partition(":")[0][1:] for base in own)
        pydantic = _PYDANTIC in foreign
        for at, base in enumerate(own):
            payload = self.table.payload(base.module, f"{base.name}.__init__", number)
            if payload is not None:
                found = _parameters(payload)
                if not found.open:
                    return found
                if pydantic:
                    fields = self._fields(number, own, flags)
                    return Keywords(found.names | fields.names, found.required, open=True, hidden=fields.hidden)
                # `**kwargs` most often goes to the constructor of the next class, but is sure to only as `PASSED_ON`.
                rest: list[Place | _Elsewhere] = list(own[at + 1 :])
                passed = self._constructor(number, rest, unknown, foreign)
                is_open = passed.open or not passed.names or not payload.endswith(PASSED_ON)
                return Keywords(found.names | passed.names, found.required, open=is_open)
            if not pydantic and "d" in (self.payload(number, base) or "").partition(":")[0][1:]:
                fields = self._fields(number, own[at:], flags)
                return Keywords(fields.names, fields.required, open=unknown)
        if pydantic or foreign & _RECORDS:
            fields = self._fields(number, own, flags)
            hidden = fields.hidden if pydantic else frozenset()
            return Keywords(fields.names, fields.required, open=unknown or "x" in flags, hidden=hidden)
        return Keywords(frozenset(), open=unknown)

    def _fields(self, number: int, classes: list[Place], flags: str) -> Keywords:
        found: dict[str, str] = {}
        for base in classes:
            for name, payload in self.own_members(number, base).items():
                if payload != "s":
                    # A class that overrides a field by something else has no such field.
                    found.setdefault(name, payload)
        fields = {name: payload for name, payload in found.items() if payload[0] in "ro"}
        names = set(fields) | {payload[2:] for payload in fields.values() if payload[2:]}
        if "k" in flags:
            names |= {to_camel(name) for name in fields}
        required = frozenset(name for name, payload in fields.items() if payload == "r:")
        hidden = {name for name, payload in found.items() if payload == "n"}
        for base in classes:
            early = self.table.payload(base.module, f"{base.name}{BEFORE}", number)
            hidden |= set(early[2:].split(", ")) - names if early else set()
        return Keywords(frozenset(names), required, hidden=frozenset(hidden))


def _takes_any(payload: str | None) -> bool:
    """Whether a class keeps whatever it is made with as its attributes."""
    return payload is not None and payload[0] == "c" and "x" in payload.partition(":")[0]


def _parameters(payload: str) -> Keywords:
    """The keywords of a function."""
    found = Parameters.of_table(payload)
    return Keywords(frozenset(found.named), frozenset(found.required.intersection(found.named)), found.any_named)


@functools.lru_cache(maxsize=4)
def _read(path: Path, mtime_ns: int) -> History:
    # The time makes the cache notice a table that was extended.
    try:
        return History(HistoryTable.parse(path.read_bytes()))
    except OSError as exc:
        raise SourceError(f"{path} cannot be read: {exc.strerror}.") from exc
