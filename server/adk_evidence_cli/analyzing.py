"""`adk-evidence analyze`: what an index holds and repeats, and how old it is, for people."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from rich.console import Console

from adk_evidence.models.analysis import AnalysisOptions, CodePlace, IndexAnalysis
from adk_evidence.render.sanitize import one_line
from adk_evidence.settings import Settings
from adk_evidence_agents.operations.analysis import analyze
from adk_evidence_agents.operations.run import Run
from adk_evidence_agents.session import AgentSession
from adk_evidence_cli.terminal import progress_on
from adk_evidence_console import say
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
    with (
        closing(AgentSession(lambda: settings)) as session,
        err.status("") as shown,
        Run(session, "analyze", name, progress=progress_on(shown)) as run,
    ):
        (found,) = analyze(run, options)
    for sentence in run.notes.warnings:
        say(err, f"The sources were not compared: {sentence}", "yellow")
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
