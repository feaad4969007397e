"""`adk-evidence analyze`: what an index holds and repeats, and how old it is, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from adk_evidence.analysis.analyse import analyse
from adk_evidence.errors import SourceError
from adk_evidence.index.indexer import Survey
from adk_evidence.index.opened import CurrentIndex, Index
from adk_evidence.index.registry import IndexSummary, list_indexes, settings_of
from adk_evidence.models.analysis import AnalysisOptions, CodePlace, IndexAnalysis
from adk_evidence.render.sanitize import one_line, visible
from adk_evidence.settings import Settings
from adk_evidence_console import say
from adk_ingest.corpora.survey import survey
from adk_ingest.wording import counted

# Of each group of copies.
_PLACES = 4


def analyze_index(settings: Settings, name: str, options: AnalysisOptions, err: Console) -> IndexAnalysis:
    """Analyse an index. Where its sources are gone, a sentence says so, and they are not compared.

    Raises:
        UnknownIndexError: No index has this name.
        IndexMissingError: Nothing was ingested yet.
        IndexMismatchError: The index was built by another version of this program, or with other models.
    """
    own = settings_of(settings, name)
    summary = next((one for one in list_indexes(settings) if one.name == name), IndexSummary(name, None))
    current = CurrentIndex(own)
    try:
        with err.status("") as shown, current.pin() as index:

            def progress(done: float, total: float | None, message: str) -> None:
                share = f" {done / total:.0%}" if total else ""
                shown.update(visible(f"{message}{share}").replace("[", "\\["))

            progress(0, None, f"Looking at the sources of {name}.")
            sources = _survey(index, own, err)
            return analyse(index, summary, sources, options, progress, lambda: None)
    finally:
        current.close()


def _survey(index: Index, settings: Settings, err: Console) -> Survey | None:
    try:
        found = survey(index, settings)
    except SourceError as exc:
        say(err, f"The sources were not compared: {exc}", "yellow")
        return None
    for repo, why in found.unread.items():
        say(err, f"The sources of {repo} were not compared: {why}", "yellow")
    return found


def show_analysis(found: IndexAnalysis, out: Console) -> None:
    """Print an analysis."""
    say(
        out,
        f"{found.collection_name}: {found.total_files:,} files in {found.total_chunks:,} chunks, "
        f"{found.index_size_bytes / 1e6:,.1f} MB, indexed {found.age_days:,.1f} days ago.",
        "bold",
    )
    if found.codebase_path:
        say(out, one_line(found.codebase_path))
    _show_age(found, out)
    _show_left_out(found, out)
    _show_copies(found, out)


def _show_age(found: IndexAnalysis, out: Console) -> None:
    _title(out, "Age")
    for corpus in found.corpora:
        at = corpus.commit[:12] + (f" ({corpus.ref})" if corpus.ref and corpus.ref != corpus.commit else "")
        behind = ""
        if corpus.current_commit and corpus.current_commit != corpus.commit:
            count = f", {corpus.commits_since:,} commits later" if corpus.commits_since else ""
            behind = f"; checked out is {corpus.current_commit[:12]}{count}"
        say(out, f"{corpus.name}: {corpus.repo} at {at}{behind}")
    if found.changed_files is not None:
        say(
            out,
            f"Since then {found.changed_files:,} files changed, {found.missing_files or 0:,} are gone and "
            f"{found.added_files or 0:,} are new.",
        )
    for path in found.stale_files:
        say(out, f"  {one_line(path)}")
    for path in found.new_files:
        say(out, f"  {one_line(path)} (new)")


def _show_left_out(found: IndexAnalysis, out: Console) -> None:
    if not found.without_evidence:
        return
    _title(out, "Without evidence")
    for left in found.without_evidence:
        counts = [counted(left.files, "file", "files")] if left.files else []
        counts += [counted(left.folders, "folder", "folders")] if left.folders else []
        say(out, f"{' and '.join(counts)}, {left.reason.replace('_', ' ')}: {left.why}")
        _paths(out, left.listed, left.files + left.folders)


def _show_copies(found: IndexAnalysis, out: Console) -> None:
    exact = found.duplicates
    _title(out, "Copies")
    say(out, f"{exact.groups:,} texts stand in {exact.chunks:,} more chunks to the letter ({exact.bytes:,} bytes).")
    for group in exact.listed:
        say(out, f"{group.chunks:,} times {group.bytes:,} bytes")
        _paths(out, [_where(place) for place in group.places], group.chunks, _PLACES)


def _title(out: Console, title: str) -> None:
    out.print()
    say(out, title, "bold")


def _paths(out: Console, places: Sequence[str], count: int, most: int | None = None) -> None:
    shown = places[:most]
    for place in shown:
        say(out, f"  {one_line(place)}")
    if count > len(shown):
        say(out, f"  and {count - len(shown):,} more", "dim")


def _where(place: CodePlace) -> str:
    symbol = f" {place.symbol}" if place.symbol else ""
    return one_line(f"{place.path}:{place.lines.start}-{place.lines.end}{symbol}")
