"""Builds the table of the code's public API in all its released versions, and adds versions to the table."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.version import Version

from adk_evidence.api.table import HistoryTable, Snapshot, make_table
from adk_evidence.errors import InvalidRequestError, SourceError
from adk_evidence.files import write_atomic
from adk_evidence.settings import Settings
from adk_evidence.text.versions import read_version
from adk_ingest.progress import Progress
from adk_ingest.releases.wheels import modules_of, snapshot_of
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.distribution import open_registry, parse_requirement
from tests.releases.callbacks import otherwise_called


class HistoryReport(NamedTuple):
    """What a run did to the table: its versions now, those that are new, and those that could not be read."""

    distribution: str
    versions: tuple[str, ...]
    added: tuple[str, ...]
    left_out: tuple[str, ...]


def build_history(
    settings: Settings,
    path: Path,
    progress: Progress,
    *,
    first: str | None = None,
    only: Collection[str] = (),
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
        fetch: Gets a pinned distribution into an empty folder; by default from the package registry.

    Raises:
        InvalidRequestError: A version is none, or the table is of another distribution.
        SourceError: The table is damaged, or no version can be had.
    """
    corpus = settings.corpora["code"]
    name = parse_requirement(corpus.distribution or "").name
    snapshots: dict[Version, Snapshot] = {}
    if path.exists():
        table = HistoryTable.parse(path.read_bytes())
        if table.distribution != name:
            raise InvalidRequestError(f"{path} is a table of {table.distribution}, not of {name}.")
        snapshots.update({Version(version): found for version, found in _snapshots(table).items()})
    waiting = [version for version in _wanted(name, first, only) if version not in snapshots]
    get = fetch or partial(open_registry, settings=corpus, notify=lambda sentence: None)
    added: list[str] = []
    left_out: list[str] = []
    progress.stage("history", len(waiting), "versions")
    for version in waiting:
        requirement = Requirement(f"{name}=={version}")
        with tempfile.TemporaryDirectory(prefix="adk-history-") as scratch:
            place = Path(scratch)
            try:
                source = get(requirement, place)
                modules = modules_of(source)
                snapshots[version] = snapshot_of(name, modules, {}, progress)
            except SourceError as exc:
                left_out.append(str(version))
                progress.note(f"{name} {version} is left out: {exc.message}")
            else:
                added.append(str(version))
                for told in otherwise_called(modules, version):
                    progress.note(f"{name} {version}: {told}")
        progress.advance()
    if waiting and not added:
        raise SourceError(f"No version of {name} could be read.", "Get online, or name versions that exist by --only.")
    table = _table(name, snapshots)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, table.dump())
    return HistoryReport(name, table.versions, tuple(added), tuple(left_out))


def released_versions(name: str) -> list[str]:
    """The versions of a distribution that the package registry offers, without pre-releases."""
    command = [sys.executable, "-m", "pip", "index", "versions", "--no-input", "--disable-pip-version-check", name]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    _, _, listed = next(line for line in output.splitlines() if "Available versions" in line).partition(":")
    return [version.strip() for version in listed.split(",")]


def _table(name: str, snapshots: Mapping[Version, Snapshot]) -> HistoryTable:
    return make_table(name, {str(version): snapshot for version, snapshot in snapshots.items()})


def _wanted(name: str, first: str | None, only: Collection[str]) -> list[Version]:
    """Versions to add, the newest first: files change little from one to the next."""
    oldest = _version(first) if first else None
    # `1.18` and `1.18.0` are one version.
    versions = {_version(text) for text in sorted(only or released_versions(name), key=len, reverse=True)}
    return sorted((version for version in versions if oldest is None or version >= oldest), reverse=True)


def _version(text: str) -> Version:
    version = read_version(text.strip())
    if version is None:
        raise InvalidRequestError(f"{text!r} is not a version.", "Name one such as 1.18.0.")
    return version


def _snapshots(table: HistoryTable) -> dict[str, dict[str, dict[str, str]]]:
    """What each version has."""
    found: dict[str, dict[str, dict[str, str]]] = {version: {} for version in table.versions}
    for module in table.modules:
        for name, runs in table.rows(module).items():
            for run in runs:
                for version in table.versions[run.first : run.last + 1]:
                    found[version].setdefault(module, {})[name] = run.payload
    return found
