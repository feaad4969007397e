"""The rank of public symbols, from the corpora alone: references, documentation, exports, deprecation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from adk_evidence.symbols.target import RankParts, Target, TargetType
from adk_ingest.targets.extract import PublicSymbol
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


def rank_targets(symbols: Sequence[PublicSymbol], graph: ReferenceGraph, mentions: Mapping[str, int]) -> list[Target]:
    """Targets with their score and its parts, the highest score first; equal scores go by name.

    `mentions` has the number of documentation pages by fully qualified name.
    """
    pages = graph.centrality()
    most = max((pages.get(symbol.definition_owner, 0.0) for symbol in symbols), default=0.0)
    most_mentions = max(mentions.values(), default=0)
    by_definition = {symbol.definition: symbol.target for symbol in symbols}
    targets = []
    for symbol in symbols:
        target, central = symbol.target, pages.get(symbol.definition_owner, 0.0)
        value = graph.resolve(symbol.module, symbol.value) if symbol.value and target.type == "variable" else None
        alias = by_definition.get(value) if value else None
        mentioned = mentions.get(target.fqn, 0)
        parts = target.parts.model_copy(
            update={
                "centrality": _on_scale(len(pages) * central, len(pages) * most),
                "docs_mentions": mentioned,
                "documented": _on_scale(mentioned, most_mentions),
                "weight": WEIGHTS[target.type],
            }
        )
        found = {"score": score(parts), "parts": parts, "alias_of": alias.fqn if alias else None}
        summary = target.summary or (alias.summary if alias else "")
        targets.append(target.model_copy(update={**found, "summary": summary}))
    targets.sort(key=lambda target: (-target.score, target.fqn))
    return [target.model_copy(update={"rank": place}) for place, target in enumerate(targets, 1)]


def score(parts: RankParts) -> float:
    """The score that `FORMULA` gives for these parts."""
    base = CENTRALITY * parts.centrality + DOCUMENTED * parts.documented + EXPORTED * parts.exported
    return round(parts.weight * base * (DEPRECATED if parts.deprecated else 1.0), DIGITS)


def _on_scale(value: float, most: float) -> float:
    return round(math.log1p(value) / math.log1p(most), DIGITS) if most > 0 else 0.0
