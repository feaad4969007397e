"""The definitions of the symbols that a request carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.lines import LineSpan
from adk_evidence.models.named import Named
from adk_evidence.readers.definitions import read_definition
from adk_evidence.render import wording
from adk_evidence.search.candidates.lookup import read_hits
from adk_evidence.search.candidates.releases import told_by_releases
from adk_evidence.search.question.query import plain_line
from adk_evidence.search.stages import Hit, Names, Question
from adk_evidence.store.base import HasId, Match

if TYPE_CHECKING:
    from adk_evidence.symbols.table import SymbolEntry

# How much of an unknown name a warning shows.
_SHOWN_CHARS = 120


def definitions(question: Question, symbols: Sequence[SymbolEntry]) -> Iterator[Hit]:
    """A hit for each chunk that defines some symbols, those of a class together.

    The most important symbols come first: the first chunks take the places that the mode leaves for code.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    places = question.size - question.required.get("doc", 0)
    yield from _by_class(_defining(question, symbols)[:places])


def carried_symbols(question: Question) -> tuple[Sequence[SymbolEntry], Names]:
    """The symbols that the request carries, each once, and which of its names are known; a warning for each other."""
    # An index without code says nothing of symbols.
    carried = dict.fromkeys(question.request.symbols if question.index.paths["code"] else ())
    meant = {name: meaning(question, name) for name in carried}
    unknown = [name for name in carried if meant[name] is None and name not in question.request.known_elsewhere]
    for name in unknown:
        plain = plain_line(name)[:_SHOWN_CHARS]
        question.context.warn(wording.unknown_symbol(plain, told_by_releases(question, plain)))
    entries = {entry.fqn: entry for entry in meant.values() if entry is not None}
    known = tuple(name for name in carried if meant[name] is not None)
    return list(entries.values()), Names(known, tuple(unknown))


def meaning(question: Question, name: str) -> SymbolEntry | None:
    """What a name of the request means in the index; of a bare name, the likeliest symbol."""
    symbols = question.symbols()
    return symbols.resolve(name) or next(iter(symbols.table.find(name)), None)


def _defining(question: Question, entries: Sequence[SymbolEntry]) -> list[tuple[Hit, list[SymbolEntry]]]:
    """The chunks in which the definitions begin, in the order of the symbols, each with the symbols it defines."""
    points = tuple(dict.fromkeys(entry.point for entry in entries))
    by_point = {hit.point_id: hit for hit in read_hits(question, "code", HasId(points))} if points else {}
    # The table is of one version; where another one is searched, the definitions are looked up there.
    lost = tuple(dict.fromkeys(entry.name for entry in entries if entry.point not in by_point))
    elsewhere: dict[str, Hit] = {}
    for hit in read_hits(question, "code", Match("names", lost)) if lost else ():
        for symbol in hit.payload.symbols:
            elsewhere.setdefault(f"{hit.payload.module}.{symbol}", hit)
    found: dict[str, tuple[Hit, list[SymbolEntry]]] = {}
    for entry in entries:
        defining = by_point.get(entry.point) or elsewhere.get(entry.fqn)
        if defining is not None:
            found.setdefault(defining.point_id, (defining, []))[1].append(entry)
    return list(found.values())


def _by_class(defining: Sequence[tuple[Hit, list[SymbolEntry]]]) -> Iterator[Hit]:
    """The head of a class before its members, and classes in the order of their first chunks."""
    classes: dict[str, list[tuple[Hit, list[SymbolEntry]]]] = {}
    for hit, entries in defining:
        classes.setdefault(_class_of(entries[0]), []).append((hit, entries))
    for name, group in classes.items():
        for hit, entries in sorted(group, key=lambda chunk: all(entry.fqn != name for entry in chunk[1])):
            named = Named("defines", tuple(entry.symbol or entry.fqn for entry in entries))
            yield hit._replace(named=named, lines=_lines(hit.payload, entries))


def _lines(payload: ChunkPayload, entries: Iterable[SymbolEntry]) -> tuple[int, ...]:
    """Where the members of a class are defined; of a class with many fields, only these are asked for."""
    found = [read_definition(payload, entry.symbol).lines for entry in entries if "." in entry.symbol]
    # What does not show has the lines of the whole chunk.
    return tuple(one.start for one in found if one != LineSpan(start=payload.start_line, end=payload.end_line))


def _class_of(entry: SymbolEntry) -> str:
    """The class of a member; of anything else, the symbol itself."""
    return entry.fqn.rpartition(".")[0] if "." in entry.symbol else entry.fqn
