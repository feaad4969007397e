"""Other versions of the code beside the one that the index is of: added, and taken away again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from adk_evidence.errors import IndexMissingError, InvalidRequestError
from adk_evidence.index.versions import index_name, recorded_versions
from adk_evidence.released_versions import checked_version
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.store.manifest import CorpusEntry, beside_name, is_beside, is_samples
from adk_ingest.chunking.base import ChunkedFile
from adk_ingest.corpora import CorpusInput, code_corpus, corpus_state
from adk_ingest.sources.base import CorpusSource, SourceKind

_CODE = "adk_python"


def beside(settings: Settings, source: CorpusSource, created_at: str) -> CorpusInput:
    """The code of a source as a version beside the indexed version.

    Raises:
        IndexMissingError: No code is indexed.
        InvalidRequestError: That version is the indexed one, or not all files are committed.
    """
    proper = _indexed(settings).get(_CODE)
    if proper is None:
        raise IndexMissingError(
            "There is no indexed version that another could be kept beside.", f"Run `{settings.ingest_command}` first."
        )
    corpus = code_corpus(settings, source, created_at, beside_name(_CODE, source.commit))
    if corpus.uncommitted:
        raise InvalidRequestError(
            f"The checkout {source.root} has changes that are not committed, so it is no version to keep.",
            "Commit or stash them, or name a version such as google-adk==2.13.0.",
        )
    if proper.commit == source.commit:
        raise InvalidRequestError(
            f"The index is of {source.commit} already.", "Name another version, or leave --keep out to update it."
        )
    return corpus


def replaced(settings: Settings, commit: str, created_at: str) -> list[CorpusInput]:
    """What a run takes away when the code proper becomes a version that was kept beside it."""
    name = beside_name(_CODE, commit)
    entry = _indexed(settings).get(name)
    return [nothing_of(settings, name, entry, created_at)] if entry else []


def taken_away(settings: Settings, version: str, created_at: str) -> CorpusInput:
    """A kept version as a corpus without files: a run with this corpus removes the version from the index.

    `version` is the version's commit, tag or branch as the index has it, with or without a leading `v`.

    Raises:
        InvalidRequestError: No such version is kept; the hint lists those that are.
    """
    kept = {name: entry for name, entry in _indexed(settings).items() if is_beside(name)}
    for name, entry in kept.items():
        if _bare(version) in (_bare(entry.commit), _bare(entry.ref or entry.commit)):
            return nothing_of(settings, name, entry, created_at)
    known = ", ".join(entry.commit for entry in kept.values()) or "none"
    hint = f"There are: {known}."
    with suppress(InvalidRequestError):
        if (own := checked_version(version)) in recorded_versions(settings):
            hint = f"Version {own} has an index of its own; run `adk-ingest delete {index_name(own)}`."
    raise InvalidRequestError(f"No version {version!r} is kept beside the indexed one.", hint)


def _indexed(settings: Settings) -> Mapping[str, CorpusEntry]:
    current = open_generations(settings).current()
    return current.manifest.corpora if current else {}


def _bare(version: str) -> str:
    return version.strip().lower().removeprefix("v")


def nothing_of(settings: Settings, name: str, entry: CorpusEntry, created_at: str) -> CorpusInput:
    """An indexed corpus without its files: a run with this corpus takes the corpus out of the index."""
    source = CorpusSource(
        corpus=name,
        repo=entry.repo,
        # Only generated corpora have another kind.
        kind=cast("SourceKind", entry.source),
        root=entry.location.root,
        commit=entry.commit,
        ref=entry.ref,
    )
    return CorpusInput(
        name=name,
        kind=entry.kind,
        source=source,
        settings=settings,
        created_at=created_at,
        chunk=lambda file: ChunkedFile([]),
        state=corpus_state(source),
        files=(),
        origin="sample" if is_samples(name) else "repository",
    )
