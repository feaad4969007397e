"""The definitions of modules that are no public symbols."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from adk_evidence.api.module import ModuleText
from adk_evidence.identifiers import is_private
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers.python import (
    Definition,
    bound_names,
    clip,
    dotted_name,
    first_line,
    first_paragraph,
    last_line,
    scope_blocks,
    signature,
    unparse,
)
from adk_evidence.targets.hidden import HiddenSymbol
from adk_evidence.targets.target import TargetType
from adk_ingest.targets.extract import as_text

MAX_SIGNATURE_CHARS = 200
MAX_SUMMARY_CHARS = 120
_PROPERTIES = {"property", "cached_property"}


def hidden_symbols(modules: Sequence[ModuleText], public: Collection[str]) -> list[HiddenSymbol]:
    """Every definition of the modules and of their classes that is not among `public`, each name once.

    Fields of public classes are left out where nothing but their signature is known: their class lists them.
    """
    found: dict[str, HiddenSymbol] = {}
    for module in modules:
        for symbol, node in _defined(module):
            fqn = f"{module.name}.{symbol}"
            owner = fqn.rpartition(".")[0]
            listed = owner in public and not is_private(symbol) and not isinstance(node, ast.ClassDef)
            if fqn not in public and not listed:
                # Of several definitions of one name, such as a property and its setter, the first.
                found.setdefault(fqn, _described(module, symbol, node))
    return list(found.values())


def _defined(module: ModuleText) -> Iterator[tuple[str, ast.stmt]]:
    """Qualified names with their statements, those in functions left out."""
    waiting: list[tuple[str, ast.AST]] = [("", module.tree)] if module.tree is not None else []
    while waiting:
        prefix, scope = waiting.pop()
        for block in scope_blocks(scope):
            for node in block:
                yield from ((prefix + name, node) for name in bound_names(node))
                if isinstance(node, ast.ClassDef):
                    waiting.append((f"{prefix}{node.name}.", node))


def _described(module: ModuleText, symbol: str, node: ast.stmt) -> HiddenSymbol:
    written = signature(node) if isinstance(node, Definition) else unparse(node)
    return HiddenSymbol(
        fqn=f"{module.name}.{symbol}",
        symbol=symbol,
        type=_type(symbol, node),
        signature=as_text(clip(written or symbol.rpartition(".")[2], MAX_SIGNATURE_CHARS)),
        summary=as_text(clip(first_paragraph(node) or "", MAX_SUMMARY_CHARS) if isinstance(node, Definition) else ""),
        path=module.path,
        lines=LineSpan(start=first_line(node), end=last_line(node)),
    )


def _type(symbol: str, node: ast.stmt) -> TargetType:
    if isinstance(node, ast.ClassDef):
        return "class"
    if not isinstance(node, Definition):
        return "attribute" if "." in symbol else "variable"
    if "." not in symbol:
        return "function"
    decorators = {(dotted_name(item) or "").rpartition(".")[2] for item in node.decorator_list}
    return "property" if decorators & _PROPERTIES else "method"
