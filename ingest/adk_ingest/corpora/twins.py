"""Files of JavaScript that other files hold already: builds of a source, and one build in several module systems.

A package holds `src/a.ts` beside the `a.js`, `a.cjs`, `a.d.ts` and `a.d.cts` that are made of it. All of them answer a
question alike, and would fill the first ranks.

Twins have one path but for folders of builds, and the words of the twin stand in the file that it is a twin of. Where
the twin may be written by hand, so do all its lines: settings for production are no twin of those for tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from adk_ingest.chunking.base import SourceFile

# So many of a file's words must stand in another file for the file to be a twin.
_HELD_WORDS = 0.9
# A word that a quarter of so many files of one extension hold tells little of a file: builders put it there.
_MANY = 40
_USUAL = 0.25
_SHORT_LINE = 3

_SOURCES = frozenset({"src", "source"})
# Files in these folders are built; in other folders beside a source, people may write, too.
_BUILT = frozenset({"dist", "build", "out", "esm", "es", "cjs", "commonjs", "umd", "amd"})
_BUILDS = _BUILT | {"lib", "types", "typings", "development", "production"}
# Of two builds, the one from such a folder is the twin.
_LESSER = frozenset({"cjs", "commonjs", "umd", "amd", "production"})
# The best first: what people write, what is declared of it, and what is built of it.
_WRITTEN = (".ts", ".tsx", ".mts", ".cts", ".jsx")
_EXTENSIONS = (*_WRITTEN, ".d.ts", ".d.mts", ".d.cts", ".mjs", ".js", ".cjs")
_EXTENSION = re.compile(r"(?:\.d)?\.[mc]?ts$|\.tsx$|\.[mc]?js$|\.jsx$")
_WORD = re.compile(r"\w+")
# What `import * as a from "./a.js"` becomes.
_REQUIRED = re.compile(r"\w+_[cm]?js_\d+")
_MODULE_SYSTEM = frozenset(
    _WORD.findall(
        """Object defineProperty getOwnPropertyDescriptor getOwnPropertyNames hasOwnProperty prototype call create
    enumerable configurable writable value get desc exports module require default use strict __esModule
    __createBinding __setModuleDefault __importStar __importDefault __exportStar __toESM __toCommonJS __copyProps
    __defProp __getOwnPropDesc __getOwnPropNames __hasOwnProp __export _default export import as from type declare
    function return var const let this void true undefined null if for in else o m k k2 mod result cjs mjs js d ts
    0"""
    )
)


class Twin(NamedTuple):
    """The path of a file that is left out, and of the file that stands for it."""

    path: str
    of: str


@dataclass(frozen=True)
class _File:
    path: str
    extension: str
    built: bool
    folders: tuple[str, ...]
    stem: str
    order: tuple[object, ...]
    source: SourceFile

    # Most files have no other file of their name, so that nobody reads them for this. All texts would fill the memory.
    @property
    def text(self) -> str:
        return self.source.text

    @cached_property
    def lines(self) -> frozenset[str]:
        return frozenset(line for line in map(str.strip, self.text.split("\n")) if len(line) > _SHORT_LINE)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for word in _WORD.findall(self.text) if not _REQUIRED.fullmatch(word))


def find_twins(files: Iterable[SourceFile]) -> list[Twin]:
    """The files that say what another file says, by their paths."""
    placed = [_placed(file, found[0]) for file in files if (found := _EXTENSION.search(file.path))]
    named: dict[object, list[_File]] = {}
    for one in placed:
        named.setdefault((one.folders, one.stem), []).append(one)
    groups = [sorted(group, key=lambda one: one.order) for group in named.values() if len(group) > 1]
    common = _common_words(placed) if groups else {}
    return sorted(twin for group in groups for twin in _twins_of_name(group, common))


def _placed(file: SourceFile, extension: str) -> _File:
    path = PurePosixPath(file.path.removesuffix(extension))
    folders = path.parts[:-1]
    built = not _BUILT.isdisjoint(folders)
    order = (
        not _SOURCES.intersection(folders),
        len(_LESSER.intersection(folders)),
        _EXTENSIONS.index(extension),
        len(folders),
        file.path,
    )
    own = tuple(folder for folder in folders if folder not in _SOURCES | _BUILDS)
    return _File(file.path, extension, built, own, path.name, order, file)


def _common_words(files: Sequence[_File]) -> dict[str, frozenset[str]]:
    """By extension, the words that tell little of a file: those that many files with this extension hold."""
    common = {}
    for extension in {one.extension for one in files}:
        alike = [one for one in files if one.extension == extension]
        if len(alike) < _MANY:
            common[extension] = _MODULE_SYSTEM
            continue
        counts = Counter(word for one in alike for word in set(_WORD.findall(one.text)))
        usual = {word for word, count in counts.items() if count >= _USUAL * len(alike)}
        common[extension] = _MODULE_SYSTEM | usual
    return common


def _twins_of_name(group: Sequence[_File], common: dict[str, frozenset[str]]) -> Iterator[Twin]:
    """The twins in a group that is in order: each file is compared with those before it that are no twins."""
    kept: list[_File] = []
    for one in group:
        own = one.words - common[one.extension]
        other = max(kept, key=lambda other: len(own & other.words), default=None)
        if other is not None and _says(other, one, own):
            yield Twin(one.path, other.path)
        else:
            kept.append(one)


def _says(other: _File, one: _File, own: frozenset[str]) -> bool:
    """Whether another file says what a file says; `own` are the words that the file does not owe to its builder."""
    if len(own & other.words) < _HELD_WORDS * len(own):
        return False
    is_made = one.extension not in _WRITTEN and (one.extension != other.extension or one.built)
    return is_made or one.lines <= other.lines
