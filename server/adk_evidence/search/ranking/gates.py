"""The gate of mixed coverage: the final results hold docs and code where the mode needs both (SPEC 5 section 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adk_evidence.models.chunk import KINDS, SOURCE_TYPES, ChunkPayload, Kind, class_of
from adk_evidence.models.pack import MovedUp
from adk_evidence.models.request import TaskMode
from adk_evidence.render import wording
from adk_evidence.search.run import NEIGHBOUR_BUFFER, Hit, Run
from adk_evidence.store.manifest import NO_COMMIT, is_uncommitted

MIXED_MODES: frozenset[TaskMode] = frozenset({"build", "debug", "refactor"})
# So many results are the first of the ranking; only places behind these go to neighbours.
FIRST_RESULTS = 12


def require_kinds(run: Run) -> None:
    """Note how many results of each kind the mode requires, and warn of a kind that is not indexed at all."""
    held = [kind for kind in run.kinds if run.index.paths[kind]]
    run.required = _required(run, held)
    if run.settings.expects_every_kind:
        wanted = _required(run, run.kinds)
        run.absent_kinds = tuple(kind for kind in wanted if wanted[kind] and kind not in held)
    for kind in run.absent_kinds:
        run.context.warn(wording.not_indexed(kind))


def _required(run: Run, kinds: Sequence[Kind]) -> dict[Kind, int]:
    """A request for a single kind, or one that names paths, requires nothing.

    A short list requires at most half of its places for each kind.
    """
    if run.request.task_mode not in MIXED_MODES or len(kinds) < 2 or run.request.filters.path_allowlist:
        return {}
    pack, half = run.settings.pack, run.size // 2
    return {"doc": min(pack.min_docs, half), "code": min(pack.min_code, half)}


# So many places behind the twelfth go to other parts of pages and classes that are results.
NEIGHBOURS = 3


def choose_final(run: Run) -> None:
    """Choose the first results of the ranking, and note the kinds that have fewer than the mode requires.

    The last places of a long list go to neighbours of the others. Where a kind has too few, results of that kind move
    up from the buffer. Each takes the place of the last result of a kind that has more than its minimum. Where
    something is to be built and no result of the documentation has code to start from, the best sample of the buffer
    takes the place of the last one.
    """
    size = run.size
    chosen = _with_neighbours(run)
    taken = {hit.point_id for hit in chosen}
    reserve = [hit for hit in run.ranked[: max(size, run.settings.pack.top_k_buffer)] if hit.point_id not in taken]
    counts = {kind: sum(hit.kind == kind for hit in chosen) for kind in KINDS}
    places = {hit.point_id: place for place, hit in enumerate(run.ranked)}
    for kind, minimum in run.required.items():
        for hit in [spare for spare in reserve if spare.kind == kind][: max(0, minimum - counts[kind])]:
            surplus = [old for old in reversed(chosen) if counts[old.kind] > run.required.get(old.kind, 0)]
            loser = next((old for old in surplus if old.kind != kind), None)
            if loser is None and len(chosen) >= size:
                break
            if loser is not None:
                chosen.remove(loser)
                counts[loser.kind] -= 1
            chosen.append(_moved_up(hit, places[hit.point_id], size, "kind"))
            counts[kind] += 1
    _show_example(run, chosen, reserve, places)
    run.final = sorted(chosen, key=lambda hit: places[hit.point_id])
    run.missing = tuple(kind for kind, minimum in run.required.items() if counts[kind] < minimum)


def _with_neighbours(run: Run) -> list[Hit]:
    """The first hits, of which the last ones give way to hits from the pages and classes of those before.

    What an answer lacks, such as the last step, the remedy or a field, often stands in another part of a page or class
    that is there already: in 11 of 20 insufficient answers to users' questions.
    """
    size = run.size
    kept = run.ranked[: size - min(NEIGHBOURS, max(0, size - FIRST_RESULTS))]
    wholes = {_whole_of(hit.payload) for hit in kept}
    behind = run.ranked[len(kept) : max(size, NEIGHBOUR_BUFFER)]
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


def _show_example(run: Run, chosen: list[Hit], reserve: Sequence[Hit], places: Mapping[str, int]) -> None:
    """Put a sample of the buffer in the place of the last docs, if something is to be built without an example."""
    docs = [place for place, hit in enumerate(chosen) if hit.kind == "doc"]
    if run.request.task_mode != "build" or any(_is_example(run, chosen[place]) for place in docs):
        return
    sample = next((hit for hit in reserve if hit.payload.origin == "sample"), None)
    # What the request names stays.
    last = next((place for place in reversed(docs) if chosen[place].named is None), None)
    if sample is not None and last is not None:
        chosen[last] = _moved_up(sample, places[sample.point_id], run.size, "example")


def _is_example(run: Run, hit: Hit) -> bool:
    language, shown = run.settings.retrieval.language, hit.payload.code_langs
    return hit.payload.origin == "sample" or (bool(shown) if language is None else language in shown)


def warn_of_final(run: Run) -> None:
    """Warn of kinds that are short, and of files that no commit holds as they are."""
    for kind in run.missing:
        found = sum(hit.kind == kind for hit in run.final)
        run.context.warn(wording.too_few(found, run.required[kind], SOURCE_TYPES[kind]))
    paths = list(dict.fromkeys(hit.payload.path for hit in run.final if _is_uncommitted(hit.payload)))
    if paths:
        run.context.warn(wording.uncommitted(paths))


def _is_uncommitted(payload: ChunkPayload) -> bool:
    # Pages made from uncommitted modules lie in one corpus with the pages of all other modules.
    made = payload.origin == "api-reference" and payload.commit.startswith(NO_COMMIT)
    return made or is_uncommitted(payload.corpus)
