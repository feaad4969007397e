"""The rank of public symbols, from the corpora alone: references, documentation, exports, deprecation."""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from adk_evidence.readers.pages.snippets import shown_imports
from adk_evidence.targets.imports import field_type_names, type_names
from adk_evidence.targets.target import RankParts, Target, TargetType
from adk_evidence.text.identifiers import is_code_like, is_private
from adk_ingest.targets.extract import PublicSymbol, field_signatures
from adk_ingest.targets.extras import NeededExtras
from adk_ingest.targets.references import ReferenceGraph

FORMULA = (
    "score = weight * (0.45 * centrality + 0.35 * documented + 0.20 * exported) * (0.3 if deprecated else 1); "
    "centrality = log(1 + N * PageRank) / log(1 + N * the highest PageRank), "
    "documented = log(1 + docs_mentions) / log(1 + the most docs_mentions)"
)
CENTRALITY, DOCUMENTED, EXPORTED, DEPRECATED = 0.45, 0.35, 0.20, 0.3
WEIGHTS: Mapping[TargetType, float] = {
    "class": 1.0,
    "function": 1.0,
    "variable": 0.9,
    "method": 0.6,
    "property": 0.5,
    "attribute": 0.5,
}
DIGITS = 4
# Packages whose names are words of annotations, as those of the standard library are.
_TYPING = sys.stdlib_module_names | {"typing_extensions"}
_TYPES = ("class", "variable")

_CODE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")


def rank_targets(
    symbols: Sequence[PublicSymbol],
    graph: ReferenceGraph,
    pages: Iterable[str],
    extras: NeededExtras | None = None,
) -> list[Target]:
    """Targets with their score and its parts, the highest score first; equal scores go by name.

    `pages` are texts of the documentation in Markdown. `extras` tells what an import needs, where that is known.
    """
    central = graph.centrality()
    most = max((central.get(symbol.definition_owner, 0.0) for symbol in symbols), default=0.0)
    mentions = _count_mentions(symbols, pages, graph)
    most_mentions = max(mentions.values(), default=0)
    by_definition = {symbol.definition: symbol.target for symbol in symbols}
    targets = []
    for symbol in symbols:
        target = symbol.target
        value = graph.resolve(symbol.module, symbol.value) if symbol.value and target.type == "variable" else None
        alias = by_definition.get(value) if value else None
        parts = target.parts.model_copy(
            update={
                "centrality": _on_scale(len(central) * central.get(symbol.definition_owner, 0.0), len(central) * most),
                "docs_mentions": mentions[target.fqn],
                "documented": _on_scale(mentions[target.fqn], most_mentions),
                "weight": WEIGHTS[target.type],
            }
        )
        ancestors = graph.ancestors(symbol.definition) if target.type == "class" else ()
        found = {
            "score": score(parts),
            "parts": parts,
            "alias_of": alias.fqn if alias else None,
            "bases": tuple(by_definition[base].fqn for base in ancestors if base in by_definition),
            "outer_bases": tuple(graph.outer_bases(symbol.definition)) if target.type == "class" else (),
            "private_fields": tuple(_private_fields(ancestors, graph, by_definition)),
            "types": tuple(dict.fromkeys(_types(symbol, graph, by_definition))),
            "takes_fields": target.type == "class" and _takes_fields(symbol, graph),
            "needs": extras.of(symbol.module) if extras is not None else "",
            "is_model": target.type == "class" and graph.is_model(symbol.definition),
        }
        summary = target.summary or (alias.summary if alias else "")
        targets.append(target.model_copy(update={**found, "summary": summary}))
    targets.sort(key=lambda target: (-target.score, target.fqn))
    return [target.model_copy(update={"rank": place}) for place, target in enumerate(targets, 1)]


def _takes_fields(symbol: PublicSymbol, graph: ReferenceGraph) -> bool:
    if symbol.takes is None:
        return True
    return symbol.takes != "itself" and graph.is_model(symbol.definition)


def _private_fields(ancestors: Sequence[str], graph: ReferenceGraph, known: Mapping[str, Target]) -> Iterator[str]:
    """The fields of the bases that are no public symbols, but for the bases that a public one has as well."""
    inherited = {base for public in ancestors if public in known for base in graph.ancestors(public)}
    for base in ancestors:
        node = graph.class_of(base) if base not in known and base not in inherited else None
        if node is not None:
            yield from field_signatures(node)


def _types(symbol: PublicSymbol, graph: ReferenceGraph, known: Mapping[str, Target]) -> Iterator[str]:
    """Import paths of the public classes in a signature, and of other packages' types in a signature or a field."""
    target = symbol.target
    owner = target.symbol.partition(".")[0]
    own, of_fields = type_names(target), field_type_names(target) if target.type == "class" else []
    for name in own:
        definition = graph.resolve(symbol.module, name)
        found = known.get(definition) if definition else None
        # What a variable is another name of is said apart.
        if found is not None and found.name == name not in (owner, symbol.value) and found.type in _TYPES:
            yield found.import_path
    for name in (*own, *of_fields):
        first = name.partition(".")[0]
        path = graph.elsewhere(symbol.module, first)
        # `import google.auth.credentials` binds `google`, which alone gives nothing.
        if path is None or (path == first and name.count(".") > 1):
            continue
        if path.partition(".")[0] not in _TYPING and not is_private(path):
            yield path if path.rpartition(".")[2] == first else f"{path} as {first}"


def score(parts: RankParts) -> float:
    """The score that `FORMULA` gives for these parts."""
    base = CENTRALITY * parts.centrality + DOCUMENTED * parts.documented + EXPORTED * parts.exported
    return round(parts.weight * base * (DEPRECATED if parts.deprecated else 1.0), DIGITS)


def _on_scale(value: float, most: float) -> float:
    return round(math.log1p(value) / math.log1p(most), DIGITS) if most > 0 else 0.0


class _Page(NamedTuple):
    """The names of symbols that a page mentions, and the definition behind each name that the page imports."""

    names: Collection[str]
    imports: Mapping[str, str]


def _count_mentions(symbols: Sequence[PublicSymbol], pages: Iterable[str], graph: ReferenceGraph) -> dict[str, int]:
    """Number of pages that mention each symbol, by its fully qualified name.

    A member counts if its class is mentioned as well. Of several symbols of one name, the symbol counts that the page
    imports, else those that any page imports.
    """
    wanted = {part for symbol in symbols for part in symbol.target.symbol.split(".")}
    mentioning: dict[str, list[_Page]] = defaultdict(list)
    imported: dict[str, set[str]] = defaultdict(set)
    for text in pages:
        page = _read(text, wanted, graph)
        for name in page.names:
            mentioning[name].append(page)
        for name, definition in page.imports.items():
            imported[name].add(definition)

    def is_meant(symbol: PublicSymbol, page: _Page) -> bool:
        owner = symbol.target.symbol.partition(".")[0]
        if owner in page.imports:
            return page.imports[owner] == symbol.definition_owner
        return owner in page.names and (owner not in imported or symbol.definition_owner in imported[owner])

    return {
        symbol.target.fqn: sum(is_meant(symbol, page) for page in mentioning[symbol.target.name]) for symbol in symbols
    }


def _read(text: str, wanted: Collection[str], graph: ReferenceGraph) -> _Page:
    code = set(_NAME.findall(" ".join(match.group() for match in _CODE.finditer(text))))
    # `Event` and `run` are words: in prose they need not mean the symbol.
    prose = {name for name in _NAME.findall(_CODE.sub(" ", text)) if name in wanted and is_code_like(name)}
    shown = [(path.rpartition(".")[2], graph.resolve_path(path)) for path in shown_imports(text)]
    imports = {name: definition for name, definition in shown if definition is not None}
    return _Page(code.intersection(wanted) | prose, imports)
