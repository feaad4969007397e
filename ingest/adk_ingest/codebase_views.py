"""What the commands for named indexes take and print."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.table import Table

from adk_evidence.commands import with_options
from adk_evidence.errors import InvalidRequestError, UnknownIndexError
from adk_evidence.index.codebase import MAX_NAME_CHARS, Codebase
from adk_evidence.index.registry import IndexSummary, read_codebase
from adk_evidence.render.sanitize import visible
from adk_evidence.validation import first_problem
from adk_evidence_console import say, write_json

if TYPE_CHECKING:
    from rich.console import Console

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
    """The codebase that a command line describes; the remembered values stand in for missing options.

    Args:
        settings: The home folder.
        path: The codebase's folder.
        name: Of its index; None takes the folder's.
        options: Other fields of `Codebase`; None where the command line says nothing.

    Raises:
        InvalidRequestError: An option is outside its contract; the sentence names it.
    """
    path = path.expanduser().resolve()
    name = name if name is not None else _name_of(path)
    values: dict[str, Any] = {"name": name, "path": path}
    try:
        known = read_codebase(settings, name)
    except UnknownIndexError:
        pass
    else:
        values = {**known.model_dump(), **values}
    values |= {field: value for field, value in options.items() if value is not None}
    try:
        return Codebase.model_validate(values)
    except ValidationError as exc:
        where, what = first_problem(exc)
        field = where.partition(".")[0] or "overlap_tokens"
        hint = "Choose one with --name." if field == "name" else "See `adk-ingest codebase --help`."
        raise InvalidRequestError(f"{_OPTIONS[field]} is not valid: {what}.", hint) from exc


def _name_of(path: Path) -> str:
    """The name of an index that comes closest to a folder's name."""
    return re.sub(r"[^a-z0-9._-]+", "-", path.name.lower()).strip("._-")[:MAX_NAME_CHARS].rstrip(".")


def show_index_report(report: IndexReport, console: Console, *, as_json: bool) -> None:
    """Print what a run left in a named index."""
    if as_json:
        write_json(console, asdict(report))
        return
    for warning in report.warnings[:SHOWN_WARNINGS]:
        say(console, f"warning: {warning}")
    if len(report.warnings) > SHOWN_WARNINGS:
        say(console, f"{len(report.warnings) - SHOWN_WARNINGS} more warnings; --json has them all.")
    if report.skipped:
        named: dict[str, list[str]] = {}
        for path, reason in report.skipped:
            named.setdefault(reason.replace("_", " "), []).append(path)
        for reason, paths in sorted(named.items()):
            more = f" and {len(paths) - SHOWN_FILES:,} more; --json has them all" if len(paths) > SHOWN_FILES else ""
            line = f"Not indexed ({reason}): {', '.join(paths[:SHOWN_FILES])}{more}."
            say(console, line)
    if report.status == "unchanged":
        say(console, f"Nothing changed; the index {report.name} is up to date.")
        return
    say(
        console,
        f"The index {report.name} holds {report.files:,} files in {report.chunks:,} chunks; {report.changed_files:,} "
        f"files were new or changed, {report.removed_files:,} are gone ({report.seconds:.1f} s).",
    )
    say(console, with_options(f'Ask it: `adk-evidence ask --index {report.name} "…"`'))


def show_indexes(indexes: list[IndexSummary], console: Console, *, as_json: bool) -> None:
    """Print the indexes of a home folder."""
    if as_json:
        rows = [{**asdict(index), "path": None if index.path is None else str(index.path)} for index in indexes]
        write_json(console, rows)
        return
    if not indexes:
        nothing = "There is no index yet. Run `adk-ingest all` or `adk-ingest codebase PATH`."
        say(console, with_options(nothing))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "files", "chunks", "MB", "updated", "languages", "folder"):
        numeric = column in ("files", "chunks", "MB")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for index in indexes:
        languages = ", ".join(f"{language} {count:,}" for language, count in index.languages[:SHOWN_LANGUAGES])
        table.add_row(
            index.name,
            f"{index.files:,}",
            f"{index.chunks:,}",
            f"{index.size_bytes / 1e6:,.0f}",
            (index.updated_at or "not yet").partition("T")[0],
            visible(languages),
            visible(str(index.path or "")),
        )
    console.print(table)
