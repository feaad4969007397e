"""Differences between two versions as Markdown for an upgrade note, and the words that every view shares."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from adk_evidence.models.difference import Change, ChangeKind, Counts, SymbolDiff
from adk_evidence.render.sanitize import code_span, fenced, inline

# How many names that came or went together a line lists.
MAX_MEMBERS = 12

_WORDS: dict[ChangeKind, str] = {
    "gone": "gone",
    "renamed": "renamed",
    "moved": "moved",
    "incompatible": "incompatible",
    "deprecated": "deprecated",
    "changed": "changed",
    "text": "changed inside only",
    "added": "new",
}
_BREAKING = "Breaking changes"


def word(change: ChangeKind) -> str:
    return _WORDS[change]


def summary(counts: Counts) -> str:
    """What differs in numbers: `36 breaking; 9 gone, 20 moved, 101 changed inside only`."""
    if not counts.by_change:
        return "nothing differs"
    parts = ", ".join(f"{number} {word(change)}" for change, number in counts.by_change.items())
    return f"{counts.breaking} breaking; {parts}"


def heading(change: Change) -> str:
    """The group that a change is listed under."""
    if change.breaking:
        return _BREAKING
    return {"added": "New", "text": "Changed inside only"}.get(change.change, "Other changes")


def members(change: Change) -> str:
    """The names that came or went with a module or class, in a sentence; empty where there are none."""
    if not change.members:
        return ""
    prefix = f"{change.name}."
    listed = [name.removeprefix(prefix) for name in change.members]
    more = f" and {len(listed) - MAX_MEMBERS} more" if len(listed) > MAX_MEMBERS else ""
    return f"{'without' if change.change == 'gone' else 'with'} {', '.join(listed[:MAX_MEMBERS])}{more}"


def facts(change: Change) -> list[str]:
    """What is said of a change behind its name, in parts."""
    found = [*change.details, *filter(None, [members(change)])]
    if change.use:
        found.append(f"use {change.use}")
    if change.since:
        found.append(f"since {change.since}")
    return found


def left_out(diff: SymbolDiff) -> str:
    """A sentence on what is not listed; empty where all is."""
    return f"{diff.more} more are not listed; --limit 0 lists all." if diff.more else ""


def title(diff: SymbolDiff) -> str:
    about = f"{', '.join(diff.symbols)}: " if diff.symbols else ""
    return f"{about}{diff.before} to {diff.after}"


def symbols_markdown(diff: SymbolDiff) -> str:
    """The differences as an upgrade note; names and texts from the code are quoted."""
    lines = [f"# {inline(title(diff))}", "", f"_{inline(summary(diff.counts))}_", ""]
    for place in diff.unchanged:
        state = inline(place.verification.state)
        lines += [f"Unchanged: {code_span(place.name)}, {code_span(place.citation)} ({state})", ""]
    for group, changes in groupby(diff.changes, heading):
        lines += [f"## {group}", "", *_listed(changes), ""]
    if diff.more:
        lines += [inline(left_out(diff)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _listed(changes: Iterable[Change]) -> list[str]:
    lines: list[str] = []
    for change in changes:
        told = "; ".join(as_markdown(fact) for fact in facts(change))
        lines.append(f"- {code_span(change.name)} ({change.kind}) {word(change.change)}{f': {told}' if told else ''}")
        cited = [place for place in (change.before, change.after) if place is not None]
        lines += [f"  - {code_span(place.citation)} ({place.verification.state})" for place in cited]
        if change.diff:
            lines += ["", *(f"  {line}" for line in fenced(change.diff, "diff").split("\n")), ""]
    return lines


def as_markdown(fact: str) -> str:
    """A fact whose quoted parts stay code: they stand between backticks."""
    parts = fact.split("`")
    # An odd number of backticks is not ours.
    if len(parts) % 2 == 0:
        return inline(fact)
    return "".join(code_span(part) if number % 2 else _kept(part) for number, part in enumerate(parts))


def _kept(part: str) -> str:
    """A part of a sentence as Markdown, with the spaces around it."""
    head = " " if part[:1].isspace() else ""
    tail = " " if part[-1:].isspace() and part.strip() else ""
    return f"{head}{inline(part)}{tail}"
