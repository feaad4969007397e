"""The store that the settings name. Its engine is loaded when a store is opened, not before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from adk_evidence.models.chunk import Kind
from adk_evidence.settings import Settings
from adk_evidence.store.base import CollectionSpec, EvidenceStore, IndexWriter
from adk_evidence.store.index_manifest import read_manifest


def collection_specs(settings: Settings, *, dimension: int | Mapping[Kind, int], idf: bool) -> list[CollectionSpec]:
    """The collections of docs and code.

    Args:
        settings: Their names and those of their vectors (`store`).
        dimension: Length of dense vectors, of both kinds or by kind.
        idf: Whether the sparse encoder needs the store's IDF modifier.
    """
    kinds: tuple[Kind, ...] = ("doc", "code")
    return [
        CollectionSpec(
            name=settings.store.collection(kind),
            dense={settings.store.dense_vector(kind): dimension if isinstance(dimension, int) else dimension[kind]},
            sparse={settings.store.sparse_vector: idf},
        )
        for kind in kinds
    ]


def open_reader(folder: Path, settings: Settings) -> EvidenceStore:
    """Open a published generation.

    Args:
        folder: The generation's folder; a lease on it must be held until the store is closed.
        settings: `store.kind` decides which engine reads it.

    Raises:
        StoreError: Its manifest cannot be read.
    """
    manifest = read_manifest(folder)
    match settings.store.kind:
        case "edge":
            from adk_evidence.store.qdrant_edge import EdgeIndexReader

            return EdgeIndexReader(folder, manifest.specs(), manifest.counts())


def open_writer(folder: Path, specs: Sequence[CollectionSpec], settings: Settings) -> IndexWriter:
    """Open a folder that nobody reads, empty or a copy of a closed generation, for writing.

    Args:
        folder: The folder of a generation that is being built.
        specs: The collections; those that the folder lacks are created.
        settings: `store.kind` decides which engine writes, `ingestion.qdrant_upload.batch_points` how much at
            once.

    Raises:
        StoreError: A collection cannot be created, or was created with other vectors.
    """
    match settings.store.kind:
        case "edge":
            from adk_evidence.store.qdrant_edge import EdgeIndexWriter

            return EdgeIndexWriter(folder, specs, batch_points=settings.ingestion.qdrant_upload.batch_points)
