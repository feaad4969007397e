"""Ranked targets on the terminal."""

from __future__ import annotations

from contextlib import closing

from rich.console import Console
from rich.style import Style
from rich.text import Text

from adk_evidence.index.project import ProjectAdk
from adk_evidence.index.versions import ChosenIndex
from adk_evidence.readers.python import clip
from adk_evidence.render.sanitize import one_line, visible_json
from adk_evidence.render.view import adk_label
from adk_evidence.settings import Settings
from adk_evidence.targets.facts import facts_of
from adk_evidence.targets.target import RankedTarget, TargetAnswer
from adk_evidence_cli.terminal import BAR, Indented
from adk_evidence_console import say, stderr, stdout

SUMMARY_CHARS = 160
# Of the one symbol that was asked for by its name: as much as is known.
ASKED_SUMMARY_CHARS = 600
_INDENT = "    "


def show_targets(answer: TargetAnswer, chosen: ChosenIndex, out: Console, err: Console, *, as_json: bool) -> None:
    """Print an answer of a chosen index: targets on `out`, warnings on `err`."""
    answer = answer.or_beside(chosen).of_index(chosen)
    if chosen.label is not None and not as_json:
        out.print(Text(one_line(adk_label(chosen.label)), style="dim"))
    if as_json:
        out.file.write(visible_json(answer.model_dump_json(indent=2)) + "\n")
    elif not answer.results:
        said = f"No ADK symbol matches {one_line(answer.query)!r}. `adk-evidence ask` searches code and docs."
        out.print(Text(one_line(answer.lacking) or said))
    else:
        if answer.lacking:
            out.print(Text(one_line(answer.lacking)))
        shown = [target for target in answer.results if not answer.is_elsewhere(target)]
        for place, target in enumerate(shown, 1):
            _show(target, place, answer, out)
    for warning in answer.warnings:
        say(err, f"warning: {warning}")


def show_uses(
    settings: Settings, adk: ProjectAdk | None, index: str | None, name: str, limit: int, *, as_json: bool
) -> None:
    """Print where a name is used, in the index of that name or else of that version, at most `limit` uses of a kind."""
    from adk_evidence.desk import Indexes
    from adk_evidence.search.uses import defined_as, find_uses, told
    from adk_ingest.indexes.freshness import Freshness

    with closing(Indexes(settings, lambda main, project: adk, freshen=Freshness())) as indexes:
        chosen = indexes.choose() if index is None else indexes.named(index)
        with indexes.answering(chosen, strict=True) as answering:
            session = answering.sessions[0]
            found = find_uses(session, defined_as(session, name), limit)
    out = stdout()
    if as_json:
        out.file.write(visible_json(found.model_dump_json(indent=2)) + "\n")
    elif chosen.label is not None:
        out.print(Text(one_line(adk_label(chosen.label)), style="dim"))
    for line, code in () if as_json else told(found):
        out.print(Text(f"{_INDENT * bool(code)}{one_line(line)}", "dim" if code else "bold"), soft_wrap=True)
        if code:
            out.print(Indented(Text(one_line(code)), BAR, BAR, Style(dim=True)))
    for warning in filter(None, (*answering.older, chosen.warning)):
        say(stderr(), f"warning: {warning}")


def _summary(target: RankedTarget, answer: TargetAnswer) -> str:
    asked = answer.is_only_named(target)
    return clip(one_line(target.summary), ASKED_SUMMARY_CHARS if asked else SUMMARY_CHARS)


def _show(target: RankedTarget, place: int, answer: TargetAnswer, out: Console) -> None:
    heading = Text.assemble((f"{place:>2}  ", "dim"), (one_line(target.symbol), "bold"), (f"  {target.type}", "dim"))
    if target.deprecated:
        heading.append("  deprecated", "yellow")
    if target.standing != "public":
        heading.append(f"  {target.standing}", "yellow")
    if target.relation:
        heading.append(f"  {one_line(target.relation)}", "dim")
    if target.available == "false":
        heading.append(f"  not in your google-adk {answer.installed}", "red")
    out.print(heading, soft_wrap=True)
    for fact in facts_of(target, answer, _summary(target, answer), methods=150, calls=600, notes=400):
        # Behind a bar, no line of the corpus can pass for a line of ours.
        out.print(Indented(Text(fact), BAR, BAR, Style(dim=True)))
    if target.import_statement:
        out.print(Text(f"{_INDENT}{one_line(target.import_statement)}", "green"), soft_wrap=True)
    if target.type_imports:
        out.print(Text(f"{_INDENT}types: {one_line('; '.join(target.type_imports))}", "dim"), soft_wrap=True)
    out.print(Text(f"{_INDENT}{one_line(target.citation)}", "dim"), soft_wrap=True)
