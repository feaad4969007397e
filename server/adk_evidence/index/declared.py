"""What a project's lock files and declarations say of a distribution. They are data of strangers: nothing is run."""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from adk_evidence.text.textfile import read_small
from adk_evidence.text.versions import read_release, read_version

MAX_LOCK_BYTES = 16_000_000
MAX_FILE_BYTES = 1_000_000
MAX_LINE_CHARS = 2000
MAX_FOUND = 50
_PIN = re.compile(r"(?:===?\s*)?([^\s,;*|<>=!~^]+)")
# `^1.18`, `~1.18.2`: poetry's own operators. The other ones are those of Python's packages.
_POETRY = re.compile(r"(?P<operator>\^|~(?!=))\s*v?(?P<version>\d\S*)")


class Declared(NamedTuple):
    """What a file asks for: exact versions, or a range.

    `asked` is written anew from the versions or the range, because the file itself may hold any text. A lock file may
    have several versions, for different platforms; the newest is the first. `kind` says what the file is.
    """

    asked: str
    range: SpecifierSet | None = None
    versions: tuple[str, ...] = ()
    kind: str = "a file of the project"


class _Kind(NamedTuple):
    """A kind of file: its names, how it is read, and how large it may be."""

    pattern: str
    read: Callable[[str, str], Iterator[str | Requirement]]
    limit: int = MAX_FILE_BYTES
    called: str = "a lock file"


def declared_in(folder: Path, name: str) -> Iterator[tuple[Path, Declared]]:
    """Each lock file and declaration of the folder that names the distribution; lock files first."""
    for kind in _KINDS:
        for path in _matching(folder, kind.pattern):
            found = _read(path, name, kind)
            if found is not None:
                yield path, found._replace(kind=kind.called)


def newest(declared: Declared, released: Iterable[str]) -> str | None:
    """The newest released version that the range admits. Pre-releases count as they do for pip."""
    versions = [version for text in released if (version := read_version(text)) is not None]
    found = max(declared.range.filter(versions), default=None) if declared.range is not None else None
    return None if found is None else str(found)


def _matching(folder: Path, pattern: str) -> list[Path]:
    if "*" not in pattern:
        return [folder / pattern]
    place = (folder / pattern).parent
    try:
        # `requirements.txt` stands before `requirements-dev.txt`.
        names = sorted((path.name for path in place.iterdir()), key=lambda text: (len(text), text))
    except (OSError, ValueError):
        return []
    return [place / each for each in names if fnmatch(each, Path(pattern).name)][:MAX_FOUND]


def _read(path: Path, name: str, kind: _Kind) -> Declared | None:
    try:
        info = path.stat()
    except (OSError, ValueError):
        return None
    return _parsed(path, name, kind, info.st_mtime_ns, info.st_size)


@functools.lru_cache(maxsize=256)
def _parsed(path: Path, name: str, kind: _Kind, mtime_ns: int, size: int) -> Declared | None:
    # The time and the size make the cache notice a change.
    text = read_small(path, kind.limit)
    if text is None or re.search(name.replace("-", "[-_.]+"), text, re.IGNORECASE) is None:
        return None
    try:
        found = list(itertools.islice(kind.read(text, name), MAX_FOUND))
    # What a stranger's file can cause: it is not valid, of another shape, or nested too deeply.
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return _summed_up(found)


def _summed_up(found: list[str | Requirement]) -> Declared | None:
    """What several entries for one distribution ask for together: all exact versions, else the first range.

    Entries whose markers hold on this machine count; where there are none, all entries count.
    """
    entries = [each for each in found if isinstance(each, str) or _is_for_here(each)] or found
    exact: set[Version] = set()
    ranges: list[SpecifierSet] = []
    for entry in entries:
        text = (entry if isinstance(entry, str) else str(entry.specifier))[:MAX_LINE_CHARS]
        pin = _PIN.fullmatch(text.strip())
        version = read_release(pin[1]) if pin else None
        if version is not None:
            exact.add(version)
        else:
            # Of several ranges, poetry has the newest last as a rule.
            alternatives = map(_specifier, reversed(text.split("||")))
            ranges += [each for each in alternatives if each is not None]
    if exact:
        newest_first = tuple(str(each) for each in sorted(exact, reverse=True))
        return Declared(", ".join(newest_first), versions=newest_first)
    return Declared(str(ranges[0]), ranges[0]) if ranges else None


def _is_for_here(requirement: Requirement) -> bool:
    try:
        return requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    except (UndefinedEnvironmentName, UndefinedComparison, InvalidVersion):
        return True


def _specifier(text: str) -> SpecifierSet | None:
    """The range that a text means to pip or poetry; None where the text is no range of public versions.

    `===` may stand before any text, and the local part of a version may hold words.
    """
    text = " ".join(text.split())
    if text in ("", "*"):
        return SpecifierSet()
    parts: list[str] = []
    for part in re.split(r" ?, ?| (?=[<>=!~^])", text):
        own = _POETRY.fullmatch(part)
        parts += _poetry(own["operator"], own["version"]) if own else [part if part[:1] in "<>=!~" else f"=={part}"]
    try:
        found = SpecifierSet(",".join(parts))
    except InvalidSpecifier:
        return None
    versions = [read_version(each.version.removesuffix(".*")) for each in found]
    return found if all(version is not None and not version.local for version in versions) else None


def _poetry(operator: str, text: str) -> list[str]:
    """`^1.18` keeps the first number that is not 0, `~1.18` the first two."""
    version = read_version(text)
    if version is None:
        return [text]
    release = version.release
    if operator == "^":
        kept = next((place for place, number in enumerate(release) if number), len(release) - 1)
    else:
        kept = min(1, len(release) - 1)
    above = [*release[:kept], release[kept] + 1]
    return [f">={text}", f"<{'.'.join(map(str, above))}"]


def _is_called(name: str, found: Any) -> bool:
    return isinstance(found, str) and canonicalize_name(found) == name


def _lines(text: str, name: str) -> Iterator[Requirement]:
    """The requirements of lines as pip reads them."""
    for line in text.splitlines():
        # Without comments and options of pip, such as hashes.
        kept = line[:MAX_LINE_CHARS].replace("\t", " ").partition(" #")[0].partition(" --")[0]
        try:
            requirement = Requirement(kept.rstrip("\\ "))
        except InvalidRequirement:
            continue
        if _is_called(name, requirement.name) and not requirement.url:
            yield requirement


def _toml_lock(text: str, name: str) -> Iterator[str]:
    """`[[package]]` of uv, poetry and pdm, and `[[packages]]` of pylock.toml."""
    read = tomllib.loads(text)
    for package in [*_list(read.get("package")), *_list(read.get("packages"))]:
        if isinstance(package, dict) and _is_called(name, package.get("name")):
            version = package.get("version")
            if isinstance(version, str):
                yield f"=={version}"


def _pyproject(text: str, name: str) -> Iterator[str | Requirement]:
    read = tomllib.loads(text)
    project, tool = _dict(read.get("project")), _dict(read.get("tool"))
    poetry = _dict(tool.get("poetry"))
    groups = [_dict(each).get("dependencies") for each in _dict(poetry.get("group")).values()]
    places: list[Any] = [
        project.get("dependencies"),
        poetry.get("dependencies"),
        *_dict(project.get("optional-dependencies")).values(),
        *_dict(read.get("dependency-groups")).values(),
        *groups,
        poetry.get("dev-dependencies"),
        _dict(tool.get("uv")).get("dev-dependencies"),
    ]
    for place in places:
        if isinstance(place, dict):
            found: list[str | Requirement] = list(_table(place, name))
        else:
            found = list(_lines(_joined(place), name))
        if found:
            # What the project itself needs counts before what its groups need.
            yield from found
            return


def _table(table: dict[str, Any], name: str) -> Iterator[str]:
    """`google-adk = "^1.18"`, `google-adk = {version = "^1.18"}`, or a list of such tables."""
    for key, value in table.items():
        if _is_called(name, key):
            for item in value if isinstance(value, list) else [value]:
                found = item.get("version") if isinstance(item, dict) else item
                if isinstance(found, str):
                    yield found


def _joined(value: Any) -> str:
    """The texts of a list as lines. What else is in the list may hold itself, or be huge once it is written out."""
    return "\n".join(each for each in _list(value) if isinstance(each, str))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_REQUIREMENTS = "a requirements file"
_KINDS = (
    _Kind("uv.lock", _toml_lock, MAX_LOCK_BYTES),
    _Kind("poetry.lock", _toml_lock, MAX_LOCK_BYTES),
    _Kind("pdm.lock", _toml_lock, MAX_LOCK_BYTES),
    _Kind("pylock*.toml", _toml_lock, MAX_LOCK_BYTES),
    _Kind("pyproject.toml", _pyproject, called="a declaration"),
    _Kind("requirements*.txt", _lines, MAX_LOCK_BYTES, _REQUIREMENTS),
    _Kind("requirements/*.txt", _lines, MAX_LOCK_BYTES, _REQUIREMENTS),
    _Kind("requirements*.in", _lines, called=_REQUIREMENTS),
    _Kind("requirements/*.in", _lines, called=_REQUIREMENTS),
)
