"""The definitions of modules that are no public symbols."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from adk_evidence.api.module import ModuleText
from adk_evidence.models.lines import LineSpan
from adk_evidence.readers.python import (
    PROPERTIES,
    Definition,
    clip,
    decorator_names,
    first_line,
    first_paragraph,
    last_line,
    signature,
    unparse,
)
from adk_evidence.targets.internals import HiddenSymbol
from adk_evidence.targets.target import TargetType
from adk_evidence.text.identifiers import is_private
from adk_ingest.targets.extract import as_text

MAX_SIGNATURE_CHARS = 200
MAX_SUMMARY_CHARS = 120


def hidden_symbols(modules: Sequence[ModuleText], public: Collection[str]) -> list[HiddenSymbol]:
    """Every definition of the modules and of their classes that is not among `public`, each name once.

    Of several definitions of one name, such as a property and its setter, the first counts. Fields of public classes
    are left out where nothing but their signature is known: their class lists them.
    """
    found: dict[str, HiddenSymbol] = {}
    for module in modules:
        for symbol, (node, *_) in module.statements.items():
            fqn = f"{module.name}.{symbol}"
            owner = fqn.rpartition(".")[0]
            listed = owner in public and not is_private(symbol) and not isinstance(node, ast.ClassDef)
            if fqn not in public and not listed:
                found.setdefault(fqn, _described(module, symbol, node))
    return list(found.values())


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
    return "property" if decorator_names(node) & PROPERTIES else "method"
