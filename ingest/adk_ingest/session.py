"""One ingestion from the user's point of view: find the sources, run, and say what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder
from adk_evidence.errors import EvidenceError, SourceError
from adk_evidence.index.encoders import as_kept
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_evidence.store.manifest import is_samples
from adk_ingest.chunking.chunkers import index_fingerprint
from adk_ingest.corpora.adk import (
    api_reference_corpus,
    as_cited,
    code_corpus,
    docs_corpus,
    samples_corpus,
    uncommitted_notice,
)
from adk_ingest.corpora.corpus import CorpusInput
from adk_ingest.corpora.credentials import credential_notices
from adk_ingest.corpora.known_files import RECORD, KnownFiles
from adk_ingest.pipeline import DryRun, Ingestion
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import Mode, RunManifest, now
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.resolve import resolve_code, resolve_docs
from adk_ingest.targets.present import has_targets


@dataclass(frozen=True)
class Sources:
    """Where the user says the corpora are; None lets the settings decide.

    `environment` is that of a project whose version of the ADK is indexed. `compare` reads every file, also those that
    look unchanged by their size and times.
    """

    docs: str | None = None
    code: str | None = None
    allow_network: bool = True
    environment: Path | None = None
    compare: bool = False


def ingest(
    settings: Settings,
    mode: Mode,
    sources: Sources,
    progress: Progress,
    *,
    dense: DenseEmbedder | Pair[DenseEmbedder] | None = None,
    sparse: SparseEncoder | None = None,
) -> RunManifest:
    """Find the corpora of a mode, ingest them and return the run's manifest.

    If mode `all` cannot reach the docs, the API reference made from the code takes their place, and the manifest says
    so. `dense` and `sparse` are those of `Ingestion`.

    Raises:
        SourceError: A corpus that the mode needs cannot be had.
        IngestError: The run failed.
    """
    ingestion = Ingestion(settings, progress, dense=dense, sparse=sparse)

    def rank_symbols(*, vectors: bool) -> str | None:
        if mode == "docs":
            return None
        return _rank_symbols(settings, ingestion.code_model, progress, vectors=vectors)

    with ingestion.started(mode) as log:
        with log.timed("discover"):
            corpora = gather(settings, mode, sources, progress, log.run)
        # What fails before the vectors of the texts are there is tried again with them.
        ingestion.run(log, corpora, by_keywords=lambda: rank_symbols(vectors=False))
    if problem := rank_symbols(vectors=True):
        log.note(problem)
    return log.run


def prepare_demo(settings: Settings, progress: Progress) -> None:
    """Ingest unless a complete index of this version is there.

    Where the docs cannot be had within seconds, the API reference stands in; the progress says where they are from.
    """
    current = open_generations(settings).current()
    if current is not None and current.manifest.dense == "complete":
        if current.manifest.fingerprint == index_fingerprint(as_kept(settings, current.manifest)):
            return
        progress.note("The index is of an older version or of other settings; it is built anew.")
    with progress:
        ingest(settings, "all", Sources(), progress)


def _rank_symbols(settings: Settings, dense: DenseEmbedder | None, progress: Progress, *, vectors: bool) -> str | None:
    """Rank the symbols of the published index, and embed them, where they are new; a sentence if that failed."""
    if settings.targets.embedding != "profile":
        dense = None
    try:
        if not has_targets(settings, dense=dense, vectors=vectors):
            # Few runs have new code.
            from adk_ingest.targets.build import build_targets

            build_targets(settings, progress, dense=dense, vectors=vectors)
    except EvidenceError as exc:
        return f"Symbols are found by name and words alone: {exc.message} {exc.hint}".rstrip()
    return None


def plan(settings: Settings, mode: Mode, sources: Sources, progress: Progress) -> DryRun:
    """A dry run: what would change, and what embedding it would take."""
    progress.stage("discover")
    return Ingestion(settings, progress).plan(mode, gather(settings, mode, sources, progress))


def gather(
    settings: Settings, mode: Mode, sources: Sources, progress: Progress, run: RunManifest | None = None
) -> list[CorpusInput]:
    """The corpora of a mode, discovered and read; notices go to `progress` and into the manifest of `run`."""

    def note(notice: str) -> None:
        progress.note(notice)
        if run is not None:
            run.notices.append(notice)

    current = open_generations(settings).current()
    indexed = current.manifest.corpora if current else {}
    corpora: list[CorpusInput] = []
    known = KnownFiles(settings.index_path / RECORD, compare=sources.compare)
    for corpus in _found(settings, mode, sources, known, progress, note, {} if run is None else run.missing):
        for notice in credential_notices(corpus.found.skipped):
            note(f"{corpus.name}: {notice}")
        committed, others = as_cited(corpus)
        # A corpus without files takes away what was indexed of it; few checkouts have samples.
        if committed.files or committed.name in indexed or not is_samples(committed.name):
            corpora.append(committed)
        if others.files:
            notice = uncommitted_notice(len(others.files), corpus.source.commit, others.source.commit)
            note(f"{corpus.name}: {notice}")
        if others.files or others.name in indexed:
            corpora.append(others)
    # A dry run holds no lock.
    if run is not None:
        known.save()
    return corpora


def _found(
    settings: Settings,
    mode: Mode,
    sources: Sources,
    known: KnownFiles,
    progress: Progress,
    note: Callable[[str], None],
    missing: dict[str, str],
) -> list[CorpusInput]:
    """The corpora of a mode; `missing` gets the reason why the docs cannot be had."""
    created_at = now()
    network = sources.allow_network
    corpora: list[CorpusInput] = []
    if mode != "code":
        docs = resolve_docs(settings, sources.docs, allow_network=network, notify=progress.note)
        for notice in docs.notices:
            note(notice)
        if docs.source is not None:
            progress.note(_using(docs.source))
            source = replace(docs.source, known=known)
            corpora.append(docs_corpus(settings, source, created_at))
            corpora.append(samples_corpus(settings, source, "doc", created_at))
        elif mode == "docs" or not settings.ingestion.api_reference:
            raise SourceError("The ADK docs cannot be had.", "Name a folder with --docs or set ADK_EVIDENCE_DOCS.")
        else:
            # The last notice says that no place has the docs; the notice before it says why the last place has none.
            missing["adk_docs"] = docs.notices[-2:][0]
    if mode != "docs":
        found = resolve_code(
            settings,
            sources.code,
            allow_network=network,
            notify=progress.note,
            environment=sources.environment,
        )
        for notice in found.notices:
            note(notice)
        if found.source is None:
            why = "".join(f" {notice}" for notice in found.notices[-1:])
            raise SourceError(f"The source of {settings.exact_subject} cannot be had.{why}", found.hint)
        progress.note(_using(found.source))
        source = replace(found.source, known=known)
        code = code_corpus(settings, source, created_at)
        corpora.append(code)
        corpora.append(samples_corpus(settings, source, "code", created_at))
        if settings.ingestion.api_reference:
            corpora.append(api_reference_corpus(settings, code, created_at))
    return corpora


def _using(source: CorpusSource) -> str:
    # That all is well is no notice: people are told how many there are, and look them up.
    return f"Using {source.describe()} from {source.root}."
