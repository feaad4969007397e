"""The table of a distribution's public API in all its released versions, as it lies in a file.

The file is gzip of JSON: the versions, and for each module one text with a line for each name of that module. A line
has the name and its runs, between tabs. A run is `first last payload`: from version number `first` to version number
`last` of the list of versions, the name was what the payload says.

| payload | the name is |
| --- | --- |
| `m`, `m?` | the module itself (an empty name); `?` where it may have any other names, too |
| `c<flags>:<bases>` | a class; bases by their dotted paths, those of other distributions after `~`, `?` where unknown |
| `f:<parameters>`, `a:<parameters>` | a function; `a` is one to await |
| `p` | a property |
| `r:<alias>`, `o:<alias>` | a field that a caller sets: required, optional |
| `n` | a field that callers are not meant to set |
| `s` | an attribute that a method sets, and the class does not declare |
| `v` | another variable or attribute |
| `=<path>` | another name for the definition or the module at that path of the same distribution |
| `~` | something of another distribution |

Flags: `d` dataclass, `x` takes any keyword, `k` takes its fields in camel case, too, `s` says itself how attributes
are set, `e` gives the object itself to a `with`. Parameters are written as names:
`name` required, `name=` optional, `*`, `*args`, `**kwargs`, and `**super` of a constructor that only gives its
`**kwargs` to the constructor of the next class. The line `<class>.__before__` has the payload `b:<names>`: what a
validator of the class may read before the fields are, so that calls may name these, too. The line
`<function>.__yields__` has the payload `y` where a function of the kind `a` is an asynchronous generator: its calls
need `async for` in place of `await`. The line `<method>.__of_class__` has the same payload where a method is called
without an object. The line `<name>.__type__` has the path of the one class that the value of a member, or the result of
a function, is declared to be of (or `None`), after `*` the class of its items. The line `<name>!` says when and why a
name is deprecated: its payload is `<what to use>|<text>`.
"""

from __future__ import annotations

import functools
import gzip
import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from adk_evidence.errors import SourceError

FORMAT = 1
OPEN = "m?"
DEPRECATED = "!"
BEFORE = ".__before__"
YIELDS = ".__yields__"
TYPE = ".__type__"
OF_CLASS = ".__of_class__"
PASSED_ON = "**super"
_HINT = "Delete the file if it is in the home folder, or install adk-evidence again."
# What a version has: for each module, its names with their payloads.
Snapshot = Mapping[str, Mapping[str, str]]


class Run(NamedTuple):
    """What a name was in versions number `first` to `last`."""

    first: int
    last: int
    payload: str


class HistoryTable:
    """The table in memory. Lines are read when they are asked for: a question needs a few of them.

    Args:
        distribution: The name in the package index, e.g. `google-adk`.
        versions: In ascending order.
        modules: The lines of each module.
    """

    def __init__(
        self, distribution: str, versions: Iterable[str] = (), modules: Mapping[str, str] | None = None
    ) -> None:
        self.distribution = distribution
        self.versions = tuple(versions)
        self.modules = dict(modules or {})
        self.rows = functools.cache(self._read_rows)

    @classmethod
    def parse(cls, data: bytes) -> HistoryTable:
        """Read the bytes of a file.

        Raises:
            SourceError: They are damaged, or of another format.
        """
        try:
            read = json.loads(gzip.decompress(data))
            if read["format"] != FORMAT:
                raise SourceError("The table of earlier versions has another format.", _HINT)
            table = cls(read["distribution"], read["versions"], read["modules"])
            list(map(Version, table.versions))
            "".join(table.modules.values())
        except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, InvalidVersion) as exc:
            raise SourceError("The table of earlier versions is damaged.", _HINT) from exc
        return table

    def dump(self) -> bytes:
        """The bytes of a file; equal tables give equal bytes."""
        whole = {
            "format": FORMAT,
            "distribution": self.distribution,
            "versions": self.versions,
            "modules": dict(sorted(self.modules.items())),
        }
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        return gzip.compress(text.encode("utf-8"), mtime=0)

    def _read_rows(self, module: str) -> Mapping[str, tuple[Run, ...]]:
        """The names of a module with their runs; empty where no version has the module.

        Raises:
            SourceError: The lines of the module are damaged.
        """
        return dict(_read_line(line) for line in self.modules.get(module, "").split("\n") if line)

    def payload(self, module: str, name: str, version: int) -> str | None:
        """What a name was in a version by its number, or None."""
        for run in self.rows(module).get(name, ()):
            if run.first <= version <= run.last:
                return run.payload
        return None


def make_table(distribution: str, snapshots: Mapping[str, Snapshot]) -> HistoryTable:
    """The table of some versions, in whatever order they come."""
    versions = sorted(snapshots, key=Version)
    rows: dict[str, dict[str, list[Run]]] = {}
    for number, version in enumerate(versions):
        for module, names in snapshots[version].items():
            ours = rows.setdefault(module, {})
            for name, payload in names.items():
                runs = ours.setdefault(name, [])
                if runs and runs[-1].last == number - 1 and runs[-1].payload == payload:
                    runs[-1] = Run(runs[-1].first, number, payload)
                else:
                    runs.append(Run(number, number, payload))
    modules = {module: "\n".join(_line(name, names[name]) for name in sorted(names)) for module, names in rows.items()}
    return HistoryTable(distribution, versions, modules)


def public_path(fqn: str, paths: Sequence[str], packages: Collection[str]) -> str:
    """The path that a definition is imported by, among several: the shortest of what packages export.

    What other modules merely import for their own use counts only where there is nothing else, as do other names.

    Args:
        fqn: Where the definition stands.
        paths: Importable paths, at least one.
        packages: The modules that have modules inside.
    """
    own = [path for path in paths if path == fqn or path.rpartition(".")[0] in packages]
    name = fqn.rpartition(".")[2]
    return min(own or paths, key=lambda path: (path.rpartition(".")[2] != name, path.count("."), path))


def _line(name: str, runs: Iterable[Run]) -> str:
    return "\t".join((name, *(f"{run.first} {run.last} {run.payload}" for run in runs)))


def _read_line(line: str) -> tuple[str, tuple[Run, ...]]:
    name, *runs = line.split("\t")
    try:
        parts = [run.split(" ", 2) for run in runs]
        found = tuple(Run(int(first), int(last), payload) for first, last, payload in parts)
    except ValueError as exc:
        raise SourceError("The table of earlier versions is damaged.", _HINT) from exc
    if not found or not all(run.payload for run in found):
        raise SourceError("The table of earlier versions is damaged.", _HINT)
    return name, found
