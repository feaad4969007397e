"""What every surface shows of a candidate."""

from __future__ import annotations

import re
from collections.abc import Iterable

from adk_evidence.models.pack import Candidate, LeftOut, LineSpan, Passage, Verification

# The provenance header that older servers left on top of a candidate's text.
_HEADER = re.compile(r"\A\[CORPUS=[^\n]*\n(?:\[[^\n]*\n){0,2}---\n")
NOT_CITED = "[CONTEXT, NOT CITED]"
# Leaving out so few lines between two parts saves less than their marker costs.
_GAP_LINES = 2

_FENCE_LANGUAGES = {"py": "python", "md": "markdown"} | {name: name for name in ("rst", "yaml", "json", "toml")}

_LANGUAGE_TITLES = {"javascript": "JavaScript", "php": "PHP", "typescript": "TypeScript"}


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


def shown(candidate: Candidate, most: int | None = None) -> str:
    """The passages of a candidate in the order of their lines, with marks for what stands between them.

    The whole text where no passages were chosen. `most` is the number of parts to show of them, all by default; the
    included files come with the last part.
    """
    if not candidate.passages:
        return body(candidate)
    parts: list[str] = []
    everything = most is None or most >= len(candidate.parts)
    passages = candidate.passages if everything else _first_parts(candidate, most or 0)
    following = candidate.lines.start if candidate.lines else passages[0].lines.start
    for number, passage in enumerate(passages):
        parts += _gap(candidate, following, passage.lines.start - 1, between=number > 0)
        parts.append(passage.text)
        following = passage.lines.end + 1
    if candidate.lines:
        parts += _gap(candidate, following, candidate.lines.end, between=False)
    text = "\n".join(parts)
    attached = candidate.attached_shown if everything else ""
    return f"{text}\n\n{NOT_CITED}\n{attached}" if attached else text


def _first_parts(candidate: Candidate, most: int) -> list[Passage]:
    """The passages that the first parts make. Short gaps between them are filled if all parts together fill them."""
    held = {line for passage in candidate.passages for line in _numbers(passage.lines)}
    wanted = sorted({line for part in candidate.parts[:most] for span in part.lines for line in _numbers(span)})
    texts = candidate.text.split("\n")
    start = candidate.lines.start if candidate.lines else 1
    runs: list[LineSpan] = []
    for line in wanted:
        gap = range(runs[-1].end + 1, line) if runs else None
        if gap is not None and len(gap) <= _GAP_LINES and held.issuperset(gap):
            runs[-1] = LineSpan(start=runs[-1].start, end=line)
        else:
            runs.append(LineSpan(start=line, end=line))
    return [Passage(lines=run, text="\n".join(texts[run.start - start : run.end + 1 - start])) for run in runs]


def _numbers(lines: LineSpan) -> range:
    return range(lines.start, lines.end + 1)


def _gap(candidate: Candidate, first: int, last: int, *, between: bool) -> list[str]:
    """What is said of lines that are not shown; `between` two passages, even empty lines are a border."""
    marks = []
    here = [one for one in candidate.left_out if one.lines.start <= last and one.lines.end >= first]
    for start, end, languages in _joined(here):
        if first < start and _told(candidate, first, start - 1):
            marks.append(_lines(first, start - 1))
        marks.append(f"[lines {start}-{end}: {', '.join(map(_language, languages))}]")
        first = end + 1
    if first <= last and (_told(candidate, first, last) or (between and not marks)):
        marks.append(_lines(first, last))
    return marks


def _lines(first: int, last: int) -> str:
    return f"[... lines {first}-{last}]" if last > first else f"[... line {first}]"


def _language(name: str) -> str:
    """A programming language as people write its name."""
    return _LANGUAGE_TITLES.get(name, name.capitalize())


def _joined(left_out: Iterable[LeftOut]) -> list[tuple[int, int, list[str]]]:
    """Lines for other readers that follow each other, as one."""
    found: list[tuple[int, int, list[str]]] = []
    for one in left_out:
        if found and one.lines.start <= found[-1][1] + 2:
            start, end, languages = found.pop()
            more = [] if one.language in languages else [one.language]
            found.append((start, max(end, one.lines.end), [*languages, *more]))
        else:
            found.append((one.lines.start, one.lines.end, [one.language]))
    return found


def _told(candidate: Candidate, first: int, last: int) -> bool:
    """Whether lines of the cited text hold anything but white space."""
    if candidate.lines is None:
        return False
    lines = candidate.text.split("\n")[first - candidate.lines.start : last + 1 - candidate.lines.start]
    return any(line.strip() for line in lines)


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
