"""`adk-evidence diff`: what differs between two versions of the ADK, for people who upgrade."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.style import Style
from rich.text import Text

from adk_evidence.api.changes import Changes, count
from adk_evidence.api.comparison import Comparison
from adk_evidence.api.history import History
from adk_evidence.errors import InvalidRequestError
from adk_evidence.models.difference import Change, SymbolDiff
from adk_evidence.render.difference import (
    facts,
    heading,
    left_out,
    summary,
    symbols_markdown,
    title,
    word,
)
from adk_evidence.render.sanitize import one_line, visible, visible_json
from adk_evidence.settings import Settings
from adk_evidence_cli.terminal import BAR, Indented
from adk_evidence_console import say, stderr, stdout
from adk_evidence_console.pinned import detected_adk
from adk_ingest.progress import Progress
from adk_ingest.releases.wheels import read_releases

_INDENT = "    "
# How much of an unknown name an error shows.
_NAMED_CHARS = 120
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def version_here(settings: Settings) -> str:
    """The version of google-adk that the project in the working folder uses.

    Raises:
        InvalidRequestError: None is found there.
    """
    found = detected_adk(settings)
    if found is None:
        raise InvalidRequestError(
            "--from is missing, and no google-adk is found in this folder.", "Name your version: --from 1.31.0."
        )
    say(stderr(), f"--from {found.version}: found in {found.taken_from}", "dim")
    return found.version


def compare_symbols(
    settings: Settings,
    before: str,
    after: str | None,
    symbols: Sequence[str],
    progress: Progress,
    *,
    limit: int = 0,
    lines: bool | None = None,
    allow_network: bool = True,
) -> SymbolDiff:
    """What differs between two versions, in some symbols or in the whole package.

    Args:
        settings: Validated settings.
        before: The earlier version: a version, a wheel, a checkout or an environment.
        after: The later one; None for the version that the settings name.
        symbols: Definitions, modules and packages, by their import paths or bare names; none for everything.
        progress: Receives notes.
        limit: The most changes to list, 0 for all.
        lines: Whether to show changed lines, by default only those of definitions that were asked for.
        allow_network: Whether versions may be fetched from the package registry.

    Raises:
        InvalidRequestError: Neither version has a symbol, or both versions are the same.
        SourceError: A version cannot be had.
    """
    old, new, table = read_releases(settings, before, after, progress, allow_network=allow_network)
    comparison = Comparison(old, new, table)
    shown = Changes(comparison, History.load())
    paths: list[str] = []
    for symbol in symbols:
        path = comparison.path_of(symbol)
        if path is None:
            raise InvalidRequestError(
                f"Neither {old.version} nor {new.version} has a public {symbol[:_NAMED_CHARS]}.",
                "Name a class, function, member, module or package, such as google.adk.runners.Runner.",
            )
        paths.append(path)
    paths = list(dict.fromkeys(paths))
    of_each = {path: comparison.of(path) for path in paths}
    # Two symbols may share a difference.
    asked = {id(pair): pair for pairs in of_each.values() for pair in pairs}.values()
    pairs = sorted(asked, key=lambda pair: pair.order) if symbols else list(comparison.pairs)
    # Of modules and packages there would be too much.
    wide = not paths or any(map(comparison.is_module, paths))
    chosen = pairs[:limit] if limit else pairs
    with_lines = not wide if lines is None else lines
    changes = tuple(shown.change(pair, lines=with_lines) for pair in chosen)
    return SymbolDiff(
        before=old.version,
        after=new.version,
        symbols=tuple(paths),
        counts=count(pairs),
        changes=changes,
        more=len(pairs) - len(chosen),
        unchanged=tuple(place for path in paths if not of_each[path] for place in shown.places(path)),
    )


def show_difference(diff: SymbolDiff, *, as_json: bool, as_markdown: bool) -> None:
    """Print a comparison: on a terminal, as JSON or as Markdown."""
    out = stdout()
    if as_json:
        out.file.write(visible_json(diff.model_dump_json(indent=2)) + "\n")
    elif as_markdown:
        out.file.write(symbols_markdown(diff))
    else:
        _show(diff, out)


def _show(diff: SymbolDiff, out: Console) -> None:
    out.print(Text(one_line(title(diff)), "bold"), soft_wrap=True)
    out.print(Text(summary(diff.counts), "red" if diff.counts.breaking else "green"), soft_wrap=True)
    for place in diff.unchanged:
        out.print(Text(f"{_INDENT}{one_line(place.citation)}  {place.verification.state}", "dim"), soft_wrap=True)
    for group, changes in groupby(diff.changes, heading):
        out.print()
        out.print(Text(group, "bold"))
        for change in changes:
            _show_change(change, out)
    if diff.more:
        out.print()
        out.print(Text(left_out(diff), "yellow"))


def _show_change(change: Change, out: Console) -> None:
    line = Text.assemble(
        (f"  {word(change.change)}  ", "red" if change.breaking else "dim"),
        (one_line(change.name), "bold"),
        (f"  {change.kind}", "dim"),
    )
    out.print(line, soft_wrap=True)
    for fact in facts(change):
        out.print(Indented(Text(one_line(fact)), _INDENT, f"{_INDENT}  "))
    cited = [place for place in (change.before, change.after) if place is not None]
    for place in cited:
        out.print(Text(f"{_INDENT}{one_line(place.citation)}  {place.verification.state}", "dim"), soft_wrap=True)
    if change.diff:
        show_diff(change.diff, out)


def show_diff(diff: str, out: Console) -> None:
    """Print a unified diff; behind a bar, no line of the corpus can pass for a line of ours."""
    text = Text()
    for number, line in enumerate(diff.split("\n")):
        style = "dim" if line.startswith(("---", "+++")) else _STYLES.get(line[:1], "")
        text.append("\n" if number else "").append(visible(line), style)
    text.no_wrap, text.overflow = False, "fold"
    out.print(Indented(text, BAR, BAR, Style(dim=True)))
