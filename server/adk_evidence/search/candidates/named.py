"""Results that a request names outright: frames of a traceback, pasted texts, and symbols that it carries as data.

What is named is no matter of likeness. Such results need no score, and stand before everything that the search ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import Kind
from adk_evidence.models.citation import can_be_cited
from adk_evidence.search.candidates.definitions import definitions
from adk_evidence.search.candidates.frames import find_frames
from adk_evidence.search.candidates.quotes import find_defined, find_quoted
from adk_evidence.search.run import Hit, Run
from adk_evidence.settings import Named


def find_named(run: Run) -> list[Hit]:
    """The hits that the request names, best first, each chunk once. A collection that cannot answer is a warning."""
    found: dict[str, Hit] = {}
    for name, kind, find in _FINDERS:
        if name not in run.settings.retrieval.named or kind not in run.kinds or kind in run.collections_failed:
            continue
        try:
            for hit in find(run, found.values()):
                if can_be_cited(hit.payload, hit.kind == "doc" and run.index.is_published(hit.payload)):
                    found.setdefault(hit.point_id, hit)
        except CollectionUnavailableError as exc:
            run.without_collection(kind, exc)
    return list(found.values())


def lead(named: Iterable[Hit], ranked: Iterable[Hit]) -> list[Hit]:
    """The named hits before the ranked ones. A named hit that was ranked, too, keeps what the search knows of it."""
    by_point = {hit.point_id: hit for hit in ranked}
    first = {hit.point_id: by_point.get(hit.point_id, hit)._replace(named=hit.named, lines=hit.lines) for hit in named}
    return [*first.values(), *(hit for point, hit in by_point.items() if point not in first)]


def _holding(run: Run, found: Collection[Hit]) -> list[Hit]:
    """The code that holds the pasted text, unless frames lead to the raise site, whose message the text is."""
    return [] if any(hit.named and hit.named.role == "raises" for hit in found) else find_quoted(run, "code")


# What finds named results, the best first: its name in the settings, and the kind that it searches. Each is given what
# was found before.
_FINDERS: Sequence[tuple[Named, Kind, Callable[[Run, Collection[Hit]], Iterable[Hit]]]] = (
    ("frames", "code", lambda run, _: find_frames(run)),
    ("quoted", "code", _holding),
    ("definitions", "code", lambda run, _: definitions(run)),
    ("names", "code", lambda run, _: find_defined(run, "code")),
    ("quoted", "doc", lambda run, _: find_quoted(run, "doc")),
)
