"""Builds the table of the code's public API in all its released versions, and adds versions to the table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from adk_evidence.api.facts import ModuleFacts, read_module
from adk_evidence.api.links import link
from adk_evidence.api.module import ModuleText
from adk_evidence.api.table import HistoryTable, Snapshot, make_table
from adk_evidence.errors import InvalidRequestError, SourceError, StoreError
from adk_evidence.files import write_atomic
from adk_evidence.models.chunk import sha256_text
from adk_evidence.services.package_registry import RegistryError, released_versions
from adk_evidence.settings import Settings
from adk_evidence.text.versions import read_version
from adk_ingest.chunking.python import module_name
from adk_ingest.progress import Progress
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.distribution import is_unpacked, open_registry, parse_requirement

# What was read is written after so many versions, so that an interrupted run goes on from there.
SAVED_EVERY = 5


@dataclass(frozen=True)
class HistoryReport:
    """What a run did to the table at `path`, whose size is in bytes."""

    path: Path
    distribution: str
    versions: tuple[str, ...]
    added: tuple[str, ...]
    left_out: tuple[str, ...]
    modules: int
    bytes: int


def build_history(
    settings: Settings,
    path: Path,
    progress: Progress,
    *,
    first: str | None = None,
    only: Collection[str] = (),
    base: Path | None = None,
    fetch: Callable[[Requirement, Path], CorpusSource] | None = None,
) -> HistoryReport:
    """Add released versions to a table; a missing file is begun.

    Versions that the table has are not fetched again. A version that cannot be read is left out, with a note.

    Args:
        settings: Validated settings; the distribution is that of the corpus of code.
        path: The table's file.
        progress: Receives the steps.
        first: The oldest version to add.
        only: The versions to add, in place of all released ones.
        base: A table to start from, too. What it says of a version counts more than what the file says.
        fetch: Gets a pinned distribution into an empty folder; by default from the package registry.

    Raises:
        InvalidRequestError: A version is none, or the settings name no distribution.
        SourceError: The table is damaged, or the registry cannot be reached.
        StoreError: The table cannot be written.
    """
    corpus = settings.corpora["code"]
    if corpus.distribution is None:
        raise InvalidRequestError(
            "The settings name no distribution of the code.", "Set ingestion.corpora.code.distribution."
        )
    name = parse_requirement(corpus.distribution).name
    snapshots: dict[Version, Snapshot] = {}
    # Of a version that both tables have, `base` knows better: it may have been read anew since.
    for start in (path, base):
        if start is None or not start.exists():
            continue
        table = HistoryTable.parse(_read(start))
        if table.distribution != name:
            raise InvalidRequestError(
                f"{start} is a table of {table.distribution}, not of {name}.", "Name another file."
            )
        snapshots.update({Version(version): found for version, found in table.snapshots().items()})
    wanted = _wanted(name, first, only)
    waiting = [version for version in wanted if version not in snapshots]
    reader = VersionReader(name)
    added: list[str] = []
    left_out: list[str] = []

    def from_registry(requirement: Requirement, scratch: Path) -> CorpusSource:
        # What an ingestion has unpacked is read where it lies; everything else is dropped after reading.
        home = settings.paths.corpora
        place = home if is_unpacked(requirement, home) else scratch
        return open_registry(requirement, place, corpus, notify=lambda text: None)

    get = fetch or from_registry
    progress.stage("history", len(waiting), "versions")
    for version in waiting:
        with tempfile.TemporaryDirectory(prefix="adk-history-") as scratch:
            try:
                source = get(Requirement(f"{name}=={version}"), Path(scratch))
                snapshots[version] = reader.read(source, progress)
            except SourceError as exc:
                left_out.append(str(version))
                progress.note(f"{name} {version} is left out: {exc.message}")
            else:
                added.append(str(version))
                if len(added) % SAVED_EVERY == 0:
                    _write(path, _table(name, snapshots).dump())
        progress.advance()
    if waiting and not added:
        raise SourceError(f"No version of {name} could be read.", "Get online, or name versions that exist by --only.")
    table = _table(name, snapshots)
    data = table.dump()
    _write(path, data)
    return HistoryReport(path, name, table.versions, tuple(added), tuple(left_out), len(table.modules), len(data))


def _table(name: str, snapshots: Mapping[Version, Snapshot]) -> HistoryTable:
    return make_table(name, {str(version): snapshot for version, snapshot in snapshots.items()})


def _wanted(name: str, first: str | None, only: Collection[str]) -> list[Version]:
    """Versions to add, the newest first: files change little from one to the next."""
    oldest = _version(first) if first else None
    if only:
        listed = list(only)
    else:
        with tempfile.TemporaryDirectory(prefix="adk-history-") as scratch:
            try:
                listed = released_versions(name, Path(scratch))
            except RegistryError as exc:
                raise SourceError(exc.message, exc.hint or "Get online, or name versions by --only.") from exc
    # `1.18` and `1.18.0` are one version.
    versions = {_version(text) for text in sorted(listed, key=len, reverse=True)}
    return sorted((version for version in versions if oldest is None or version >= oldest), reverse=True)


def _version(text: str) -> Version:
    version = read_version(text.strip())
    if version is None:
        raise InvalidRequestError(f"{text!r} is not a version.", "Name one such as 1.18.0.")
    return version


class VersionReader:
    """Reads versions; a file that another version has, too, is read once."""

    def __init__(self, distribution: str) -> None:
        # `google-adk` holds the package `google.adk`.
        self._package = distribution.replace("-", ".")
        self._facts: dict[tuple[str, str], ModuleFacts | None] = {}

    def read(self, source: CorpusSource, progress: Progress) -> Snapshot:
        facts: list[ModuleFacts] = []
        seen: dict[tuple[str, str], ModuleFacts | None] = {}
        for file in files_of(source):
            path = file.relative_to(source.root).as_posix()
            name = module_name(path)
            if name is None:
                continue
            text = _read(file).decode("utf-8", errors="replace")
            key = (path, sha256_text(text))
            found = self._facts[key] if key in self._facts else read_module(ModuleText(name, path, text))
            seen[key] = found
            if found is None:
                progress.note(f"{source.commit}: {path} is not Python and was not read.")
            else:
                facts.append(found)
        if not facts:
            raise SourceError(f"{source.describe()} has no module.")
        # Only the neighbour's files are kept.
        self._facts = seen
        return link(self._root(facts), facts)

    def _root(self, facts: Sequence[ModuleFacts]) -> str:
        return self._package if any(found.name == self._package for found in facts) else facts[0].name.partition(".")[0]


def files_of(source: CorpusSource) -> list[Path]:
    found: list[Path] = []
    for subtree in source.subtrees:
        place = source.root / subtree
        found += [place] if place.suffix == ".py" and place.is_file() else place.rglob("*.py")
    return sorted(found)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        raise SourceError(f"{path} cannot be read: {exc.strerror}.") from exc


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data)
    except OSError as exc:
        raise StoreError.of_disk(f"{path} cannot be written", exc) from exc
