"""Gitignore-style globs over repository paths, for what is ingested and for what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import PathSpec
from pathspec.pattern import Pattern, RegexPattern
from pathspec.util import lookup_pattern

_Gitignore = lookup_pattern("gitignore")


_ANY_CASE = "(?i)"


def any_case(glob: str) -> str:
    """The glob without regard to upper and lower case."""
    return _ANY_CASE + glob


def takes_back(glob: str) -> bool:
    """Whether a glob takes back what earlier ones matched."""
    return glob.removeprefix(_ANY_CASE).lstrip().startswith("!")


def only(path: str) -> str:
    """The glob that matches one file or folder of a repository and nothing else of that name."""
    return "/" + re.sub(r"([\\\[\]!*#?])", r"\\\1", path)


def _pattern(glob: str) -> Pattern:
    pattern = _Gitignore(glob.removeprefix(_ANY_CASE))
    # A comment or an empty line has no expression.
    if not glob.startswith(_ANY_CASE) or not isinstance(pattern, RegexPattern) or pattern.regex is None:
        return pattern
    return RegexPattern(re.compile(pattern.regex.pattern, re.IGNORECASE), include=pattern.include)


class Globs:
    """Gitignore-style globs: the last glob that matches a path or a folder above it decides.

    A glob with `!` takes back earlier matches; a glob after `(?i)` ignores case. pathspec alone looks at the path only,
    so that `a/*` would leave out the folder `a/b` but not the files in it.

    Raises:
        ValueError: A glob cannot be parsed.
    """

    def __init__(self, globs: Iterable[str]) -> None:
        # Not GitIgnoreSpec: there a glob for a file beats one for a folder, whatever their order.
        self._spec = PathSpec([_pattern(glob) for glob in globs])
        self._folders: dict[str, tuple[int, bool]] = {"": (-1, False)}

    def match(self, path: str) -> bool:
        """Whether the globs match a path; paths of folders end with `/`."""
        above = path.rstrip("/").rpartition("/")[0]
        return max(self._above(above), self._last(path))[1]

    def _above(self, folder: str) -> tuple[int, bool]:
        waiting = []
        while folder not in self._folders:
            waiting.append(folder)
            folder = folder.rpartition("/")[0]
        last = self._folders[folder]
        for inner in reversed(waiting):
            last = self._folders[inner] = max(last, self._last(f"{inner}/"))
        return last

    def _last(self, path: str) -> tuple[int, bool]:
        """Number of the last glob that matches the path itself (-1: none), and whether that glob lacks a `!`."""
        result = self._spec.check_file(path)
        return (-1 if result.index is None else result.index), bool(result.include)
