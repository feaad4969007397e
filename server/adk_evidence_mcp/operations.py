"""The operations for agents as tools: search, similar code, context for a task, and indexes of any codebase."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.registry import IndexSummary
from adk_evidence.index.registry import list_indexes as known_indexes
from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import TYPE_KINDS, ChunkPayload, SourceType
from adk_evidence.models.request import QueryText, plain
from adk_evidence.render.quotes import take, written
from adk_evidence.render.sanitize import fenced, one_line
from adk_evidence.search.context import Context
from adk_evidence.text.tokens import estimate_tokens
from adk_evidence_agents.operations import managing
from adk_evidence_agents.operations.context import frame, get_context, quote_of
from adk_evidence_agents.operations.notes import Notes
from adk_evidence_agents.operations.requests import (
    ALL_INDEXES,
    Code,
    FindSimilarParameters,
    GetContextParameters,
    IndexCodebaseParameters,
    Name,
    SearchFilters,
    SearchParameters,
)
from adk_evidence_agents.operations.run import Run
from adk_evidence_agents.operations.searching import Found, find_similar, search
from adk_evidence_agents.operations.snippets import explanation
from adk_evidence_agents.session import AgentSession, valid
from adk_evidence_mcp.tools import READING_TOKENS, Budget, Tool
from adk_evidence_mcp.work import Call

# The share of a budget that warnings and advice may take: they say what the rest is worth.
NOTES_SHARE = 0.15
Where = Literal["both", "code", "docs"]


Index = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description=f"From list_indexes; `{ALL_INDEXES}` for all.",
    ),
]
IndexName = Annotated[str, Field(min_length=1, max_length=64, description="Lower-case letters, digits, `.`, `_`, `-`.")]
_Short = Annotated[str, Field(max_length=100), AfterValidator(plain)]
FileType = Annotated[_Short | None, Field(description="A language or extension.")]
Directory = Annotated[_Short | None, Field(description="A folder or glob.")]
Count = Annotated[int, Field(ge=1, le=50)]


class SearchCodeAndDocs(Frozen):
    """Arguments of `search_code_and_docs`."""

    query: QueryText = Field(description="A question, or names.")
    index: Index = "adk"
    where: Where = "both"
    file_type: FileType = None
    directory: Directory = None
    max_results: Count = 8
    max_tokens: Budget = READING_TOKENS


class FindSimilarCode(Frozen):
    """Arguments of `find_similar_code`."""

    code: Code
    index: Index = "adk"
    file_type: FileType = None
    directory: Directory = None
    max_results: Count = 8
    min_similarity: float | None = Field(default=None, ge=0, le=1, description="Least cosine similarity.")
    max_tokens: Budget = READING_TOKENS


class GetTaskContext(Frozen):
    """Arguments of `get_task_context`."""

    task: QueryText
    index: Index = "adk"
    agent_type: Name = Field(
        default="general",
        description="build, debug, explain, refactor, docs, test or general.",
    )
    max_tokens: Budget = 4000


class IndexCodebase(Frozen):
    """Arguments of `index_codebase`."""

    name: IndexName
    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="Absolute path of the project's folder.",
    )
    file_patterns: tuple[str, ...] = Field(
        default=(), max_length=200, description="Globs to take; default: every known text file."
    )
    exclude_patterns: tuple[str, ...] = Field(
        default=(), max_length=200, description="Globs to leave out, besides generated folders."
    )


class ListIndexes(Frozen):
    """Arguments of `list_indexes`: none."""


class DeleteIndex(Frozen):
    """Arguments of `delete_index`."""

    name: IndexName


def search_code_and_docs(session: AgentSession, arguments: SearchCodeAndDocs, call: Call) -> str:
    """Search the code and docs of an indexed codebase; each result with its text and a checked citation. list_indexes
    names the codebases. On `adk`, Google's Agent Development Kit, find_adk_evidence answers better.
    """
    parameters = SearchParameters(query=arguments.query, top_k=arguments.max_results, filters=_filters(arguments))
    sources: tuple[SourceType, ...] = ("code", "docs") if arguments.where == "both" else (arguments.where,)
    action = "search_code_and_docs" if arguments.where == "both" else f"search_{arguments.where}"
    with _run(session, call, action, arguments.index) as run:
        found = [search(run, parameters, (source,)) for source in sources]
        # Code and docs take turns: their scores say little of one against the other.
        results = [item for turn in zip_longest(*found) for item in turn if item is not None][: arguments.max_results]
        return _found(run, [(item, _symbol(item.payload), "") for item in results], arguments.max_tokens)


def find_similar_code(session: AgentSession, arguments: FindSimilarCode, call: Call) -> str:
    """Find code like a snippet in an indexed codebase. Use it before you write what may exist already, or to find every
    place that needs the same change.
    """
    code = arguments.code
    parameters = FindSimilarParameters(
        reference_code=code,
        top_k=arguments.max_results,
        similarity_threshold=arguments.min_similarity,
        filters=_filters(arguments),
    )
    with _run(session, call, "find_similar", arguments.index) as run:
        found = find_similar(run, parameters)
        results = [(item, "", explanation(code, item.payload, item.score or 0.0)) for item in found]
        return _found(run, results, arguments.max_tokens)


def get_task_context(session: AgentSession, arguments: GetTaskContext, call: Call) -> str:
    """Gather what to read before a task in an indexed codebase: the most relevant code and docs with checked citations,
    and the files that they import or that use them. Call it once when a task begins, then search for what is missing.
    """
    parameters = GetContextParameters(
        task_description=arguments.task, agent_type=arguments.agent_type, max_tokens=arguments.max_tokens
    )
    with _run(session, call, "get_context", arguments.index) as run:
        _, text = get_context(run, parameters)
    notes, _ = _notes_that_fit(run.notes, arguments.max_tokens)
    while notes and estimate_tokens(_with_notes(text, notes)) > arguments.max_tokens:
        notes.pop()
    return _with_notes(text, notes)


def index_codebase(session: AgentSession, arguments: IndexCodebase, call: Call) -> str:
    """Index a project's folder on this machine under a name, for the other tools to search; without a path, update an
    index that is there. Takes seconds to minutes.
    """
    # A known index keeps the patterns that are not given.
    patterns = arguments.model_dump(include={"file_patterns", "exclude_patterns"}, exclude_unset=True)
    if arguments.path is None:
        if any(patterns.values()):
            raise InvalidRequestError("The patterns of an index change with its path.", "Give the path as well.")
        with _run(session, call, "update", arguments.name) as run:
            items = managing.update_codebase(run, arguments.name)
    else:
        given = {"codebase_path": arguments.path, "collection_name": arguments.name, **patterns}
        parameters = valid(IndexCodebaseParameters, given)
        with _run(session, call, "index_codebase", arguments.name) as run:
            items = managing.index_codebase(run, parameters)
    text = (
        f"The index {items.collection_name} has {items.total_files} files in {items.total_chunks} chunks; "
        f"{items.changed_files} files were read and {items.removed_files} removed in "
        f"{items.indexing_time_seconds:.1f} s. Search it with search_code_and_docs and index={items.collection_name}."
    )
    return _with_notes(text, (*run.notes.recommendations, *run.notes.warnings))


def list_indexes(session: AgentSession, arguments: ListIndexes, call: Call) -> str:
    """List the indexes that can be searched: name, folder, files by language, last update."""
    lines = list(map(_known_line, known_indexes(session.settings)))
    return fenced("\n".join(lines), "text") if lines else "Nothing has been indexed yet."


def delete_index(session: AgentSession, arguments: DeleteIndex, call: Call) -> str:
    """Remove the index of a codebase, not the codebase itself. The main index `adk` cannot be removed. Ask the user
    first.
    """
    with _run(session, call, "delete", arguments.name) as run:
        name = managing.delete_index(run, arguments.name)
    return f"The index {name} is removed; the codebase itself was not touched."


def _run(session: AgentSession, call: Call, action: str, index: str) -> Run:
    return Run(session, action, index, Context(call.cancelled, question_logged=False), call.progress)


def _filters(arguments: SearchCodeAndDocs | FindSimilarCode) -> SearchFilters:
    return SearchFilters(file_type=arguments.file_type, directory=arguments.directory)


def _symbol(payload: ChunkPayload) -> str:
    return (
        payload.symbol or ""
        if payload.symbol_kind in (*TYPE_KINDS, "methods", "method", "function", "namespace")
        else ""
    )


def _found(run: Run, results: Sequence[tuple[Found, str, str]], max_tokens: int) -> str:
    """The results that fit into the budget, each with its symbol and the reason."""
    quotes = [quote_of(item, "CTX", symbol, why) for item, symbol, why in results]
    sentence = f"{len(results)} results, best first." if results else "Nothing was found."
    notes, reserved = _notes_that_fit(run.notes, max_tokens)
    head = frame(sentence) if results else sentence
    taken, _ = take(quotes, max_tokens - reserved - estimate_tokens(head))
    return _with_notes("\n\n".join([head, *written(taken)]), notes)


def _notes_that_fit(notes: Notes, max_tokens: int) -> tuple[list[str], int]:
    """The first warnings and advice that take no more than their share of a budget, and their tokens."""
    fitting: list[str] = []
    spent = 0
    for note in (*notes.warnings, *notes.recommendations):
        price = estimate_tokens(_with_notes("", [note]))
        if spent + price > max_tokens * NOTES_SHARE:
            break
        fitting.append(note)
        spent += price
    return fitting, spent


def _with_notes(text: str, notes: Sequence[str]) -> str:
    return "\n".join([text, *(f"NOTE: {one_line(note)}" for note in notes)])


def _known_line(index: IndexSummary) -> str:
    languages = ", ".join(f"{count} {name}" for name, count in list(dict(index.languages).items())[:5])
    about = index.path or "docs and source of the Agent Development Kit"
    return one_line(f"{index.name}: {about}; {index.files} files ({languages}), updated {index.updated_at or 'never'}")


OPERATION_TOOLS: tuple[Tool, ...] = (
    Tool("Search code and docs", search_code_and_docs, SearchCodeAndDocs),
    Tool("Find similar code", find_similar_code, FindSimilarCode),
    Tool("Get task context", get_task_context, GetTaskContext),
    Tool("Index a codebase", index_codebase, IndexCodebase, read_only=False),
    Tool("List the indexes", list_indexes, ListIndexes),
    Tool("Delete an index", delete_index, DeleteIndex, read_only=False, destructive=True),
)
