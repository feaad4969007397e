"""What every surface shows of a candidate."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, cycle, groupby

from adk_evidence.languages import fence_name, title_of
from adk_evidence.models.lines import LineSpan
from adk_evidence.models.pack import (
    AdkVersion,
    Candidate,
    Drift,
    ErrorFrame,
    EvidencePack,
    LeftOut,
    Passage,
    PastedError,
    Verification,
    VerificationState,
)
from adk_evidence.render.sanitize import code_span, one_line
from adk_evidence.render.signatures import listed_takers
from adk_evidence.text.identifiers import without_module
from adk_evidence.text.tokens import estimate_tokens

# The most names that stand beside a result; the pack has the others.
MAX_DRIFT_NAMES = 3
NOT_CITED = "[CONTEXT, NOT CITED]"
# What is said of drift of these kinds, with the version.
_DRIFT: Mapping[str, Collection[str]] = {
    "not in google-adk {}": ("import", "name", "keyword"),
    "lacks `await` or `async for` in google-adk {}": ("await",),
    "deprecated in google-adk {}": ("deprecated",),
}

_STATES: Mapping[VerificationState, str] = {"same_tree": "same code"}


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


def short_commit(commit: str) -> str:
    """The beginning of a commit's hash; anything else, such as a tag, as it is."""
    return commit[:12] if re.fullmatch(r"[0-9a-f]{40,64}", commit) else commit


def index_label(candidate: Candidate) -> str:
    """`of shop`: the index that holds a result of a pack of two; else empty. Names of indexes are harmless texts."""
    return f"of {one_line(candidate.index)}" if candidate.index is not None else ""


def indexed_sources(pack: EvidencePack) -> list[tuple[str, str]]:
    """Each indexed repository with its commit, of all indexes that the pack is of."""
    indexes = (pack.index, pack.beside.index if pack.beside is not None else None)
    found = ((one.repo, one.commit) for index in indexes if index is not None for one in index.corpora.values())
    return list(dict.fromkeys(found))


def body(candidate: Candidate) -> str:
    """The lines that a candidate cites, followed by the files that they include, below `NOT_CITED`."""
    text = candidate.text
    return f"{text}\n\n{NOT_CITED}\n{candidate.attached}" if candidate.attached else text


def shown(candidate: Candidate) -> str:
    """The passages of a candidate in the order of their lines, with marks for what stands between them.

    The whole text where no passages were chosen.
    """
    if not candidate.passages:
        return body(candidate)
    parts: list[str] = []
    following = candidate.lines.start if candidate.lines else candidate.passages[0].lines.start
    for number, passage in enumerate(candidate.passages):
        parts += _gap(candidate, following, passage.lines.start - 1, between=number > 0)
        parts.append(passage.text)
        following = passage.lines.end + 1
    if candidate.lines:
        parts += _gap(candidate, following, candidate.lines.end, between=False)
    text = "\n".join(parts)
    return f"{text}\n\n{NOT_CITED}\n{candidate.attached_shown}" if candidate.attached_shown else text


def shown_within(candidate: Candidate, tokens: int) -> str | None:
    """What `shown` gives, in at most so many tokens: the first line, and as many lines around the best ones as fit.

    Of code, whose signature and docstring come first, and where the best lines are not known or do not fit, the first
    lines are shown. None where lines are too long, and where included files are shown, which may be the answer.
    """
    best = candidate.best
    if candidate.lines is None or candidate.attached_shown:
        return None
    lines = {
        number: text
        for passage in candidate.passages
        for number, text in enumerate(passage.text.split("\n"), passage.lines.start)
    }
    if best is None or best.start not in lines or best.end not in lines or candidate.source_type == "code":
        return _first_lines(candidate, candidate.lines, lines, tokens)
    cited, numbers = candidate.lines, sorted(lines)
    first, last = low, high = numbers.index(best.start), numbers.index(best.end)

    def written() -> str:
        return _part(candidate, cited, {number: lines[number] for number in (numbers[0], *numbers[low : high + 1])})

    room = tokens - estimate_tokens(written())
    if room < 0:
        return _first_lines(candidate, cited, lines, tokens)
    costs = [estimate_tokens(lines[number]) + 1 for number in numbers]
    # A few lines before the best ones name them; what follows them completes them more often than what is before.
    for step in chain((-1, -1, -1), cycle((1, 1, -1))):
        place = high + 1 if step > 0 else low - 1
        if 0 <= place < len(numbers) and costs[place] <= room:
            room -= costs[place]
            low, high = min(low, place), max(high, place)
        elif (high + 1 == len(numbers) or costs[high + 1] > room) and (low == 0 or costs[low - 1] > room):
            break
    # Marks of what is left out cost tokens, too.
    while estimate_tokens(written()) > tokens and (low < first or last < high):
        low, high = (low, high - 1) if last < high else (low + 1, high)
    return written()


def _first_lines(candidate: Candidate, cited: LineSpan, lines: Mapping[int, str], tokens: int) -> str | None:
    """As many of some lines as fit, and the numbers of the others; None where this leaves half of the room free."""
    numbers = sorted(lines)

    def written(count: int) -> str:
        return _part(candidate, cited, {number: lines[number] for number in numbers[:count]})

    fitting = bisect_right(range(1, len(numbers) + 1), tokens, key=lambda count: estimate_tokens(written(count)))
    while fitting and not lines[numbers[fitting - 1]].strip():
        fitting -= 1
    if not fitting:
        return None
    text = written(fitting)
    return text if tokens / 2 <= estimate_tokens(text) <= tokens else None


def _part(candidate: Candidate, cited: LineSpan, kept: Mapping[int, str]) -> str:
    """Some lines of a candidate, with one mark for all that follows them, whoever that is for."""
    last = max(kept)
    until = LineSpan(start=cited.start, end=last)
    text = shown(candidate.model_copy(update={"passages": tuple(_runs(kept)), "lines": until}))
    return f"{text}\n{_lines(last + 1, cited.end)}" if _told(candidate, last + 1, cited.end) else text


def _runs(lines: Mapping[int, str]) -> Iterator[Passage]:
    """Lines by their numbers as passages, one for each run of numbers."""
    for _, run in groupby(enumerate(sorted(lines)), key=lambda each: each[1] - each[0]):
        own = [number for _, number in run]
        span = LineSpan(start=own[0], end=own[-1])
        yield Passage(lines=span, text="\n".join(lines[number] for number in own))


def _gap(candidate: Candidate, first: int, last: int, *, between: bool) -> list[str]:
    """What is said of lines that are not shown; `between` two passages, even empty lines are a border."""
    marks = []
    here = [one for one in candidate.left_out if one.lines.touches(first, last)]
    for start, end, languages in _joined(here, lambda number: not _told(candidate, number, number)):
        if first < start and _told(candidate, first, start - 1):
            marks.append(_lines(first, start - 1))
        marks.append(_mark(start, end, languages))
        first = end + 1
    if first <= last and (_told(candidate, first, last) or (between and not marks)):
        marks.append(_lines(first, last))
    return marks


def for_reader(lines: Sequence[str], first: int, last: int, for_others: Iterable[LeftOut]) -> str:
    """Lines `first` to `last` (from 1) of a file, with a mark in place of those that are for other readers."""
    parts: list[str] = []
    following = first
    here = [one for one in for_others if one.lines.touches(first, last)]
    for start, end, languages in _joined(here, lambda number: not lines[number - 1].strip()):
        start, end = max(start, first), min(end, last)
        parts += [*lines[following - 1 : start - 1], _mark(start, end, languages)]
        following = end + 1
    return "\n".join([*parts, *lines[following - 1 : last]])


def is_for_others(lines: Sequence[str], first: int, last: int, for_others: Iterable[LeftOut]) -> bool:
    """Whether lines `first` to `last` of a file hold nothing but what is for other readers."""
    others = {number for one in for_others for number in range(one.lines.start, one.lines.end + 1)}
    return all(number in others or not line.strip() for number, line in enumerate(lines[first - 1 : last], first))


def _mark(start: int, end: int, languages: Iterable[str]) -> str:
    place = f"lines {start}-{end}" if end > start else f"line {start}"
    return f"[{place}: {', '.join(map(title_of, languages))}]"


def _lines(first: int, last: int) -> str:
    return f"[... lines {first}-{last}]" if last > first else f"[... line {first}]"


def _joined(left_out: Iterable[LeftOut], is_blank: Callable[[int], bool]) -> list[tuple[int, int, list[str]]]:
    """Lines for other readers that follow each other, also after a blank line, as one."""
    found: list[tuple[int, int, list[str]]] = []
    for one in left_out:
        start, end = one.lines.start, one.lines.end
        between = start - found[-1][1] - 1 if found else math.inf
        if between < 1 or (between == 1 and is_blank(start - 1)):
            start, before, languages = found.pop()
            more = [] if one.language in languages else [one.language]
            found.append((start, max(before, end), [*languages, *more]))
        else:
            found.append((start, end, [one.language]))
    return found


def _told(candidate: Candidate, first: int, last: int) -> bool:
    """Whether lines of the cited text hold anything but white space."""
    if candidate.lines is None:
        return False
    lines = candidate.text.split("\n")[first - candidate.lines.start : last + 1 - candidate.lines.start]
    return any(line.strip() for line in lines)


# What a guide is to a pasted error, in words; what other results are to it, `Why.named` says.
MAY_HELP = "may say what to do"


def error_label(candidate: Candidate) -> str:
    """What a candidate is to the pasted error, with the line of its call, in a few words; empty where it is nothing."""
    part = candidate.error
    if part is None:
        return ""
    said = candidate.why.named or (MAY_HELP if part.role == "remedy" else part.role.replace("_", " "))
    return f"{said} (line {part.line})" if part.line is not None else said


def error_title(error: PastedError) -> str:
    """`ValueError: what happened`, as text that is not yet made harmless."""
    return (
        ": ".join(part for part in (error.type, error.message) if part) or "an error that the traceback does not name"
    )


def frame_label(frame: ErrorFrame) -> str:
    """Where a call stands in the answering version, without its citation, as text that is not yet made harmless."""
    said = [f"in {frame.function}" if frame.function else "", "" if frame.line is not None else "now other code"]
    said.append(_STATES.get(frame.verification, frame.verification) if frame.verification != "exact" else "")
    return ", ".join(part for part in said if part)


def drift_label(candidate: Candidate) -> str:
    """In a few words, which names of the text the answering version lacks or has otherwise; empty where none."""
    parts = []
    for said, kinds in _DRIFT.items():
        if found := [one for one in candidate.drift if one.kind in kinds]:
            parts.append(f"{said.format(found[0].version)}: {_listed(found)}")
    return "; ".join(parts)


def availability_label(candidate: Candidate) -> str:
    """What keeps a reader from a feature as its page says, and how finished it is; empty where nothing does."""
    told = candidate.availability
    if told is None or not (told.lacks or told.stage):
        return ""
    said = [told.stage] if told.stage else []
    if told.lacks == "language":
        said.insert(0, f"supported only in {', '.join(title_of(one.language) for one in told.languages)}")
    elif told.lacks == "version":
        said.insert(0, f"supported since google-adk {told.since}, not in {told.version}")
    return f"the docs say: {', '.join(said)}"


def facts_of(candidate: Candidate, written: Callable[[str], str]) -> list[str]:
    """What Markdown and prompts say beside a candidate's text; `written` makes a sentence harmless."""
    label = availability_label(candidate)
    facts = [
        written(label) if label else "",
        code_span(candidate.import_statement) if candidate.import_statement else "",
        f"needs {code_span(candidate.needs)}" if candidate.needs else "",
        code_span(candidate.signature) if candidate.signature else "",
        listed_takers(candidate.taken_by, code_span),
        written(drift_label(candidate)) if candidate.drift else "",
    ]
    return [fact for fact in facts if fact]


def _listed(drift: Sequence[Drift]) -> str:
    names = [f"{without_module(one.symbol)}{_hint(one)}" for one in drift[:MAX_DRIFT_NAMES]]
    more = [f"{len(drift) - MAX_DRIFT_NAMES} more"] if len(drift) > MAX_DRIFT_NAMES else []
    return ", ".join(names + more)


def _hint(drift: Drift) -> str:
    if drift.instead and drift.kind == "deprecated":
        return f" (use {without_module(drift.instead)})"
    if drift.until is not None:
        return f" (until {drift.until})"
    return f" (since {drift.since})" if drift.since is not None else ""


def fence_language(candidate: Candidate) -> str:
    """The info string for a fence around the candidate's text."""
    return fence_name(candidate.language)


def deviation(verification: Verification) -> str:
    """The state of a citation in brackets, as Markdown; nothing where the citation holds, as nearly all do."""
    return "" if verification.state == "exact" else f" ({verification_label(verification, code_span)})"


def adk_label(adk: AdkVersion, quoted: Callable[[str], str] = one_line) -> str:
    """The version that the evidence is of, and the project's where that is another one.

    `quoted` writes where the project's version was found; what the versions are is not yet made harmless.
    """
    wanted = f"google-adk {adk.wanted}{f', from {quoted(adk.taken_from)}' if adk.taken_from else ''}"
    if adk.is_wanted:
        return wanted
    asked = f"the project uses {wanted}" if adk.taken_from else f"you asked for {wanted}"
    return f"google-adk {adk.indexed or 'of an unknown version'}; {asked}"


def version_label(pack: EvidencePack) -> str:
    """The version that the evidence is of, where somebody named a version; else empty. Not yet made harmless."""
    if pack.adk is not None:
        return adk_label(pack.adk)
    plan = pack.retrieval_plan.versions if pack.retrieval_plan else None
    return f"google-adk {plan.indexed}, from the question" if plan is not None and plan.is_asked else ""


def verification_label(verification: Verification, quoted: Callable[[str], str] = one_line) -> str:
    """The state of a citation in a few words, with the place where the text is now; `quoted` writes a path."""
    if verification.state == "exact":
        return "verified"
    state = _STATES.get(verification.state, verification.state)
    if verification.lines is None:
        return state
    start, end = verification.lines.start, verification.lines.end
    if verification.path is not None:
        return f"{state}, now {quoted(f'{verification.path}:{start}-{end}')}"
    return f"{state}, now lines {start}-{end}"
