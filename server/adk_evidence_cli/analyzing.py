"""`adk-evidence analyze`: what an index holds, repeats and lacks, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from adk_evidence.analysis.analyse import analyse
from adk_evidence.errors import SourceError
from adk_evidence.index.indexer import Survey
from adk_evidence.index.opened import CurrentIndex, Index
from adk_evidence.index.registry import IndexSummary, list_indexes, settings_of
from adk_evidence.models.analysis import AnalysisOptions, CodePlace, IndexAnalysis, Share
from adk_evidence.render.sanitize import one_line, visible
from adk_evidence.settings import Settings
from adk_evidence_console import say
from adk_ingest.survey import survey
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
            return analyse(index, own, summary, sources, options, progress, lambda: None)
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
    """Print an analysis: first what to do, then what that was concluded from."""
    say(
        out,
        f"{found.collection_name}: {found.total_files:,} files in {found.total_chunks:,} chunks, "
        f"{found.index_size_bytes / 1e6:,.1f} MB, indexed {found.age_days:,.1f} days ago.",
        "bold",
    )
    if found.codebase_path:
        say(out, one_line(found.codebase_path))
    _title(out, "What to do")
    for sentence in found.recommendations:
        say(out, f"- {sentence}")
    if not found.recommendations:
        say(out, "Nothing.")
    _show_age(found, out)
    _show_left_out(found, out)
    _show_copies(found, out)
    _show_large(found, out)
    for title, shares in (
        ("By language", found.by_language),
        ("By kind", found.by_kind),
        ("By folder", found.by_folder),
    ):
        _show_shares(title, shares, out)
    _show_drift(found, out)


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
    exact, near = found.duplicates, found.near_duplicates
    _title(out, "Copies")
    say(out, f"{exact.groups:,} texts stand in {exact.chunks:,} more chunks to the letter ({exact.bytes:,} bytes).")
    for group in exact.listed:
        say(out, f"{group.chunks:,} times {group.bytes:,} bytes{_program(generated=group.generated)}")
        _paths(out, [_where(place) for place in group.places], group.chunks, _PLACES)
    _title(out, "Nearly copies")
    say(
        out,
        f"{near.groups:,} of {near.compared:,} different texts are nearly those of {near.chunks:,} more chunks.",
    )
    for nearly in near.listed:
        say(out, f"{nearly.chunks:,} texts of about {nearly.bytes:,} bytes{_program(generated=nearly.generated)}")
        places = [_where(nearly.first), *(f"{_where(one)} ({one.similarity:.0%} alike)" for one in nearly.others)]
        _paths(out, places, nearly.chunks, _PLACES)


def _show_large(found: IndexAnalysis, out: Console) -> None:
    large = found.large_symbols
    _title(out, "Large")
    functions, classes = counted(large.functions, "function", "functions"), counted(large.classes, "class", "classes")
    say(out, f"{functions} and {classes} are large.")
    for one in large.listed:
        say(out, f"{one.tokens:>9,} tokens  {_where(one)}, {one.kind} in {counted(one.chunks, 'chunk', 'chunks')}")


def _show_shares(title: str, shares: Sequence[Share], out: Console) -> None:
    _title(out, title)
    total = sum(share.tokens for share in shares) or 1
    say(out, f"{'share':>5}{'tokens':>13}{'chunks':>10}{'files':>9}", "dim")
    # Not a table, which would break the names of folders.
    for share in shares:
        part = f"{share.tokens / total:>5.0%}{share.tokens:>13,}{share.chunks:>10,}{share.files:>9,}"
        say(out, f"{part}  {one_line(share.name)}")


def _show_drift(found: IndexAnalysis, out: Console) -> None:
    drift = found.drift
    if drift is None:
        return
    _title(out, "Docs against code")
    say(
        out,
        f"{drift.missing:,} of {drift.imports:,} imports in {drift.files:,} files of docs do not exist in google-adk "
        f"{drift.version}; {drift.findings:,} findings with attributes and keywords.",
    )
    for one in drift.listed:
        say(out, f"  {one_line(one.path)}:{one.lines.start}  {one_line(one.text)}")


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


def _program(*, generated: bool) -> str:
    return ", all written by a program" if generated else ""
