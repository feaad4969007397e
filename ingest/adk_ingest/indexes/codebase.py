"""Named indexes of any codebase: build, bring up to date, remove."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from adk_evidence.embedding.base import Pair
from adk_evidence.embedding.factory import make_dense, make_sparse
from adk_evidence.errors import (
    InvalidRequestError,
    StoreError,
    UnknownIndexError,
)
from adk_evidence.index.codebase import MAIN, Codebase
from adk_evidence.index.encoders import as_kept
from adk_evidence.index.indexer import IndexReport
from adk_evidence.index.registry import (
    RECORD,
    read_codebase,
    register,
    registry,
    settings_of,
    size_on_disk,
)
from adk_evidence.index.settings import CodebaseSettings, settings_for
from adk_evidence.index.versions import VERSION_RECORD, version_in
from adk_evidence.paths import holds_the_users_home
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.text.globs import Globs, any_case
from adk_ingest.corpora.codebase import CodebaseCorpora, codebase_corpora
from adk_ingest.corpora.known_files import RECORD as FILES_RECORD
from adk_ingest.corpora.known_files import KnownFiles
from adk_ingest.corpora.survey import survey
from adk_ingest.indexes.removal import kept_if_published, remove_index
from adk_ingest.pipeline import Ingestion
from adk_ingest.progress import Progress, Reported
from adk_ingest.publishing.manifest import RunManifest, now
from adk_ingest.sources.codebase import CodebaseFolder, open_codebase

if TYPE_CHECKING:
    from adk_evidence.embedding.base import DenseEmbedder, SparseEncoder
    from adk_evidence.index.indexer import Progress as Report
    from adk_evidence.index.indexer import Survey
    from adk_evidence.index.opened import Index
    from adk_evidence.services.eventloop import Cancelled
    from adk_evidence.store.manifest import IndexManifest

# Reasons why a walk passes over files that nobody misses: a pattern excludes them, or there is nothing to index.
_WANTED_SKIPS = frozenset(
    {"excluded", "ignored", "not_included", "extension", "empty", "twin", "source_map", "dependency_list"}
)
# Of these reasons, the ones that hold even if a pattern matches the file: no pattern of the request asks for the file,
# or the index has what the file says under another path.
_NEVER_MISSED = frozenset({"not_included", "twin"})
_FAILED_SKIPS = frozenset({"unreadable", "undecodable", "undecodable_name", "chunker_failed"})


class CodebaseIndexer:
    """Builds and removes the named indexes of the main index's home folder.

    A method that fails raises `EvidenceError` and leaves the published index as it was.
    `dense` and `sparse` take the place of the settings' encoders. `keep_models` keeps the local ones in memory between
    runs.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        dense: DenseEmbedder | Pair[DenseEmbedder] | None = None,
        sparse: SparseEncoder | None = None,
        keep_models: bool = False,
    ) -> None:
        self._settings = settings
        self._dense = dense
        self._sparse = sparse
        self._keeps_models = keep_models

    def index(self, codebase: Codebase, cancelled: Cancelled, progress: Report) -> IndexReport:
        return self.build(codebase, Reported(progress), cancelled)

    def update(self, name: str, cancelled: Cancelled, progress: Report) -> IndexReport:
        return self.build(self._find(name), Reported(progress), cancelled)

    def build(
        self,
        codebase: Codebase,
        progress: Progress,
        cancelled: Cancelled | None = None,
        *,
        compare: bool = False,
    ) -> IndexReport:
        """Bring the index of a codebase up to date, and record the codebase under its name.

        The run asks `cancelled` between batches, and stops when the answer is yes. `compare` reads every file, also
        those that look unchanged by their size and times.

        Raises:
            SourceError: There is no such folder, or git fails to read it.
            InvalidRequestError: The name is taken by another folder, or the folder holds the user's home.
            IngestError: The run failed.
            StoreError: The index cannot be written.
            IndexBusyError: Another process is writing to the index.
            ModelError: A model cannot be had.
            IngestCancelledError: `cancelled` said yes.
        """
        begin = time.perf_counter()
        # First of all: only a folder that exists is recorded.
        folder = open_codebase(codebase.path)
        if holds_the_users_home(folder.root):
            raise InvalidRequestError(
                f"{folder.root} is the home folder or one that holds it, which is more than a codebase.",
                "Name the folder of one project.",
            )
        codebase = codebase.model_copy(update={"path": folder.root})
        settings = settings_for(self._settings, codebase)
        is_new = register(self._settings, codebase)
        generations = open_generations(settings)
        before = generations.current()
        with kept_if_published(self._settings, settings, RECORD, is_new=is_new):
            settings = as_kept(settings, before.manifest if before else None)
            if self._keeps_models:
                self._keep(settings, progress)
            ingestion = Ingestion(settings, progress, dense=self._dense, sparse=self._sparse, cancelled=cancelled)
            with ingestion.started("all") as log:
                with log.timed("discover"):
                    known = KnownFiles(settings.index_path / FILES_RECORD, compare=compare)
                    found = _gather(settings, folder, progress, log.run, known)
                ingestion.run(log, found.corpora)
                # Not before: what differs from the record is what the index lacks; see `freshness.py`.
                known.save()
        current = generations.current()
        manifest = current.manifest if current else None
        files, earlier = _files(manifest), _files(before.manifest if before else None)
        run, skipped = log.run, found.found.skipped
        failed = [path for corpus in run.corpora.values() for path in corpus.failed_files]
        passed_over = _skips({**skipped, "chunker_failed": failed} if failed else skipped, codebase)
        is_partial = any(reason in _FAILED_SKIPS for _, reason in passed_over)
        return IndexReport(
            name=codebase.name,
            files=len(files),
            chunks=sum(corpus.chunks for corpus in manifest.corpora.values()) if manifest else 0,
            vectors=manifest.dense_vectors() if manifest else 0,
            size_bytes=size_on_disk(settings.index_path),
            seconds=round(time.perf_counter() - begin, 3),
            changed_files=sum(earlier.get(path) != sha256 for path, sha256 in files.items()),
            removed_files=len(earlier.keys() - files.keys()),
            skipped=passed_over,
            warnings=_warnings(run),
            status="unchanged" if run.status == "unchanged" else "partial" if is_partial else "success",
        )

    def _keep(self, settings: Settings, progress: Progress) -> None:
        """Make the local models for this run and those to come.

        Encoders of services, and those that cut long texts, count what they did in one run. What `auto` chooses for a
        new index is not known yet.
        """
        dense = settings.embedding.dense
        if self._dense is None and dense.provider in ("minilm", "fastembed") and not dense.is_open:
            self._dense = make_dense(settings, report=progress.note)
        if self._sparse is None and (sparse := make_sparse(settings, report=progress.note)).exact_terms:
            self._sparse = sparse

    def survey(self, index: Index, settings: Settings) -> Survey:
        return survey(index, settings)

    def delete(self, name: str) -> None:
        """Remove an index and its record; a codebase itself is not touched. Indexes of versions are removed, too.

        Raises:
            InvalidRequestError: It is the main index.
            UnknownIndexError: No index has this name.
            StoreError: It is being written or read, or its collections cannot be dropped.
        """
        with registry(self._settings):
            if version_in(name):
                remove_index(settings_of(self._settings, name), VERSION_RECORD)
            else:
                remove_index(settings_for(self._settings, self._find_or_guess(name)), RECORD)

    def describe(self, name: str) -> str:
        """A named index in words, before it is deleted."""
        if version := version_in(name):
            settings_of(self._settings, name)
            return f"{name} of google-adk {version}"
        return f"{name} of {self._find_or_guess(name).path}"

    def _find(self, name: str) -> Codebase:
        if name == MAIN:
            raise InvalidRequestError(
                f"{MAIN!r} is the main index, which `adk-ingest all` builds.", "Name the index of a codebase."
            )
        if version_in(name):
            command = settings_of(self._settings, name).ingest_command
            raise InvalidRequestError(f"{name!r} is the index of a version of the ADK.", f"Run `{command}`.")
        return read_codebase(self._settings, name)

    def _find_or_guess(self, name: str) -> Codebase:
        """The codebase of an index; where its record is damaged, a codebase with nothing but the name."""
        try:
            return self._find(name)
        except UnknownIndexError:
            raise
        except StoreError:
            return Codebase(name=name, path=self._settings.paths.indexes / name)


def _gather(
    settings: CodebaseSettings, folder: CodebaseFolder, progress: Progress, run: RunManifest, known: KnownFiles
) -> CodebaseCorpora:
    """The corpora of a codebase; notices go to `progress` and into the manifest of the run."""
    found = codebase_corpora(settings, folder, now(), known)
    run.notices += found.notices
    for notice in found.notices:
        progress.note(notice)
    return found


def _files(manifest: IndexManifest | None) -> dict[str, str]:
    corpora = manifest.corpora.values() if manifest else ()
    return {path: entry.sha256 for corpus in corpora for path, entry in corpus.files.items()}


def _skips(skipped: Mapping[str, list[str]], codebase: Codebase) -> tuple[tuple[str, str], ...]:
    """Path and reason of each missing file that was not excluded, or that a pattern asks for."""
    asked = Globs(map(any_case, codebase.file_patterns))
    unwanted = Globs(map(any_case, codebase.exclude_patterns))

    def is_missed(path: str, reason: str) -> bool:
        if reason not in _WANTED_SKIPS:
            return True
        is_file = reason not in _NEVER_MISSED and not path.endswith("/")
        return is_file and asked.match(path) and not unwanted.match(path)

    found = ((path, reason) for reason, paths in skipped.items() for path in paths)
    return tuple(sorted((path, reason) for path, reason in found if is_missed(path, reason)))


def _warnings(run: RunManifest) -> tuple[str, ...]:
    said = list(run.notices)
    for corpus in run.corpora.values():
        said += corpus.decode_warnings
        said += corpus.warnings
    return tuple(dict.fromkeys(said))
