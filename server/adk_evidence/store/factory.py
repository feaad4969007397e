"""Opens the store that the settings name. An engine is loaded when a store is opened, not before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from adk_evidence.errors import IndexMismatchError, StoreError
from adk_evidence.models.chunk import KINDS, Kind
from adk_evidence.settings import Settings
from adk_evidence.store.base import CollectionSpec, EvidenceStore, IndexWriter
from adk_evidence.store.generations import Generation, GenerationStore, Publisher
from adk_evidence.store.manifest import IndexManifest, read_manifest


def collection_specs(settings: Settings, *, dimension: int | Mapping[Kind, int], idf: bool) -> list[CollectionSpec]:
    """The collections of docs and code; `idf` says whether the sparse encoder needs the store's IDF modifier."""
    store, specs = settings.store, []
    for kind in KINDS:
        names, several = [store.dense_vector(kind)], set[str]()
        if settings.embedding.dense.multi:
            several.update(names)
            names.append(store.mean_vector(kind))
        if settings.has_questions:
            several.add(store.questions_vector(kind))
            names.append(store.questions_vector(kind))
        size = dimension if isinstance(dimension, int) else dimension[kind]
        dense, sparse = dict.fromkeys(names, size), {store.sparse_vector: idf}
        specs.append(CollectionSpec(store.collection(kind), dense, sparse, frozenset(several)))
    return specs


def open_reader(folder: Path, settings: Settings) -> EvidenceStore:
    """Open a published generation with the engine that `store.kind` names.

    Args:
        folder: The generation's folder; a lease on it must be held until the store is closed.
        settings: The settings.

    Raises:
        StoreError: The generation's manifest cannot be read.
        SettingsError: The generation is on a server whose address is not in the settings.
        IndexMismatchError: The generation is in a store of another kind.
    """
    manifest = read_manifest(folder)
    check_kind(manifest, settings)
    if settings.store.kind == "server":
        from adk_evidence.services.qdrant import connect, query_patience
        from adk_evidence.services.resilience import CircuitBreaker, Clock
        from adk_evidence.store.qdrant_server import ServerIndexReader

        connection = connect(settings, query_patience(settings), CircuitBreaker("The Qdrant server", Clock()))
        quantized = settings.store.quantization != "none"
        return ServerIndexReader(folder, manifest.specs(), connection, quantized=quantized)
    from adk_evidence.store.qdrant_edge import EdgeIndexReader

    return EdgeIndexReader(folder, manifest.specs(), manifest.counts())


def open_writer(folder: Path, specs: Sequence[CollectionSpec], settings: Settings) -> IndexWriter:
    """Open a folder that nobody reads, empty or a copy of a closed generation, for writing.

    Missing collections are created. `store.kind` decides which engine writes, `ingestion.qdrant_upload` how.

    Raises:
        StoreError: A collection cannot be created, or was created with other vectors.
    """
    upload = settings.ingestion.qdrant_upload
    if settings.store.kind == "server":
        from adk_evidence.services.qdrant import connect, upload_patience
        from adk_evidence.store.qdrant_server import ServerIndexWriter
        from adk_evidence.store.server_index import ServerIndex

        connection = connect(settings, upload_patience(settings))
        register = ServerIndex(settings).register
        return ServerIndexWriter(folder, specs, connection, settings.store, upload, register)
    from adk_evidence.store.qdrant_edge import EdgeIndexWriter

    return EdgeIndexWriter(folder, specs, batch_points=upload.batch_points)


def points_a_write(settings: Settings) -> int:
    """How many points keep a writer busy: on a server, several batches go out side by side."""
    upload = settings.ingestion.qdrant_upload
    return upload.batch_points * (upload.parallel if settings.store.kind == "server" else 1)


def make_publisher(settings: Settings) -> Publisher:
    """The publisher of the settings' store; no server is contacted yet."""
    if settings.store.kind == "server":
        from adk_evidence.store.server_index import ServerIndex

        return ServerIndex(settings)
    return Publisher()


def open_generations(settings: Settings) -> GenerationStore:
    """The generations of the settings' index folder."""
    hint = f"Run `{settings.ingest_command}`."
    if settings.store.kind == "server":
        hint = (
            f"Points alone cannot be asked: run `{settings.ingest_command}` here, or copy that folder from the machine "
            f"that filled {settings.store.url or 'the server'}."
        )
    return GenerationStore(settings.index_path, missing_hint=hint)


def rollback(settings: Settings) -> Generation:
    """Make the generation before the current one current again.

    Raises:
        StoreError: There is no earlier generation, another process is writing to this index, or a server cannot be
            reached.
        IndexMismatchError: The earlier generation is in a store of another kind.
    """

    def publish(generation: Generation) -> None:
        check_kind(generation.manifest, settings)
        publisher = make_publisher(settings)
        if not publisher.holds(generation.folder, generation.manifest):
            raise StoreError(
                "The earlier generation of the index is no longer complete.", f"Run `{settings.ingest_command}`."
            )
        publisher.publish(generation.folder)

    return open_generations(settings).rollback(publish)


def check_kind(manifest: IndexManifest, settings: Settings) -> None:
    """Raise `IndexMismatchError` for an index in a store of another kind than the settings name."""
    if manifest.store != settings.store.kind:
        raise IndexMismatchError(
            f"The index was built for store.kind {manifest.store}, and the settings say {settings.store.kind}.",
            f"Run `{settings.ingest_command}` to build it anew, or change the settings back.",
        )
