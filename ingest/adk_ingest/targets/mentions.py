"""On how many pages of the documentation each symbol is mentioned."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adk_evidence.identifiers import is_code_like
from adk_ingest.targets.extract import PublicSymbol

_CODE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class _Page:
    code: frozenset[str]
    prose: frozenset[str]

    def mentions(self, name: str) -> bool:
        # `Event` and `run` are words: in prose they need not mean the symbol.
        return name in self.code or (name in self.prose and is_code_like(name))


def count_mentions(symbols: Sequence[PublicSymbol], pages: Iterable[str]) -> dict[str, int]:
    """Number of pages that mention each symbol, by its fully qualified name.

    A name counts in code, and in prose if it can only be code. A member counts where its class is mentioned, too.

    Args:
        symbols: What to look for.
        pages: Texts in Markdown.
    """
    read = [_read(text) for text in pages]
    by_name: dict[str, list[_Page]] = {}
    for name in {part for symbol in symbols for part in symbol.symbol.split(".")}:
        by_name[name] = [page for page in read if page.mentions(name)]
    return {symbol.fqn: _count(symbol, by_name) for symbol in symbols}


def _count(symbol: PublicSymbol, by_name: dict[str, list[_Page]]) -> int:
    owner, _, member = symbol.symbol.partition(".")
    if not member:
        return len(by_name[owner])
    return sum(page.mentions(owner) for page in by_name[symbol.name])


def _read(text: str) -> _Page:
    code = " ".join(match.group() for match in _CODE.finditer(text))
    return _Page(frozenset(_NAME.findall(code)), frozenset(_NAME.findall(_CODE.sub(" ", text))))
