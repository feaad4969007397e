"""`adk-evidence upgrade`: what another version of google-adk means for a project, with evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.text import Text

from adk_evidence.api.comparison import Comparison
from adk_evidence.api.history import path_of
from adk_evidence.checks.drift import DriftChecker
from adk_evidence.checks.upgrade import examine
from adk_evidence.desk import Indexes
from adk_evidence.errors import EvidenceError, IndexMissingError, InvalidRequestError, SourceError
from adk_evidence.index.project import ProjectAdk, find_adk
from adk_evidence.models.difference import DocsPage, Upgrade
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest
from adk_evidence.render.sanitize import one_line
from adk_evidence.render.upgrade import said, sections, summary, title
from adk_evidence.settings import Settings
from adk_evidence.text.identifiers import without_module
from adk_evidence_cli.versions.linting import text_of
from adk_evidence_console.sarif import Finding
from adk_ingest.progress import Progress
from adk_ingest.releases.wheels import read_releases

# Each is a question to the index.
MAX_ASKED = 12
# Not the samples, and not what is generated from the code.
_PAGES = ("docs/**",)
_NAMED = re.compile(r"`([\w.]+)")


def version_of(folder: Path) -> ProjectAdk:
    """The google-adk that a project uses; of a range, the newest release in the range.

    Raises:
        InvalidRequestError: None is found.
    """
    found = find_adk(folder if folder.is_dir() else folder.parent)
    if found is None:
        raise InvalidRequestError(
            f"No google-adk is found in {folder}.", "Name the version that the project uses: --from 1.31.0."
        )
    return found


def report_on(
    settings: Settings,
    folder: Path,
    files: Iterable[Path],
    old: DriftChecker,
    new: DriftChecker,
    progress: Progress,
    *,
    taken_from: str = "",
    allow_network: bool = True,
) -> Upgrade:
    """What an upgrade means for a folder.

    What cannot be looked at, because a version or an index is not there, is named in the report.

    Args:
        settings: Validated settings.
        folder: What the names of files are relative to, or the one file.
        files: The Python files.
        old: Knows the earlier version.
        new: Knows the later one.
        progress: Receives notes.
        taken_from: Where the earlier version was read.
        allow_network: Whether versions may be fetched from the package registry.
    """
    texts, unread = _texts(folder, files)
    left_out: list[str] = []
    comparison, pages = None, tuple[DocsPage, ...]()
    try:
        comparison = Comparison(
            *read_releases(settings, old.version, new.version, progress, allow_network=allow_network)
        )
    except SourceError as exc:
        left_out.append(f"What changes behind names that stay was not looked at: {exc.message}")
    found = examine(old, new, texts, comparison)
    try:
        pages = tuple(_pages(settings, found))
    except IndexMissingError:
        left_out.append("The docs were not searched: nothing is indexed.")
    except EvidenceError as exc:
        left_out.append(f"The docs were not searched: {exc.message}")
    more = {"taken_from": taken_from, "unread": tuple(unread), "pages": pages, "left_out": tuple(left_out)}
    return found.model_copy(update=more)


def _texts(folder: Path, files: Iterable[Path]) -> tuple[dict[str, str], list[str]]:
    """The Python files by their paths below the folder, and those that cannot be read."""
    texts: dict[str, str] = {}
    unread: list[str] = []
    for file in files:
        name = file.relative_to(folder).as_posix() if file != folder else file.name
        if (text := text_of(file)) is not None:
            texts[name] = text
        else:
            unread.append(name)
    return texts, unread


def _pages(settings: Settings, report: Upgrade) -> Iterator[DocsPage]:
    """For each name that a problem is about, the first section of the docs that answers and names it, or its heir."""
    asked: dict[str, str] = {}
    cited: set[str] = set()
    for problem in (*report.problems, *report.deprecated):
        asked.setdefault(path_of(problem.symbol), problem.text)
    with closing(Indexes(settings)) as indexes, indexes.answering(indexes.choose(), strict=None) as answering:
        for symbol, text in list(asked.items())[:MAX_ASKED]:
            # What takes the place of a name comes before the name.
            named = [without_module(name) for name in reversed(_NAMED.findall(text)) if "." in name]
            request = EvidenceRequest(query=" ".join(named) or symbol, filters=EvidenceFilters(path_allowlist=_PAGES))
            found = answering.ask(request).candidates
            naming = next((one for name in named for one in found if name.rpartition(".")[2] in one.text), None)
            if naming is not None and naming.citation not in cited:
                cited.add(naming.citation)
                title = " > ".join(filter(None, (naming.title, *naming.headings[-1:]))) or naming.path
                yield DocsPage(symbol=symbol, title=title, citation=naming.citation)


def show_text(report: Upgrade, out: Console) -> None:
    """Print a report for people."""
    out.print(Text(one_line(title(report)), "bold"), soft_wrap=True)
    for heading, items in sections(report):
        out.print(Text(f"\n{heading}", "bold"))
        for item in items:
            out.print(Text(f"  {one_line(f'{item.about}: {item.said}')}"), soft_wrap=True)
            for word, place in item.places:
                out.print(Text(f"    {word}{one_line(place)}", "dim"), soft_wrap=True)
    out.print(Text(f"\n{summary(report)}"), soft_wrap=True)
    for sentence in (*report.left_out, *(f"{path} cannot be read as Python." for path in report.unread)):
        out.print(Text(one_line(sentence), "dim"), soft_wrap=True)


def findings(report: Upgrade, folder: Path) -> list[Finding]:
    root = folder if folder.is_dir() else folder.parent
    return [
        Finding(one.code, said(one), str(root / one.path), one.line, key=one.symbol)
        for one in (*report.problems, *report.deprecated)
    ]
