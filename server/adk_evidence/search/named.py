"""Results that a request names outright: frames of a traceback, pasted texts, and symbols that it carries as data.

What is named is no matter of likeness. Such results need no score, and stand before everything that the search ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.models.chunk import Kind
from adk_evidence.search.definitions import definitions, guides
from adk_evidence.search.frames import RAISES, find_frames
from adk_evidence.search.quoted import find_defined, find_quoted
from adk_evidence.search.ranking import can_be_cited
from adk_evidence.search.run import Hit, Run


def find_named(run: Run) -> list[Hit]:
    """The hits that the request names, best first, each chunk once. A collection that cannot answer is a warning."""
    found: dict[str, Hit] = {}
    for kind, find in _FINDERS:
        if kind not in run.kinds or kind in run.collections_failed:
            continue
        try:
            for hit in find(run):
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


def _raising(run: Run) -> list[Hit]:
    """What the frames of a traceback name. Where these do not lead to the raise site, its message may."""
    frames = find_frames(run)
    return frames if any(hit.named == RAISES for hit in frames) else [*frames, *find_quoted(run, "code")]


# What finds named results, the best first, and the kind that each searches.
_FINDERS: Sequence[tuple[Kind, Callable[[Run], Iterable[Hit]]]] = (
    ("code", _raising),
    ("code", definitions),
    ("code", lambda run: find_defined(run, "code")),
    ("doc", lambda run: find_quoted(run, "doc")),
    ("doc", guides),
)
