"""Reads two versions of the code for their comparison (`adk_evidence.api.comparison`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from adk_evidence.api.facts import ModuleFacts, read_module
from adk_evidence.api.history import History
from adk_evidence.api.links import link
from adk_evidence.api.module import ModuleText
from adk_evidence.api.release import Release
from adk_evidence.api.table import Snapshot, make_table
from adk_evidence.errors import InvalidRequestError, SourceError
from adk_evidence.index.project import DISTRIBUTION
from adk_evidence.index.sources import SourceReader
from adk_evidence.settings import Settings
from adk_evidence.text.versions import read_version
from adk_ingest.chunking.python import module_name
from adk_ingest.progress import Progress
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.distribution import parse_requirement
from adk_ingest.sources.git import has_changes
from adk_ingest.sources.resolve import resolve_code

# As `CorpusSource.describe` has it.
SHORT_COMMIT = 12
_HINT = "Name a version such as 2.0.0, a wheel or a checkout."


def read_releases(
    settings: Settings, before: str, after: str | None, progress: Progress, *, allow_network: bool = True
) -> tuple[Release, Release, History]:
    """Two versions, and a table of what both have: number 0 is `before`, number 1 is `after`.

    Args:
        settings: Validated settings; the distribution is that of the corpus of code.
        before: A version such as `1.31.0`, a wheel, a checkout, a virtual environment or an interpreter.
        after: The same; None for the version that the settings name.
        progress: Receives notes.
        allow_network: Whether a version may be fetched from the package registry.

    Raises:
        InvalidRequestError: Both are the same.
        SourceError: A version cannot be had, or holds no Python.
    """
    corpus = settings.corpora["code"]
    if corpus.distribution is None:
        raise InvalidRequestError(
            "The settings name no distribution of the code.", "Set ingestion.corpora.code.distribution."
        )
    distribution = parse_requirement(corpus.distribution).name
    sources = [_open(settings, named, distribution, progress, allow_network) for named in (before, after)]
    if sources[0].commit == sources[1].commit and sources[0].root == sources[1].root:
        raise InvalidRequestError("Both versions are the same.", "Name two versions, such as 1.31.0 and 2.0.0.")
    old, new = (_release(source, version) for source, version in zip(sources, _versions(sources), strict=True))
    known: dict[ModuleText, ModuleFacts | None] = {}
    # Numbers, not versions: two checkouts may have no version, or the same one.
    snapshots = {
        str(number): snapshot_of(distribution, release.modules, known, progress)
        for number, release in enumerate((old, new))
    }
    return old, new, History(make_table(distribution, snapshots))


def release_here(settings: Settings, version: str, python: Path | None = None) -> Release | None:
    """The code of a version, if it is on this machine: unpacked for an index, or installed in an environment.

    Args:
        settings: Validated settings; the distribution is that of the corpus of code.
        version: A released version.
        python: The environment of a project, which is not run.
    """
    for named in filter(None, (version, python)):
        with suppress(SourceError):
            source = _open(settings, str(named), DISTRIBUTION, Progress(), allow_network=False)
            if read_version(source.ref or "") == read_version(version):
                return _release(source, version)
    return None


def _release(source: CorpusSource, version: str) -> Release:
    return Release(version, source.repo, source.commit, modules_of(source), SourceReader(source.location()).read)


def _open(
    settings: Settings, named: str | None, distribution: str, progress: Progress, allow_network: bool
) -> CorpusSource:
    """The source that a person names: a bare version is one of the distribution."""
    explicit = named
    if named is not None and (version := read_version(named.strip())) is not None:
        explicit = f"{distribution}=={version}"
    try:
        found = resolve_code(settings, explicit, allow_network=allow_network, notify=progress.note)
    except SourceError as exc:
        raise SourceError(exc.message, exc.hint or _HINT) from exc
    if found.source is None:
        raise SourceError(f"{named or distribution} cannot be had.", _HINT)
    return found.source


def _versions(sources: Sequence[CorpusSource]) -> list[str]:
    """What to call the sources: their versions, with the commits where versions alone do not tell them apart."""
    named = [(source.ref or source.commit).removeprefix("v") for source in sources]
    alike = len(set(named)) < len(named)
    return [
        _with_commit(source, name) if alike or read_version(name) is None else name
        for source, name in zip(sources, named, strict=True)
    ]


def _with_commit(source: CorpusSource, name: str) -> str:
    notes = [] if source.ref in (None, source.commit) else [source.commit[:SHORT_COMMIT]]
    notes += ["with local changes"] if has_changes(source) else []
    return f"{name} ({', '.join(notes)})" if notes else name


def modules_of(source: CorpusSource) -> dict[str, ModuleText]:
    """The modules of a version by their dotted names.

    Raises:
        SourceError: The version holds no Python.
    """
    reader = SourceReader(source.location())
    modules: dict[str, ModuleText] = {}
    for file in _files_of(source):
        path = source.repo_path(file.relative_to(source.root).as_posix())
        name, text = module_name(path), reader.read(path)
        if name is not None and text is not None:
            modules[name] = ModuleText(name, path, text)
    if not modules:
        raise SourceError(f"{source.describe()} has no module.")
    return modules


def snapshot_of(
    distribution: str,
    modules: Mapping[str, ModuleText],
    known: dict[ModuleText, ModuleFacts | None],
    progress: Progress,
) -> Snapshot:
    """What the public modules of a version have; a module that stands in `known` is not read again."""
    for module in modules.values():
        if module not in known:
            known[module] = read_module(module)
        if known[module] is None:
            progress.note(f"{module.path} is not Python and was not read.")
    facts = [found for module in modules.values() if (found := known[module]) is not None]
    # `google-adk` holds the package `google.adk`.
    package = distribution.replace("-", ".")
    return link(package if package in modules else next(iter(modules)).partition(".")[0], facts)


def _files_of(source: CorpusSource) -> list[Path]:
    found: list[Path] = []
    for subtree in source.subtrees:
        place = source.root / subtree
        found += [place] if place.suffix == ".py" and place.is_file() else place.rglob("*.py")
    return sorted(found)
