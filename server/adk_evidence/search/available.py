"""Tells of evidence on features that the reader's language or version of the ADK does not have, as the page says."""

from __future__ import annotations

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import Availability, SupportedLanguage
from adk_evidence.released_versions import read_release
from adk_evidence.search.released import searched_version
from adk_evidence.search.run import Run


def is_elsewhere(run: Run, payload: ChunkPayload) -> bool:
    """Whether a page names the languages whose ADK has the feature of a chunk, and none of them is a reader's."""
    plan = run.scope.languages
    if plan is None or not payload.supported:
        return False
    return {plan.reader, *plan.also}.isdisjoint(name for name, _ in payload.supported)


def availability_of(run: Run, payload: ChunkPayload) -> Availability | None:
    """What the page of a chunk says of where the chunk's feature exists, compared with the reader.

    The reader's languages are that of the settings and those that the question names; the reader's version of
    google-adk is the project's or, where no project is known, the one that is searched.
    """
    if not payload.supported:
        return None
    told = Availability(
        languages=tuple(SupportedLanguage(language=name, since=since or None) for name, since in payload.supported),
        stage=payload.stage,
    )
    if is_elsewhere(run, payload):
        return told.model_copy(update={"lacks": "language"})
    plan = run.scope.languages
    if plan is not None and plan.reader != "python":
        return told
    version = run.scope.adk.wanted if run.scope.adk is not None else searched_version(run)
    if _is_later(told.since, version):
        return told.model_copy(update={"lacks": "version", "version": version})
    return told


def _is_later(since: str | None, version: str | None) -> bool:
    first, own = read_release(since or ""), read_release(version or "")
    return first is not None and own is not None and first > own
