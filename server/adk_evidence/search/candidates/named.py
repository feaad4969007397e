"""Results that a request names outright: frames of a traceback, pasted texts, and symbols that it carries as data.

What is named is no matter of likeness. Such results need no score, and stand before everything that the search ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import Kind
from adk_evidence.models.citation import can_be_cited
from adk_evidence.render import wording
from adk_evidence.search.candidates.definitions import carried_symbols, definitions
from adk_evidence.search.candidates.frames import find_frames, indexed_files
from adk_evidence.search.candidates.quotes import find_defined, find_quoted
from adk_evidence.search.stages import Candidates, Hit, Names, Question
from adk_evidence.settings import Named

# How named results are found, the best first, and the kind that is searched.
_WAYS: Sequence[tuple[Named, Kind]] = (
    ("frames", "code"),
    ("quoted", "code"),
    ("definitions", "code"),
    ("names", "code"),
    ("quoted", "doc"),
)


def find_named(question: Question, candidates: Candidates) -> Candidates:
    """The candidates with the hits that the request names, best first, each chunk once.

    A collection that cannot answer is a warning.
    """
    found: dict[str, Hit] = {}
    files: Mapping[str, str] = {}
    names, other = Names(), ""
    context, index = question.context, question.index
    wanted = [way for way in _WAYS if way[0] in question.settings.retrieval.named and way[1] in question.kinds]
    for name, kind in wanted:
        if kind in context.failed.collections:
            continue
        hits: Iterable[Hit] = ()
        try:
            match name:
                case "frames":
                    files = indexed_files(question)
                    hits, other = find_frames(question, files)
                    if other:
                        context.warn(wording.traceback_of_other(other, question.scope.version))
                case "quoted":
                    hits = (
                        ()
                        if kind == "code" and _has_raise_site(found)
                        else find_quoted(question, kind, candidates.hits.get(kind, ()))
                    )
                case "definitions":
                    symbols, names = carried_symbols(question)
                    hits = definitions(question, symbols)
                case "names":
                    hits = find_defined(question.query, candidates.hits.get(kind, ()))
            for hit in hits:
                if can_be_cited(hit.payload, hit.kind == "doc" and index.is_published(hit.payload)):
                    found.setdefault(hit.point_id, hit)
        except CollectionUnavailableError as exc:
            context.without_collection(kind, exc)
    # Where no frame leads to it, a text of the message may: what raises the error stands before what only passed it on.
    # The calls of another version say less than the code that makes the message.
    order = {"raises": 0, "holds_message": 1 if other else 2}
    ordered = sorted(found.values(), key=lambda hit: order.get(hit.named.role, 2) if hit.named and hit.lines else 2)
    return replace(candidates, named=tuple(ordered), frame_files=files, names=names)


def lead(named: Iterable[Hit], ranked: Iterable[Hit]) -> list[Hit]:
    """The named hits before the ranked ones. A named hit that was ranked, too, keeps what the search knows of it."""
    by_point = {hit.point_id: hit for hit in ranked}
    first = {hit.point_id: by_point.get(hit.point_id, hit)._replace(named=hit.named, lines=hit.lines) for hit in named}
    return [*first.values(), *(hit for point, hit in by_point.items() if point not in first)]


def _has_raise_site(found: Mapping[str, Hit]) -> bool:
    """Whether frames lead to the place that raises the pasted error, whose message the pasted text then is."""
    return any(hit.named and hit.named.role == "raises" for hit in found.values())
