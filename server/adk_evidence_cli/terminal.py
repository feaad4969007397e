"""An Evidence Pack on a terminal: ranked, highlighted, with clickable locations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from adk_evidence.models.pack import Candidate, EvidencePack
from adk_evidence.render.sanitize import visible
from adk_evidence.render.view import body, fence_language, location, place, verification_label

_VERIFICATION_STYLES = {"exact": "green", "moved": "yellow", "changed": "red", "gone": "red", "unverified": "yellow"}
_QUALITY_STYLES = {"high": "green", "mixed": "yellow", "keyword_only": "yellow", "none": "red"}
MAX_LINES = 24


def show_pack(console: Console, pack: EvidencePack, roots: Mapping[str, Path], *, full: bool = False) -> None:
    """Print a pack.

    Args:
        console: Where to.
        pack: The pack.
        roots: Folder of each candidate's file by candidate id, for links to local files.
        full: Whole chunks instead of their first lines.
    """
    console.print(Rule(Text(visible(" ".join(pack.query.split())), style="bold"), align="left"))
    console.print(Text(pack.quality.note, style=_QUALITY_STYLES[pack.quality.level]))
    for candidate in pack.candidates:
        console.print(_card(candidate, roots.get(candidate.candidate_id), full=full))
    if pack.index is not None:
        corpora = " · ".join(f"{info.repo}@{info.commit[:12]}" for info in pack.index.corpora.values())
        coverage = f"{pack.coverage.docs_in_top_k} docs + {pack.coverage.code_in_top_k} code"
        console.print(Text(visible(f"{coverage} from {corpora} · pack {pack.pack_id[:12]}"), style="dim"))
    for warning in pack.warnings:
        console.print(Text(visible(f"warning: {warning}"), style="yellow"))


def _card(candidate: Candidate, file: Path | None, *, full: bool) -> RenderableType:
    kind = {"docs": "cyan", "code": "magenta"}[candidate.source_type]
    title = Text.assemble(
        (f" {candidate.rank} ", "bold reverse"),
        (f" {candidate.source_type} ", kind),
        (visible(place(candidate)), "bold"),
    )
    text = body(candidate).strip("\n")
    lines = text.split("\n")
    cut = not full and len(lines) > MAX_LINES
    shown = visible("\n".join(lines[:MAX_LINES] if cut else lines))
    syntax = Syntax(shown, fence_language(candidate), theme="ansi_dark", background_color="default", word_wrap=True)
    parts: list[RenderableType] = [_facts(candidate, file), syntax]
    if cut:
        parts.append(Text(f"… {len(lines) - MAX_LINES} more lines (--full shows them)", style="dim"))
    return Panel(Group(*parts), title=title, title_align="left", border_style=kind)


def _facts(candidate: Candidate, file: Path | None) -> Text:
    address = candidate.path_or_url if candidate.source_type == "docs" else None
    link = address if address and address.startswith("https://") else (file.as_uri() if file else None)
    verification = candidate.verification
    matched = ", ".join(candidate.why.matched_terms[:6])
    return Text.assemble(
        (visible(candidate.citation), Style(link=link, dim=not link, underline=bool(link))),
        "\n",
        (visible(location(candidate)), Style(link=file.as_uri() if file else None)),
        "  ",
        (verification_label(verification), _VERIFICATION_STYLES[verification.state]),
        (f"  {visible(verification.reason)}" if verification.reason and verification.state != "exact" else "", "dim"),
        (f"  matches: {visible(matched)}" if matched else "", "dim"),
    )
