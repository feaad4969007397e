"""What is known of the name at a place of a document: the symbol or the parameter, and since when the ADK has it."""

from __future__ import annotations

from dataclasses import dataclass

from adk_evidence.api.lacks import Lifetime, lifetime
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.documents.document import PythonDocument
from adk_evidence.symbols.lookup import SymbolInfo, Symbols
from adk_evidence.symbols.resolution import parameter_at, reached_at
from adk_evidence.symbols.table import SymbolEntry

# How many overridden methods are read for a docstring.
MAX_BASES = 4


@dataclass(frozen=True)
class Parameter:
    """A parameter as it is declared, e.g. `limit: int = 3`, and what the docstring of its function says of it."""

    declared: str
    doc: str | None


@dataclass(frozen=True)
class About:
    """A symbol; where `parameter` is set, that parameter of the symbol.

    `instead` is what to use in place of a deprecated name, empty where that is not known; None of other names.
    """

    entry: SymbolEntry
    info: SymbolInfo
    parameter: Parameter | None = None
    lifetime: Lifetime | None = None
    instead: str | None = None


def about(
    document: PythonDocument, symbols: Symbols, line: int, column: int, checker: DriftChecker | None
) -> About | None:
    """What is known of the name at a line and column, or None.

    Args:
        document: The document.
        symbols: Of the index that answers for the document.
        line: From 0.
        column: From 0, in characters.
        checker: Knows the released versions; None where the index is of none of them.
    """
    reached = reached_at(document, symbols, line, column)
    if reached is not None:
        entry = reached.entry
        info = symbols.info(entry)
        if not info.doc and (doc := _doc_elsewhere(symbols, entry)):
            info = info.model_copy(update={"doc": doc})
        return About(entry, info, None, *_released(checker, entry.fqn, reached.path))
    found = parameter_at(document, symbols, line, column)
    if found is None:
        return None
    (function, path), name = found
    called = function.fqn.removesuffix(".__init__")
    parameter = Parameter(symbols.definition(function).parameters[name], _argument_doc(symbols, function, name))
    return About(
        function,
        symbols.info(function),
        parameter,
        *_released(checker, *(f"{each}({name}=)" for each in (called, path))),
    )


def _doc_elsewhere(symbols: Symbols, entry: SymbolEntry) -> str | None:
    """What the docstring of a class says of its field, or that of a base class of a method."""
    owner = _owner(symbols, entry)
    told = symbols.definition(owner).argument_docs.get(entry.name) if owner else None
    docs = (symbols.definition(base).doc for base in symbols.overridden(entry)[:MAX_BASES])
    return told or next(filter(None, docs), None)


def _argument_doc(symbols: Symbols, function: SymbolEntry, name: str) -> str | None:
    """What is said of a parameter: by the function, by its class where it makes one, or by what it overrides."""
    owner = _owner(symbols, function) if function.name == "__init__" else None
    for entry in (function, *([owner] if owner else symbols.overridden(function)[:MAX_BASES])):
        if told := symbols.definition(entry).argument_docs.get(name):
            return told
    return None


def _owner(symbols: Symbols, entry: SymbolEntry) -> SymbolEntry | None:
    return symbols.resolve(entry.fqn.rpartition(".")[0]) if "." in entry.symbol else None


def _released(checker: DriftChecker | None, name: str, written: str) -> tuple[Lifetime | None, str | None]:
    """How long the ADK has a name, and what takes the place of the name.

    What counts is its own path, its public one, and the one by which the document comes to it: a member may have stood
    in another class before, and that class may inherit it now or be another name of this one.
    """
    if checker is None:
        return None, None
    path, bracket, keyword = name.partition("(")
    place = checker.api.definition(path)
    public = checker.api.import_path(place) if place is not None else None
    names = tuple(dict.fromkeys((written, name, f"{public}{bracket}{keyword}" if public else name)))
    instead = (checker.deprecated(one) for one in names)
    known = lifetime(checker.history, checker.version, names)
    return known, next((one for one in instead if one is not None), None)
