"""The symbol table: where the index defines each name, and which section of the docs is about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from adk_evidence.identifiers import is_code_like
from adk_evidence.models.chunk import ChunkPayload, Origin, SymbolKind
from adk_evidence.models.citation import docs_citation
from adk_evidence.models.pack import LineSpan
from adk_evidence.store.base import EvidenceStore, scroll_all
from adk_evidence.store.manifest import is_beside

# The engine holds the interpreter's lock while it reads a page: small ones let requests in between.
PAGE_POINTS = 128
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


@dataclass(frozen=True, slots=True)
class SymbolEntry:
    """Where a symbol is defined: the chunk in which it begins, by its point id.

    `symbol` is the qualified name within the module, empty for the module itself. `kind` is known where the
    symbol has the chunk for itself.
    """

    fqn: str
    symbol: str
    point: str
    path: str
    kind: SymbolKind | None

    @property
    def module(self) -> str:
        """Dotted path of the module that defines it."""
        return self.fqn.removesuffix(f".{self.symbol}") if self.symbol else self.fqn

    @property
    def name(self) -> str:
        """The unqualified name."""
        return self.fqn.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class DocSection:
    """A section of a page, as it is cited."""

    citation: str
    url: str | None
    path: str
    repo: str
    commit: str
    origin: Origin
    headings: tuple[str, ...]
    lines: LineSpan


@dataclass
class SymbolTable:
    """What one generation of the index defines. Filled once by `build_table`, then only read."""

    entries: dict[str, SymbolEntry] = field(default_factory=dict)
    modules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    by_name: dict[str, list[str]] = field(default_factory=dict)
    guides: dict[str, DocSection] = field(default_factory=dict)
    reference: dict[str, DocSection] = field(default_factory=dict)
    sections: dict[str, list[DocSection]] = field(default_factory=dict)

    def find(self, name: str) -> list[SymbolEntry]:
        """Symbols that a name may mean, the likeliest first.

        Args:
            name: A bare or dotted name, e.g. `run`, `Runner.run` or `google.adk.runners.Runner`.
        """
        parts = [part for part in name.strip().rstrip("()").split(".") if part]
        if not parts:
            return []
        wanted = ".".join(parts)
        found = [
            self.entries[fqn] for fqn in self.by_name.get(parts[-1], ()) if fqn == wanted or fqn.endswith(f".{wanted}")
        ]
        return sorted(found, key=_likelihood)


def build_table(store: EvidenceStore, code: str, docs: str) -> SymbolTable:
    """Read the table out of an index.

    Args:
        store: The open index.
        code: Name of the collection of code.
        docs: Name of the collection of docs.

    Raises:
        CollectionUnavailableError: A collection cannot answer.
    """
    table = SymbolTable()
    first_lines: dict[str, int] = {}
    modules: dict[str, list[tuple[int, str]]] = {}
    for record in scroll_all(store, code, page=PAGE_POINTS):
        payload = ChunkPayload.model_construct(**record.payload)
        if payload.fqn is None or payload.lang != "py" or is_beside(payload.corpus):
            continue
        if payload.symbol_kind == "module":
            module = payload.fqn
            modules.setdefault(module, []).append((payload.start_line, record.id))
            _add(table, first_lines, SymbolEntry(module, "", record.id, payload.path, "module"), payload.start_line)
        else:
            module = payload.fqn.removesuffix(f".{payload.symbol}")
        for symbol in payload.symbols:
            own = symbol == payload.symbol and payload.symbol_kind in ("class", "function", "method")
            kind = payload.symbol_kind if own else None
            entry = SymbolEntry(f"{module}.{symbol}", symbol, record.id, payload.path, kind)
            _add(table, first_lines, entry, payload.start_line)
    table.modules = {module: tuple(point for _, point in sorted(points)) for module, points in modules.items()}
    for fqn in table.entries:
        table.by_name.setdefault(fqn.rpartition(".")[2], []).append(fqn)
    _add_docs(table, store, docs)
    return table


def _add(table: SymbolTable, first_lines: dict[str, int], entry: SymbolEntry, line: int) -> None:
    if entry.fqn not in table.entries or line < first_lines[entry.fqn]:
        table.entries[entry.fqn] = entry
        first_lines[entry.fqn] = line


def _add_docs(table: SymbolTable, store: EvidenceStore, collection: str) -> None:
    guides: dict[str, list[tuple[tuple[object, ...], DocSection]]] = {}
    for record in scroll_all(store, collection, page=PAGE_POINTS):
        payload = ChunkPayload.model_construct(**record.payload)
        section = _section(payload)
        table.sections.setdefault(section.citation, []).append(section)
        if not section.headings:
            continue
        if section.origin == "api-reference":
            _add_reference(table, section)
            continue
        heading = section.headings[-1]
        python = "python" in payload.code_langs or not payload.code_langs
        for name in dict.fromkeys(_names(heading)):
            if _may_be_about(table, name):
                order = (not python, len(heading), len(section.headings), section.path, section.lines.start)
                guides.setdefault(name, []).append((order, section))
    for name, found in guides.items():
        table.guides[name] = min(found, key=lambda item: item[0])[1]


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


def _may_be_about(table: SymbolTable, name: str) -> bool:
    """Whether a heading that holds the word speaks of the symbol, and does not merely use an English word."""
    known = table.by_name.get(name.rpartition(".")[2])
    return bool(known) and (is_code_like(name) or name[:1].isupper())


def _section(payload: ChunkPayload) -> DocSection:
    return DocSection(
        citation=docs_citation(payload.repo, payload.commit, payload.uri or payload.path),
        url=payload.uri,
        path=payload.path,
        repo=payload.repo,
        commit=payload.commit,
        origin=payload.origin,
        headings=tuple(payload.headings),
        lines=LineSpan(start=payload.start_line, end=payload.end_line),
    )


def _likelihood(entry: SymbolEntry) -> tuple[object, ...]:
    private = any(part.startswith("_") for part in entry.fqn.split("."))
    own = {"class": 0, "function": 1, "method": 2}.get(entry.kind or "", 3)
    return (private, own, entry.fqn.count("."), entry.fqn)
