"""Which versions of a collection are searched: evidence of two versions side by side would contradict itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from packaging.version import InvalidVersion, Version

from adk_evidence.models.chunk import Kind
from adk_evidence.search.versions import AskedVersion

Basis = Literal["question", "nearest", "newest"]
# The strongest first.
BASES: tuple[Basis, ...] = ("question", "nearest", "newest")

_TAG = re.compile(r"v?\d+\.\d")


@dataclass(frozen=True)
class VersionChoice:
    """The versions of one collection that are searched, and those that are left out, newest first.

    `basis` says why: they are what the question asks for, the nearest to it, or the newest. `commits` are those that
    the search is narrowed to; empty where it need not be.
    """

    basis: Basis
    searched: tuple[str, ...]
    left_out: tuple[str, ...]
    commits: tuple[str, ...]


def choose_versions(kind: Kind, refs: Mapping[str, tuple[str, ...]], asked: Sequence[AskedVersion]) -> VersionChoice:
    """Choose among the indexed commits of a kind.

    Of each version that was asked for: the newest that is of it, else the newest with the same first two numbers, else
    with the same first one. Nothing asked, or nothing near: the newest. Documentation whose version is not known is
    always searched; such code only where no version was asked for and found.

    Args:
        kind: `doc` or `code`.
        refs: For each indexed commit the names it goes by; one of them, or the commit, may be a version.
        asked: What the question names.
    """
    versions = {commit: version for commit, names in refs.items() if (version := version_of(commit, names))}
    newest = sorted(set(versions.values()), reverse=True)
    found = [match for one in asked if (match := _best(newest, one))]
    chosen = {version for version, _ in found} or set(newest[:1])
    basis: Basis = "newest"
    if found:
        basis = "question" if len(found) == len(asked) and all(exact for _, exact in found) else "nearest"
    unknown = [commit for commit in refs if commit not in versions] if kind == "doc" or not found else []
    kept = tuple(commit for commit in refs if commit in unknown or versions.get(commit) in chosen)
    return VersionChoice(
        basis=basis,
        searched=_labels(newest, chosen),
        left_out=_labels(newest, set(newest) - chosen),
        commits=kept if len(kept) < len(refs) else (),
    )


def missing_version(asked: Sequence[AskedVersion], choices: Sequence[VersionChoice]) -> str | None:
    """What to say where no collection has what the question asks for; None where one has it.

    Args:
        asked: What the question names.
        choices: What was chosen of each collection.
    """
    telling = [choice for choice in choices if choice.searched]
    if not asked or any(choice.basis == "question" for choice in telling):
        return None
    meant = " and ".join(one.text for one in asked)
    held = dict.fromkeys(name for choice in telling for name in (*choice.searched, *choice.left_out))
    searched = dict.fromkeys(name for choice in telling for name in choice.searched)
    holds = f"holds {', '.join(held)}" if held else "does not say which version it holds"
    of_them = f", of which {' and '.join(searched)} was searched" if len(searched) < len(held) else ""
    return f"The question is about ADK {meant}; the index {holds}{of_them}. Evidence may not hold there."


def version_of(commit: str, names: Sequence[str]) -> Version | None:
    """The version that a commit is of, by its names or its own: tags such as `v2.13.0`."""
    for name in (*names, commit):
        if _TAG.match(name):
            try:
                return Version(name)
            except InvalidVersion:
                continue
    return None


def _best(newest: Sequence[Version], asked: AskedVersion) -> tuple[Version, bool] | None:
    """The best of the versions, and whether it is what was asked for."""
    exact = next((version for version in newest if asked.holds(version)), None)
    if exact is not None:
        return exact, True
    for parts in (2, 1):
        near = next((version for version in newest if asked.near(version, parts)), None)
        if near is not None:
            return near, False
    return None


def _labels(newest: Sequence[Version], chosen: set[Version]) -> tuple[str, ...]:
    return tuple(f"v{version}" for version in newest if version in chosen)
