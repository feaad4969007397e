"""What each released version of the ADK has: names, and the keywords of calls. Nothing is fetched or imported.

The table ships with the product; `python -m tests.releases` of the repository makes it.
"""

from __future__ import annotations

import collections.abc
import enum
import functools
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from packaging.version import Version

from adk_evidence.api.bases import with_bases
from adk_evidence.api.parameters import Keywords, Parameters
from adk_evidence.api.table import (
    BEFORE,
    DEPRECATED,
    OF_CLASS,
    OPEN,
    PASSED_ON,
    TYPE,
    YIELDS,
    HistoryTable,
    public_path,
)
from adk_evidence.errors import SourceError
from adk_evidence.paths import config_file
from adk_evidence.text.identifiers import is_private, to_camel
from adk_evidence.text.versions import read_version

SHIPPED = "history.json.gz"
MAX_HOPS = 12
MAX_NAME_CHARS = 300
MAX_KEPT_NAMES = 2000
# Of all versions together, for each question about a path.
MAX_KEPT_ANSWERS = 20_000
# Bases of other distributions that add no keyword; only pydantic's has members of its own.
_PLAIN = frozenset({"object", "ABC", "Protocol", "Generic", "BaseModel"})
_PYDANTIC = "BaseModel"
# Bases whose members are known; an enumeration hides some from `dir`.
_BASES = {"str": str, "int": int, "enum.Enum": enum.Enum, "enum.IntEnum": enum.IntEnum, "enum.StrEnum": enum.StrEnum}
_OF_PYTHON = {path: {name for one in base.__mro__ for name in vars(one)} for path, base in _BASES.items()}
_PYDANTIC_MEMBER = re.compile(
    r"model_\w+|copy|dict|json|schema|schema_json|parse_\w+|construct|validate|from_orm|update_\w+"
)
# What modules take from these for annotations stands in no table.
_UNLISTED = {*typing.__all__, *collections.abc.__all__, "ReadOnly", "TypeAliasType", "annotations", "deprecated"}
_RECORDS = frozenset({"TypedDict", "NamedTuple"})
# `LlmAgent(max_retries=)`, `LlmAgent(max_retries=3, ...)`
_CALL = re.compile(r"(?P<callable>[A-Za-z_][\w.]*)\(\s*(?P<keyword>[A-Za-z_]\w*)\s*=")
# At most 12 parts, more than any path of the ADK has: each part of a name takes a search of the table.
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,11}")
_WORD = re.compile(r"\w+")
_Method = TypeVar("_Method", bound=Callable[..., object])


def _kept(method: _Method) -> _Method:
    """A method whose answers are kept: the same paths come again in all code."""
    return cast(_Method, functools.lru_cache(MAX_KEPT_ANSWERS)(method))


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
class Elsewhere:
    """Something that the table cannot look into."""

    path: str

    @property
    def is_pydantic(self) -> bool:
        return self.path.rpartition(".")[2] == _PYDANTIC


def read_call(name: str) -> Call | None:
    """The callable and the keyword of `LlmAgent(max_retries=)`, or None of a plain name."""
    match = _CALL.match(name.strip("` \t\n")[:MAX_NAME_CHARS])
    return Call(match["callable"], match["keyword"]) if match else None


def path_of(symbol: str) -> str:
    """The path that a symbol names; of a keyword of a call, the path of what is called."""
    call = read_call(symbol)
    return call.callable if call else symbol


def bare(name: str) -> str | None:
    """A dotted name without brackets, backticks and spaces around; None of what is no name."""
    text = name.strip("` \t\n").rstrip("()").strip("` \t\n")
    return text if len(text) <= MAX_NAME_CHARS and _NAME.fullmatch(text) else None


class History:
    """Answers from a table, by the views of its versions in `each`, oldest first.

    A version that was never released, or is newer than the table, is answered for by the nearest released version
    below. Versions older than the table are unknown.
    """

    def __init__(self, table: HistoryTable) -> None:
        self.table = table
        # `google-adk` holds the package `google.adk`.
        self.package = table.distribution.replace("-", ".")
        if self.package not in table.modules:
            self.package = min(table.modules, key=lambda module: (module.count("."), module), default=self.package)
        self.packages = {module.rpartition(".")[0] for module in table.modules}
        self.each = tuple(VersionApi(self, number) for number in range(len(table.versions)))
        # Names come from people: what is kept has a limit.
        self._kept_paths = functools.lru_cache(MAX_KEPT_NAMES)(lambda name: list(self._paths(name)))

    @staticmethod
    def load() -> History:
        """The table that ships.

        Raises:
            SettingsError: The table is missing.
            SourceError: The table is damaged.
        """
        return _read(config_file(SHIPPED))

    @property
    def versions(self) -> tuple[str, ...]:
        """The released versions that the table knows, oldest first."""
        return self.table.versions

    def nearest(self, version: str) -> VersionApi | None:
        """The released version that answers for `version`; None of what is no version or older than the table."""
        wanted = read_version(version.strip())
        below = [api for api in self.each if api.released <= wanted] if wanted is not None else []
        return below[-1] if below else None

    def exactly(self, version: str | None) -> VersionApi | None:
        """A version that the table knows; None of others: a newer one may have what no known version has."""
        wanted = read_version(version.strip()) if version else None
        return next((api for api in self.each if api.released == wanted), None)

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

    def paths(self, name: str) -> list[str]:
        """The import paths that a name may mean in some version, the likeliest first; an import path is its own."""
        if name == self.package or name.startswith(f"{self.package}."):
            return [name]
        return self._kept_paths(name)

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
            elif module in self.packages or any(run.payload[0] not in "=~" for run in self.table.rows(module)[name]):
                found.append(f"{module}.{name}")
        return sorted(found, key=self._likelihood)

    def _members(self, name: str) -> list[str]:
        found: list[str] = []
        for module, text in self.table.modules.items():
            if f".{name}\t" in text and not is_private(module):
                found += [f"{module}.{row}" for row in self.table.rows(module) if row.endswith(f".{name}")]
        return sorted(found, key=self._likelihood)

    def _likelihood(self, path: str) -> tuple[object, ...]:
        newest = self.each[-1]
        order = "cfap".find(newest.kind(path))
        return (newest.find(path) is None, order if order >= 0 else 9, path.count("."), path)


class VersionApi:
    """What one version of a table has."""

    def __init__(self, history: History, number: int) -> None:
        self.history = history
        self.version = history.table.versions[number]
        self.released = Version(self.version)
        self._table = history.table
        self._number = number

    def has(self, name: str) -> bool | None:
        """Whether the version has a name: bare, dotted, an import path, or a keyword as `LlmAgent(max_retries=)`.

        None where the table cannot tell: private names, and members that another distribution may bring.
        """
        call = read_call(name)
        if call is not None:
            return self._takes(call)
        dotted = bare(name)
        if dotted is None or is_private(dotted):
            return None
        # A name that no version ever had is as surely absent as one that is gone.
        found: bool | None = False
        for path in self.history.paths(dotted):
            has = self._has_path(path)
            if has:
                return True
            if has is None:
                found = None
        return found

    def keywords(self, name: str) -> Keywords | None:
        """The keywords that a call of a class or function may have, inherited ones included.

        None where the version has no such callable.
        """
        dotted = bare(name)
        for path in self.history.paths(dotted) if dotted else ():
            place = self.definition(path)
            found = self.read_keywords(place) if place is not None else None
            if found is not None:
                return found
        return None

    def names_in(self, module: str) -> list[str]:
        """The public names at the top of a module, sorted; none of what is no module."""
        rows = self._table.rows(module) if module in self._table.modules else {}
        public = (name for name in rows if name.isidentifier() and not is_private(name))
        return sorted(name for name in public if self.payload(Place(module, name)) is not None)

    def modules_in(self, package: str) -> list[str]:
        """The public modules and packages right below a package, sorted."""
        below = (module.rpartition(".") for module in self._table.modules)
        public = (name for owner, _, name in below if owner == package and not is_private(name))
        return sorted(name for name in public if self.payload(Place(f"{package}.{name}", "")) is not None)

    def members_of(self, path: str) -> list[str]:
        """The public methods, fields and attributes of a class, inherited ones included, sorted."""
        place = self.definition(path)
        if place is None or self.kind(path) != "c":
            return []
        own = {name for base in self._mro(place) if isinstance(base, Place) for name in self.own_members(base)}
        return sorted(name for name in own if not is_private(name) and isinstance(self._member(place, name), Place))

    def own_members(self, place: Place) -> dict[str, str]:
        """The names that a class itself defines, private ones too, with their payloads."""
        inside = f"{place.name}."
        found: dict[str, str] = {}
        for name in self._table.rows(place.module):
            member = name[len(inside) :]
            if name.startswith(inside) and member.isidentifier() and f".{member}" != BEFORE:
                payload = self.payload(Place(place.module, name))
                if payload is not None:
                    found[member] = payload
        return found

    def says(self, word: str) -> bool:
        """Whether a word is in a name, a parameter or the path of a module of the version."""
        whole = re.compile(rf"\b{re.escape(word)}\b")
        for module, text in self._table.modules.items():
            if word not in module and word not in text:
                continue
            for name in self._table.rows(module):
                payload = self.payload(Place(module, name)) if not name.endswith(DEPRECATED) else None
                if payload is not None and whole.search(f"{module} {name} {payload}"):
                    return True
        return False

    def import_path(self, place: Place) -> str | None:
        """The shortest public path of a definition, or None where nothing public leads to it."""
        top, _, member = place.name.partition(".")
        fqn = f"{place.module}.{top}"
        found = [] if is_private(fqn) or not top else [fqn]
        wanted = f"={fqn}"
        for module, text in self._table.modules.items():
            if wanted in text and not is_private(module):
                rows = self._table.rows(module)
                found += [f"{module}.{name}" for name in rows if self.payload(Place(module, name)) == wanted]
        if not found:
            return place.module if not top and not is_private(place.module) else None
        path = public_path(fqn, found, self.history.packages)
        return f"{path}.{member}" if member else path

    def find(self, path: str) -> Place | Elsewhere | None:
        """What an import path leads to; None where the version does not have the path."""
        return self._find(path, MAX_HOPS)

    def definition(self, path: str) -> Place | None:
        """The definition that an import path leads to; None also of what another distribution defines."""
        found = self.find(path)
        return found if isinstance(found, Place) else None

    @_kept
    def kind(self, path: str) -> str:
        """The first letter of the payload of what an import path leads to, e.g. `c` of a class; `-` of the rest."""
        place = self.definition(path)
        return ((place and self.payload(place)) or "-")[0]

    def yields(self, path: str) -> bool:
        """Whether an import path leads to an asynchronous generator: its calls need `async for`, not `await`."""
        return self._said_of(self.definition(path), YIELDS) is not None

    @_kept
    def type_of(self, path: str) -> str:
        """The class of a member or a result, after `*` that of its items; empty where the table does not say it.

        A value may be of a class that derives from this one, or `None`.
        """
        return self._said_of(self.definition(path), TYPE) or ""

    def made_with(self, path: str) -> Parameters | None:
        """What a call of a class or function takes; None where the table cannot tell."""
        place = self.definition(path)
        payload = (place and self.payload(place)) or ""
        if place is None or payload[:1] != "c":
            return Parameters.of_table(payload) if payload[:1] in ("f", "a") else None
        mro = self._mro(place)
        for base in mro:
            made = self._said_of(base, ".__init__") if isinstance(base, Place) else None
            if made is not None:
                return Parameters.of_table(made)
            if isinstance(base, Elsewhere) and base.path.rpartition(".")[2] not in _PLAIN:
                return None
        # All that pydantic takes is named.
        return Parameters() if any(isinstance(base, Elsewhere) and base.is_pydantic for base in mro) else None

    @_kept
    def is_derived(self, path: str) -> bool:
        """Whether a class of some version may derive from the class at a path."""
        place = self.definition(path)
        name = place.path if place is not None else path
        base = re.compile(rf" c\w*:(?:[^\t\n]* )?{re.escape(name)}(?![\w.])")
        return any(name in text and base.search(text) for text in self._table.modules.values())

    def overriding(self, path: str) -> list[str]:
        """The paths of the method at a path, and of those that override it in classes of the version."""
        place = self.definition(path)
        if place is None or "." not in place.name:
            return [path]
        cls, _, method = place.path.rpartition(".")
        found, heirs = {path: None}, [cls]
        for base in heirs:
            derived = re.compile(
                rf"^([\w.]+)\t(?:[^\n]*\t)?\d+ \d+ c\w*:(?:[^\t\n]* )?{re.escape(base)}(?![\w.])", re.M
            )
            for module, text in self._table.modules.items():
                names = derived.findall(text) if base in text else ()
                heirs += [f"{module}.{name}" for name in names if f"{module}.{name}" not in heirs]
        found |= {f"{heir}.{method}": None for heir in heirs if self.definition(f"{heir}.{method}")}
        return list(found)

    @_kept
    def refuses(self, path: str, name: str) -> bool:
        """Whether objects of the class at a path surely have no such attribute, and cannot be given it."""
        place = self.definition(path)
        if place is None or self.has(f"{path}.{name}") is not False:
            return False
        mro = self._mro(place)
        is_open = any("s" in self._flags(base) for base in mro)
        return not is_open and any(isinstance(base, Elsewhere) and base.is_pydantic for base in mro)

    @_kept
    def enters_itself(self, path: str) -> bool:
        """Whether a `with` gives the object itself of the class at a path."""
        place = self.definition(path)
        return place is not None and any("e" in self._flags(base) for base in self._mro(place))

    def is_of_class(self, path: str) -> bool:
        """Whether the method at a path is called without an object: a class method, or a static method."""
        return self._said_of(self.definition(path), OF_CLASS) is not None

    def payload(self, place: Place) -> str | None:
        """What the table says of a definition."""
        return self._table.payload(place.module, place.name, self._number)

    def _said_of(self, place: Place | None, what: str) -> str | None:
        """What the table says of a definition in a line of its own, such as `.__type__`."""
        return self.payload(Place(place.module, place.name + what)) if place is not None else None

    def deprecation(self, path: str) -> tuple[str, str] | None:
        """What to use in place of a path (empty where that is not known) and why, of what the version deprecates."""
        place = self.definition(path)
        if place is None:
            return None
        told = self._said_of(place, DEPRECATED)
        if told is None and "." in place.name:
            told = self.payload(Place(place.module, place.name.partition(".")[0] + DEPRECATED))
        if told is not None:
            use, _, text = told.partition("|")
            return use, text
        # The module that the path goes through may be deprecated, while what it passes on is not.
        module = path
        while module := module.rpartition(".")[0]:
            told = self.payload(Place(module, DEPRECATED))
            if told is not None:
                use, _, text = told.partition("|")
                inside = f"{use}{path[len(module) :]}" if use else ""
                return (inside if inside and self.definition(inside) is not None else use), text
        return None

    def _has_path(self, path: str) -> bool | None:
        if is_private(path):
            return None
        found = self.find(path)
        if isinstance(found, Elsewhere):
            return True if found.path == path else None
        return found is not None

    def _find(self, path: str, hops: int) -> Place | Elsewhere | None:
        parts = path.split(".")
        for cut in range(len(parts), 0, -1):
            module = ".".join(parts[:cut])
            if module not in self._table.modules:
                continue
            found = self._inside(module, parts[cut:], hops)
            if found is not None:
                return found
        return None

    def _inside(self, module: str, names: list[str], hops: int) -> Place | Elsewhere | None:
        if not names:
            return Place(module, "") if self.payload(Place(module, "")) else None
        first, *below = names
        payload = self.payload(Place(module, first))
        path = ".".join((module, *names))
        if payload is None and (first in _UNLISTED or self.payload(Place(module, "")) == OPEN):
            return Elsewhere(f"{path}?")
        if payload is None or hops == 0:
            return None
        if payload == "~":
            return Elsewhere(path if not below else f"{path}?")
        if payload.startswith("="):
            found = self._find(".".join((payload[1:], *below)), hops - 1)
            if found is None and self._find(payload[1:], hops - 1) is None:
                # A private module, of which the table has nothing.
                return Elsewhere(f"{path}?")
            return Elsewhere(path) if isinstance(found, Elsewhere) and not below else found
        place: Place | Elsewhere | None = Place(module, first)
        for name in below:
            if not isinstance(place, Place):
                return place
            place = self._member(place, name)
        return place

    def _member(self, owner: Place, name: str) -> Place | Elsewhere | None:
        payload = self.payload(owner)
        if payload is None or payload[0] != "c":
            # An attribute of a value: its class is not known.
            return Elsewhere(f"{owner.path}.{name}?") if payload and payload[0] in "vsnpro" else None
        found: Elsewhere | None = None
        set_by_method: Place | None = None
        for base in self._mro(owner):
            if isinstance(base, Place):
                place = Place(base.module, f"{base.name}.{name}")
                member = self.payload(place)
                if member == "s":
                    # A base may declare what a method sets.
                    set_by_method = set_by_method or place
                elif member is not None:
                    return place
                if "x" in self._flags(base):
                    found = Elsewhere(f"{base.path}.{name}?")
            else:
                last = base.path.rpartition(".")[2]
                may = last not in _PLAIN or (last == _PYDANTIC and _PYDANTIC_MEMBER.fullmatch(name))
                if base.path in _OF_PYTHON:
                    may = name in _OF_PYTHON[base.path]
                found = Elsewhere(f"{base.path}.{name}?") if may else found
        return set_by_method or found

    def _mro(self, owner: Place) -> list[Place | Elsewhere]:
        """A class and all its bases."""

        def bases(cls: Place | Elsewhere) -> Iterator[Place | Elsewhere]:
            for base in self.bases(cls) if isinstance(cls, Place) else ():
                known = self.find(base) if not base.startswith(("~", "?")) else None
                yield known or Elsewhere(base.lstrip("~"))

        return with_bases(owner, bases)

    def bases(self, cls: Place) -> list[str]:
        """The bases of a class as the table writes them; none of what is no class."""
        payload = self.payload(cls) or ""
        return payload.partition(":")[2].split() if payload[:1] == "c" else []

    def _flags(self, cls: Place | Elsewhere) -> str:
        """The flags of a class; none of what is no class."""
        payload = (isinstance(cls, Place) and self.payload(cls)) or ""
        return payload.partition(":")[0][1:] if payload[:1] == "c" else ""

    def _takes(self, call: Call) -> bool | None:
        found = self.keywords(call.callable)
        if found is None:
            # Without the callable there is no keyword of it.
            return False if self.has(call.callable) is False else None
        if call.keyword in found.names:
            return True
        return None if found.open or call.keyword in found.hidden or is_private(call.keyword) else False

    @_kept
    def read_keywords(self, place: Place) -> Keywords | None:
        """The keywords of a class or function; None of what cannot be called."""
        payload = self.payload(place)
        if payload is None or payload[0] not in "cfa":
            return None
        if payload[0] != "c":
            return Keywords.of_table(payload)
        classes = self._mro(place)
        foreign = {base.path.rpartition(".")[2] for base in classes if isinstance(base, Elsewhere)}
        own = [base for base in classes if isinstance(base, Place)]
        return self._constructor(own, bool(foreign - _PLAIN - _RECORDS), foreign)

    def _constructor(self, own: list[Place], unknown: bool, foreign: set[str]) -> Keywords:
        """The keywords of what the first class in the order of inheritance is made with."""
        flags = "".join(map(self._flags, own))
        pydantic = _PYDANTIC in foreign
        for at, base in enumerate(own):
            payload = self._said_of(base, ".__init__")
            if payload is not None:
                found = Keywords.of_table(payload)
                if not found.open:
                    return found
                if pydantic:
                    fields = self._fields(own, flags)
                    return replace(found, names=found.names | fields.names, hidden=fields.hidden)
                # `**kwargs` most often goes to the constructor of the next class, but is sure to only as `PASSED_ON`.
                passed = self._constructor(own[at + 1 :], unknown, foreign)
                is_open = passed.open or not passed.names or not payload.endswith(PASSED_ON)
                return replace(found, names=found.names | passed.names, open=is_open)
            if not pydantic and "d" in self._flags(base):
                return replace(self._fields(own[at:], flags), open=unknown, hidden=frozenset())
        if pydantic or foreign & _RECORDS:
            fields = self._fields(own, flags)
            return replace(fields, open=unknown or "x" in flags, hidden=fields.hidden if pydantic else frozenset())
        return Keywords(frozenset(), open=unknown)

    def _fields(self, classes: list[Place], flags: str) -> Keywords:
        found: dict[str, str] = {}
        for base in classes:
            for name, payload in self.own_members(base).items():
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
            early = self._said_of(base, BEFORE)
            hidden |= set(early[2:].split(", ")) - names if early else set()
        return Keywords(frozenset(names), required, hidden=frozenset(hidden))


@functools.lru_cache(maxsize=1)
def _read(path: Path) -> History:
    try:
        return History(HistoryTable.parse(path.read_bytes()))
    except OSError as exc:
        raise SourceError(f"{path} cannot be read: {exc.strerror}.") from exc
