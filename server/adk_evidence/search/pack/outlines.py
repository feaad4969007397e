"""What else a page or class of the results holds: its sections or members, each with its lines."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from adk_evidence.errors import CollectionUnavailableError
from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import class_of
from adk_evidence.models.citation import code_citation
from adk_evidence.models.pack import LineSpan, Outline, OutlinePart
from adk_evidence.search.pack.words import QuestionWords
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
