"""Differences as they are shown: in words, cited on both sides, with the version that made them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from typing import get_args

from adk_evidence.api.comparison import Comparison, Pair
from adk_evidence.api.history import History, Place, VersionApi
from adk_evidence.api.release import Found, Release, Side, own_span
from adk_evidence.models import difference
from adk_evidence.models.chunk import sha256_text
from adk_evidence.models.citation import code_citation
from adk_evidence.models.difference import Change, ChangeKind, Counts
from adk_evidence.models.pack import Verification
from adk_evidence.readers.python import MAX_SIGNATURE_CHARS, Definition, clip, signature, unparse
from adk_evidence.text.textfile import split_lines

# Lines around the changed lines of a diff.
CONTEXT_LINES = 2
# Where the lines of a diff begin, e.g. `-3` and `+5` in `@@ -3,7 +5,7 @@`.
_PLACE = re.compile(r"([-+])(\d+)")


class Changes:
    """What is shown of the differences between two versions.

    Args:
        comparison: The differences.
        released: The table of all released versions, for the version that made a difference.
    """

    def __init__(self, comparison: Comparison, released: History | None = None) -> None:
        self._old, self._new = comparison.old, comparison.new
        self._released = released

    def change(self, pair: Pair, *, lines: bool = False) -> Change:
        """A difference as it is shown; `lines` adds the unified diff of the definition's lines."""
        told = sorted(pair.told, key=lambda one: not one.breaking)
        before = place_of(self._old, pair.before, pair.name_before)
        after = place_of(self._new, pair.after, pair.name_after)
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

    def places(self, path: str) -> tuple[difference.Place, ...]:
        """A definition in both versions, the earlier one first."""
        found = (place_of(side, side.api.definition(path), path) for side in (self._old, self._new))
        return tuple(place for place in found if place is not None)

    def _diff(self, pair: Pair) -> str:
        """The unified diff of a definition that both versions have; of a class, without what its members say."""
        if pair.before is None or pair.after is None:
            return ""
        old, new = self._old.found(pair.before), self._new.found(pair.after)
        if old is None or new is None:
            return ""
        names = [f"{side.release.commit}:{found.module.path}" for side, found in ((self._old, old), (self._new, new))]
        return _unified(old, new, names)

    def _since(self, pair: Pair) -> str | None:
        """The first released version after the earlier one in which the name is as it is in the later one."""
        if self._released is None:
            return None
        first, last = (self._released.exactly(side.release.version) for side in (self._old, self._new))
        test = self._test(pair, last) if first is not None and last is not None else None
        if first is None or last is None or test is None:
            return None
        between = (api for api in self._released.each if first.released < api.released <= last.released)
        return next((api.version for api in between if test(api)), None)

    def _test(self, pair: Pair, last: VersionApi) -> Callable[[VersionApi], bool] | None:
        """What tells whether a version already has the difference; None where nothing tells."""
        lost = pair.lost or (pair.name_before if pair.change in ("gone", "renamed") else None)
        if lost is not None:
            return lambda api: api.has(lost) is False
        if pair.before is None:
            return lambda api: api.has(pair.name) is True
        if pair.change == "deprecated":
            return lambda api: api.deprecation(pair.name) is not None
        if pair.kind in ("class", "function", "method") and pair.change in ("incompatible", "changed"):
            theirs = last.keywords(pair.name)
            if theirs is not None and theirs != self._old.api.keywords(pair.name_before):
                return lambda api: api.keywords(pair.name) == theirs
        return None


def place_of(side: Side, place: Place | None, name: str) -> difference.Place | None:
    """Where a definition is in a version, with its citation; None where the version's code does not show it."""
    found = side.found(place) if place is not None else None
    if place is None or found is None:
        return None
    release, path, lines = side.release, found.module.path, found.lines
    shown = ""
    if place.name:
        node = found.node
        text = signature(node) if isinstance(node, Definition) else unparse(node)
        shown = clip(text or "", MAX_SIGNATURE_CHARS)
    return difference.Place(
        name=name or side.shown(place),
        citation=code_citation(release.repo, release.commit, path, lines.start, lines.end),
        path=path,
        lines=lines,
        signature=shown,
        verification=_checked(release, found),
    )


def cited_in(side: Side, path: str, *, modules: bool = True) -> str:
    """The citation of what a path leads to in a version; empty where the version's code does not show it as cited."""
    place = side.api.definition(path)
    found = place_of(side, place, path) if place and (place.name or modules) else None
    return found.citation if found is not None and found.verification.state == "exact" else ""


def count(pairs: Sequence[Pair]) -> Counts:
    kinds = [pair.change for pair in pairs]
    return Counts(
        breaking=sum(pair.breaking for pair in pairs),
        by_change={kind: kinds.count(kind) for kind in get_args(ChangeKind) if kind in kinds},
    )


def _own_lines(found: Found) -> list[str]:
    return found.text[: own_span(found.node).end - found.lines.start + 1]


def _unified(before: Found, after: Found, names: Sequence[str]) -> str:
    """A unified diff of two definitions in files of these names, with the line numbers of the files."""
    texts = _own_lines(before), _own_lines(after)
    found = difflib.unified_diff(*texts, names[0], names[1], lineterm="", n=CONTEXT_LINES)
    above = {"-": before.lines.start - 1, "+": after.lines.start - 1}

    def placed(place: re.Match[str]) -> str:
        return f"{place[1]}{int(place[2]) + above[place[1]]}"

    return "\n".join(_PLACE.sub(placed, line) if line.startswith("@@ ") else line for line in found)


def _checked(release: Release, found: Found) -> Verification:
    """Whether the cited lines stand in the file as it is now."""
    text = release.read(found.module.path)
    lines = split_lines(text)[found.lines.start - 1 : found.lines.end] if text is not None else []
    if sha256_text("\n".join(lines)) == sha256_text("\n".join(found.text)):
        return Verification(state="exact")
    return Verification(state="unverified", reason="The file was changed or cannot be read any more.")
