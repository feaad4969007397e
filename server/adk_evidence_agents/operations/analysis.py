"""`analyze`: what an index holds, and how far it is up to date."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from adk_evidence.errors import SourceError
from adk_evidence.index.opened import Index
from adk_evidence.index.registry import list_indexes
from adk_evidence.models.chunk import ChunkPayload, sha256_text
from adk_evidence.search.session import Session
from adk_evidence.store.base import scroll_all
from adk_evidence_agents.operations.notes import printable
from adk_evidence_agents.operations.responses import CorpusFacts, IndexAnalysis
from adk_evidence_agents.operations.run import Run

MAX_STALE_FILES = 20


def analyze(run: Run) -> tuple[IndexAnalysis, ...]:
    """Analyse each index, which reads every indexed file again."""
    known = {summary.name: summary for summary in list_indexes(run.agents.settings)}

    def look(name: str, session: Session) -> IndexAnalysis:
        manifest, summary = session.index.manifest, known.get(name)
        corpora = sorted(manifest.corpora.items())
        changed, missing = _stale(run, session.index)
        age = datetime.now(UTC) - datetime.fromisoformat(manifest.created_at)
        found = IndexAnalysis(
            collection_name=name,
            codebase_path=printable(str(summary.path)) if summary and summary.path else None,
            total_files=sum(len(entry.files) for _, entry in corpora),
            total_chunks=sum(entry.chunks for _, entry in corpora),
            total_vectors=manifest.dense_vectors(),
            index_size_bytes=summary.size_bytes if summary else 0,
            created_at=manifest.created_at,
            age_days=round(max(0.0, age.total_seconds()) / 86_400, 3),
            dense=manifest.dense,
            dense_model=str(manifest.fingerprint["dense_model"]),
            dense_dimensions=str(manifest.fingerprint["dense_dimension"]),
            sparse_model=str(manifest.fingerprint["sparse_model"]),
            languages=dict(summary.languages) if summary else {},
            corpora=tuple(
                CorpusFacts(
                    name=corpus,
                    kind=entry.kind,
                    repo=entry.repo,
                    commit=entry.commit,
                    ref=entry.ref,
                    files=len(entry.files),
                    chunks=entry.chunks,
                )
                for corpus, entry in corpora
            ),
            changed_files=len(changed),
            missing_files=len(missing),
            stale_files=tuple(sorted((*changed, *missing))[:MAX_STALE_FILES]),
            duplicate_chunks=_duplicates(run, session),
        )
        _advise(run, found, session.index)
        return found

    return tuple(run.ask_each(look))


def _stale(run: Run, index: Index) -> tuple[list[str], list[str]]:
    """The indexed files that have changed, and those that are gone. Generated pages do not change."""
    changed: list[str] = []
    missing: list[str] = []
    for corpus, entry in index.manifest.corpora.items():
        if entry.location.kind == "pages":
            continue
        reader = index.sources[corpus]
        try:
            for number, (path, file) in enumerate(entry.files.items()):
                if number % 100 == 0:
                    run.context.stop_if_cancelled()
                    run.progress(number, len(entry.files), f"Comparing files of {entry.repo}.")
                text = reader.read(path)
                if text is None:
                    missing.append(path)
                elif sha256_text(text) != file.sha256:
                    changed.append(path)
        except SourceError as exc:
            run.notes.fail(exc, "warning", corpus)
    return changed, missing


def _duplicates(run: Run, session: Session) -> int:
    """How many chunks repeat another chunk of the same commit: two versions of a corpus are not copies."""
    store = session.settings.store
    texts: Counter[tuple[str, str]] = Counter()
    for name in (store.docs_collection, store.code_collection):
        for record in scroll_all(session.index.store, name):
            payload = ChunkPayload.model_construct(**record.payload)
            texts[payload.commit, payload.source_hash] += 1
        run.context.stop_if_cancelled()
    return texts.total() - len(texts)


def _advise(run: Run, found: IndexAnalysis, index: Index) -> None:
    name, stale = found.collection_name, found.changed_files + found.missing_files
    if stale:
        run.notes.advise(
            f"{stale} of the {found.total_files} indexed files of {name} have changed or are gone; update the index."
        )
    if (gap := index.dense_gap()) is not None:
        run.notes.advise(f"The dense vectors of {name} {gap.why}. {gap.hint}")
    if not index.paths["doc"]:
        run.notes.advise(f"No documentation is indexed in {name}; index its docs for better answers.")
    if found.duplicate_chunks * 10 > found.total_chunks:
        run.notes.advise(
            f"{found.duplicate_chunks} chunks of {name} repeat others to the letter; exclude copies and generated "
            "files with exclude_patterns."
        )
