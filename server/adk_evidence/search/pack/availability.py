"""Tells of evidence on features that the reader's language or version of the ADK does not have, as the page says."""

from __future__ import annotations

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.pack import Availability, Candidate, SupportedLanguage
from adk_evidence.readers.pages.audience import read_too
from adk_evidence.search.question.scope import Scope
from adk_evidence.text.versions import read_release


def availability_at(scope: Scope, payload: ChunkPayload, line: int) -> Availability | None:
    """What the page of a chunk says of where the feature exists that a line is about, compared with the reader.

    The reader's languages are that of the settings and those that the question names; the reader's version of
    google-adk is the one that the question names, else the project's, else the one that is searched.
    """
    sections = [section for section in payload.availability if section[0] <= line] or payload.availability[:1]
    _, stage, languages = sections[-1] if sections else (0, "", ())
    if not languages:
        return None
    told = Availability(
        languages=tuple(SupportedLanguage(language=name, since=since or None) for name, since in languages),
        stage=stage or None,
    )
    readers, named = _readers(scope), {name for name, _ in languages}
    if not readers:
        return told
    if readers.isdisjoint(named):
        return told.model_copy(update={"lacks": "language"})
    # Who asks about the feature of another language does not use google-adk there.
    if readers & named == {"python"}:
        version = _version(scope)
        if version is not None and _is_later(told.since, version):
            return told.model_copy(update={"lacks": "version", "version": version})
    return told


def lack_of(candidate: Candidate) -> str:
    """In a clause, why the feature that a candidate is about may be of no use to the reader; empty where it may be."""
    told = candidate.availability
    if told is None or told.lacks is None:
        return ""
    if told.lacks == "language":
        return "the first result is about a feature that the docs mark for other languages only"
    return f"the first result is about a feature that, by the docs, is newer than google-adk {told.version}"


def _readers(scope: Scope) -> frozenset[str]:
    plan = scope.languages
    return frozenset() if plan is None else read_too({plan.reader, *plan.also})


def _version(scope: Scope) -> str | None:
    """The reader's version of google-adk; None where nobody knows, or where the question names several or bounds."""
    if scope.asked:
        (first, *others) = scope.asked
        return None if others or read_release(first.text) is None else first.text
    return scope.adk.wanted if scope.adk is not None else scope.version


def _is_later(since: str | None, version: str) -> bool:
    first, own = read_release(since or ""), read_release(version)
    # 1.20 stands for every 1.20.z.
    return first is not None and own is not None and first.release[: len(own.release)] > own.release
