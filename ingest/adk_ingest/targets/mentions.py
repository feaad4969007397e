"""Counts the pages of the documentation that mention each symbol."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from adk_evidence.identifiers import is_code_like
from adk_ingest.targets.extract import PublicSymbol
from adk_ingest.targets.references import ReferenceGraph, shown_imports

_CODE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class _Page:
    """Names in code and in prose; `imports` is the definition behind each name that the page imports."""

    code: frozenset[str]
    prose: frozenset[str]
    imports: Mapping[str, str]

    def mentions(self, name: str) -> bool:
        # `Event` and `run` are words: in prose they need not mean the symbol.
        return name in self.code or (name in self.prose and is_code_like(name))


def count_mentions(symbols: Sequence[PublicSymbol], pages: Iterable[str], graph: ReferenceGraph) -> dict[str, int]:
    """Number of pages that mention each symbol, by its fully qualified name.

    A name counts in code, and in prose if it can only be code. A member counts if its class is mentioned as well. Of
    several symbols of one name, the symbol counts that the page imports, else those that any page imports.
    """
    read = [_read(text, graph) for text in pages]
    by_name: dict[str, list[_Page]] = {}
    for name in {part for symbol in symbols for part in symbol.target.symbol.split(".")}:
        by_name[name] = [page for page in read if page.mentions(name)]
    imported: dict[str, set[str]] = {}
    for page in read:
        for name, definition in page.imports.items():
            imported.setdefault(name, set()).add(definition)
    return {symbol.target.fqn: _count(symbol, by_name, imported) for symbol in symbols}


def _count(
    symbol: PublicSymbol, by_name: Mapping[str, Sequence[_Page]], imported: Mapping[str, Collection[str]]
) -> int:
    owner = symbol.target.symbol.partition(".")[0]
    anywhere = imported.get(owner)

    def is_meant(page: _Page) -> bool:
        here = page.imports.get(owner)
        if here is not None:
            return here == symbol.definition_owner
        return (anywhere is None or symbol.definition_owner in anywhere) and page.mentions(owner)

    return sum(is_meant(page) for page in by_name[symbol.target.name])


def _read(text: str, graph: ReferenceGraph) -> _Page:
    code = " ".join(match.group() for match in _CODE.finditer(text))
    imports = {
        path.rpartition(".")[2]: definition
        for path in shown_imports(text)
        if (definition := graph.resolve_path(path)) is not None
    }
    return _Page(frozenset(_NAME.findall(code)), frozenset(_NAME.findall(_CODE.sub(" ", text))), imports)
