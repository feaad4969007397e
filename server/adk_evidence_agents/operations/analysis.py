"""`analyze`: what an index holds, and how far it is up to date."""

from __future__ import annotations

from datetime import UTC, datetime

from adk_evidence.errors import SourceError
from adk_evidence.index.opened import Index
from adk_evidence.index.registry import IndexSummary, list_indexes
from adk_evidence.models.chunk import ChunkPayload, sha256_text
from adk_evidence.search.session import Session
from adk_evidence.store.base import scroll_all
from adk_evidence.store.manifest import CorpusEntry
from adk_evidence_agents.operations.notes import printable
from adk_evidence_agents.operations.responses import CorpusFacts, IndexAnalysis
from adk_evidence_agents.operations.run import Run

MAX_STALE_FILES = 20


def analyze(run: Run) -> tuple[IndexAnalysis, ...]:
    """Analyse each index, which reads every indexed file again.

    Raises:
        EvidenceError: The only index cannot be opened, or none of several can.
    """
    known = {summary.name: summary for summary in list_indexes(run.agents.settings)}

    def look(name: str, session: Session) -> IndexAnalysis:
        found = _look_at(run, session, name, known.get(name))
        _advise(run, found, session.index)
        return found

    return tuple(run.ask_each(look))


def _look_at(run: Run, session: Session, name: str, summary: IndexSummary | None) -> IndexAnalysis:
    index = session.index
    manifest = index.manifest
    changed, missing = _stale(run, index)
    path = summary.path if summary else None
    return IndexAnalysis(
        collection_name=name,
        codebase_path=None if path is None else printable(str(path)),
        total_files=sum(len(corpus.files) for corpus in manifest.corpora.values()),
        total_chunks=sum(corpus.chunks for corpus in manifest.corpora.values()),
        total_vectors=manifest.dense_vectors(),
        index_size_bytes=summary.size_bytes if summary else 0,
        created_at=manifest.created_at,
        age_days=_age_days(manifest.created_at),
        dense=manifest.dense,
        dense_model=str(manifest.fingerprint["dense_model"]),
        dense_dimensions=str(manifest.fingerprint["dense_dimension"]),
        sparse_model=str(manifest.fingerprint["sparse_model"]),
        languages=dict(summary.languages) if summary else {},
        corpora=tuple(_facts(corpus, entry) for corpus, entry in sorted(manifest.corpora.items())),
        changed_files=len(changed),
        missing_files=len(missing),
        stale_files=tuple(sorted((*changed, *missing))[:MAX_STALE_FILES]),
        duplicate_chunks=_duplicates(run, session),
    )


def _facts(name: str, entry: CorpusEntry) -> CorpusFacts:
    return CorpusFacts(
        name=name,
        kind=entry.kind,
        repo=entry.repo,
        commit=entry.commit,
        ref=entry.ref,
        files=len(entry.files),
        chunks=entry.chunks,
    )


def _age_days(created_at: str) -> float:
    age = datetime.now(UTC) - datetime.fromisoformat(created_at)
    return round(max(0.0, age.total_seconds()) / 86_400, 3)


def _stale(run: Run, index: Index) -> tuple[list[str], list[str]]:
    """The indexed files that have changed, and those that are gone. Generated pages do not change."""
    changed: list[str] = []
    missing: list[str] = []
    for corpus, entry in index.manifest.corpora.items():
        if entry.location.kind == "pages":
            continue
        reader = index.sources[corpus]
        try:
            for number, path in enumerate(entry.files):
                if number % 100 == 0:
                    run.context.stop_if_cancelled()
                    run.progress(number, len(entry.files), f"Comparing files of {entry.repo}.")
                text = reader.read(path)
                if text is None:
                    missing.append(path)
                elif sha256_text(text) != entry.files[path].sha256:
                    changed.append(path)
        except SourceError as exc:
            run.notes.fail(exc, "warning", corpus)
    return changed, missing


def _duplicates(run: Run, session: Session) -> int:
    store = session.settings.store
    # The same text in two versions of a corpus is not a copy.
    seen: set[tuple[str, str]] = set()
    repeated = 0
    for name in (store.docs_collection, store.code_collection):
        for record in scroll_all(session.index.store, name):
            payload = ChunkPayload.model_construct(**record.payload)
            text = (payload.commit, payload.source_hash)
            repeated += text in seen
            seen.add(text)
        run.context.stop_if_cancelled()
    return repeated


def _advise(run: Run, found: IndexAnalysis, index: Index) -> None:
    stale = found.changed_files + found.missing_files
    if stale:
        run.notes.advise(
            f"{stale} of the {found.total_files} indexed files of {found.collection_name} have changed or are gone; "
            "update the index."
        )
    if (gap := index.dense_gap()) is not None:
        run.notes.advise(f"The dense vectors of {found.collection_name} {gap.why}. {gap.hint}")
    if not index.paths["doc"]:
        run.notes.advise(f"No documentation is indexed in {found.collection_name}; index its docs for better answers.")
    if found.duplicate_chunks * 10 > found.total_chunks:
        run.notes.advise(
            f"{found.duplicate_chunks} chunks of {found.collection_name} repeat others to the letter; exclude copies "
            "and generated files with exclude_patterns."
        )
