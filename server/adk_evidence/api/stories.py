"""The history of one name in plain sentences: came in, changed, deprecated, gone, renamed."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from adk_evidence.api.history import Call, History, Keywords, Place, VersionApi, bare, read_call
from adk_evidence.errors import EvidenceError

Why = Literal["deprecation", "alias", "moved"]
MAX_NAMED = 4
KEPT_LIFETIMES = 2000


@dataclass(frozen=True)
class Span:
    """Released versions from `first` to `last`, both of which have the name."""

    first: str
    last: str


@dataclass(frozen=True)
class Change:
    """What is different in a version, e.g. "parameter `app` added"."""

    version: str
    text: str


@dataclass(frozen=True)
class Story:
    """The history of a name.

    `path` is the import path that the name means in the newest version that has the name. `name` is the name as it was
    asked for, or the path where other paths of the name have another history. All else is the history of the path.
    `spans` are the versions that have the path. `deprecated_since` and `deprecation` speak of the last version that has
    the path. `use` is the import path of what takes its place if the code proves it; `why` names the proof.
    `alias_since`: the version in which a former definition became an alias. `gone_since` is None where the newest
    version has the path.
    """

    name: str
    path: str
    spans: tuple[Span, ...]
    oldest: str
    newest: str
    changes: tuple[Change, ...] = ()
    deprecated_since: str | None = None
    deprecation: str | None = None
    use: str | None = None
    why: Why | None = None
    alias_since: str | None = None
    gone_since: str | None = None

    @property
    def facts(self) -> tuple[str, ...]:
        """The history in parts, without the name: `came in with 1.14.0`, `gone since 2.0.0`."""
        first = self.spans[0].first
        told = [f"in every version since {first}" if first == self.oldest else f"came in with {first}"]
        for before, after in pairwise(self.spans):
            told.append(f"missing after {before.last}, back with {after.first}")
        told += [f"changed in {change.version}: {change.text}" for change in self.changes[-MAX_NAMED:]]
        instead = ""
        if self.use is not None:
            since = f" since {self.alias_since}" if self.alias_since else ""
            instead = {"alias": f"another name of {self.use}{since}", "moved": f"now {self.use}"}.get(
                self.why or "", f"use {self.use}"
            )
        if self.deprecated_since is not None:
            told.append(f"deprecated since {self.deprecated_since}")
        if self.gone_since is not None:
            told.append(f"gone since {self.gone_since}")
            if first == self.oldest and len(self.spans) == 1:
                told[0] = f"in the versions up to {self.spans[0].last}"
        if instead:
            told.append(instead)
        return tuple(told)

    @property
    def sentence(self) -> str:
        """The history in a sentence."""
        return f"`{self.name}`: {'; '.join(self.facts)}."


def story(history: History, name: str) -> Story | None:
    """The history of a name: bare, dotted, an import path or a keyword; None where no version has the name."""
    call = read_call(name)
    dotted = bare(call.callable if call else name)
    path = _newest_path(history, dotted, call) if dotted else None
    if path is None:
        return None
    shown, asked = _shown(path, call), _asked(name)
    having = _having(history, shown)
    following = [api.version for api in history.each if api.released > having[-1].released]
    last, newest = having[-1], history.each[-1]
    since: str | None = None
    text: str | None = None
    use: str | None = None
    why: Why | None = None
    told = _deprecation(last, path, call)
    if told is not None:
        deprecated = [api for api in having if _deprecation(api, path, call)]
        since = _runs(history, deprecated)[-1][0].version
        use, text = told[0] or None, told[1]
        why = "deprecation" if use else None
    if use is None and call is None:
        use, why = _other_name(path, last, newest)
    return Story(
        name=asked if _having(history, asked) == having else shown,
        path=shown,
        spans=tuple(Span(first.version, last.version) for first, last in _runs(history, having)),
        oldest=history.versions[0],
        newest=newest.version,
        changes=() if call else tuple(_changes(path, having)),
        deprecated_since=since,
        deprecation=text,
        use=use,
        why=why,
        alias_since=_alias_since(path, having) if why == "alias" else None,
        gone_since=following[0] if following else None,
    )


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
    for first, last in _runs(history, having):
        if known is not None and first.released <= known.released <= last.released:
            since = None if first is history.each[0] else first.version
            return Lifetime(since, None if last is history.each[-1] else last.version)
    return None


@dataclass(frozen=True)
class Lack:
    """A name that a version lacks.

    `version` is how people write the version and, if the table does not know that version, the released version that
    stands in for it.
    `until` is the last version before that has the name, `since` the first one after; both are None where no version
    has the name. `instead` is the import path that the version has in place of the name, where that is known.
    """

    name: str
    distribution: str
    version: str
    known: str
    until: str | None = None
    since: str | None = None
    instead: str | None = None

    @property
    def sentence(self) -> str:
        return f"{self.distribution} {self.version} has no `{self.name}`: {'; '.join(self.facts)}."

    @property
    def facts(self) -> tuple[str, ...]:
        """What else is known, without the name: `it came in with 1.14.0`."""
        told = []
        if self.until is not None:
            told.append(f"the last version that has it is {self.until}")
        if self.since is not None:
            told.append(f"it {'comes back' if self.until else 'came in'} with {self.since}")
        if not told:
            told.append("no version has it")
        if self.instead is not None:
            told.append(f"{self.known} has `{self.instead}`")
        return tuple(told)


def lack(history: History, version: str, name: str) -> str | None:
    """A sentence where a version has no such name, while another has or the name is an import path; None elsewhere.

    A version that the table does not know answers as the nearest one below, and the sentence says so.
    """
    found = find_lack(history, version, name)
    return found.sentence if found else None


def lack_at(version: str | None, name: str) -> str | None:
    """What `lack` says by the table that ships; None of versions that the table does not know."""
    with suppress(EvidenceError):
        history = History.load()
        known = history.exactly(version)
        return lack(history, known.version, name) if known is not None else None
    return None


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
    name = _asked(name)
    known = history.nearest(version)
    if known is None or known.has(name) is not False:
        return None
    found = story(history, name)
    ours, subject = known.version, version.strip().removeprefix("v")
    is_exact = history.exactly(version) is known
    where = subject if is_exact else f"{subject} (known as {ours}, the nearest released version below)"
    until = since = None
    if found is not None:
        # The name may have other paths than the story tells of.
        having = _having(history, name)
        until = next((api.version for api in reversed(having) if api.released < known.released), None)
        since = next((api.version for api in having if api.released > known.released), None)
        if until is None and since is None:
            # Only a callable that another one of the same name hides takes the keyword.
            return None
    elif not name.startswith(f"{history.package}."):
        # A bare name that no version has may be of something else.
        return None
    use = found.use if found is not None else None
    instead = use if use and known.has(use) else _namesake(history, known, name)
    return Lack(name, history.table.distribution, where, ours, until, since, instead)


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


def _newest_path(history: History, name: str, call: Call | None) -> str | None:
    """The likeliest path of a name in the newest version that has the name."""
    if not history.may_know(_shown(name, call)):
        return None
    paths = history.paths(name)
    found = (path for api in reversed(history.each) for path in paths if api.has(_shown(path, call)))
    return next(found, None)


def _shown(path: str, call: Call | None) -> str:
    return f"{path}({call.keyword}=)" if call else path


def _asked(name: str) -> str:
    """A name as it is shown: without what stands around it, and of a call the keyword alone."""
    call = read_call(name)
    return _shown(call.callable, call) if call else bare(name) or name.strip()


def _having(history: History, name: str) -> list[VersionApi]:
    """The versions that have a name."""
    return [api for api in history.each if api.has(name)]


def _runs(history: History, having: Collection[VersionApi]) -> list[tuple[VersionApi, VersionApi]]:
    """Versions without a gap between them, as pairs of first and last."""
    groups = groupby(history.each, key=having.__contains__)
    runs = [list(group) for is_having, group in groups if is_having]
    return [(run[0], run[-1]) for run in runs]


def _deprecation(api: VersionApi, path: str, call: Call | None) -> tuple[str, str] | None:
    return api.deprecation(f"{path}.{call.keyword}" if call else path)


def _other_name(path: str, last: VersionApi, newest: VersionApi) -> tuple[str | None, Why | None]:
    """What the code itself says a path is another name of, or where what it led to is imported from now."""
    place = last.definition(path)
    if place is None or not place.name:
        return None, None
    if _is_alias(path, place):
        return last.import_path(place), "alias"
    if last is newest:
        return None, None
    # The definition still stands where it stood, or has become another name of a definition that stands elsewhere.
    now = newest.definition(place.path)
    target = newest.import_path(now) if now is not None else None
    return (target, "moved") if target is not None and target != path else (None, None)


def _is_alias(path: str, place: Place | None) -> bool:
    return place is not None and place.name.rpartition(".")[2] != path.rpartition(".")[2]


def _alias_since(path: str, having: Sequence[VersionApi]) -> str | None:
    """When a definition became another name; None of what was another name from the start."""
    own = [at for at, api in enumerate(having) if not _is_alias(path, api.definition(path))]
    return having[own[-1] + 1].version if own else None


def _changes(path: str, having: Sequence[VersionApi]) -> Iterator[Change]:
    """Parameters that were added or taken away between versions that have the name."""
    before: tuple[Keywords, bool] | None = None
    for api in having:
        keywords = api.keywords(path)
        if keywords is None or api.definition(path) is None:
            before = None
            continue
        now = (keywords, api.kind(path) == "a")
        if before is not None and before != now:
            texts = [
                *_told(keywords.names - before[0].names, "added"),
                *_told(before[0].names - keywords.names, "gone"),
            ]
            if now[1] != before[1]:
                texts.append("must be awaited" if now[1] else "is no longer awaited")
            if texts:
                yield Change(api.version, ", ".join(texts))
        before = now


def _told(names: frozenset[str], what: str) -> list[str]:
    if not names:
        return []
    listed = sorted(names)
    shown = ", ".join(f"`{name}`" for name in listed[:MAX_NAMED])
    more = f" and {len(listed) - MAX_NAMED} more" if len(listed) > MAX_NAMED else ""
    return [f"{'parameter' if len(listed) == 1 else 'parameters'} {shown}{more} {what}"]
