"""What every surface shows of a candidate."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from urllib.parse import quote

from adk_evidence.languages import fence_name, title_of
from adk_evidence.models.pack import (
    AdkVersion,
    Candidate,
    Drift,
    ErrorFrame,
    EvidencePack,
    Outline,
    OutlinePart,
    PastedError,
    Verification,
    VerificationState,
)
from adk_evidence.render.sanitize import code_span, one_line
from adk_evidence.render.signatures import listed_takers
from adk_evidence.text.identifiers import without_module

# The most names that stand beside a result; the pack has the others.
MAX_DRIFT_NAMES = 3
# What is said of drift of these kinds, with the version.
_DRIFT: Mapping[str, Collection[str]] = {
    "not in google-adk {}": ("import", "name", "keyword"),
    "lacks `await` or `async for` in google-adk {}": ("await",),
    "deprecated in google-adk {}": ("deprecated",),
}

_PUBLIC = re.compile(r"google/[\w.-]+", re.ASCII)
_PUBLISHED = re.compile(r"[0-9a-f]{40}|v\d[\w.]*", re.ASCII)
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


def permalink(candidate: Candidate) -> str | None:
    """The cited lines on GitHub at their commit or release; None for what is in no public repository of Google's."""
    path, lines = candidate.path, candidate.lines
    if not (_PUBLIC.fullmatch(candidate.repo) and _PUBLISHED.fullmatch(candidate.ref)) or "://" in path:
        return None
    # GitHub shows a page of Markdown without its lines, unless it is asked for the plain text.
    plain = "?plain=1" if path.endswith(".md") else ""
    span = f"#L{lines.start}-L{lines.end}" if lines is not None else ""
    return f"https://github.com/{candidate.repo}/blob/{candidate.ref}/{quote(path)}{plain}{span}"


def page_of(candidate: Candidate) -> str | None:
    """The page of a result of Google's docs; any other site could be anybody's."""
    return candidate.path_or_url if candidate.source_type == "docs" and permalink(candidate) else None


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
    said = [f"until {drift.until}"] if drift.until else [f"since {drift.since}"] if drift.since else []
    if drift.instead:
        name = without_module(drift.instead)
        # What has moved has the same name at another path.
        said.append(f"use {drift.instead if name == without_module(drift.symbol) else name}")
    return f" ({', '.join(said)})" if said else ""


def places_label(outline: Outline, quoted: Callable[[str], str]) -> str:
    """How many more places of a file match, and where; `quoted` makes names harmless."""
    count = len(outline.parts) + outline.more
    said = f"{count} more place{'s' if count > 1 else ''} in this file{', the best at' if outline.more else ':'}"
    return f"{said} {quoted(listed_parts(outline.parts))}"


def listed_parts(parts: Sequence[OutlinePart]) -> str:
    """The lines and names of parts, as text that is not yet made harmless."""
    return "; ".join(f"{part.lines.start}-{part.lines.end} {part.name}" for part in parts)


def places_at(pack: EvidencePack, quoted: Callable[[str], str]) -> Mapping[int, str]:
    """`places_label` of each file that has more places, by the rank of its first candidate."""
    return {min(outline.ranks): places_label(outline, quoted) for outline in pack.places}


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
