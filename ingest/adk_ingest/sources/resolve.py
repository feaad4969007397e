"""Decides where a corpus comes from, and says what was used and what could not be reached."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from adk_evidence.errors import SourceError
from adk_evidence.index.environments import site_packages
from adk_evidence.index.versions import VersionSettings
from adk_evidence.paths import expanded
from adk_evidence.settings import CorpusSettings, Settings
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.distribution import (
    is_unpacked,
    open_copy,
    open_folder,
    open_installed,
    open_registry,
    open_wheel,
    parse_requirement,
)
from adk_ingest.sources.git import clone_or_update, is_shallow, open_checkout
from adk_ingest.sources.snapshot import MANIFEST, open_snapshot

DOCS_VARIABLE = "ADK_EVIDENCE_DOCS"
_FOLDERS = "Name a git checkout or a snapshot folder."
Notify = Callable[[str], None]


@dataclass(frozen=True)
class Resolved:
    """A corpus, or None where none could be had, and a sentence for each thing that a person should know."""

    source: CorpusSource | None
    notices: tuple[str, ...]
    hint: str = "Name a folder or a wheel: `adk-ingest all --code PATH`."


def resolve_docs(
    settings: Settings,
    explicit: str | None = None,
    *,
    allow_network: bool,
    notify: Notify,
) -> Resolved:
    """The documentation corpus: the first that can be had, with a notice for each place that could not be used.

    `explicit` is a folder that the user names; it is then the only place. The others are the folder of
    `ADK_EVIDENCE_DOCS`, the settings' root and a clone. `notify` gets a sentence before something takes long.

    Raises:
        SourceError: The explicit folder cannot be used.
    """
    corpus = settings.corpora["doc"]
    if explicit is not None:
        return _found(_open_explicit(explicit, settings, corpus, notify, allow_network))
    clone = _clone_of(settings, corpus)
    root_is_clone = _root_of(settings, corpus) == clone and is_shallow(clone)
    places: list[Callable[[], CorpusSource | None]] = [
        lambda: _from_environment(corpus),
        # What an earlier run cloned is brought up to date.
        lambda: None if root_is_clone and allow_network else _from_root(settings, corpus),
        lambda: _from_clone(settings, corpus, notify) if allow_network else None,
    ]
    return _first(corpus, places, f"Name a checkout or a snapshot by --docs or {DOCS_VARIABLE}.")


def resolve_code(
    settings: Settings,
    explicit: str | None = None,
    *,
    allow_network: bool,
    notify: Notify,
    environment: Path | None = None,
) -> Resolved:
    """The code corpus: the settings' root where it exists, else the settings' distribution, else a clone.

    `explicit` is what the user names instead: a checkout, snapshot, wheel, interpreter, virtual environment or a
    requirement such as `google-adk==2.13.0`. Without `allow_network` nothing is downloaded or cloned. A version index
    takes its version from the `environment` of a project, which is not run, where the version is installed there.

    Raises:
        SourceError: The explicit place cannot be used.
    """
    corpus = settings.corpora["code"]
    if isinstance(settings, VersionSettings) and explicit is None:
        return _resolve_version(settings, environment, allow_network, notify)
    if explicit is not None:
        return _found(_open_explicit(explicit, settings, corpus, notify, allow_network))
    attempts: list[Callable[[], CorpusSource | None]] = [lambda: _from_root(settings, corpus)]
    if wanted := corpus.distribution:
        attempts.append(lambda: _from_requirement(wanted, settings, corpus, notify, allow_network))
    elif allow_network:
        attempts.append(lambda: _from_clone(settings, corpus, notify))
    return _first(corpus, attempts)


def _resolve_version(
    settings: VersionSettings, environment: Path | None, allow_network: bool, notify: Notify
) -> Resolved:
    """A released version of the ADK, in a folder of its own that no upgrade of an environment changes."""
    corpus, home = settings.corpora["code"], settings.paths.corpora
    requirement = parse_requirement(corpus.distribution or "")
    if is_unpacked(requirement, home):
        return _found(open_registry(requirement, home, corpus, notify=notify))
    notices: list[str] = []
    for python in (environment, Path(sys.executable)):
        for folder in site_packages(python) if python else ():
            try:
                return _found(open_copy(folder, requirement, home, corpus), notices)
            except SourceError as exc:
                # Of the product's own environment, nobody expects this version.
                if python == environment:
                    notices.append(exc.message)
    if not allow_network:
        return Resolved(None, (*notices, f"{requirement} is not on this machine."), "Leave --offline out.")
    try:
        return _found(open_registry(requirement, home, corpus, notify=notify), notices)
    except SourceError as exc:
        return Resolved(None, (*notices, exc.message), f"{exc.message} {exc.hint}")


def _found(source: CorpusSource, notices: Sequence[str] = ()) -> Resolved:
    return Resolved(source, tuple(notices))


def _first(corpus: CorpusSettings, attempts: Sequence[Callable[[], CorpusSource | None]], advice: str = "") -> Resolved:
    notices: list[str] = []
    for attempt in attempts:
        try:
            source = attempt()
        except SourceError as exc:
            notices.append(str(exc))
            continue
        if source is not None:
            return _found(source, notices)
    return Resolved(None, (*notices, f"No source of {corpus.repo} could be had. {advice}".rstrip()))


def _from_environment(corpus: CorpusSettings) -> CorpusSource | None:
    folder = os.environ.get(DOCS_VARIABLE)
    if not folder:
        return None
    try:
        return _open_folder(expanded(Path(folder)), corpus)
    except SourceError as exc:
        raise SourceError(f"{DOCS_VARIABLE} cannot be used: {exc.message}", exc.hint) from exc


def _root_of(settings: Settings, corpus: CorpusSettings) -> Path:
    return settings.paths.root / expanded(Path(corpus.root))


def _from_root(settings: Settings, corpus: CorpusSettings) -> CorpusSource | None:
    root = _root_of(settings, corpus)
    return _open_folder(root, corpus) if root.exists() else None


def _clone_of(settings: Settings, corpus: CorpusSettings) -> Path:
    return settings.paths.corpora / corpus.repo.rpartition("/")[2]


def _from_clone(settings: Settings, corpus: CorpusSettings, notify: Notify) -> CorpusSource:
    destination = _clone_of(settings, corpus)
    try:
        clone_or_update(f"https://github.com/{corpus.repo}.git", destination, notify=notify)
    except SourceError as exc:
        if not (destination / ".git").exists():
            raise
        notify(f"{exc.message} The clone from before is used.")
    return open_checkout(destination, corpus)


def _from_requirement(
    text: str, settings: Settings, corpus: CorpusSettings, notify: Notify, allow_network: bool
) -> CorpusSource:
    requirement = parse_requirement(text)
    try:
        return open_installed(requirement, corpus)
    except SourceError as exc:
        if not allow_network and not is_unpacked(requirement, settings.paths.corpora):
            raise SourceError(
                f"{requirement} is not on this machine, and the network is off.",
                "Allow the network, or name a wheel or a checkout by its path.",
            ) from exc
    return open_registry(requirement, settings.paths.corpora, corpus, notify=notify)


def _open_explicit(
    named: str, settings: Settings, corpus: CorpusSettings, notify: Notify, allow_network: bool
) -> CorpusSource:
    # An empty path would be the working folder.
    if not named.strip():
        raise SourceError(f"The path of {corpus.repo} is empty.", "Name a folder, or leave the option out.")
    path = expanded(Path(named))
    is_own = any((path / name).exists() for name in (".git", MANIFEST))
    is_environment = (path / "pyvenv.cfg").is_file() and not is_own
    if path.is_dir() and not is_environment:
        # An index that was made of a virtual environment has its code from there.
        if corpus.distribution and not is_own and any(path.glob("*.dist-info")):
            return open_folder(path, canonicalize_name(parse_requirement(corpus.distribution).name), corpus)
        return _open_folder(path, corpus)
    if corpus.distribution is None:
        raise SourceError(f"The folder {named} does not exist.", _FOLDERS)
    expected = parse_requirement(corpus.distribution).name
    if not path.exists() and path.name != named:
        release = f"a release such as {expected}==2.0.0"
        raise SourceError(f"{named} does not exist.", f"Name a folder, a wheel, a Python interpreter or {release}.")
    if path.suffix == ".whl":
        if path.exists() and not _is_called(path.name.split("-")[0], expected):
            raise SourceError(f"{path.name} is not a wheel of {expected}.", f"Name a wheel of {expected}.")
        return open_wheel(path, settings.paths.corpora, corpus)
    if path.exists():
        if not site_packages(path):
            raise SourceError(f"{path} is neither a folder, a wheel nor a Python interpreter.")
        return open_installed(parse_requirement(expected), corpus, path)
    if not _names_release(named, expected):
        message = f"There is no release, folder or wheel called {named!r}."
        raise SourceError(message, f"Name a release such as {expected}==2.0.0, or an existing folder or wheel.")
    return _from_requirement(named, settings, corpus, notify, allow_network)


def _names_release(named: str, expected: str) -> bool:
    # A mistyped folder must not make any distribution of that name pass for the corpus.
    try:
        return _is_called(Requirement(named).name, expected)
    except InvalidRequirement:
        return False


def _is_called(name: str, expected: str) -> bool:
    return canonicalize_name(name) == canonicalize_name(expected)


def _open_folder(folder: Path, corpus: CorpusSettings) -> CorpusSource:
    if folder.is_file():
        raise SourceError(f"{folder} is a file, not a folder.", _FOLDERS)
    if not folder.is_dir():
        raise SourceError(f"The folder {folder} does not exist.", _FOLDERS)
    if (folder / MANIFEST).is_file():
        return open_snapshot(folder, corpus)
    place = folder.resolve()
    if not any((one / ".git").exists() for one in (place, *place.parents)):
        message = f"The folder {folder} is neither a git checkout nor a snapshot with a {MANIFEST}."
        raise SourceError(message, f"Name a git checkout of {corpus.repo}, or a folder with a {MANIFEST}.")
    return open_checkout(folder, corpus)
