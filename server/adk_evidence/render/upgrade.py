"""What an upgrade means, in sections that every view shares, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from adk_evidence.models.difference import Upgrade, UpgradeProblem
from adk_evidence.render.difference import as_markdown, facts
from adk_evidence.render.sanitize import code_span, inline


class Item(NamedTuple):
    """A point of a report: what it is about, what is said of that, and the places below, each with a word before it."""

    about: str
    said: str
    places: list[tuple[str, str]]


def title(report: Upgrade) -> str:
    taken = f" ({report.taken_from})" if report.taken_from else ""
    return f"google-adk {report.before}{taken} to {report.after}"


def sections(report: Upgrade) -> Iterator[tuple[str, list[Item]]]:
    """The lists of a report that are not empty, each under its heading."""
    listed = (
        (f"Breaks with {report.after}", map(_problem, report.breaks)),
        (f"Is wrong with {report.before} already", map(_problem, report.wrong_before)),
        ("Is deprecated", map(_problem, report.deprecated)),
        ("Behaves otherwise", _changes(report)),
        ("Docs", (Item(one.symbol, one.title, [("", one.citation)]) for one in report.pages)),
    )
    for heading, items in listed:
        if found := list(items):
            yield heading, found


def said(problem: UpgradeProblem) -> str:
    """A problem in sentences: what is wrong, since when, and what mends it."""
    since = f" This is so since {problem.since}." if problem.since else ""
    option = "--fix" if problem.certain else "--fix --unsafe"
    return f"{problem.text}{since}{f' {option}: {problem.fix}.' if problem.fix else ''} [{problem.code}]"


def _problem(problem: UpgradeProblem) -> Item:
    places = [("", problem.citation)] if problem.citation else []
    return Item(f"{problem.path}:{problem.line}", said(problem), places)


def _changes(report: Upgrade) -> Iterator[Item]:
    for used in report.changed:
        more = f" and {used.more} more" if used.more else ""
        cited = [("", place.citation) for place in (used.change.before, used.change.after) if place is not None]
        yield Item(used.change.name, "; ".join(facts(used.change)), [("used in ", ", ".join(used.uses) + more), *cited])


def summary(report: Upgrade) -> str:
    """The numbers, in a sentence."""
    mended = [one for one in (*report.problems, *report.deprecated) if one.fix is not None]
    certain = sum(one.certain for one in mended)
    parts = [
        (_lines(report.breaks), "line breaks", "lines break"),
        (_lines(report.wrong_before), "line was wrong before", "lines were wrong before"),
        (_lines(report.deprecated), "line uses a deprecated name", "lines use deprecated names"),
        (len(report.changed), "used name behaves otherwise", "used names behave otherwise"),
        (report.right_after, "line that was wrong fits then", "lines that were wrong fit then"),
    ]
    told = ", ".join(f"{number} {one if number == 1 else several}" for number, one, several in parts if number)
    mends = f"--fix mends {certain}" + (f", --fix --unsafe {len(mended)}" if len(mended) > certain else "")
    return f"{told or 'Nothing breaks'} (files: {report.files}). {mends if mended else 'Nothing can be mended'}."


def _lines(problems: Iterable[UpgradeProblem]) -> int:
    return len({(one.path, one.line) for one in problems})


def upgrade_markdown(report: Upgrade) -> str:
    """The report as the text of a pull request, a task for each point; names and texts from the code are quoted."""
    lines = [f"# {inline(title(report))}", "", inline(summary(report)), ""]
    for heading, items in sections(report):
        lines += [f"## {inline(heading)}", ""]
        for item in items:
            lines.append(f"- [ ] {code_span(item.about)}: {as_markdown(item.said)}")
            lines += [f"  - {word}{code_span(place)}" for word, place in item.places]
        lines.append("")
    return "\n".join([*lines, *map(inline, report.left_out)]).rstrip() + "\n"
