"""What the commands for named indexes take and print."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adk_evidence.commands import with_options
from adk_evidence.index.codebase import Codebase, name_for
from adk_evidence.index.registry import IndexSummary, described
from adk_evidence.paths import expanded
from adk_evidence.render.sanitize import visible
from adk_evidence_console import say, table, write_json
from adk_ingest.wording import named, why_left_out

if TYPE_CHECKING:
    from rich.console import Console

    from adk_evidence.errors import EvidenceError
    from adk_evidence.index.indexer import IndexReport
    from adk_evidence.settings import Settings

SHOWN_WARNINGS = 20
SHOWN_LANGUAGES = 4
SHOWN_FILES = 5
_OPTIONS = {
    "name": "The name of the index",
    "path": "The folder",
    "file_patterns": "--include",
    "exclude_patterns": "--exclude",
    "chunk_tokens": "--chunk-tokens",
    "overlap_tokens": "--overlap-tokens",
}


def codebase_from(settings: Settings, path: Path, name: str | None, options: dict[str, Any]) -> Codebase:
    """The codebase that a command line describes; remembered values stand in for options that are None.

    Args:
        settings: Of the main index.
        path: The codebase's folder.
        name: The name of the index; None makes one of the folder's name.
        options: Other fields of `Codebase`.

    Raises:
        InvalidRequestError: An option is outside its contract; the sentence names it.
    """
    path = expanded(path).resolve()
    given = {field: value for field, value in options.items() if value is not None}
    values = {"name": name_for(path) if name is None else name, "path": path, **given}
    return described(settings, values, _OPTIONS, "See `adk-ingest codebase --help`; --name chooses a name.")


def show_index_report(report: IndexReport, console: Console) -> None:
    for warning in report.warnings[:SHOWN_WARNINGS]:
        say(console, f"warning: {warning}")
    if len(report.warnings) > SHOWN_WARNINGS:
        say(console, f"{len(report.warnings) - SHOWN_WARNINGS} more warnings; --json has them all.")
    skipped: dict[str, list[str]] = {}
    for path, reason in report.skipped:
        skipped.setdefault(why_left_out(reason), []).append(path)
    for reason, paths in sorted(skipped.items()):
        rest = "; --json has them all" if len(paths) > SHOWN_FILES else ""
        say(console, f"Not indexed ({reason}): {named(paths, SHOWN_FILES)}{rest}.")
    if report.status == "unchanged":
        say(console, f"Nothing changed; the index {report.name} is up to date.")
        return
    say(
        console,
        f"The index {report.name} holds {report.files:,} files in {report.chunks:,} chunks; {report.changed_files:,} "
        f"files were new or changed, {report.removed_files:,} are gone ({report.seconds:.1f} s).",
    )
    say(console, with_options(f'Ask it: `adk-evidence ask --index {report.name} "…"`'))


class PlainEvents:
    """What happens while a codebase is watched, as sentences; a run that found nothing new says nothing."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def watching(self, codebase: Codebase) -> None:
        say(self._console, f"Watching {codebase.path} for the index {codebase.name}; Ctrl+C ends this.")

    def waiting(self, sentence: str) -> None:
        say(self._console, f"{sentence} This goes on when that has ended.")

    def updated(self, report: IndexReport) -> None:
        if report.status != "unchanged":
            show_index_report(report, self._console)

    def failed(self, error: EvidenceError) -> None:
        say(self._console, f"Not updated: {error} The next change starts another run.")

    def ended(self) -> None:
        say(self._console, "The watching has ended; the index holds the last complete run.")


class JsonEvents:
    """What happens while a codebase is watched, one line of JSON for each event."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def watching(self, codebase: Codebase) -> None:
        self._write(event="watching", name=codebase.name, path=str(codebase.path))

    def waiting(self, sentence: str) -> None:
        self._write(event="waiting", message=sentence)

    def updated(self, report: IndexReport) -> None:
        self._write(event="updated", report=asdict(report))

    def failed(self, error: EvidenceError) -> None:
        self._write(event="failed", code=error.code, message=error.message, hint=error.hint)

    def ended(self) -> None:
        self._write(event="ended")

    def _write(self, **event: object) -> None:
        write_json(self._console, event)
        self._console.file.flush()


def show_indexes(indexes: list[IndexSummary], console: Console) -> None:
    if not indexes:
        say(console, with_options("There is no index yet. Run `adk-ingest all` or `adk-ingest codebase PATH`."))
        return
    rows = table("name", "files", "chunks", "MB", "updated", "languages", "folder", fold=True)
    for index in indexes:
        languages = ", ".join(f"{language} {count:,}" for language, count in index.languages[:SHOWN_LANGUAGES])
        numbers = (f"{index.files:,}", f"{index.chunks:,}", f"{index.size_bytes / 1e6:,.0f}")
        updated = (index.updated_at or "not yet").partition("T")[0]
        rows.add_row(index.name, *numbers, updated, visible(languages), visible(str(index.path or "")))
    console.print(rows)
