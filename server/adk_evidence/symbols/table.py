"""The symbol table: where the index defines each name, and which section of the docs is about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from adk_evidence.files import write_private
from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import ChunkPayload, Origin, SymbolKind
from adk_evidence.models.citation import docs_citation
from adk_evidence.models.pack import LineSpan
from adk_evidence.store.base import EvidenceStore, scroll_all
from adk_evidence.targets.names import Names, compact
from adk_evidence.text.identifiers import is_code_like, is_private, module_of

# The engine holds the interpreter's lock while it reads a page. Small pages let requests in between.
PAGE_POINTS = 128
KEPT = "symbols.json"
# To be raised with every change to what a table says of the same points.
TABLE_VERSION = 1
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


@dataclass(frozen=True, slots=True)
class SymbolEntry:
    """Where a symbol is defined: the chunk in which the definition begins, by its point id.

    `symbol` is the qualified name within the module, empty for the module itself. `kind` is known where the
    symbol has the chunk for itself.
    """

    fqn: str
    symbol: str
    point: str
    kind: SymbolKind | None

    @property
    def module(self) -> str:
        """Dotted path of the module that defines the symbol."""
        return module_of(self.fqn, self.symbol)

    @property
    def name(self) -> str:
        return self.fqn.rpartition(".")[2]


class DocReference(Frozen):
    """A section of the docs, as it is cited."""

    citation: str
    url: str | None
    path: str
    origin: Origin
    headings: tuple[str, ...]
    lines: LineSpan


class DocSection(DocReference):
    """A section of the docs with what opening its page takes, and the point id of its first chunk."""

    repo: str
    commit: str
    point: str


@dataclass(frozen=True)
class SymbolTable:
    """What one generation of the index defines.

    `modules` has the points of each module's top level, in the order of the file. `guides` are sections by the name
    that their heading holds, `reference` sections of the API reference by qualified name, `sections` all sections by
    their citation.
    """

    entries: Mapping[str, SymbolEntry]
    modules: Mapping[str, tuple[str, ...]]
    guides: dict[str, DocSection] = field(default_factory=dict)
    reference: dict[str, DocSection] = field(default_factory=dict)
    sections: dict[str, list[DocSection]] = field(default_factory=dict)

    def find(self, name: str) -> list[SymbolEntry]:
        """Symbols that a bare or dotted name may mean, the likeliest first."""
        entries, names = self._by_name
        return sorted((entries[row] for row in names.ending(name)), key=_likelihood)

    @cached_property
    def _by_name(self) -> tuple[Sequence[SymbolEntry], Names]:
        return list(self.entries.values()), Names((fqn,) for fqn in self.entries)


@dataclass(frozen=True)
class _Kept:
    """A table as its generation's folder keeps it. `of` says which one: folders are copied to begin the next."""

    of: tuple[str, int]
    table: SymbolTable


_KEPT = TypeAdapter(_Kept)


def kept_table(folder: Path, store: EvidenceStore, code: str, docs: str) -> SymbolTable:
    """The table of a generation, from its folder once it was built there: building takes twenty times as long.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    file, key = folder / KEPT, (folder.name, TABLE_VERSION)
    with suppress(OSError, ValidationError):
        kept = _KEPT.validate_json(file.read_bytes())
        if kept.of == key:
            return kept.table
    table = build_table(store, code, docs)
    # Not everybody may write there.
    with suppress(OSError):
        write_private(file, _KEPT.dump_json(_Kept(key, table)), 0o644)
    return table


def build_table(store: EvidenceStore, code: str, docs: str) -> SymbolTable:
    """Read the table out of the collections of code and docs of an open index.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    found: list[tuple[int, SymbolEntry]] = []
    modules: dict[str, list[tuple[int, str]]] = {}
    for record in scroll_all(store, code, page=PAGE_POINTS):
        payload = ChunkPayload.model_construct(**record.payload)
        module, line = payload.module, payload.start_line
        if module is None or payload.lang != "py":
            continue
        if payload.symbol_kind == "module":
            modules.setdefault(module, []).append((line, record.id))
            found.append((line, SymbolEntry(module, "", record.id, "module")))
        for symbol in payload.symbols:
            own = symbol == payload.symbol and payload.symbol_kind in ("class", "function", "method")
            kind = payload.symbol_kind if own else None
            found.append((line, SymbolEntry(f"{module}.{symbol}", symbol, record.id, kind)))
    found.sort(key=lambda item: item[0])
    table = SymbolTable(
        # Of several definitions of a name the first one of its file counts.
        entries={entry.fqn: entry for _, entry in reversed(found)},
        modules={module: tuple(point for _, point in sorted(points)) for module, points in modules.items()},
    )
    _add_docs(table, store, docs)
    return table


def _add_docs(table: SymbolTable, store: EvidenceStore, collection: str) -> None:
    guides: list[tuple[tuple[object, ...], str, DocSection]] = []
    classes = {compact(entry.name): entry.name for entry in table.entries.values() if entry.name[:1].isupper()}
    for record in scroll_all(store, collection, page=PAGE_POINTS):
        payload = ChunkPayload.model_construct(**record.payload)
        section = _section(payload, record.id)
        table.sections.setdefault(section.citation, []).append(section)
        # Nobody is sent to a page for readers of another language.
        if not section.headings or payload.for_language:
            continue
        if section.origin == "api-reference":
            _add_reference(table, section)
            continue
        heading = section.headings[-1]
        python = "python" in payload.code_langs or not payload.code_langs
        order = (not python, len(heading), len(section.headings), section.path, section.lines.start)
        whole = compact(heading)
        meant = classes.get(whole) or classes.get(whole.removesuffix("s"))
        if meant is not None:
            # `Sequential agents` is all about `SequentialAgent`.
            guides.append(((False, *order), meant, section))
        guides += [
            ((True, *order), name, section)
            for name in dict.fromkeys(_names(heading))
            # `Running` in a heading may be a mere English word.
            if (is_code_like(name) or name[:1].isupper()) and table.find(name.rpartition(".")[2])
        ]
    for _, name, section in sorted(guides, key=lambda item: item[0]):
        table.guides.setdefault(name, section)


def _add_reference(table: SymbolTable, section: DocSection) -> None:
    """A generated page has the module as its title and a heading for each definition: `class LlmAgent`."""
    module, *below = section.headings
    for name in _names(below[-1]) if below else ():
        if f"{module}.{name}" in table.entries:
            table.reference.setdefault(f"{module}.{name}", section)
    if not below:
        table.reference.setdefault(module, section)


def _names(heading: str) -> Iterator[str]:
    for match in _IDENTIFIER.finditer(heading):
        yield match.group().rstrip(".")


def _section(payload: ChunkPayload, point: str) -> DocSection:
    return DocSection(
        citation=docs_citation(payload.repo, payload.commit, payload.uri or payload.path),
        url=payload.uri,
        path=payload.path,
        origin=payload.origin,
        headings=tuple(payload.headings),
        lines=LineSpan(start=payload.start_line, end=payload.end_line),
        repo=payload.repo,
        commit=payload.commit,
        point=point,
    )


def _likelihood(entry: SymbolEntry) -> tuple[object, ...]:
    own = {"class": 0, "function": 1, "method": 2}.get(entry.kind or "", 3)
    return (is_private(entry.fqn), own, entry.fqn.count("."), entry.fqn)
