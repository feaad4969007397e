"""Makes an index of the parts that several workers wrote: checks that they fit together, verifies and publishes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adk_evidence.embedding.cache import EmbeddingCache
from adk_evidence.errors import IngestError, StoreError
from adk_evidence.files import copy_tree, remove_tree, write_atomic
from adk_evidence.index.registry import register, require_free_name
from adk_evidence.index.settings import settings_for
from adk_evidence.settings import Settings
from adk_evidence.store.factory import make_publisher, open_generations
from adk_evidence.store.generations import Generation, GenerationStore
from adk_ingest.corpora import PAGES_FOLDER
from adk_ingest.manifest import CorpusRun, RunFiles, RunLog, RunManifest, new_run_id, now
from adk_ingest.parts import (
    BUILD,
    PUBLISHED,
    Build,
    Part,
    PartFolder,
    PartRecord,
    build_locked,
    part_folder,
    read_build,
    read_parts,
    united,
)
from adk_ingest.progress import Progress
from adk_ingest.publishing import index_manifest, publish_verified

if TYPE_CHECKING:
    from adk_evidence.store.server_index import ServerIndex


def settings_of_build(settings: Settings, build: Build) -> Settings:
    """The settings of the index that a build is for: the main one, or that of a codebase."""
    return settings if build.codebase is None else settings_for(settings, build.codebase)


def finish(settings: Settings, folder: Path, progress: Progress) -> RunManifest:
    """Publish the index whose parts lie in a folder; where that was done before, what serves stays as it is.

    Args:
        settings: Of the main index.
        folder: The folder that the parts were given.
        progress: Receives the steps.

    Raises:
        IngestError: A part is missing, incomplete or does not fit to the others, this machine does not fit to them, or
            the build was published and this home folder has no index. The sentence names it, and nothing is published.
        VerificationError: The server does not hold what the parts say that they wrote; nothing is published.
        InvalidRequestError: The name of the codebase's index is taken by another folder.
        StoreError: The server or the index folder cannot be written, or another process writes to the index.
    """
    build = read_build(folder)
    own = settings_of_build(settings, build)
    if difference := build.difference(build.here(own)):
        raise IngestError(f"This machine does not fit to the build: {difference}.", "Use the settings of the parts.")
    records = read_parts(folder, build)
    if build.codebase is not None:
        require_free_name(settings, build.codebase)
    generations = open_generations(own)
    run_id = new_run_id()
    with generations.writing(run_id):
        log = RunLog.begin(_run(run_id, records), RunFiles(own.paths.runs), progress)
        with log.whole():
            serves = _publish(own, generations, log, folder, build, records, progress)
            if serves and build.codebase is not None:
                register(settings, build.codebase)
    with suppress(StoreError, OSError):
        generations.collect_garbage(own.store.keep_generations)
        make_publisher(own).collect_garbage()
    return log.run


def _publish(
    settings: Settings,
    generations: GenerationStore,
    log: RunLog,
    folder: Path,
    build: Build,
    records: Sequence[PartRecord],
    progress: Progress,
) -> bool:
    """Publish the build, if it never was; whether it is what this home serves now."""
    from adk_evidence.store.qdrant_server import ServerRecord
    from adk_evidence.store.server_index import ServerIndex

    publisher, run = ServerIndex(settings), log.run
    with log.stage("discover"):
        publisher.prepare()
        current = generations.current()
        made = _made_before(generations, build)
    if made is not None:
        # The process that published may have been killed before it did this.
        _settle(settings, publisher, made, folder, build)
    if made is not None or (folder / PUBLISHED).exists():
        if current is None:
            raise IngestError(
                _published_before(folder, build, None), "Name an empty folder for a new build with --build."
            )
        run.generation = current.id
        serves = made is not None and made.id == current.id
        if not serves:
            run.notices.append(_published_before(folder, build, made))
            progress.note(run.notices[-1])
        log.end("unchanged")
        return serves
    corpora = united(records)
    if not any(corpus.chunks for corpus in corpora.values()):
        raise IngestError("No chunk came out of any corpus.", "Check the corpus folders and the include globs.")
    if lost := sorted(set(current.manifest.corpora) - set(corpora)) if current else []:
        run.notices.append(f"The index is built anew without {', '.join(lost)}.")
        progress.note(run.notices[-1])
    log.reach("upsert")
    again = f"Make the parts again. If that does not help, run `adk-ingest finish {folder} --discard` and begin anew."
    with generations.begin(run.run_id) as building:
        for record in records:
            pages = part_folder(folder, Part(record.number, build.of)) / PAGES_FOLDER
            if pages.is_dir():
                copy_tree(pages, building.folder / PAGES_FOLDER)
        ServerRecord(folder=building.id, collections=build.collections).write(building.folder)
        manifest = index_manifest(
            building, run.run_id, settings.store, build.fingerprint, build.specs, corpora, with_dense=True
        )
        generation = publish_verified(log, settings, generations, publisher, building, manifest, again)
    run.generation = generation.id
    _settle(settings, publisher, generation, folder, build)
    log.end("incomplete" if any(corpus.failed_files for corpus in run.corpora.values()) else "complete")
    return True


def _made_before(generations: GenerationStore, build: Build) -> Generation | None:
    """The generation of this home that the build became; None before that."""
    from adk_evidence.store.qdrant_server import ServerRecord

    for generation in generations.published():
        record = ServerRecord.read(generation.folder)
        if record is not None and record.collections == build.collections:
            return generation
    return None


def _settle(settings: Settings, publisher: ServerIndex, generation: Generation, folder: Path, build: Build) -> None:
    """Note everywhere that a generation is the build's; a second call does nothing."""
    with closing(EmbeddingCache(settings.paths.embedding_cache)) as cache:
        # The workers' caches have the vectors, by age alone: this one is asked to keep none for the index.
        cache.need(generation.folder, {})
    # Not before: collections that are noted and that no generation needs are dropped by the next run.
    publisher.register(build.collections.values())
    publisher.mark_published(build.collections.values())
    with suppress(OSError):
        write_atomic(folder / PUBLISHED, generation.id.encode())


def _published_before(folder: Path, build: Build, made: Generation | None) -> str:
    """A sentence about a build that was published and does not serve here now."""
    if made is not None:
        # There is no command for codebases.
        back = "; `adk-ingest rollback` goes back" if build.codebase is None else ""
        return f"The build became generation {made.id}, and another one serves now{back}."
    return f"The build in {folder} was published, and this home folder does not have that generation."


def discard(settings: Settings, folder: Path) -> int:
    """Drop what the parts of a build have written, and empty its folder; returns how many collections were dropped.

    Raises:
        IngestError: There is no build in the folder, it is published, it is of another server or other collections
            than the settings name, or a part is being made.
        StoreError: The server cannot be reached, an index needs the collections, or the folder cannot be emptied.
    """
    from adk_evidence.store.server_index import ServerIndex

    build = read_build(folder)
    if (folder / PUBLISHED).exists():
        raise IngestError(f"The build in {folder} is published.", "An index needs it, so nothing was dropped.")
    own = settings_of_build(settings, build)
    # What this machine would embed with does not matter here.
    if difference := build.difference(build.in_store(own)):
        message = f"This machine does not fit to the build: {difference}, so nothing was dropped."
        raise IngestError(message, "Use the settings of the parts.")
    parts = [Part(number, build.of) for number in range(1, build.of + 1)]
    with ExitStack() as locks:
        for part in parts:
            locks.enter_context(PartFolder(folder, part).writing())
        dropped = ServerIndex(own).drop_unpublished([*build.collections.values()])
        with build_locked(folder):
            try:
                for part in parts:
                    remove_tree(part_folder(folder, part))
                (folder / BUILD).unlink()
            except OSError as exc:
                raise StoreError.of_disk(f"The folder {folder} cannot be emptied", exc) from exc
    return dropped


def _run(run_id: str, records: Sequence[PartRecord]) -> RunManifest:
    """The manifest of the run that finishes a build: what all parts did, without their times and costs."""
    runs = [record.run for record in records]
    first = runs[0]
    names = dict.fromkeys(name for run in runs for name in run.corpora)
    corpora = {name: _joined(run.corpora[name] for run in runs if name in run.corpora) for name in names}
    return first.model_copy(
        update={
            "run_id": run_id,
            "pid": os.getpid(),
            "status": "running",
            "started_at": now(),
            "finished_at": None,
            "corpora": corpora,
            "cursor": None,
            "points_uploaded": {name: sum(run.points_uploaded.get(name, 0) for run in runs) for name in names},
            "vectors_embedded": sum(run.vectors_embedded for run in runs),
            "vectors_from_cache": sum(run.vectors_from_cache for run in runs),
            "spent": {},
            "seconds": {},
            "peak_rss_mb": None,
            "notices": list(dict.fromkeys(notice for run in runs for notice in run.notices)),
            "errors": [],
        }
    )


def _joined(parts: Iterable[CorpusRun]) -> CorpusRun:
    """What parts did with one corpus: numbers are added, lists are joined, and the first says what the source is."""
    first, *others = parts
    joined = first.model_copy(deep=True)
    for other in others:
        for field in CorpusRun.model_fields:
            mine, more = getattr(joined, field), getattr(other, field)
            if isinstance(mine, list) or type(mine) is int:
                setattr(joined, field, mine + more)
    return joined
