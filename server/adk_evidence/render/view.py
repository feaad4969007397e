"""What every surface shows of a candidate."""

from __future__ import annotations

import re

from adk_evidence.models.pack import Candidate, Verification

# The provenance header that older servers left on top of a candidate's text.
_HEADER = re.compile(r"\A\[CORPUS=[^\n]*\n(?:\[[^\n]*\n){0,2}---\n")
NOT_CITED = "[CONTEXT, NOT CITED]"

_FENCE_LANGUAGES = {"py": "python", "md": "markdown"} | {name: name for name in ("rst", "yaml", "json", "toml")}


def place(candidate: Candidate) -> str:
    """The symbol or the trail of headings, else the page's title or path."""
    if candidate.source_type == "code":
        return candidate.symbol or candidate.path
    trail = " \u203a ".join(candidate.headings)
    return trail or candidate.title or candidate.path


def location(candidate: Candidate) -> str:
    """`path:start-end` in the repository."""
    if candidate.lines is None:
        return candidate.path
    return f"{candidate.path}:{candidate.lines.start}-{candidate.lines.end}"


def body(candidate: Candidate) -> str:
    """The lines that a candidate cites, followed by the files that they include, below `NOT_CITED`."""
    text = _HEADER.sub("", candidate.text)
    return f"{text}\n\n{NOT_CITED}\n{candidate.attached}" if candidate.attached else text


def fence_language(candidate: Candidate) -> str:
    """The info string for a fence around the candidate's text."""
    return _FENCE_LANGUAGES.get(candidate.language, "text")


def deviation(verification: Verification) -> str:
    """The state of a citation in brackets; nothing where the citation holds, as nearly all do."""
    return "" if verification.state == "exact" else f" ({verification_label(verification)})"


def verification_label(verification: Verification) -> str:
    """The state of a citation in a few words."""
    if verification.state == "exact":
        return "verified"
    if verification.lines is not None:
        return f"{verification.state}, now lines {verification.lines.start}-{verification.lines.end}"
    return verification.state
