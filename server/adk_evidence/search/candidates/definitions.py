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
from adk_evidence.search.run import Hit, Run
from adk_evidence.store.base import HasId, Match

if TYPE_CHECKING:
    from adk_evidence.symbols.table import SymbolEntry

# How much of an unknown name a warning shows.
_SHOWN_CHARS = 120


def definitions(run: Run) -> Iterator[Hit]:
    """A hit for each chunk that defines symbols of the request, those of a class together.

    The request names its most important symbols first: the first chunks take the places that the mode leaves for code.
    A symbol that the index lacks is a warning.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    places = run.size - run.required.get("doc", 0)
    yield from _by_class(_defining(run, _resolved(run))[:places])


def _resolved(run: Run) -> Sequence[SymbolEntry]:
    """What the names of the request mean, each symbol once; names are looked up once in a request."""
    if run.resolved is None:
        # An index without code says nothing of symbols.
        run.resolved = _resolve(run) if run.index.paths["code"] else ()
    return run.resolved


def _resolve(run: Run) -> tuple[SymbolEntry, ...]:
    """Look up the names of the request. A bare name means the likeliest symbol of that name."""
    found: dict[str, SymbolEntry] = {}
    known, unknown = [*run.known_names], [*run.unknown_names]
    for name in run.request.symbols:
        entry = meaning(run, name)
        if entry is None and name in run.request.known_elsewhere:
            continue
        if entry is None:
            unknown.append(name)
            plain = plain_line(name)[:_SHOWN_CHARS]
            run.context.warn(wording.unknown_symbol(plain, told_by_releases(run, plain)))
        else:
            known.append(name)
            found.setdefault(entry.fqn, entry)
    run.known_names, run.unknown_names = tuple(dict.fromkeys(known)), tuple(dict.fromkeys(unknown))
    return tuple(found.values())


def meaning(run: Run, name: str) -> SymbolEntry | None:
    """What a name of the request means in the index; of a bare name, the likeliest symbol."""
    symbols = run.symbols()
    return symbols.resolve(name) or next(iter(symbols.table.find(name)), None)


def _defining(run: Run, entries: Sequence[SymbolEntry]) -> list[tuple[Hit, list[SymbolEntry]]]:
    """The chunks in which the definitions begin, in the order of the symbols, each with the symbols it defines."""
    points = tuple(dict.fromkeys(entry.point for entry in entries))
    by_point = {hit.point_id: hit for hit in read_hits(run, "code", HasId(points))} if points else {}
    # The table is of one version; where another one is searched, the definitions are looked up there.
    lost = tuple(dict.fromkeys(entry.name for entry in entries if entry.point not in by_point))
    elsewhere: dict[str, Hit] = {}
    for hit in read_hits(run, "code", Match("names", lost)) if lost else ():
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
