"""Analyses one opened index: every number is counted anew, and comes with places that can be opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adk_evidence.analysis import age
from adk_evidence.analysis.copies import exact_duplicates
from adk_evidence.analysis.evidence import without_evidence
from adk_evidence.index.registry import IndexSummary
from adk_evidence.models.analysis import AnalysisOptions, IndexAnalysis

if TYPE_CHECKING:
    from adk_evidence.index.indexer import Progress, Survey
    from adk_evidence.index.opened import Index


def analyse(
    index: Index,
    summary: IndexSummary,
    survey: Survey | None,
    options: AnalysisOptions,
    progress: Progress,
    stop: Callable[[], None],
) -> IndexAnalysis:
    """What an index holds and repeats, which files it could not read, and how far it is behind its sources.

    Args:
        index: The opened index.
        summary: What the registry knows of the index.
        survey: What its sources hold now; None where they cannot be read.
        options: How much is listed.
        progress: Hears what is done.
        stop: Called again and again; raises where nobody waits for the answer any more.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    name, manifest = summary.name, index.manifest

    def chunks_read(done: int, total: int) -> None:
        stop()
        progress(done, total, f"Reading the chunks of {name}.")

    differ = age.differences(manifest, survey) if survey is not None else None
    return IndexAnalysis(
        collection_name=name,
        codebase_path=str(summary.path) if summary.path else None,
        total_files=sum(len(entry.files) for entry in manifest.corpora.values()),
        total_chunks=index.points,
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
        duplicates=exact_duplicates(index, options.limit, chunks_read),
        without_evidence=without_evidence(manifest, survey, options.limit),
    )
