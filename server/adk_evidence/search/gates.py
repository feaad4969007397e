"""Grounding quality gates: mixed coverage and complete provenance (SPEC 5 section 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adk_evidence.models.chunk import KINDS, SOURCE_TYPES, ChunkPayload, Kind
from adk_evidence.models.request import TaskMode
from adk_evidence.search.hybrid import Hit
from adk_evidence.search.run import Run
from adk_evidence.settings import PackSettings
from adk_evidence.store.manifest import NO_COMMIT, is_uncommitted

MIXED_MODES: frozenset[TaskMode] = frozenset({"build", "debug", "refactor"})
# A kind in a sentence.
KIND_NAMES: Mapping[Kind, str] = {"doc": "documentation", "code": "code"}
# How many files a sentence names.
_NAMED_FILES = 3


@dataclass(frozen=True)
class Selection:
    """The final results in ranked order, and the kinds that have fewer than their minimum."""

    items: list[Hit]
    missing: tuple[Kind, ...]


def require_kinds(run: Run) -> None:
    """Note how many results of each kind the mode requires, and warn of a kind that is not indexed at all."""
    mode, pack = run.request.task_mode, run.settings.pack
    held = [kind for kind in run.kinds if run.index.paths(kind)]
    run.required = required_kinds(mode, pack, held, run.size)
    if run.settings.expects_every_kind:
        wanted = required_kinds(mode, pack, run.kinds, run.size)
        run.absent_kinds = tuple(kind for kind in wanted if wanted[kind] and kind not in held)
    for kind in run.absent_kinds:
        sentence = f"no {KIND_NAMES[kind]} is indexed, though the mode asks for docs and code."
        run.context.warn("coverage", sentence)


def choose_final(run: Run) -> None:
    """Choose the final results from the ranking, and note the kinds that have too few."""
    buffer = max(run.settings.pack.top_k_buffer, run.size)
    selection = select(run.ranked, run.size, buffer, run.required)
    run.final, run.missing = selection.items, selection.missing


def warn_of_final(run: Run) -> None:
    """Warn of kinds that are short, and of files that no commit holds as they are."""
    for kind in run.missing:
        found = sum(hit.kind == kind for hit in run.final)
        sentence = f"only {found} of the {run.required[kind]} {SOURCE_TYPES[kind]} results that the mode asks for."
        run.context.warn("coverage", sentence)
    paths = list(dict.fromkeys(hit.payload.path for hit in run.final if _is_uncommitted(hit.payload)))
    if paths:
        named = ", ".join(paths[:_NAMED_FILES]) + (" and others" if len(paths) > _NAMED_FILES else "")
        sentence = f"no commit holds these files as they are, so `tree-` cites them as found on disk: {named}."
        run.context.warn("uncommitted", sentence)


def required_kinds(task_mode: TaskMode, settings: PackSettings, kinds: Sequence[Kind], size: int) -> dict[Kind, int]:
    """How many results of each kind a mode requires.

    A request for one kind only requires nothing. A short list requires at most half of its places for each kind.
    """
    if task_mode not in MIXED_MODES or len(kinds) < 2:
        return {}
    return {"doc": min(settings.min_docs, size // 2), "code": min(settings.min_code, size // 2)}


def select(ranked: Sequence[Hit], size: int, buffer: int, required: Mapping[Kind, int]) -> Selection:
    """The first `size` results; where a kind has too few, results of that kind move up from the buffer.

    A result of the missing kind takes the place of the last result of a kind that has more than its minimum.

    Args:
        ranked: All results, best first.
        size: Number of final results.
        buffer: How far down the ranking replacements may come from, counted from the top.
        required: Minimum of each kind.
    """
    chosen = list(ranked[:size])
    reserve = list(ranked[size : max(size, buffer)])
    counts = {kind: sum(item.kind == kind for item in chosen) for kind in KINDS}
    for kind, minimum in required.items():
        for item in [spare for spare in reserve if spare.kind == kind][: max(0, minimum - counts[kind])]:
            surplus = [old for old in reversed(chosen) if counts[old.kind] > required.get(old.kind, 0)]
            loser = next((old for old in surplus if old.kind != kind), None)
            if loser is None and len(chosen) >= size:
                break
            if loser is not None:
                chosen.remove(loser)
                counts[loser.kind] -= 1
            chosen.append(item)
            counts[kind] += 1
    places = {id(item): place for place, item in enumerate(ranked)}
    chosen.sort(key=lambda item: places[id(item)])
    missing = tuple(kind for kind, minimum in required.items() if counts[kind] < minimum)
    return Selection(chosen, missing)


def provenance_complete(payload: ChunkPayload, published: bool = True) -> bool:
    """Whether a chunk may enter a pack: code needs a path, and docs a stable URL where their pages are `published`."""
    return bool(payload.uri) if payload.kind == "doc" and published else bool(payload.path)


def has_lines(payload: ChunkPayload) -> bool:
    """Whether the chunk knows its lines; without them the citation is of medium confidence."""
    return payload.start_line > 0 and payload.end_line >= payload.start_line


def _is_uncommitted(payload: ChunkPayload) -> bool:
    # Pages that were made from uncommitted modules are in a corpus together with those of all others.
    made = payload.origin == "api-reference" and payload.commit.startswith(NO_COMMIT)
    return made or is_uncommitted(payload.corpus)
