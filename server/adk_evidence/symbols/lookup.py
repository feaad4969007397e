"""Answers what a dotted path means in the index: re-exports, inherited members, aliases, annotations."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Sequence

from adk_evidence.api.bases import with_bases
from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.citation import code_citation
from adk_evidence.models.pack import LineSpan
from adk_evidence.readers.annotations import annotation_names, item_annotation
from adk_evidence.readers.definitions import Definition, read_definition, read_imports, read_module
from adk_evidence.readers.python import dotted_name
from adk_evidence.store.base import EvidenceStore
from adk_evidence.symbols.table import DocReference, DocSection, SymbolEntry, SymbolTable

# Longest chain of re-exports, aliases and bases that is followed.
MAX_HOPS = 12
CACHED = 4096


class SymbolInfo(Frozen):
    """What is known of a symbol without a search. `lines` are those of its definition at `commit`."""

    name: str
    symbol: str
    fqn: str
    kind: str
    signature: str | None
    doc: str | None
    repo: str
    commit: str
    ref: str | None
    path: str
    lines: LineSpan
    citation: str
    documentation: DocReference | None


class Symbols:
    """The symbols of one open index. Methods may be called from several threads.

    Args:
        table: Of the index.
        store: The open index.
        collection: Name of its collection of code.
    """

    def __init__(self, table: SymbolTable, store: EvidenceStore, collection: str) -> None:
        self.table = table
        self._store = store
        self._collection = collection
        keep = functools.lru_cache(CACHED)
        self.resolve = keep(self._resolve)
        self._describe = keep(self._read_definition)
        self._imports_of = keep(self._read_imports)
        self._ancestors = keep(self._find_ancestors)

    def is_class(self, entry: SymbolEntry) -> bool:
        """Whether calling the symbol makes an instance of it."""
        return (entry.kind or self.definition(entry).kind) == "class"

    def definition(self, entry: SymbolEntry) -> Definition:
        return self._describe(entry)[1]

    def value_class(self, entry: SymbolEntry, *, called: bool, items: bool = False) -> SymbolEntry | None:
        """The annotated class of a variable, of a property, or of what a called function returns.

        With `items`, the class of the items of that value, e.g. of the events that `Runner.run_async` yields.
        """
        definition = self.definition(entry)
        is_function = definition.kind in ("function", "method") and not definition.is_property
        if definition.annotation is None or called != is_function:
            return None
        annotation = item_annotation(definition.annotation) if items else definition.annotation
        for dotted in annotation_names(annotation) if annotation else ():
            found = self._in_module(entry.module, dotted, 1)
            if found is not None and self.is_class(found):
                return found
        return None

    def info(self, entry: SymbolEntry) -> SymbolInfo:
        """Everything that a hover shows."""
        payload, definition = self._describe(entry)
        lines = definition.lines
        return SymbolInfo(
            name=entry.name,
            symbol=entry.symbol or entry.fqn,
            fqn=entry.fqn,
            kind=definition.kind,
            signature=definition.signature,
            doc=definition.doc,
            repo=payload.repo,
            commit=payload.commit,
            ref=payload.ref,
            path=payload.path,
            lines=lines,
            citation=code_citation(payload.repo, payload.commit, payload.path, lines.start, lines.end),
            documentation=self.documentation(entry),
        )

    def chunk(self, entry: SymbolEntry) -> ChunkPayload:
        """The chunk that the symbol begins in, with its text."""
        (payload,) = self._payloads((entry.point,))
        return payload

    def documentation(self, entry: SymbolEntry) -> DocSection | None:
        """The guide about the symbol or its place in the API reference, else those of its class."""
        table = self.table
        owner = entry.fqn.rpartition(".")[0] if "." in entry.symbol else ""
        for fqn in (entry.fqn, owner):
            name = fqn.rpartition(".")[2]
            found = (table.guides.get(name) if entry.symbol else None) or table.reference.get(fqn)
            if found is not None:
                return found
        return None

    def _resolve(self, dotted: str, hops: int = 0) -> SymbolEntry | None:
        """The symbol that an importable path means, or None: `google.adk.agents.Agent` is `...llm_agent.LlmAgent`.

        Re-exports, `import *`, inherited members and aliases are followed.
        """
        if hops > MAX_HOPS:
            return None
        entry = self.table.entries.get(dotted)
        if entry is not None:
            return self._behind_alias(entry, hops)
        owner, _, name = dotted.rpartition(".")
        if not owner:
            return None
        if owner in self.table.modules:
            return self._exported(owner, name, hops)
        parent = self._resolve(owner, hops + 1)
        if parent is None:
            return None
        if parent.kind == "module":
            return self._resolve(f"{parent.fqn}.{name}", hops + 1) if parent.fqn != owner else None
        return self.member(parent, name, hops + 1) if self.is_class(parent) else None

    def _behind_alias(self, entry: SymbolEntry, hops: int) -> SymbolEntry:
        """The class or function that a variable merely renames; else the variable."""
        alias = self.definition(entry).alias if entry.kind is None else None
        target = self._in_module(entry.module, alias, hops + 1) if alias and alias != entry.name else None
        return target or entry

    def _exported(self, module: str, name: str, hops: int) -> SymbolEntry | None:
        imports = self._imports_of(module)
        if name in imports:
            return self._resolve(imports[name], hops + 1)
        for key, path in imports.items():
            found = self._resolve(f"{path}.{name}", hops + 1) if key.startswith("*") else None
            if found is not None:
                return found
        return None

    def _in_module(self, module: str, dotted: str, hops: int) -> SymbolEntry | None:
        """What a dotted name means at the top level of a module."""
        first, _, rest = dotted.partition(".")
        local = f"{module}.{first}"
        base = local if local in self.table.entries else self._imports_of(module).get(first)
        if base is None:
            return self._exported(module, first, hops + 1) if not rest else None
        return self._resolve(f"{base}.{rest}" if rest else base, hops + 1)

    def member(self, owner: SymbolEntry, name: str, hops: int = 0) -> SymbolEntry | None:
        """A member of a class or of one of its bases, or None."""
        found = self.table.entries.get(f"{owner.fqn}.{name}")
        return found or next(self._inherited(owner, name, hops), None)

    def overridden(self, entry: SymbolEntry) -> list[SymbolEntry]:
        """The members of base classes that a member takes the place of, the nearest first."""
        owner = self.resolve(entry.fqn.rpartition(".")[0]) if "." in entry.symbol else None
        return list(self._inherited(owner, entry.name)) if owner else []

    def _inherited(self, owner: SymbolEntry, name: str, hops: int = 0) -> Iterator[SymbolEntry]:
        members = (self.table.entries.get(f"{base.fqn}.{name}") for base in self._ancestors(owner, hops))
        return (member for member in members if member is not None)

    def _find_ancestors(self, owner: SymbolEntry, hops: int) -> Sequence[SymbolEntry]:
        return with_bases(owner, lambda cls: self._bases(cls, hops))[1:]

    def _bases(self, cls: SymbolEntry, hops: int) -> Iterator[SymbolEntry]:
        for base in self.definition(cls).bases if hops <= MAX_HOPS and self.is_class(cls) else ():
            dotted = dotted_name(base.value if isinstance(base, ast.Subscript) else base)
            found = self._in_module(cls.module, dotted, hops + 1) if dotted else None
            if found is not None:
                yield found

    def _read_imports(self, module: str) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for payload in self._payloads(self.table.modules.get(module, ())):
            found.update(read_imports(payload, module))
        return found

    def _read_definition(self, entry: SymbolEntry) -> tuple[ChunkPayload, Definition]:
        (payload,) = self._payloads((entry.point,))
        definition = read_definition(payload, entry.symbol) if entry.symbol else read_module(payload)
        # The texts of many chunks would fill the memory, and nothing reads them again.
        return payload.model_copy(update={"text": ""}), definition

    def _payloads(self, points: tuple[str, ...]) -> list[ChunkPayload]:
        records = {record.id: record for record in self._store.retrieve(self._collection, points)}
        return [ChunkPayload.model_construct(**records[point].payload) for point in points if point in records]
