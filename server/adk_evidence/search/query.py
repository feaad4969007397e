"""Query normalisation and deterministic sub-queries (SPEC 5 section 5). No model is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adk_evidence.identifiers import code_identifiers, extract_identifiers

_CODE_SIGNALS = re.compile(r"\.py\b|\w+\(|\b(?:import|def|class|async def)\s+\w")


@dataclass(frozen=True)
class Query:
    """A normalised query. Casing is kept: identifiers are case-sensitive."""

    text: str
    identifiers: tuple[str, ...]
    code_identifiers: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The unqualified names that the query mentions in code: `run` of `Runner.run`."""
        return tuple(dict.fromkeys(name.rpartition(".")[2] for name in self.code_identifiers))


def normalise(raw: str) -> Query:
    """Trim, collapse white space and pick out what looks like identifiers.

    Control characters become spaces, so that no query can forge a line in a log or in a rerank document.
    """
    text = " ".join("".join(char if char.isprintable() else " " for char in raw).split())
    identifiers = tuple(extract_identifiers(text))
    # A name asked for on its own is meant as code, however plain it is.
    named = (text,) if identifiers == (text,) else tuple(code_identifiers(text))
    return Query(text, identifiers, named)


def sub_queries(query: Query) -> tuple[str, ...]:
    """Q1 to Q3 of SPEC 5 section 5.2. Q3 only for a query with code: snake_case, dotted names, calls, file names."""
    expanded = (
        f"ADK Python official usage: {query.text}",
        f"Agent Development Kit tool calling sessions state: {query.text}",
    )
    if not query.code_identifiers and not _CODE_SIGNALS.search(query.text):
        return expanded
    named = " ".join(query.code_identifiers or query.identifiers)
    return (*expanded, f"In code: {named} {query.text}")
