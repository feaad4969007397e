"""Analyses one opened index: every number is counted anew, and comes with places that can be opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adk_evidence.analysis import age, sizes
from adk_evidence.analysis.advice import advice
from adk_evidence.analysis.chunks import read_chunks
from adk_evidence.analysis.evidence import without_evidence
from adk_evidence.analysis.repeats import exact_duplicates, exact_groups, near_groups
from adk_evidence.api.history import History
from adk_evidence.checks.corpus import files_of_index, indexed_version, report_drift
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.errors import SourceError
from adk_evidence.index.registry import IndexSummary
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.analysis import AnalysisOptions, DocsDrift, DriftPlace, IndexAnalysis
from adk_evidence.models.pack import LineSpan

if TYPE_CHECKING:
    from adk_evidence.index.indexer import Progress, Survey
    from adk_evidence.index.opened import Index
    from adk_evidence.settings import Settings


def analyse(
    index: Index,
    settings: Settings,
    summary: IndexSummary,
    survey: Survey | None,
    options: AnalysisOptions,
    progress: Progress,
    stop: Callable[[], None],
) -> IndexAnalysis:
    """What an index holds, repeats and lacks.

    Args:
        index: The opened index.
        settings: Those under which the index is read and built.
        summary: What the registry knows of the index.
        survey: What its sources hold now; None where they cannot be read.
        options: How much is listed, and what counts as large and as alike.
        progress: Hears what is done.
        stop: Called again and again; raises where nobody waits for the answer any more.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """

    def step(sentence: str) -> Callable[[int, int], None]:
        def told(done: int, total: int) -> None:
            stop()
            progress(done, total, sentence)

        return told

    name, manifest = summary.name, index.manifest
    chunks = read_chunks(index, step(f"Reading the chunks of {name}."))
    exact = exact_groups(chunks)
    generated, made_by_programs = sizes.generated(chunks, options.limit)
    near = near_groups(chunks, exact, made_by_programs, options, step(f"Comparing the chunks of {name}."))
    duplicates = exact_duplicates(exact, made_by_programs, options.limit)
    large, cut = sizes.large_symbols(chunks, options)
    differ = age.differences(manifest, survey) if survey is not None else None
    stop()
    found = IndexAnalysis(
        collection_name=name,
        codebase_path=str(summary.path) if summary.path else None,
        total_files=sum(len(entry.files) for entry in manifest.corpora.values()),
        total_chunks=len(chunks),
        total_vectors=manifest.dense_vectors(),
        index_size_bytes=summary.size_bytes,
        created_at=manifest.created_at,
        age_days=age.days_since(manifest.created_at),
        dense=manifest.dense,
        dense_model=str(manifest.fingerprint["dense_model"]),
        dense_dimensions=str(manifest.fingerprint["dense_dimension"]),
        sparse_model=str(manifest.fingerprint["sparse_model"]),
        languages=dict(summary.languages),
        corpora=age.corpora(manifest),
        changed_files=len(differ.changed) if differ else None,
        missing_files=len(differ.missing) if differ else None,
        added_files=len(differ.added) if differ else None,
        stale_files=tuple(sorted((*differ.changed, *differ.missing))[: options.limit]) if differ else (),
        new_files=differ.added[: options.limit] if differ else (),
        duplicate_chunks=duplicates.chunks,
        duplicates=duplicates,
        near_duplicates=near,
        large_symbols=large,
        without_evidence=without_evidence(manifest, survey, options.limit),
        generated=generated,
        by_language=sizes.shares(chunks, lambda chunk: chunk.lang),
        by_kind=sizes.shares(chunks, lambda chunk: chunk.kind),
        by_folder=sizes.folders(chunks, options.limit),
        drift=docs_drift(index, settings, options.limit),
        recommendations=(),
    )
    recommendations = tuple(advice(index, settings, found, chunks, exact, cut, survey))
    return found.model_copy(update={"recommendations": recommendations})


def docs_drift(index: Index, settings: Settings, limit: int) -> DocsDrift | None:
    """What the indexed docs show and the indexed code lacks.

    None unless there are docs of a google-adk that is known, and their sources can be read.
    """
    version = None if isinstance(settings, CodebaseSettings) else indexed_version(settings, index.manifest)
    if version is None or not index.has_guides:
        return None
    try:
        checker = DriftChecker(History.load(settings.paths.history), version)
    except ValueError:
        return None
    try:
        report = report_drift(checker, files_of_index(index.manifest, index.folder))
    except SourceError:
        # The comparison of the sources says which of them are gone.
        return None
    return DocsDrift(
        version=report.version,
        files=report.files,
        imports=report.imports,
        missing=report.missing,
        findings=len(report.lacking),
        listed=tuple(
            DriftPlace(
                path=one.file.path,
                lines=LineSpan(start=one.deviation.first + 1, end=one.deviation.last + 1),
                kind=one.deviation.kind,
                symbol=one.deviation.symbol,
                text=one.deviation.text,
            )
            for one in report.lacking[:limit]
        ),
    )
