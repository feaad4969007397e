"""What the commands for named indexes take and print."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from adk_evidence.commands import with_options
from adk_evidence.errors import InvalidRequestError, UnknownIndexError
from adk_evidence.index.codebase import MAX_NAME_CHARS, Codebase
from adk_evidence.index.registry import IndexSummary, read_codebase
from adk_evidence.paths import expanded
from adk_evidence.render.sanitize import visible
from adk_evidence.validation import first_problem
from adk_evidence_console import say, table
from adk_ingest.wording import named

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
    if name is None:
        name = re.sub(r"[^a-z0-9._-]+", "-", path.name.lower()).strip("._-")[:MAX_NAME_CHARS].rstrip(".")
    values: dict[str, Any] = {"name": name, "path": path}
    with suppress(UnknownIndexError):
        values = {**read_codebase(settings, name).model_dump(), **values}
    values |= {field: value for field, value in options.items() if value is not None}
    try:
        return Codebase.model_validate(values)
    except ValidationError as exc:
        where, what = first_problem(exc)
        field = where.partition(".")[0] or "overlap_tokens"
        hint = "Choose one with --name." if field == "name" else "See `adk-ingest codebase --help`."
        raise InvalidRequestError(f"{_OPTIONS[field]} is not valid: {what}.", hint) from exc


def show_index_report(report: IndexReport, console: Console) -> None:
    for warning in report.warnings[:SHOWN_WARNINGS]:
        say(console, f"warning: {warning}")
    if len(report.warnings) > SHOWN_WARNINGS:
        say(console, f"{len(report.warnings) - SHOWN_WARNINGS} more warnings; --json has them all.")
    skipped: dict[str, list[str]] = {}
    for path, reason in report.skipped:
        skipped.setdefault(reason.replace("_", " "), []).append(path)
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
