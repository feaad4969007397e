"""The last step of building an index: what was written is verified, and only then published."""

from __future__ import annotations

from contextlib import suppress

from adk_evidence.errors import StoreError, VerificationError
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_reader
from adk_evidence.store.generations import Building, Generation, GenerationStore, Publisher
from adk_evidence.store.manifest import IndexManifest, write_manifest
from adk_evidence.store.mapped import leave_pages_to_system
from adk_ingest.publishing.manifest import RunLog
from adk_ingest.publishing.verify import verify_index


def publish_verified(
    log: RunLog,
    settings: Settings,
    generations: GenerationStore,
    publisher: Publisher,
    building: Building,
    manifest: IndexManifest,
) -> Generation:
    """Compare what was written with its manifest, and make it the current generation.

    Raises:
        VerificationError: The store does not hold what the manifest says; nothing was published.
        StoreError: The store or the index folder cannot be read or written; readers keep the old generation.
    """
    # Readers learn the collections' shapes from the manifest, also the reader that verifies.
    write_manifest(building.folder, manifest)
    before = generations.current()
    _verify(log, settings, building, manifest)
    with log.stage("publish"):
        publisher.publish(building.folder)
        try:
            return generations.publish(building, manifest)
        except StoreError:
            # Others find the old index again; where that fails too, the next run sets it right.
            with suppress(StoreError):
                if before is not None:
                    publisher.publish(before.folder)
            raise


def _verify(log: RunLog, settings: Settings, building: Building, manifest: IndexManifest) -> None:
    with log.stage("verify"):
        reader = open_reader(building.folder, settings)
        try:
            for collection in manifest.collections if settings.store.kind != "server" else ():
                # Opens the collection, which reads all of it into memory; what is verified needs little of that.
                reader.count(collection)
                leave_pages_to_system(building.folder)
            report = verify_index(reader, manifest, settings.store)
        finally:
            reader.close()
    log.run.qdrant_counts = report.counts
    if not report.ok:
        log.run.errors += report.problems
        raise VerificationError(
            f"The built index was not published: {report.problems[0]}", "Run the same command again."
        )
