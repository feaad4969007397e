"""What else a page, class or file of the results holds: its sections, members or matching places, with their lines."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.index.opened import Index
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.chunk import ChunkPayload, class_of
from adk_evidence.models.citation import code_citation
from adk_evidence.models.pack import LineSpan, Outline, OutlinePart
from adk_evidence.search.pack.words import QuestionWords
from adk_evidence.search.rerankers.local import LocalReranker
from adk_evidence.search.stages import Hit, Question
from adk_evidence.store.base import Filter, Match, scroll_all
from adk_evidence.text.tokens import estimate_tokens

# What an outline may cost in a prompt; of this, what the fixed words and the number of each result cost.
MAX_TOKENS = 60
FRAME_TOKENS = 14
RANK_TOKENS = 2
# A generated page or class of more chunks than this is not outlined.
MAX_CHUNKS = 200
MIN_RESULTS = 2
# So many further places of a file are named.
MAX_PLACES = 5
# Chunks of one part have at most a few empty lines between them.
JOINED_GAP = 4


class _Chunk(NamedTuple):
    """What a part is made of, as a payload has it."""

    chunk_index: int
    start_line: int
    end_line: int
    symbols: Sequence[str] = ()
    headings: Sequence[str] = ()
    for_language: str | None = None


class _Whole(NamedTuple):
    """A page, or a class of a file."""

    collection: str
    corpus: str
    commit: str
    path: str
    name: str


def make_outlines(
    question: Question, final: Sequence[Hit], sought: QuestionWords, shown: Container[str]
) -> tuple[Outline, ...]:
    """The outlines of the page that comes first and of the pages and classes that have several of the final results.

    What is `shown`, by point id, is not listed again.
    """
    results: dict[_Whole, list[tuple[int, Hit]]] = {}
    for rank, hit in enumerate(final, 1):
        whole = _whole_of(hit)
        if whole is not None:
            results.setdefault(whole, []).append((rank, hit))
    # What completes a guide that comes first stands mostly in another section of its page.
    several = {
        whole: found
        for whole, found in results.items()
        if len(found) >= MIN_RESULTS or (found[0][0] == 1 and not whole.name)
    }
    made: list[Outline | None] = []
    for whole, found in several.items():
        kind = found[0][1].kind
        try:
            made.append(_outline(whole, found, _parts_of(question.index, whole), sought, shown))
        except CollectionUnavailableError as exc:
            # The results are there; what else their pages hold is an extra.
            question.context.without_collection(kind, exc)
    return tuple(outline for outline in made if outline is not None)


def _whole_of(hit: Hit) -> _Whole | None:
    payload = hit.payload
    name = class_of(payload) if payload.kind == "code" else ""
    if name is None or not payload.has_lines:
        return None
    return _Whole(hit.collection, payload.corpus, payload.commit, payload.path, name)


def _parts_of(index: Index, whole: _Whole) -> tuple[OutlinePart, ...]:
    # A generation does not change, and conversations stay with a page for a while.
    return index.outlines.get(whole, lambda: tuple(_read(index, whole)))


def _read(index: Index, whole: _Whole) -> Iterable[OutlinePart]:
    wanted = Filter(
        must=(Match("path", (whole.path,)), Match("corpus", (whole.corpus,)), Match("commit", (whole.commit,)))
    )
    chunks = [
        _Chunk(**record.payload)
        for record in scroll_all(index.store, whole.collection, filter=wanted, with_payload=_Chunk._fields)
    ]
    chunks = sorted((one for one in chunks if one.start_line > 0 and one.end_line >= one.start_line), key=_place)
    if len(chunks) > MAX_CHUNKS:
        return
    for chunk in chunks:
        lines = LineSpan(start=chunk.start_line, end=chunk.end_line)
        if whole.name:
            inside = [name for name in chunk.symbols if name.startswith(f"{whole.name}.")]
            names = [name.removeprefix(f"{whole.name}.") for name in inside]
            told = [name for name in names if "." not in name and not name.startswith("_")]
            if told:
                yield OutlinePart(name=", ".join(told), lines=lines)
        elif chunk.headings and chunk.for_language is None:
            yield OutlinePart(name=chunk.headings[-1], lines=lines)


def _place(chunk: _Chunk) -> tuple[int, int]:
    return chunk.start_line, chunk.chunk_index


def _outline(
    whole: _Whole,
    results: Sequence[tuple[int, Hit]],
    parts: Sequence[OutlinePart],
    sought: QuestionWords,
    shown: Container[str],
) -> Outline | None:
    """The parts that are not shown. Where not all fit: those that the question names, then those near the results."""
    near = [(hit.payload.start_line, hit.payload.end_line) for _, hit in results]
    seen = [(hit.payload.start_line, hit.payload.end_line) for _, hit in results if hit.point_id in shown]
    others = _joined(part for part in parts if not any(part.lines.touches(*one) for one in seen))
    fitting: list[OutlinePart] = []
    room = MAX_TOKENS - FRAME_TOKENS - RANK_TOKENS * len(results) - estimate_tokens(results[0][1].payload.path)
    for part in sorted(others, key=lambda part: _order(part, near, sought)):
        price = estimate_tokens(written_part(part))
        if price <= room:
            room -= price
            fitting.append(part)
    if not fitting:
        return None
    first = results[0][1].payload
    return Outline(
        citation=code_citation(first.repo, first.commit, first.path, None, None),
        path=first.path,
        title=whole.name or first.title or (first.headings[0] if first.headings else first.path),
        ranks=tuple(rank for rank, _ in results),
        parts=tuple(sorted(fitting, key=lambda part: part.lines.start)),
        more=len(others) - len(fitting),
    )


def make_places(question: Question, ranked: Sequence[Hit], final: Sequence[Hit]) -> tuple[Outline, ...]:
    """Where else the files of the final results match, in a codebase, the file of the first result first.

    A further place matches that would be a result if the ranking did not put the best of each file first.
    """
    if not isinstance(question.settings, CodebaseSettings):
        return ()
    reranker = question.models.reranker
    again = reranker.files.again if isinstance(reranker, LocalReranker) and reranker.files else 0.0
    files: dict[tuple[str, str], list[Hit]] = {}
    for hit in sorted(ranked, key=lambda hit: -_score(hit)):
        files.setdefault(_file_of(hit), []).append(hit)
    own = {hit.point_id: _score(hit) + again * behind for hits in files.values() for behind, hit in enumerate(hits)}
    matching = frozenset(sorted(own, key=lambda point: -own[point])[: len(final)])
    ranks: dict[tuple[str, str], list[int]] = {}
    for rank, hit in enumerate(final, 1):
        ranks.setdefault(_file_of(hit), []).append(rank)
    made = []
    for file, its in ranks.items():
        first = final[its[0] - 1].payload
        further = [hit.payload for hit in files.get(file, ()) if hit.point_id in matching]
        if places := _places(first, further):
            shown = sorted(places[:MAX_PLACES], key=lambda part: part.lines.start)
            made.append(
                Outline(
                    citation=code_citation(first.repo, first.commit, first.path, None, None),
                    path=first.path,
                    title=PurePosixPath(first.path).name,
                    ranks=tuple(its),
                    parts=tuple(shown),
                    more=len(places) - len(shown),
                )
            )
    return tuple(made)


def _score(hit: Hit) -> float:
    # What is named outright may not have been ranked.
    return -math.inf if hit.rerank_score is None else hit.rerank_score


def _file_of(hit: Hit) -> tuple[str, str]:
    return hit.collection, hit.payload.path


def _places(first: ChunkPayload, further: Sequence[ChunkPayload]) -> list[OutlinePart]:
    """The places of some chunks of a file, best first; what follows each other under one name is one place."""
    if not first.has_lines:
        return []
    # A single line is the head of a class or an import, which says nothing without what follows.
    several = [one for one in further if one.start_line < one.end_line]
    others = [one for one in several if one.end_line < first.start_line or first.end_line < one.start_line]
    parts = [
        OutlinePart(name=_named(one), lines=LineSpan(start=one.start_line, end=one.end_line))
        for one in sorted(others, key=lambda one: one.start_line)
    ]
    joined = _joined(parts)
    return sorted(
        joined,
        key=lambda part: next(at for at, one in enumerate(others) if part.lines.touches(one.start_line, one.end_line)),
    )


def _named(payload: ChunkPayload) -> str:
    if payload.symbol:
        return payload.symbol
    return payload.headings[-1] if payload.headings else PurePosixPath(payload.path).name


def written_part(part: OutlinePart) -> str:
    return f"{part.lines.start}-{part.lines.end} {part.name}; "


def _joined(parts: Iterable[OutlinePart]) -> list[OutlinePart]:
    """Parts that follow each other under one name, as one."""
    found: list[OutlinePart] = []
    for part in parts:
        if found and found[-1].name == part.name and part.lines.start <= found[-1].lines.end + JOINED_GAP:
            part = OutlinePart(name=part.name, lines=LineSpan(start=found.pop().lines.start, end=part.lines.end))
        found.append(part)
    return found


def _order(part: OutlinePart, near: Iterable[tuple[int, int]], sought: QuestionWords) -> tuple[float, int, int]:
    """Parts that the question names come first, then what stands near a result; what follows counts as nearer."""
    lines = part.lines
    distance = min(max(lines.start - end, 2 * (start - lines.end), 0) for start, end in near)
    return (-sought.score(sought.held(part.name)), distance, lines.start)
