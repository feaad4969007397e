"""Which results are not worth showing: the number of results is a ceiling and no quota."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from adk_evidence.models.chunk import TYPE_KINDS, ChunkPayload
from adk_evidence.search.candidates.tasks import task_of
from adk_evidence.search.pack.passages import Excerpt
from adk_evidence.search.stages import Hit

# A logistic model of whether a result is a part of the answer, fitted to 195 labelled questions: by the logarithm of
# its place from 1, its support as a share of the strongest one's, and whether it belongs to a task near the question.
PLACE = -0.99
SUPPORT = 0.88
TASK = 0.75
BIAS = -0.07
# So many results are always shown; later ones only if they are so likely a part of the answer.
ALWAYS_SHOWN = 4
LEAST_LIKELY = 0.08


def add_little(final: Sequence[Hit], support: Mapping[str, float], tasks: Mapping[str, float]) -> set[str]:
    """The points of results that are hardly a part of the answer, where the support of results is known.

    What the request names stays.
    """
    strongest = max((support.get(hit.point_id, 0.0) for hit in final), default=0.0)
    if not strongest:
        return set()

    def likelihood(place: int, hit: Hit) -> float:
        share = support.get(hit.point_id, 0.0) / strongest
        total = PLACE * math.log(place) + SUPPORT * share + BIAS + (TASK if task_of(hit.payload, tasks) else 0.0)
        return 1 / (1 + math.exp(-total))

    later = list(enumerate(final, 1))[ALWAYS_SHOWN:]
    return {hit.point_id for place, hit in later if hit.named is None and likelihood(place, hit) < LEAST_LIKELY}


def shells(final: Sequence[Hit], names: Collection[str], excerpts: Mapping[str, Excerpt]) -> set[str]:
    """The points that show nothing but a heading or a signature whose sections or members are results, too.

    What the request names stays, such as the `names` of its question.
    """
    bare = [
        hit
        for hit in final
        if hit.named is None
        and hit.payload.symbol not in names
        and excerpts[hit.point_id].same_as is None
        and not excerpts[hit.point_id].says
    ]
    return {hit.point_id for hit in bare if any(_is_inside(other.payload, hit.payload) for other in final)}


def _is_inside(part: ChunkPayload, whole: ChunkPayload) -> bool:
    """Whether a chunk is of a section below a heading, or a member of a class."""
    if (part.corpus, part.commit, part.path) != (whole.corpus, whole.commit, whole.path):
        return False
    if whole.kind == "code":
        return whole.symbol_kind in TYPE_KINDS and (part.symbol or "").startswith(f"{whole.symbol}.")
    above = len(whole.headings)
    return 0 < above < len(part.headings) and part.headings[:above] == whole.headings
