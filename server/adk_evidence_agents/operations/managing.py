"""`index_codebase`, `update` and `delete`: they change indexes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adk_evidence.embedding.factory import fingerprint
from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.codebase import MAIN, Codebase
from adk_evidence.index.indexer import IndexReport
from adk_evidence.index.registry import described
from adk_evidence.paths import holds_the_users_home
from adk_evidence.settings import Settings
from adk_evidence_agents.operations.notes import printable
from adk_evidence_agents.operations.requests import IndexCodebaseParameters
from adk_evidence_agents.operations.responses import IndexedItems, Severity
from adk_evidence_agents.operations.run import Run
from adk_evidence_agents.roots import check_below_roots

if TYPE_CHECKING:
    from adk_ingest.indexes.codebase import CodebaseIndexer

MAX_SKIPPED = 100
# The fields of a codebase, and the parameters that they come from.
_FIELDS = {
    "name": "collection_name",
    "path": "codebase_path",
    "file_patterns": "file_patterns",
    "exclude_patterns": "exclude_patterns",
    "chunk_tokens": "chunk_size",
    "overlap_tokens": "chunk_overlap",
}


def index_codebase(run: Run, parameters: IndexCodebaseParameters) -> IndexedItems:
    """Build the index of a codebase; an index of that name is brought up to date.

    Where something stops the run, what was published before goes on answering.
    """
    indexer = _indexer(run)
    codebase = _codebase(run.indexes.settings, parameters)
    run.check_embedding(fingerprint(run.indexes.settings), codebase.name)
    return _report(run, indexer.index(codebase, run.cancelled, run.progress))


def update_codebase(run: Run, name: str) -> IndexedItems:
    """Bring an index up to date with its files."""
    indexer = _indexer(run, name)
    run.check_embedding(fingerprint(run.indexes.settings), name)
    return _report(run, indexer.update(name, run.cancelled, run.progress))


def delete_index(run: Run, name: str) -> str:
    """Remove an index; the codebase itself stays as it is."""
    indexer = _indexer(run, name)
    run.context.stop_if_cancelled()
    run.indexes.release(name)
    indexer.delete(name)
    return name


def _indexer(run: Run, known: str | None = None) -> CodebaseIndexer:
    """The indexer; raises where no codebase's index is called `known`."""
    if known == MAIN:
        raise InvalidRequestError(
            f"{MAIN} is the main index, which this operation does not change.", "Run `adk-ingest all` to update it."
        )
    if known is not None:
        run.indexes.named(known)
    return run.make_indexer(run.indexes.settings)


def _codebase(settings: Settings, parameters: IndexCodebaseParameters) -> Codebase:
    path = _checked_folder(settings, parameters.codebase_path)
    values = {
        field: getattr(parameters, said) for field, said in _FIELDS.items() if said in parameters.model_fields_set
    }
    return described(settings, {**values, "path": path}, _FIELDS, "Correct it.")


def _checked_folder(settings: Settings, given: str) -> Path:
    """The folder to index, with links resolved, where the user lets agents index.

    Agents mistake paths and follow instructions in texts: a folder that holds a whole home or disk is refused as well.
    """
    path = Path(given)
    if not path.is_absolute():
        raise InvalidRequestError("codebase_path is not absolute.", "Give the absolute path of the codebase's folder.")
    try:
        folder = path.resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL in the path, a loop of links
        raise InvalidRequestError("codebase_path is not a folder on this machine.", "Check the path.") from None
    if holds_the_users_home(folder):
        raise InvalidRequestError(
            "codebase_path is the home folder or one that holds it, which is more than a codebase.",
            "Give the folder of one project.",
        )
    if folder.is_relative_to(settings.paths.root.resolve()):
        raise InvalidRequestError(
            "codebase_path lies in the folder where ADK Evidence keeps its own data.", "Give the folder of a project."
        )
    # Checked before anything that would reveal whether such a folder exists.
    check_below_roots(settings, folder, "codebase_path")
    if not folder.is_dir():
        raise InvalidRequestError("codebase_path is not a folder on this machine.", "Check the path.")
    return folder


def _report(run: Run, report: IndexReport) -> IndexedItems:
    severity: Severity = "warning" if report.status == "partial" else "info"
    for path, reason in report.skipped[:MAX_SKIPPED]:
        run.notes.note(
            "parse_error", f"The file was not indexed: {reason.replace('_', ' ')}", severity, file=printable(path)
        )
    more = len(report.skipped) - MAX_SKIPPED
    if more > 0:
        run.notes.note("parse_error", f"{more} more files were not indexed.", severity)
    for warning in report.warnings:
        run.notes.advise(warning)
    if report.status == "unchanged":
        run.notes.advise("Nothing has changed since the codebase was indexed.")
    return IndexedItems(
        total_files=report.files,
        total_chunks=report.chunks,
        total_vectors=report.vectors,
        collection_name=report.name,
        index_size_bytes=report.size_bytes,
        indexing_time_seconds=round(report.seconds, 3),
        changed_files=report.changed_files,
        removed_files=report.removed_files,
    )
