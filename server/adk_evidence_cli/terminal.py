"""An Evidence Pack on a terminal: ranked, grouped by file, highlighted, with clickable locations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.rule import Rule
from rich.segment import Segment
from rich.status import Status
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from adk_evidence.commands import with_options
from adk_evidence.index.indexer import Progress
from adk_evidence.models.pack import Candidate, EvidencePack, PastedError
from adk_evidence.models.warning import Warning
from adk_evidence.render.excerpts import body, marks, passage_lines, shown, with_marks
from adk_evidence.render.sanitize import caption, one_line, visible
from adk_evidence.render.signatures import listed_takers
from adk_evidence.render.view import (
    availability_label,
    drift_label,
    error_label,
    error_title,
    fence_language,
    frame_label,
    index_label,
    indexed_sources,
    place,
    places_at,
    short_commit,
    verification_label,
    version_label,
)

MAX_LINES = 12  # as the terminal wraps them
MAX_ERROR_LINES = 4
MATCHED_TERMS = 6

_KIND_STYLES = {"docs": "cyan", "code": "magenta"}
VERIFICATION_STYLES = {
    "exact": "green",
    "moved": "yellow",
    "same_tree": "yellow",
    "changed": "red",
    "gone": "red",
    "unverified": "yellow",
}
_QUALITY_STYLES = {"high": "green", "mixed": "yellow", "keyword_only": "yellow", "none": "red"}
_INDENT = "    "
BAR = "  │ "
# A link's address must not be able to end the escape sequence in which it stands.
_SAFE_URL = re.compile(r"https://[!-~]+")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+(?=.)", re.DOTALL)


def show_pack(console: Console, pack: EvidencePack, roots: Mapping[str, Path], *, full: bool = False) -> None:
    """Print a pack. Results of one file are grouped at the rank of the best of them.

    `roots` has each candidate's file on this machine by candidate id, for links; `full` shows whole texts.
    """
    console.print(Text(caption(pack.query), style="bold"))
    console.print(Text(pack.quality.note, style=_QUALITY_STYLES[pack.quality.level]))
    if version := version_label(pack):
        console.print(Text(one_line(version), style="dim"))
    for error in pack.errors:
        _print_error(console, error)
    places = places_at(pack, one_line)
    for group in _by_file(pack.candidates):
        file = roots.get(group[0].candidate_id)
        console.print()
        console.print(_heading(group[0], file, console.width))
        for place_in_group, candidate in enumerate(group):
            if place_in_group:
                console.print()
            _print_result(console, candidate, file, full=full)
            if more := places.get(candidate.rank):
                console.print(Indented(Text(more, style="dim", overflow="fold")))
    console.print()
    if pack.candidates and not full:
        console.print(Text("--full shows whole texts.", style="dim"))
    if (indexed := indexed_sources(pack)) and pack.candidates:
        coverage = f"{pack.coverage.docs_in_top_k} docs + {pack.coverage.code_in_top_k} code"
        corpora = dict.fromkeys(f"{repo}@{short_commit(commit)}" for repo, commit in indexed)
        console.print(Text(one_line(f"{coverage} from {', '.join(corpora)} · answer {pack.pack_id[:12]}"), style="dim"))
    for warning in pack.warnings:
        console.print(Text(one_line(f"warning: {completed(warning)}"), style="yellow"))


def completed(warning: Warning) -> str:
    """A warning whose command reaches the home folder of this process; other warnings may quote corpora."""
    return with_options(str(warning)) if warning.code == "version_not_indexed" else str(warning)


def progress_on(shown: Status) -> Progress:
    """Shows what is done beside a spinner."""

    def progress(done: float, total: float | None, message: str) -> None:
        share = f" {done / total:.0%}" if total else ""
        shown.update(visible(f"{message}{share}").replace("[", "\\["))

    return progress


@dataclass
class Indented:
    """A text with a prefix before its first line and another before all other lines, also those made by wrapping."""

    text: Text
    first: str = _INDENT
    others: str = _INDENT
    style: Style | None = None
    limit: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update_width(max(1, options.max_width - len(self.others)))
        lines = console.render_lines(self.text, inner, pad=False)
        for number, line in enumerate(lines[: self.limit]):
            yield Segment(self.others if number else self.first, self.style)
            yield from line
            yield Segment.line()
        if self.limit is not None and len(lines) > self.limit:
            yield Segment(f"{self.others}…\n", self.style)


def _print_error(console: Console, error: PastedError) -> None:
    """An exception with its calls in indexed files, in the order of the traceback."""
    console.print()
    console.print(Indented(Text(one_line(error_title(error)), style="bold red"), "", limit=MAX_ERROR_LINES))
    for frame in error.frames:
        where = f"{frame.path}:{frame.line}" if frame.line is not None else frame.path
        shown_by = f"result {frame.rank}" if frame.rank is not None else ""
        facts = [one_line(part) for part in (where, frame_label(frame), shown_by) if part]
        console.print(Indented(Text(" · ".join(facts), overflow="fold"), f"{frame.number:>2}  ", style=Style(dim=True)))
        if frame.text.strip():
            console.print(Indented(Text(one_line(frame.text), style="dim", overflow="fold"), BAR, BAR, limit=1))


def _by_file(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    groups: dict[tuple[str, str, str], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault((candidate.repo, candidate.origin, candidate.path), []).append(candidate)
    return list(groups.values())


def _heading(candidate: Candidate, file: Path | None, width: int) -> Rule:
    kind = _KIND_STYLES[candidate.source_type]
    path = _keep_end(one_line(candidate.path), width - len(candidate.source_type) - 6)
    link = Style(link=file.as_uri() if file else None)
    title = Text.assemble((candidate.source_type, f"bold {kind}"), "  ", (path, link))
    return Rule(title, align="left", style=kind)


def _print_result(console: Console, candidate: Candidate, file: Path | None, *, full: bool) -> None:
    title = Text(one_line(place(candidate)), style="bold")
    console.print(Indented(title, f"{candidate.rank:>2}  ", style=Style(bold=True)))
    citation = _short_citation(candidate, console.width - len(_INDENT))
    console.print(Indented(Text(citation, Style(link=_link(candidate, file)), overflow="fold")))
    console.print(Indented(_facts(candidate)))
    if candidate.same_as is not None and not full:
        return
    text = (body(candidate) if full else _best_of(candidate, console.width - len(BAR))).strip("\n")
    if not full:
        # One line more than is shown makes the cut visible.
        text = "\n".join(_FRONT_MATTER.sub("", text).split("\n")[: MAX_LINES + 1])
    syntax = Syntax("", fence_language(candidate), theme="ansi_dark", background_color="default")
    highlighted = syntax.highlight(visible(text))
    highlighted.rstrip()
    highlighted.no_wrap, highlighted.overflow = False, "fold"
    # Behind a bar, no line of the corpus can pass for a line of ours.
    console.print(Indented(highlighted, BAR, BAR, Style(dim=True), None if full else MAX_LINES))


def _best_of(candidate: Candidate, width: int) -> str:
    """The passages, or as much of them as has room: the best lines with what names them, then what stands around."""
    whole, best, passages = shown(candidate), candidate.best, passage_lines(candidate)
    if best is None or candidate.lines is None or _height(whole, width) <= MAX_LINES:
        return whole
    kept = frozenset(best.numbers)
    holding = (part for part in candidate.parts if part.worth is not None and part.lines.touches(best.start, best.end))
    named = frozenset(line for part in holding for need in part.needs for line in candidate.parts[need].lines.numbers)
    around = [sorted(line for line in passages if line > best.end), sorted(passages.difference(kept, named))[::-1]]
    for lines in ([named], *([frozenset({line}) for line in side] for side in around)):
        for more in lines:
            following = marks(candidate, max(kept | more) + 1, candidate.lines.end)
            if _height(with_marks(candidate, kept | more), width) - len(following) > MAX_LINES:
                break
            kept |= more
    return with_marks(candidate, kept)


def _height(text: str, width: int) -> int:
    return sum(max(1, math.ceil(cell_len(line) / max(1, width))) for line in text.split("\n"))


def _facts(candidate: Candidate) -> Text:
    verification = candidate.verification
    terms = candidate.why.matched_terms[:MATCHED_TERMS]
    span = candidate.lines
    facts = (
        (error_label(candidate), "bold"),
        (index_label(candidate), ""),
        (f"lines {span.start}-{span.end}" if span is not None else "", "dim"),
        (verification_label(verification), VERIFICATION_STYLES[verification.state]),
        (f"same text as result {candidate.same_as}" if candidate.same_as is not None else "", "dim"),
        (availability_label(candidate), "yellow"),
        (candidate.import_statement, "dim"),
        (f"needs {candidate.needs}" if candidate.needs else "", "dim"),
        (candidate.signature, "dim"),
        (listed_takers(candidate.taken_by), "dim"),
        (drift_label(candidate), "yellow"),
        (f"support {candidate.support:.0%}" if candidate.support is not None else "", "dim"),
        (verification.reason if verification.state != "exact" else "", "dim"),
        (f"matches {', '.join(terms)}" if terms else "", "dim"),
        (f"{candidate.why.task_role} for the task: {candidate.why.task}" if candidate.why.task else "", "dim"),
    )
    return Text(" · ", style="dim").join(Text(one_line(text), style) for text, style in facts if text)


def _link(candidate: Candidate, file: Path | None) -> str | None:
    if candidate.source_type == "docs" and _SAFE_URL.fullmatch(candidate.path_or_url):
        return candidate.path_or_url
    return file.as_uri() if file else None


def _short_citation(candidate: Candidate, width: int) -> str:
    """The citation with a short commit and without the first folders, so that it fits into one line."""
    name, _, rest = one_line(candidate.citation).partition("@")
    commit, _, target = rest.partition(":")
    source = f"{name}@{short_commit(commit)}:"
    # At least the last part of the target stays, on lines of its own if need be.
    folders, room = target.rstrip("/"), width - cell_len(source)
    while cell_len(target) > room and "/" in folders:
        folders = folders.partition("/")[2].lstrip("/")
        target = f"…/{folders}"
    return source + target


def _keep_end(text: str, width: int) -> str:
    """The text cut at its beginning to a number of columns: the end of a path says most."""
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) >= width:
        text = text[1:]
    return f"…{text}"
