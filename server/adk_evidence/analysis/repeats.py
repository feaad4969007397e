"""Which chunks of an index say the same, to the letter or nearly so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from adk_evidence.analysis.chunks import Chunk, grouped
from adk_evidence.analysis.shingles import near_duplicates
from adk_evidence.models.analysis import (
    AnalysisOptions,
    DuplicateGroup,
    Duplicates,
    NearDuplicates,
    NearGroup,
    SimilarPlace,
)

Group = list[Chunk]
Generated = Collection[tuple[str, str, str]]


def exact_groups(chunks: Iterable[Chunk]) -> list[Group]:
    """The chunks that have their lines in common to the letter, the groups that repeat most bytes first.

    Licences that open files do not count, and pages that the index makes of docstrings take no part.
    """
    written = (chunk for chunk in chunks if chunk.hash and not chunk.made)
    groups = grouped(written, lambda chunk: (chunk.edition, chunk.hash))
    return _largest_first(group for group in groups.values() if len(group) > 1)


def exact_duplicates(groups: Sequence[Group], generated: Generated, limit: int) -> Duplicates:
    listed = tuple(
        DuplicateGroup(
            chunks=len(group),
            files=_files(group),
            bytes=group[0].bytes,
            generated=_all_in(group, generated),
            places=tuple(chunk.at() for chunk in group[:limit]),
        )
        for group in groups[:limit]
    )
    return Duplicates(
        groups=len(groups),
        chunks=sum(len(group) - 1 for group in groups),
        bytes=sum(_repeated(group) for group in groups),
        listed=listed,
    )


def near_groups(
    chunks: Sequence[Chunk],
    exact: Iterable[Group],
    generated: Generated,
    options: AnalysisOptions,
    progress: Callable[[int, int], None],
) -> NearDuplicates:
    """The chunks that are nearly the same; of exact copies, the first stands for all."""
    copies = {id(chunk) for group in exact for chunk in group[1:]}
    different = [chunk for chunk in chunks if id(chunk) not in copies and chunk.shingles is not None]
    members: dict[int, list[tuple[float, Chunk]]] = {}
    for editions in grouped(different, lambda chunk: chunk.edition).values():
        texts = [chunk.shingles for chunk in editions]
        for place, first, similarity in near_duplicates(texts, options.similarity, progress):
            members.setdefault(id(editions[first]), []).append((similarity, editions[place]))
    firsts = {id(chunk): chunk for chunk in different if id(chunk) in members}
    groups = _largest_first([first, *(chunk for _, chunk in members[at])] for at, first in firsts.items())
    return NearDuplicates(
        groups=len(groups),
        chunks=sum(len(group) - 1 for group in groups),
        compared=len(different),
        listed=tuple(
            _near_group(group, members[id(group[0])], generated, options.limit) for group in groups[: options.limit]
        ),
    )


def _near_group(group: Group, others: list[tuple[float, Chunk]], generated: Generated, limit: int) -> NearGroup:
    nearest = sorted(others, key=lambda one: (-one[0], one[1].order))[:limit]
    return NearGroup(
        chunks=len(group),
        files=_files(group),
        bytes=group[0].bytes,
        generated=_all_in(group, generated),
        first=group[0].at(),
        others=tuple(
            SimilarPlace(**dict(chunk.at()), similarity=round(similarity, 3)) for similarity, chunk in nearest
        ),
    )


def _largest_first(groups: Iterable[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-_repeated(group), group[0].order))


def _repeated(group: Group) -> int:
    return sum(chunk.bytes for chunk in group[1:])


def _files(group: Group) -> int:
    return len({chunk.file for chunk in group})


def _all_in(group: Group, files: Generated) -> bool:
    return all(chunk.file in files for chunk in group)
