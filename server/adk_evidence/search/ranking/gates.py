"""The gate of mixed coverage: the final results hold docs and code where the mode needs both (SPEC 5 section 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adk_evidence.models.chunk import KINDS, SOURCE_TYPES, ChunkPayload, Kind, class_of
from adk_evidence.models.pack import MovedUp
from adk_evidence.models.request import EvidenceRequest, TaskMode
from adk_evidence.render import wording
from adk_evidence.search.stages import Hit, Question
from adk_evidence.settings import PackSettings
from adk_evidence.store.manifest import NO_COMMIT, is_uncommitted

MIXED_MODES: frozenset[TaskMode] = frozenset({"build", "debug", "refactor"})
# So many results are the first of the ranking; only places behind these go to neighbours.
FIRST_RESULTS = 12


def required_kinds(request: EvidenceRequest, pack: PackSettings, size: int, kinds: Sequence[Kind]) -> dict[Kind, int]:
    """How many of `size` results the mode of a request wants of each of some kinds.

    A request for a single kind, or one that names paths, wants nothing. A short list needs at most half of its places
    for each kind.
    """
    if request.task_mode not in MIXED_MODES or len(kinds) < 2 or request.filters.path_allowlist:
        return {}
    half = size // 2
    return {"doc": min(pack.min_docs, half), "code": min(pack.min_code, half)}


# So many places behind the twelfth go to other parts of pages and classes that are results, which are looked for so far
# down the ranking.
NEIGHBOURS = 3
NEIGHBOUR_BUFFER = 40


def choose_final(question: Question, ranked: Sequence[Hit]) -> tuple[list[Hit], tuple[Kind, ...]]:
    """The first results of a ranking, and the kinds of which they have fewer than the mode wants.

    The last places of a long list go to neighbours of the others. Where a kind has too few, results of that kind move
    up from the buffer. Each takes the place of the last result of a kind that has more than its minimum. Where
    something is to be built and no result of the documentation has code to start from, the best sample of the buffer
    takes the place of the last one.
    """
    size, required = question.size, question.required
    chosen = _with_neighbours(ranked, size)
    taken = {hit.point_id for hit in chosen}
    reserve = [hit for hit in ranked[: max(size, question.settings.pack.top_k_buffer)] if hit.point_id not in taken]
    counts = {kind: sum(hit.kind == kind for hit in chosen) for kind in KINDS}
    places = {hit.point_id: place for place, hit in enumerate(ranked)}
    for kind, minimum in required.items():
        for hit in [spare for spare in reserve if spare.kind == kind][: max(0, minimum - counts[kind])]:
            surplus = [old for old in reversed(chosen) if counts[old.kind] > required.get(old.kind, 0)]
            loser = next((old for old in surplus if old.kind != kind), None)
            if loser is None and len(chosen) >= size:
                break
            if loser is not None:
                chosen.remove(loser)
                counts[loser.kind] -= 1
            chosen.append(_moved_up(hit, places[hit.point_id], size, "kind"))
            counts[kind] += 1
    _show_example(question, chosen, reserve, places)
    final = sorted(chosen, key=lambda hit: places[hit.point_id])
    return final, tuple(kind for kind, minimum in required.items() if counts[kind] < minimum)


def _with_neighbours(ranked: Sequence[Hit], size: int) -> list[Hit]:
    """The first hits, of which the last ones give way to hits from the pages and classes of those before.

    What an answer lacks, such as the last step, the remedy or a field, often stands in another part of a page or class
    that is there already: in 11 of 20 insufficient answers to users' questions.
    """
    kept = ranked[: size - min(NEIGHBOURS, max(0, size - FIRST_RESULTS))]
    wholes = {_whole_of(hit.payload) for hit in kept}
    behind = ranked[len(kept) : max(size, NEIGHBOUR_BUFFER)]
    found = [(place, hit) for place, hit in enumerate(behind, len(kept)) if _whole_of(hit.payload) in wholes]
    neighbours = [_moved_up(hit, place, size, "neighbour") for place, hit in found[: size - len(kept)]]
    taken = {hit.point_id for hit in neighbours}
    rest = [hit for hit in behind if hit.point_id not in taken][: size - len(kept) - len(neighbours)]
    return [*kept, *neighbours, *rest]


def _moved_up(hit: Hit, place: int, size: int, why: MovedUp) -> Hit:
    """A chosen hit with the reason, unless its place, from 0, is among the first."""
    return hit if place < size else hit._replace(moved_up=why)


def _whole_of(payload: ChunkPayload) -> tuple[str, str, str]:
    """The page, or of code the class or else the file, that a chunk is a part of."""
    return payload.corpus, payload.path, (class_of(payload) or "") if payload.kind == "code" else ""


def _show_example(question: Question, chosen: list[Hit], reserve: Sequence[Hit], places: Mapping[str, int]) -> None:
    """Put a sample of the buffer in the place of the last docs, if something is to be built without an example."""
    docs = [place for place, hit in enumerate(chosen) if hit.kind == "doc"]
    language = question.settings.retrieval.language
    if question.request.task_mode != "build" or any(_is_example(chosen[place], language) for place in docs):
        return
    sample = next((hit for hit in reserve if hit.payload.origin == "sample"), None)
    # What the request names stays.
    last = next((place for place in reversed(docs) if chosen[place].named is None), None)
    if sample is not None and last is not None:
        chosen[last] = _moved_up(sample, places[sample.point_id], question.size, "example")


def _is_example(hit: Hit, language: str | None) -> bool:
    shown = hit.payload.code_langs
    return hit.payload.origin == "sample" or (bool(shown) if language is None else language in shown)


def warn_of_final(question: Question, final: Sequence[Hit], missing: Sequence[Kind]) -> None:
    """Warn of kinds that are short, and of files that no commit holds as they are."""
    for kind in missing:
        found = sum(hit.kind == kind for hit in final)
        question.context.warn(wording.too_few(found, question.required[kind], SOURCE_TYPES[kind]))
    paths = list(dict.fromkeys(hit.payload.path for hit in final if _is_uncommitted(hit.payload)))
    if paths:
        question.context.warn(wording.uncommitted(paths))


def _is_uncommitted(payload: ChunkPayload) -> bool:
    # Pages made from uncommitted modules lie in one corpus with the pages of all other modules.
    made = payload.origin == "api-reference" and payload.commit.startswith(NO_COMMIT)
    return made or is_uncommitted(payload.corpus)
