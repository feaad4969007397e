"""Which chunks of an index say the same to the letter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from adk_evidence.models.analysis import CodePlace, DuplicateGroup, Duplicates
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.citation import citation_of
from adk_evidence.models.pack import LineSpan
from adk_evidence.store.base import scroll_all

if TYPE_CHECKING:
    from adk_evidence.index.opened import Index

# Nobody can mend what a page of this origin repeats: the index makes these pages of docstrings.
_MADE = "api-reference"
_CHUNKS_A_STEP = 500


def exact_duplicates(index: Index, limit: int, progress: Callable[[int, int], None]) -> Duplicates:
    """The texts that several chunks hold, those that repeat most bytes first.

    `progress` hears how many of how many chunks were read, and may stop it.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    groups: dict[str, list[CodePlace]] = {}
    sizes: dict[str, int] = {}
    done = 0
    for collection in index.manifest.collections:
        for record in scroll_all(index.store, collection):
            if done % _CHUNKS_A_STEP == 0:
                progress(done, index.points)
            done += 1
            payload = ChunkPayload.model_construct(**record.payload)
            if payload.origin != _MADE:
                groups.setdefault(payload.source_hash, []).append(_place(payload))
                sizes[payload.source_hash] = len(payload.body.encode("utf-8", "surrogatepass"))
    found = [_group(sorted(places, key=_order), sizes[hash]) for hash, places in groups.items() if len(places) > 1]
    found.sort(key=lambda group: (-_repeated(group), _order(group.places[0])))
    return Duplicates(
        groups=len(found),
        chunks=sum(group.chunks - 1 for group in found),
        bytes=sum(map(_repeated, found)),
        listed=tuple(group.model_copy(update={"places": group.places[:limit]}) for group in found[:limit]),
    )


def _place(payload: ChunkPayload) -> CodePlace:
    return CodePlace(
        citation=citation_of(payload),
        path=payload.path,
        lines=LineSpan(start=payload.start_line, end=payload.end_line),
        symbol=payload.symbol,
    )


def _group(places: Sequence[CodePlace], size: int) -> DuplicateGroup:
    return DuplicateGroup(
        chunks=len(places), files=len({place.path for place in places}), bytes=size, places=tuple(places)
    )


def _repeated(group: DuplicateGroup) -> int:
    return group.bytes * (group.chunks - 1)


def _order(place: CodePlace) -> tuple[str, int, str]:
    return place.path, place.lines.start, place.citation
