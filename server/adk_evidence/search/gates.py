"""Grounding quality gates: mixed coverage and complete provenance (SPEC 5 section 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adk_evidence.models.chunk import KINDS, ChunkPayload, Kind
from adk_evidence.models.request import TaskMode
from adk_evidence.search.hybrid import Hit
from adk_evidence.settings import PackSettings

MIXED_MODES: frozenset[TaskMode] = frozenset({"build", "debug", "refactor"})


@dataclass(frozen=True)
class Selection:
    """The final results in ranked order, and the kinds that are short of their minimum."""

    items: list[Hit]
    missing: tuple[Kind, ...]


def required_kinds(task_mode: TaskMode, settings: PackSettings, kinds: Sequence[Kind], size: int) -> dict[Kind, int]:
    """How many results of each kind a mode requires.

    Nothing is required of a request for one kind only; a short list asks for its share, not for more than it has.
    """
    if task_mode not in MIXED_MODES or len(kinds) < 2:
        return {}
    return {"doc": min(settings.min_docs, size // 2), "code": min(settings.min_code, size // 2)}


def select(ranked: Sequence[Hit], size: int, buffer: int, required: Mapping[Kind, int]) -> Selection:
    """The first `size` results, with places for a kind that is short filled from the buffer behind them.

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
