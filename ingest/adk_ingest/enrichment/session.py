"""One enrichment from the user's point of view: survey, ask, and bring the index up to date."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from pydantic import BaseModel

from adk_evidence.commands import spelled
from adk_evidence.errors import SourceError
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.services.chat import PATIENT_ATTEMPTS, ChatService, patient
from adk_evidence.settings import Settings
from adk_evidence.store.factory import open_generations
from adk_ingest.codebase import CodebaseIndexer
from adk_ingest.costs import refuse_above_the_cap
from adk_ingest.enrichment.planning import Enrichment, survey
from adk_ingest.enrichment.writing import Writer, Written
from adk_ingest.progress import Progress
from adk_ingest.question_file import question_file
from adk_ingest.session import ingest
from adk_ingest.sources.codebase import open_codebase
from adk_ingest.version_index import indexed_sources

if TYPE_CHECKING:
    from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder


class EnrichmentReport(BaseModel):
    """What an enrichment did. `generation` is the index with the questions; None where the index did not change."""

    index: str
    written: Written
    generation: str | None = None
    file: str
    damaged: int = 0
    withheld: int = 0


def plan_enrichment(settings: Settings, limit: int | None = None) -> Enrichment:
    """What an enrichment of the published index of these settings would ask.

    Args:
        settings: Of the index.
        limit: Texts to ask for, at most.

    Raises:
        InvalidRequestError: Indexes of these settings hold no questions.
        IndexMissingError: Nothing is published.
        IndexMismatchError: Another version of the product or other models built the index.
    """
    return Enrichment(settings, survey(settings), limit)


def enrich(
    enrichment: Enrichment,
    main: Settings,
    progress: Progress,
    *,
    dense: DenseEmbedder | Pair[DenseEmbedder] | None = None,
    sparse: SparseEncoder | None = None,
) -> EnrichmentReport:
    """Have the planned questions written, and bring the index up to date with all that were ever written for it.

    Args:
        enrichment: Somebody has agreed to its plan: texts leave this machine.
        main: The settings of the main index of the same home folder.
        progress: Receives the steps.
        dense: For tests.
        sparse: For tests.

    Raises:
        SettingsError: The settings name no price of the model.
        CostCapError: The run would cost too much.
        SourceError: What the index was made of is gone; nothing was sent.
        ModelError: The model does not answer, or its answers cannot be used; the answers so far are kept.
        IngestError: The ingestion failed; the answers are kept.
    """
    check(enrichment)
    settings = enrichment.settings
    file = question_file(settings.paths.questions)
    written, known = Written(), len(file.answers())
    if enrichment.chunks:
        with closing(ChatService(patient(settings.rerank.llm), max_attempts=PATIENT_ATTEMPTS)) as chat:
            try:
                written = Writer(enrichment, chat, file).write(progress)
            except BaseException:
                if len(file.answers()) > known:
                    progress.note("The answers so far are kept; the same command goes on from there.")
                raise
    generation = None
    if written.chunks or enrichment.survey.unindexed:
        generation = _bring_up_to_date(settings, main, progress, dense, sparse)
    return EnrichmentReport(
        index=settings.exact_subject,
        written=written,
        generation=generation,
        file=str(file.path),
        damaged=file.damaged,
        withheld=enrichment.survey.withheld,
    )


def check(enrichment: Enrichment) -> None:
    """Refuse an enrichment that would cost more than the settings allow, or whose answers no index could take.

    Raises:
        SettingsError: The settings name no price of the model.
        CostCapError: The run would cost too much.
        SourceError: What the index was made of is gone.
    """
    settings = enrichment.settings
    if enrichment.chunks:
        refuse_above_the_cap("The enrichment", enrichment.cost, enrichment.cap, "use --limit")
    elif not enrichment.survey.unindexed:
        return
    hint = f"Run `{settings.ingest_command}` first."
    try:
        if isinstance(settings, CodebaseSettings):
            delete = spelled("adk-ingest", "delete", settings.codebase.name)
            hint = f"Restore the folder, or remove the index with `{delete}`."
            open_codebase(settings.codebase.path)
        else:
            indexed_sources(settings)
    except SourceError as exc:
        message = f"Nothing was sent, because the index of {settings.exact_subject} cannot be made again: {exc.message}"
        raise SourceError(message, hint) from exc


def _bring_up_to_date(
    settings: Settings,
    main: Settings,
    progress: Progress,
    dense: DenseEmbedder | Pair[DenseEmbedder] | None,
    sparse: SparseEncoder | None,
) -> str | None:
    """Ingest from where the index was made; the vectors of unchanged texts come from the cache.

    Returns:
        The generation that the run published; None where the run changed nothing.
    """
    generations = open_generations(settings)
    before = generations.current()
    if isinstance(settings, CodebaseSettings):
        CodebaseIndexer(main, dense=dense, sparse=sparse).build(settings.codebase, progress)
    else:
        mode, sources = indexed_sources(settings)
        ingest(settings, mode, sources, progress, dense=dense, sparse=sparse)
    current = generations.current()
    is_new = current is not None and (before is None or current.id != before.id)
    return current.id if current and is_new else None
