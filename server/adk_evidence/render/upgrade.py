"""What an upgrade means, as lines that the terminal and a pull request share, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adk_evidence.models.upgrade import Upgrade, UpgradeProblem
from adk_evidence.render.difference import as_markdown, facts
from adk_evidence.render.sanitize import code_span, inline


def title(report: Upgrade) -> str:
    taken = f" ({report.taken_from})" if report.taken_from else ""
    return f"google-adk {report.before}{taken} to {report.after}"


def groups(report: Upgrade) -> Iterator[tuple[str, tuple[UpgradeProblem, ...]]]:
    """The lists of problems that are not empty, each under its heading."""
    for heading, problems in (
        (f"Breaks with {report.after}", report.breaks),
        (f"Is wrong with {report.before} already", report.wrong_before),
        ("Is deprecated", report.deprecated),
    ):
        if problems:
            yield heading, problems


def said(problem: UpgradeProblem) -> str:
    """A problem in sentences: what is wrong, since when, and what mends it."""
    since = f" This is so since {problem.since}." if problem.since else ""
    option = "--fix" if problem.certain else "--fix --unsafe"
    return f"{problem.text}{since}{f' {option}: {problem.fix}.' if problem.fix else ''}"


def summary(report: Upgrade) -> str:
    """The numbers, in a sentence."""
    certain = sum(one.certain for one in (*report.problems, *report.deprecated))
    likely = sum(one.fix is not None for one in (*report.problems, *report.deprecated))
    parts = [
        (_lines(report.breaks), "line breaks", "lines break"),
        (_lines(report.wrong_before), "line was wrong before", "lines were wrong before"),
        (_lines(report.deprecated), "line uses a deprecated name", "lines use deprecated names"),
        (len(report.changed), "used name behaves otherwise", "used names behave otherwise"),
        (report.right_after, "line that was wrong fits then", "lines that were wrong fit then"),
    ]
    told = ", ".join(f"{number} {one if number == 1 else several}" for number, one, several in parts if number)
    mends = f"--fix mends {certain}" + (f", --fix --unsafe {likely}" if likely > certain else "")
    return f"{told or 'Nothing breaks'} (files: {report.files}). {mends if likely else 'Nothing can be mended'}."


def _lines(problems: Iterable[UpgradeProblem]) -> int:
    return len({(one.path, one.line) for one in problems})


def upgrade_markdown(report: Upgrade) -> str:
    """The report as the text of a pull request; names and texts from the code are quoted."""
    lines = [f"# {inline(title(report))}", "", inline(summary(report)), ""]
    for heading, problems in groups(report):
        lines += [f"## {inline(heading)}", ""]
        for one in problems:
            lines.append(f"- [ ] {code_span(f'{one.path}:{one.line}')} {as_markdown(said(one))} ({one.code})")
            lines += [f"  - {code_span(one.citation)}"] if one.citation else []
        lines.append("")
    if report.changed:
        lines += ["## Behaves otherwise", ""]
        for used in report.changed:
            told = "; ".join(as_markdown(fact) for fact in facts(used.change))
            lines.append(f"- [ ] {code_span(used.change.name)}: {told}")
            more = f" and {used.more} more" if used.more else ""
            lines.append(f"  - used in {', '.join(map(code_span, used.uses))}{more}")
            cited = [place.citation for place in (used.change.before, used.change.after) if place is not None]
            lines += [f"  - {code_span(citation)}" for citation in cited]
        lines.append("")
    if report.pages:
        lines += ["## Docs", ""]
        lines += [
            f"- {code_span(page.symbol)}: {inline(page.title)}, {code_span(page.citation)}" for page in report.pages
        ]
        lines.append("")
    lines += [inline(sentence) for sentence in report.left_out]
    return "\n".join(lines).rstrip() + "\n"
