"""What is said of a name that a version lacks: which versions have it, and what the version has in its place."""

from __future__ import annotations

import functools
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from adk_evidence.api.history import Call, History, VersionApi, bare, read_call
from adk_evidence.errors import EvidenceError
from adk_evidence.text.identifiers import is_code_like

KEPT_LIFETIMES = 2000


@dataclass(frozen=True)
class Lifetime:
    """The versions around some version that have a name without a gap.

    `since` is None where the oldest version of the table is among them, `until` where the newest is.
    """

    since: str | None
    until: str | None


# A hover asks for the same names again and again.
@functools.lru_cache(maxsize=KEPT_LIFETIMES)
def lifetime(history: History, version: str, names: tuple[str, ...]) -> Lifetime | None:
    """How long the ADK has something that goes by these import paths; None where the version has none of them."""
    known = history.nearest(version)
    having = [api for api in history.each if any(api.has(name) for name in names)] if known is not None else []
    for is_having, group in groupby(history.each, key=having.__contains__):
        run = list(group)
        if is_having and known in run:
            since = None if run[0] is history.each[0] else run[0].version
            return Lifetime(since, None if run[-1] is history.each[-1] else run[-1].version)
    return None


@dataclass(frozen=True)
class Lack:
    """A name that a version lacks.

    `version` is how people write the version and, if the table does not know that version, the released version that
    stands in for it.
    `until` is the last version before that has the name, `since` the first one after; both are None where no version
    has the name. `instead` is the import path that the version has in place of the name, where that is known. `alone`:
    no other version is known.
    """

    name: str
    distribution: str
    version: str
    known: str
    until: str | None = None
    since: str | None = None
    instead: str | None = None
    alone: bool = False

    @property
    def sentence(self) -> str:
        """What is known of the name: `google-adk 1.0.0 has no `LlmAgent(mode=)`: it came in with 1.14.0.`"""
        told = []
        if self.until is not None:
            told.append(f"the last version that has it is {self.until}")
        if self.since is not None:
            told.append(f"it {'comes back' if self.until else 'came in'} with {self.since}")
        if not told and not self.alone:
            told.append("no version has it")
        if self.instead is not None:
            told.append(f"{self.known} has `{self.instead}`")
        return f"{self.distribution} {self.version} has no `{self.name}`{': ' if told else ''}{'; '.join(told)}."


def lack(history: History, version: str, name: str) -> str | None:
    """A sentence where a version has no such name, while another has or the name is an import path; None elsewhere.

    A version that the table does not know answers as the nearest one below, and the sentence says so.
    """
    found = find_lack(history, version, name)
    return found.sentence if found else None


def lack_at(version: str | None, name: str) -> str | None:
    """What `lack` says by the table that ships, also of parameters alone; None of versions that the table lacks."""
    with suppress(EvidenceError):
        history = History.load()
        known = history.exactly(version)
        if known is not None:
            return lack(history, known.version, name) or _word_lack(history, known, name)
    return None


def _word_lack(history: History, known: VersionApi, name: str) -> str | None:
    """What `lack` says, of a parameter that other versions alone have; its function is not named."""
    word, table = bare(name) or "", history.table
    if "." in word or not is_code_like(word) or not history.may_know(word) or known.says(word):
        return None
    # What modules import from other packages is no name of the ADK.
    if any(word in table.rows(module) for module in table.modules):
        return None
    having = [api for api in history.each if api.says(word)]
    until = next((api.version for api in reversed(having) if api.released < known.released), None)
    since = next((api.version for api in having if api.released > known.released), None)
    found = Lack(word, table.distribution, known.version, known.version, until, since)
    return found.sentence if having else None


class Import(NamedTuple):
    """What an import path leads to: a `module`, a `definition` with the paths it goes by, or what others define."""

    leads_to: Literal["module", "definition", "elsewhere"]
    paths: tuple[str, ...] = ()


def import_at(version: str | None, name: str) -> Import | None:
    """What a path that begins with the package's name leads to in a version, by the table that ships.

    None where the version has no such path, and of versions that the table does not know.
    """
    with suppress(EvidenceError):
        history = History.load()
        known, path = history.exactly(version), bare(name)
        if known is None or path is None or not path.startswith(f"{history.package}.") or not known.has(path):
            return None
        place = known.definition(path)
        if place is None:
            return Import("elsewhere")
        if not place.name:
            return Import("module")
        public = known.import_path(place)
        return Import("definition", (place.path, *([public] if public else [])))
    return None


def find_lack(history: History, version: str, name: str) -> Lack | None:
    """What `lack` says, in parts."""
    call = read_call(name)
    dotted = bare(call.callable if call else name)
    name = f"{call.callable}({call.keyword}=)" if call else dotted or name.strip()
    known = history.nearest(version)
    if known is None or known.has(name) is not False:
        return None
    ours, subject = known.version, version.strip().removeprefix("v")
    is_exact = history.exactly(version) is known
    where = subject if is_exact else f"{subject} (known as {ours}, the nearest released version below)"
    until = since = use = None
    found = _newest(history, dotted, call) if dotted and history.may_know(name) else None
    if found is not None:
        # The name may have other paths than the newest one.
        having = [api for api in history.each if api.has(name)]
        until = next((api.version for api in reversed(having) if api.released < known.released), None)
        since = next((api.version for api in having if api.released > known.released), None)
        if until is None and since is None:
            # Only a callable that another one of the same name hides takes the keyword.
            return None
        use = _replacement(history, *found, call)
    elif not name.startswith(f"{history.package}."):
        # A bare name that no version has may be of something else.
        return None
    instead = use if use and known.has(use) else _namesake(history, known, name)
    alone = len(history.each) == 1
    return Lack(name, history.table.distribution, where, ours, until, since, instead, alone)


def _namesake(history: History, known: VersionApi, name: str) -> str | None:
    """Where a version has the name of an import path that it does not have."""
    dotted = bare(name) if read_call(name) is None else None
    if dotted is None or "." not in dotted or not history.may_know(dotted):
        return None
    for path in history.paths(dotted.rpartition(".")[2]):
        place = known.definition(path)
        # A member of some other class is no help.
        if path != dotted and place is not None and place.name and "." not in place.name:
            return path
    return None


def _newest(history: History, name: str, call: Call | None) -> tuple[VersionApi, str] | None:
    """The newest version that has a name, with the likeliest path of the name there."""
    wanted = [(path, f"{path}({call.keyword}=)" if call else path) for path in history.paths(name)]
    return next(((api, path) for api in reversed(history.each) for path, shown in wanted if api.has(shown)), None)


def _replacement(history: History, last: VersionApi, path: str, call: Call | None) -> str | None:
    """What takes the place of a path or keyword that no later version has, if the code proves it.

    That is what its deprecation names, what the path is another name of, or where its definition is imported from now.
    """
    told = last.deprecation(f"{path}.{call.keyword}" if call else path)
    place = last.definition(path)
    if (told is not None and told[0]) or call is not None or place is None or not place.name:
        return told[0] or None if told is not None else None
    if place.name.rpartition(".")[2] != path.rpartition(".")[2]:
        return last.import_path(place)
    # The definition still stands where it stood, or has become another name of a definition that stands elsewhere.
    newest = history.each[-1]
    now = newest.definition(place.path) if newest is not last else None
    target = newest.import_path(now) if now is not None else None
    return target if target != path else None
