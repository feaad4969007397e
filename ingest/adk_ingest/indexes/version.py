"""Builds the indexes of single versions of the ADK beside the main index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from adk_evidence.errors import SourceError
from adk_evidence.index.project import ProjectAdk
from adk_evidence.index.registry import register_version
from adk_evidence.index.versions import (
    VERSION_RECORD,
    configured_version,
    distribution_name,
    main_version,
    settings_for_version,
)
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.store.manifest import IndexManifest
from adk_evidence.text.versions import checked_version, is_same_version
from adk_ingest.indexes.removal import kept_if_published
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import RunManifest
from adk_ingest.session import Sources, ingest
from adk_ingest.sources.distribution import open_folder

if TYPE_CHECKING:
    from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder


def ingest_version(
    settings: Settings,
    wanted: ProjectAdk,
    sources: Sources,
    progress: Progress,
    *,
    dense: DenseEmbedder | Pair[DenseEmbedder] | None = None,
    sparse: SparseEncoder | None = None,
) -> RunManifest:
    """Build the index of the version that a project uses, or bring that index up to date.

    The code is the installed one where the environment has that release, else the registry's; the docs are those of the
    main index. Where the main index is of that version, the main index is brought up to date instead.

    Args:
        settings: Of the main index.
        wanted: The version, and the environment that may have it.
        sources: Where the docs are, and whether the network may be used.
        progress: Receives the steps.
        dense: For tests.
        sparse: For tests.

    Raises:
        InvalidRequestError: That is not a version.
        SourceError: The version or the docs cannot be had.
        IngestError: The run failed; an index that was there before still answers.
    """
    target, sources = version_sources(settings, wanted, sources)
    if target is settings:
        progress.note(f"The main index is of google-adk {checked_version(wanted.version)}; it is brought up to date.")
        return ingest(settings, "all", sources, progress, dense=dense, sparse=sparse)
    version = checked_version(wanted.version)
    is_new = register_version(settings, version)
    with kept_if_published(settings, target, VERSION_RECORD, is_new=is_new):
        run = ingest(target, "all", sources, progress, dense=dense, sparse=sparse)
    # Another process whose first run failed may have cleared the record away meanwhile.
    register_version(settings, version)
    return run


def version_sources(settings: Settings, wanted: ProjectAdk, sources: Sources) -> tuple[Settings, Sources]:
    """The settings of the index that holds a version, and where its corpora come from.

    Raises:
        InvalidRequestError: That is not a version.
    """
    version = checked_version(wanted.version)
    current = open_generations(settings).current()
    manifest = current.manifest if current else None
    main = main_version(settings) if manifest else configured_version(settings)
    if is_same_version(main, version):
        return settings, replace(
            sources, code=_indexed_code(settings, manifest) or f"{distribution_name(settings)}=={version}"
        )
    docs = sources.docs or _folder_of(manifest, "adk_docs")
    return settings_for_version(settings, version), replace(sources, docs=docs, environment=wanted.python)


def _indexed_code(settings: Settings, manifest: IndexManifest | None) -> str | None:
    """Where the main index has its code from; None where that folder is gone, or holds another release by now."""
    folder = _folder_of(manifest, "adk_python")
    if manifest is None or folder is None or manifest.corpora["adk_python"].source != "distribution":
        return folder
    try:
        found = open_folder(Path(folder), canonicalize_name(distribution_name(settings)), settings.corpora["code"])
    except SourceError:
        return None
    return folder if found.commit == manifest.corpora["adk_python"].commit else None


def _folder_of(manifest: IndexManifest | None, corpus: str) -> str | None:
    """The folder that a corpus of the main index was read from, if it is still there."""
    entry = manifest.corpora.get(corpus) if manifest else None
    return str(entry.location.root) if entry and entry.location.root.is_dir() else None
