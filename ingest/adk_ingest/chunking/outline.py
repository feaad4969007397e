"""From a file's outline, its definitions by line, to chunks: the same cutting for every language.

The file is partitioned into definitions and the gaps between them, so that no line can be lost. Chunk 0 is what comes
before the first definition. Other gaps shorter than `min_chunk_chars` go with the definition below, or with the one
above where none follows. A class beyond `max_symbol_chunk_chars` becomes its head and its members; members shorter than
`min_chunk_chars` are gathered until they reach that size. What is still too long is cut where the language's reader
finds a cut cheapest.

`tail`: pieces of one symbol repeat the last lines of the piece before; a member of a split class repeats the line that
names the class. Both stay within `code.overlap_chars`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import PurePosixPath

from adk_evidence.models.chunk import TYPE_KINDS, SymbolKind
from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import RawChunk, SourceFile
from adk_ingest.chunking.cutting import Lines, Piece, context_tail

# Cost of a cut inside a statement; a reader's costs of better places stay below.
INSIDE_STATEMENT = 1_000


@dataclass(frozen=True)
class Definition:
    """A definition with its decorators and the comments directly above it.

    `name` is qualified within the file. `start` and `end` are its lines, 1-based and inclusive, `header` is the line
    that names it. `within` are the lines of the statement around it, where that statement is not a definition itself:
    only if the statement is too long for one chunk does the definition become a separate chunk. `parts` are the
    definitions in these lines, where they are several: overloads, a getter with its setter, or definitions that share a
    line.
    """

    name: str
    kind: SymbolKind
    start: int
    end: int
    header: int
    signature: str | None = None
    doc: str | None = None
    members: tuple[Definition, ...] = ()
    within: tuple[int, int] | None = None
    parts: tuple[Definition, ...] = ()


@dataclass(frozen=True)
class Outline:
    """What a file defines.

    `definitions` are the outermost ones in the order of their lines. `names` are the qualified names of everything that
    is defined, by line. `cut_cost` says what a cut above a line costs, where less is better. `module` is the dotted
    name by which the file is imported. `joins_namesakes` says whether successive functions of one name are overloads.
    `broken` says why parts of the file are not understood. `decorators` are the names of all decorators, by line.
    """

    lang: str
    definitions: tuple[Definition, ...]
    names: Mapping[int, Sequence[str]]
    doc: str | None
    cut_cost: Callable[[int], int]
    module: str | None = None
    joins_namesakes: bool = True
    broken: str | None = None
    decorators: Mapping[int, Sequence[str]] = field(default_factory=dict)


def outline_chunks(file: SourceFile, outline: Outline, chunking: ChunkingSettings) -> list[RawChunk]:
    return list(_Splitter(file, outline, chunking).chunks())


@dataclass(frozen=True)
class _Gap:
    """Lines between definitions."""

    start: int
    end: int


class _Splitter:
    def __init__(self, file: SourceFile, outline: Outline, chunking: ChunkingSettings) -> None:
        self._outline = outline
        self._chunking = chunking
        self._limit = chunking.code.max_symbol_chunk_chars
        self._lines = Lines(file.lines)
        self._module = outline.module or PurePosixPath(file.path).stem

    def chunks(self) -> Iterator[RawChunk]:
        if not len(self._lines):
            return
        whole = Definition(self._module, "module", 1, len(self._lines), 1, doc=self._outline.doc)
        wanted = [node for node in self._outline.definitions if node.within is None or not self._fits(*node.within)]
        yield from self._emit_all(self._partition(self._joined(wanted), 1, len(self._lines)), whole, "")

    def _joined(self, definitions: Sequence[Definition]) -> list[Definition]:
        """Join definitions that share a line, and overloads."""
        units: list[Definition] = []
        for node in definitions:
            before = units[-1] if units else None
            if before is not None and (node.start <= before.end or self._overloads(before, node)):
                units[-1] = replace(before, end=max(before.end, node.end), parts=(*(before.parts or (before,)), node))
            else:
                units.append(node)
        return units

    def _overloads(self, one: Definition, other: Definition) -> bool:
        same = one.name == other.name and one.kind == other.kind
        return self._outline.joins_namesakes and same and one.kind not in TYPE_KINDS

    def _partition(self, units: Sequence[Definition], start: int, end: int) -> list[Definition | _Gap]:
        """Cover lines `start`..`end` with units and the gaps between them."""
        spans: list[Definition | _Gap] = []
        cursor = start
        for unit in units:
            top = max(unit.start, cursor)
            if top > cursor:
                spans.append(_Gap(cursor, top - 1))
            spans.append(replace(unit, start=top, end=min(unit.end, end)))
            cursor = unit.end + 1
        if cursor <= end:
            spans.append(_Gap(cursor, end))
        return self._join_gaps(spans)

    def _join_gaps(self, spans: list[Definition | _Gap]) -> list[Definition | _Gap]:
        joined: list[Definition | _Gap] = []
        for index, span in enumerate(spans):
            small = isinstance(span, _Gap) and index > 0 and self._small(span.start, span.end)
            following = spans[index + 1] if index + 1 < len(spans) else None
            before = joined[-1] if joined else None
            if small and isinstance(following, Definition) and self._may_hold(following, span.start, following.end):
                spans[index + 1] = replace(following, start=span.start)
            elif small and isinstance(before, Definition) and self._may_hold(before, before.start, span.end):
                joined[-1] = replace(before, end=span.end)
            else:
                joined.append(span)
        return joined

    def _may_hold(self, unit: Definition, start: int, end: int) -> bool:
        return self._fits(start, end) or not self._fits(unit.start, unit.end)

    def _fits(self, start: int, end: int) -> bool:
        return self._lines.trimmed_size(start, end) <= self._limit

    def _small(self, start: int, end: int) -> bool:
        return self._lines.trimmed_size(start, end) < self._chunking.min_chunk_chars

    def _emit_all(self, spans: list[Definition | _Gap], owner: Definition, tail: str) -> Iterator[RawChunk]:
        for span in spans:
            if isinstance(span, _Gap):
                yield from self._emit(span.start, span.end, owner, tail)
            else:
                yield from self._emit_unit(span, tail)

    def _emit_unit(self, unit: Definition, tail: str) -> Iterator[RawChunk]:
        overlap = any(one.end >= other.start for one, other in pairwise(unit.parts))
        if overlap or self._fits(unit.start, unit.end) or not (unit.parts or unit.kind in TYPE_KINDS):
            yield from self._emit(unit.start, unit.end, unit, tail)
        elif unit.parts:
            yield from self._emit_all(self._partition(unit.parts, unit.start, unit.end), unit, tail)
        else:
            yield from self._emit_class(unit, tail)

    def _emit_class(self, unit: Definition, tail: str) -> Iterator[RawChunk]:
        spans = self._partition(self._joined(unit.members), unit.start, unit.end)
        if isinstance(spans[0], _Gap):
            head = spans.pop(0)
            yield from self._emit(head.start, head.end, unit, tail)
        line = self._lines.line(unit.header)
        inner = line if len(line) <= self._chunking.code.overlap_chars else ""
        rest = replace(unit, kind="block")
        methods = replace(unit, kind="methods", signature=None, doc=None)
        for group in self._groups(spans):
            if len(group) > 1:
                yield from self._emit(group[0].start, group[-1].end, methods, inner)
            else:
                yield from self._emit_all(group, rest, inner)

    def _groups(self, members: list[Definition | _Gap]) -> Iterator[list[Definition | _Gap]]:
        """Successive small members form a group until the group is no longer small; other members stand alone."""
        group: list[Definition | _Gap] = []
        for member in members:
            small = isinstance(member, Definition) and self._small(member.start, member.end)
            if group and (not small or not self._small(group[0].start, group[-1].end)):
                yield group
                group = []
            if small:
                group.append(member)
            else:
                yield [member]
        if group:
            yield group

    def _emit(self, start: int, end: int, label: Definition, tail: str) -> Iterator[RawChunk]:
        previous: Piece | None = None
        for piece in self._lines.cut(start, end, self._chunking, self._outline.cut_cost):
            if previous is not None:
                tail = context_tail(self._lines, previous, self._chunking.code.overlap_chars)
            block = previous is not None and label.kind != "module"
            yield RawChunk(
                start_line=piece.start,
                end_line=piece.end,
                body=self._lines.text(piece),
                tail=tail,
                start_col=piece.start_col,
                end_col=piece.end_col,
                symbol=label.name,
                symbol_kind="block" if block else label.kind,
                symbols=self._begun_in(piece, self._outline.names),
                decorators=self._begun_in(piece, self._outline.decorators),
                fqn=self._fqn(label),
                signature=label.signature,
                doc=label.doc,
                lang=self._outline.lang,
            )
            previous = piece

    def _fqn(self, label: Definition) -> str | None:
        module = self._outline.module
        return f"{module}.{label.name}" if module and label.kind != "module" else module

    def _begun_in(self, piece: Piece, names: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
        """The names by line that stand on the lines of a piece."""
        if piece.start_col:  # they were listed with the line's first columns
            return ()
        found = (name for line in range(piece.start, piece.end + 1) for name in names.get(line, ()))
        return tuple(dict.fromkeys(found))
