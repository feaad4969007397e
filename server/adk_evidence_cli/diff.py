"""`adk-evidence diff`: what differs between two versions of the ADK, for people who upgrade."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.style import Style
from rich.text import Text

from adk_evidence.api.changes import Changes, count
from adk_evidence.api.comparison import Comparison
from adk_evidence.api.history import History
from adk_evidence.commands import with_options
from adk_evidence.errors import IndexMissingError, InvalidRequestError
from adk_evidence.identifiers import code_identifiers
from adk_evidence.index.project import ProjectAdk
from adk_evidence.index.versions import choose_index, configured_version, ingest_command
from adk_evidence.models.difference import Change, EvidenceDiff, SymbolDiff
from adk_evidence.released_versions import checked_version
from adk_evidence.render.difference import (
    evidence_markdown,
    evidence_summary,
    facts,
    heading,
    left_out,
    rank_note,
    sides,
    state_heading,
    summary,
    symbols_markdown,
    title,
    word,
)
from adk_evidence.render.sanitize import caption, one_line, visible, visible_json
from adk_evidence.render.view import verification_label
from adk_evidence.search.compared import compare_answers
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import Settings
from adk_evidence_cli.asking import build_request
from adk_evidence_cli.terminal import BAR, Indented
from adk_evidence_console import say, stderr, stdout
from adk_evidence_console.pinned import detected_adk
from adk_ingest.progress import Progress
from adk_ingest.releases import read_releases

_INDENT = "    "
# How much of an unknown name an error shows.
_NAMED_CHARS = 120
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True)
class Listing:
    """What to list.

    `limit` is the most changes to list, 0 for all. `lines` says whether to show changed lines, by default only those of
    definitions that were asked for, and of a question's results. `allow_network` says whether versions may be fetched
    from the package registry.
    """

    limit: int = 0
    lines: bool | None = None
    allow_network: bool = True


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
    listing: Listing,
) -> SymbolDiff:
    """What differs between two versions, in some symbols or in the whole package.

    Args:
        settings: Validated settings.
        before: The earlier version: a version, a wheel, a checkout or an environment.
        after: The later one; None for the version that the settings name.
        symbols: Definitions, modules and packages, by their import paths or bare names; none for everything.
        progress: Receives notes.
        listing: What to list.

    Raises:
        InvalidRequestError: Neither version has a symbol, or both versions are the same.
        SourceError: A version cannot be had.
    """
    old, new, table = read_releases(settings, before, after, progress, allow_network=listing.allow_network)
    comparison = Comparison(old, new, table)
    shown = Changes(comparison, History.load(settings.paths.history))
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
    chosen = pairs[: listing.limit] if listing.limit else pairs
    lines = not wide if listing.lines is None else listing.lines
    changes = tuple(shown.change(pair, lines=lines) for pair in chosen)
    return SymbolDiff(
        before=old.version,
        after=new.version,
        symbols=tuple(paths),
        counts=count(pairs),
        changes=changes,
        more=len(pairs) - len(chosen),
        unchanged=tuple(place for path in paths if not of_each[path] for place in shown.places(path)),
    )


def compare_question(
    settings: Settings,
    before: str,
    after: str | None,
    question: str,
    progress: Progress,
    listing: Listing,
) -> EvidenceDiff | SymbolDiff:
    """How the evidence on a question differs between the indexes of two versions.

    Where a version has no index, the names in the question are compared instead, with a warning. The parameters are
    those of `compare_symbols`.

    Raises:
        InvalidRequestError: The question is none, both versions are the same, or neither `after` nor the settings name
            a version.
        IndexMissingError: A version has no index, and the question names nothing that could be compared without one.
    """
    request = build_request(query=question, task_mode="explain")
    target = after or configured_version(settings)
    if target is None:
        raise InvalidRequestError("--to is missing, and the settings name no version.", "Name one: --to 2.0.0.")
    named = [before, target]
    versions = [_version(one) for one in named]
    if versions[0] is not None and versions[0] == versions[1]:
        raise InvalidRequestError("Both versions are the same.", "Name two versions, such as 1.31.0 and 2.0.0.")
    indexes = [None if version is None else _index_of(settings, version) for version in versions]
    missing = [place for place, index in enumerate(indexes) if index is None]
    if missing:
        told, hint = _not_indexed(named[missing[0]], versions[missing[0]])
        names = _names_in(settings, question, [version for version in versions if version is not None])
        if not names:
            raise IndexMissingError(told, f"{hint} Without an index, --symbol compares definitions.")
        instead = compare_symbols(settings, before, after, names, progress, listing)
        warning = with_options(f"{told} {hint} This compares the names in the question instead.")
        return instead.model_copy(update={"warnings": (warning,)})
    old, new = (index for index in indexes if index is not None)
    with ExitStack() as stack:
        service = stack.enter_context(closing(EvidenceService(old)))
        other = stack.enter_context(closing(service.beside(new)))
        earlier, later = stack.enter_context(service.session()), stack.enter_context(other.session())
        history = History.load(settings.paths.history)
        answers = ((str(versions[0]), earlier), (str(versions[1]), later))
        found = compare_answers(request, *answers, history, limit=listing.limit)
    if listing.lines is False:
        bare = tuple(result.model_copy(update={"diff": ""}) for result in found.results)
        return found.model_copy(update={"results": bare})
    return found


def _names_in(settings: Settings, question: str, versions: Sequence[str]) -> list[str]:
    """The names in a question that one of the versions may have."""
    history = History.load(settings.paths.history)
    known = [name for name in code_identifiers(question) if history.paths(name)]
    return [name for name in known if any(history.has(version, name) is not False for version in versions)]


def _not_indexed(named: str, version: str | None) -> tuple[str, str]:
    if version is None:
        return f"Questions compare versions that are indexed, and {named} is no version.", "Name one such as 1.31.0."
    return f"google-adk {version} is not indexed.", f"Run `{ingest_command(version)}`."


def _version(text: str) -> str | None:
    with suppress(InvalidRequestError):
        return checked_version(text)
    return None


def _index_of(settings: Settings, version: str) -> Settings | None:
    """The settings of the index that answers for a version, or None where no index does."""
    chosen = choose_index(settings, ProjectAdk(version, "", exact=True))
    return chosen.settings if chosen.exact else None


def show_difference(diff: SymbolDiff | EvidenceDiff, *, as_json: bool, as_markdown: bool) -> None:
    """Print a comparison: on a terminal, as JSON or as Markdown."""
    out = stdout()
    if as_json:
        out.file.write(visible_json(diff.model_dump_json(indent=2)) + "\n")
    elif as_markdown:
        out.file.write(symbols_markdown(diff) if isinstance(diff, SymbolDiff) else evidence_markdown(diff))
    elif isinstance(diff, SymbolDiff):
        _show(diff, out)
    else:
        _show_evidence(diff, out)
    for warning in diff.warnings:
        say(stderr(), f"warning: {warning}")


def _show_evidence(diff: EvidenceDiff, out: Console) -> None:
    out.print(Text(caption(diff.query), "bold"))
    out.print(Text(f"{diff.before} to {diff.after}: {evidence_summary(diff)}"), soft_wrap=True)
    for state, results in groupby(diff.results, lambda result: result.state):
        out.print()
        out.print(Text(state_heading(state, diff), "bold"))
        for result in results:
            out.print(Text(f"  {one_line(result.name)}", "bold"), soft_wrap=True)
            for detail in result.details:
                out.print(Indented(Text(one_line(detail)), _INDENT, f"{_INDENT}  "))
            for side in sides(result):
                earlier = side is result.before
                note = rank_note(side.rank if earlier else None, None if earlier else side.rank, diff)
                told = filter(None, (one_line(side.citation), verification_label(side.verification), note))
                out.print(Text(f"{_INDENT}{'  '.join(told)}", "dim"), soft_wrap=True)
            if result.diff:
                show_diff(result.diff, out)
    if diff.more:
        out.print()
        out.print(Text(left_out(diff), "yellow"))
    if diff.docs:
        out.print()
        out.print(Text("Docs", "bold"))
    for doc in diff.docs:
        out.print(Text(f"  {one_line(doc.title)}", "bold"), soft_wrap=True)
        note = rank_note(doc.rank_before, doc.rank_after, diff)
        cited = (one_line(doc.citation), verification_label(doc.verification), note)
        out.print(Text(f"{_INDENT}{'  '.join(cited)}", "dim"), soft_wrap=True)
        for sentence in doc.versions:
            out.print(Indented(Text(one_line(sentence), "yellow"), _INDENT, f"{_INDENT}  "))


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
