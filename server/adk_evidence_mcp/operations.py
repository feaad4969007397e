"""The operations for agents as tools: search, similar code, context for a task, and indexes of any codebase."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.index.registry import IndexSummary, list_indexes
from adk_evidence.models.pack import LineSpan, VerificationState
from adk_evidence.models.request import MAX_QUERY_CHARS
from adk_evidence.render.prompt import DEFAULT_MAX_TOKENS
from adk_evidence.render.sanitize import fenced, one_line
from adk_evidence.render.view import verification_label
from adk_evidence.settings import Settings
from adk_evidence.tokens import estimate_tokens
from adk_evidence_agents.operations.blocks import Entry, frame, place, take, write_block
from adk_evidence_agents.operations.bundle import write_out
from adk_evidence_agents.operations.execute import execute
from adk_evidence_agents.operations.indexer import Indexer
from adk_evidence_agents.operations.requests import ALL_INDEXES, MAX_BUNDLE_TOKENS, MAX_CODE_CHARS, make_request
from adk_evidence_agents.operations.responses import (
    ContextSource,
    IndexAnalysis,
    IndexedItems,
    OperationResponse,
    RelatedFile,
    SearchResult,
    SimilarItem,
)
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp.tools import MIN_TOKENS, Answer, Budget, Call, Tool

# Warnings and advice may take this much of a budget: they say what the rest is worth.
NOTES_SHARE = 0.15
Where = Literal["both", "code", "docs"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OperationFailedError(EvidenceError):
    """An operation has no result; the sentence is that of its first error record."""

    code = "operation_failed"


Index = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description=f"Name of the index, as list_indexes gives it; `{ALL_INDEXES}` asks every index.",
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=64, description="Name of the index.")]
FileType = Annotated[
    str | None, Field(max_length=100, description="Only files of this language or extension, e.g. `typescript`.")
]
Directory = Annotated[
    str | None, Field(max_length=100, description="Only files below this folder or glob, e.g. `src/components`.")
]
Count = Annotated[int, Field(ge=1, le=50, description="Number of results.")]


class SearchCodeAndDocs(_Model):
    """Arguments of `search_code_and_docs`."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS, description="The question in words, or names.")
    index: Index = "adk"
    where: Where = Field(default="both", description="In the code, in the documentation, or in both.")
    file_type: FileType = None
    directory: Directory = None
    max_results: Count = 8
    max_tokens: Budget = DEFAULT_MAX_TOKENS


class Place(_Model):
    """A result in the text, in the order of its [CTX n] marks."""

    citation: str
    index: str
    path: str
    lines: LineSpan
    score: float | None = Field(description="Cosine similarity to what was asked, 0 to 1.")
    verification: VerificationState


class SearchFound(_Model):
    """What a search found; the texts themselves are in the text of the answer."""

    results: tuple[Place, ...]
    omitted: int = Field(description="Results that the token budget left out, the least relevant ones.")
    recommendations: tuple[str, ...]
    warnings: tuple[str, ...]
    tokens: int = Field(description="Tokens of the text, estimated.")


class FindSimilarCode(_Model):
    """Arguments of `find_similar_code`."""

    code: str = Field(min_length=1, max_length=MAX_CODE_CHARS, description="The snippet, as it is.")
    index: Index = "adk"
    file_type: FileType = None
    directory: Directory = None
    max_results: Count = 8
    min_similarity: float | None = Field(default=None, ge=0, le=1, description="Least cosine similarity.")
    max_tokens: Budget = DEFAULT_MAX_TOKENS


class GetTaskContext(_Model):
    """Arguments of `get_task_context`."""

    task: str = Field(min_length=1, max_length=MAX_QUERY_CHARS, description="What is to be done, in words and names.")
    index: Index = "adk"
    agent_type: str = Field(
        default="general",
        min_length=1,
        max_length=100,
        description="Who will do it: build, debug, explain, refactor, docs, test or general; steers the mix.",
    )
    max_tokens: int = Field(
        default=4000,
        ge=MIN_TOKENS,
        le=MAX_BUNDLE_TOKENS,
        description="Most tokens that the text of the answer may have (estimated).",
    )


class TaskContext(_Model):
    """What `get_task_context` gathered; the texts themselves are in the text of the answer."""

    code: tuple[ContextSource, ...]
    docs: tuple[ContextSource, ...]
    related_files: tuple[RelatedFile, ...]
    confidence: float
    recommendations: tuple[str, ...]
    warnings: tuple[str, ...]
    tokens: int = Field(description="Tokens of the text, estimated.")


class IndexCodebase(_Model):
    """Arguments of `index_codebase`."""

    name: Name
    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="Absolute path of the codebase's folder. Leave it out to update an index that is there.",
    )
    file_patterns: tuple[str, ...] = Field(
        default=(), max_length=200, description="Globs of the files to take; empty: every known text file."
    )
    exclude_patterns: tuple[str, ...] = Field(
        default=(), max_length=200, description="Globs of what to leave out besides generated folders."
    )


class Indexed(_Model):
    """What `index_codebase` left in the index."""

    index: IndexedItems
    recommendations: tuple[str, ...]
    warnings: tuple[str, ...] = Field(description="Among them the files that could not be indexed.")


class ListIndexes(_Model):
    """Arguments of `list_indexes`."""

    check: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description=f"Name of an index, or `{ALL_INDEXES}`, to look closer at: files that changed since, repeated "
        "chunks. Reads every indexed file.",
    )


class KnownIndex(_Model):
    """An index."""

    name: str
    path: str | None = Field(description="Folder of the codebase; null for the main index.")
    files: int
    chunks: int
    updated_at: str | None
    languages: dict[str, int] = Field(description="Number of files by extension.")


class IndexesListed(_Model):
    """The indexes that can be asked."""

    indexes: tuple[KnownIndex, ...]
    checked: tuple[IndexAnalysis, ...]
    recommendations: tuple[str, ...]
    warnings: tuple[str, ...]


class DeleteIndex(_Model):
    """Arguments of `delete_index`."""

    name: Name


class IndexDeleted(_Model):
    """What `delete_index` removed."""

    name: str


def search_code_and_docs(session: AgentSession, arguments: SearchCodeAndDocs, call: Call) -> Answer:
    """Results of one index or all of them, fenced, within the budget."""
    kinds = {"code": ("search_code",), "docs": ("search_docs",)}.get(arguments.where, ("search_code", "search_docs"))
    parameters = {
        "query": arguments.query,
        "collection_name": arguments.index,
        "top_k": arguments.max_results,
        "context_lines": 0,
        "filters": _filters(arguments.file_type, arguments.directory),
    }
    # Code and docs are of one state of the index.
    with session.one_state():
        responses = [_execute(session, call, kind, parameters) for kind in kinds]
    found = [response.results.search_results or () for response in responses]
    # Code and docs take turns: their scores say little of one against the other.
    results = [item for turn in zip_longest(*found) for item in turn if item is not None][: arguments.max_results]
    return _found(
        [_search_entry(item) for item in results],
        [_search_place(item) for item in results],
        responses,
        arguments.max_tokens,
    )


def find_similar_code(session: AgentSession, arguments: FindSimilarCode, call: Call) -> Answer:
    """Code like a snippet, fenced, each with the reason, within the budget."""
    response = _execute(
        session,
        call,
        "find_similar",
        {
            "reference_code": arguments.code,
            "collection_name": arguments.index,
            "top_k": arguments.max_results,
            "similarity_threshold": arguments.min_similarity,
            "filters": _filters(arguments.file_type, arguments.directory),
        },
    )
    items = response.results.similar_items or ()
    entries = [_similar_entry(item) for item in items]
    places = [_similar_place(item) for item in items]
    return _found(entries, places, [response], arguments.max_tokens)


def get_task_context(session: AgentSession, arguments: GetTaskContext, call: Call) -> Answer:
    """Code, docs and related files for a task, as a block for a prompt."""
    response = _execute(
        session,
        call,
        "get_context",
        {
            "task_description": arguments.task,
            "collection_name": arguments.index,
            "agent_type": arguments.agent_type,
            "max_tokens": arguments.max_tokens,
        },
    )
    bundle = response.results.context_bundle
    if bundle is None:
        raise _failure(response)
    warnings = _warnings([response])
    notes, _ = _notes_that_fit((*warnings, *response.recommendations), arguments.max_tokens)
    text = write_out(bundle)
    while notes and estimate_tokens(_with_notes(text, notes)) > arguments.max_tokens:
        notes.pop()
    text = _with_notes(text, notes)
    structured = TaskContext(
        code=bundle.code_sources,
        docs=bundle.doc_sources,
        related_files=bundle.relations,
        confidence=bundle.confidence,
        recommendations=response.recommendations,
        warnings=warnings,
        tokens=estimate_tokens(text),
    )
    return Answer(text, structured)


def index_codebase(session: AgentSession, arguments: IndexCodebase, call: Call) -> Answer:
    """Build an index, or bring it up to date."""
    if arguments.path is None:
        if arguments.file_patterns or arguments.exclude_patterns:
            raise InvalidRequestError("The patterns of an index change with its path.", "Give the path as well.")
        response = _execute(session, call, "update", {"collection_name": arguments.name})
    else:
        response = _execute(
            session,
            call,
            "index_codebase",
            {
                "codebase_path": arguments.path,
                "collection_name": arguments.name,
                # What is not given stays as it was where the index is known.
                **{
                    name: list(getattr(arguments, name))
                    for name in ("file_patterns", "exclude_patterns")
                    if name in arguments.model_fields_set
                },
            },
        )
    items = response.results.indexed_items
    if items is None:
        raise _failure(response)
    text = (
        f"The index {items.collection_name} has {items.total_files} files in {items.total_chunks} chunks; "
        f"{items.changed_files} files were read and {items.removed_files} removed in "
        f"{items.indexing_time_seconds:.1f} s. Search it with search_code_and_docs and index={items.collection_name}."
    )
    warnings = _warnings([response])
    structured = Indexed(index=items, recommendations=response.recommendations, warnings=warnings)
    return Answer(_with_notes(text, (*response.recommendations, *warnings)), structured)


def list_known_indexes(session: AgentSession, arguments: ListIndexes, call: Call) -> Answer:
    """The indexes, and on request how far they are up to date."""
    known = [_known(summary) for summary in list_indexes(session.settings)]
    responses = (
        [] if arguments.check is None else [_execute(session, call, "analyze", {"collection_name": arguments.check})]
    )
    checked = tuple(item for response in responses for item in response.results.analysis or ())
    advice = tuple(sentence for response in responses for sentence in response.recommendations)
    lines = [_line(index) for index in known] + [_checked_line(item) for item in checked]
    text = fenced("\n".join(lines), "text") if lines else "Nothing has been indexed yet."
    warnings = _warnings(responses)
    structured = IndexesListed(indexes=tuple(known), checked=checked, recommendations=advice, warnings=warnings)
    return Answer(_with_notes(text, (*warnings, *advice)), structured)


def delete_index(session: AgentSession, arguments: DeleteIndex, call: Call) -> Answer:
    """Remove an index."""
    response = _execute(session, call, "delete", {"collection_name": arguments.name})
    if response.results.deleted_collection is None:
        raise _failure(response)
    name = response.results.deleted_collection
    return Answer(f"The index {name} is removed; the codebase itself was not touched.", IndexDeleted(name=name))


def _make_indexer(settings: Settings) -> Indexer:
    from adk_ingest.codebase import CodebaseIndexer

    return CodebaseIndexer(settings)


def _execute(session: AgentSession, call: Call, kind: str, parameters: dict[str, Any]) -> OperationResponse:
    """The response of an operation.

    Raises:
        OperationFailedError: It failed.
    """
    response = execute(
        make_request(kind, parameters),
        session,
        make_indexer=_make_indexer,
        cancelled=call.cancelled,
        progress=call.progress,
    )
    if response.status == "failed":
        raise _failure(response)
    return response


def _failure(response: OperationResponse) -> OperationFailedError:
    critical = [error.message for error in response.errors if error.severity == "critical"]
    return OperationFailedError(" ".join(one_line(message) for message in critical))


def _filters(file_type: str | None, directory: str | None) -> dict[str, str]:
    given = {"file_type": file_type, "directory": directory}
    return {name: value for name, value in given.items() if value is not None}


def _found(
    entries: Sequence[Entry],
    places: Sequence[Place],
    responses: Sequence[OperationResponse],
    max_tokens: int,
) -> Answer:
    count = len(entries)
    sentence = f"{count} results, best first." if count else "Nothing was found."
    advice = tuple(dict.fromkeys(sentence for response in responses for sentence in response.recommendations))
    warnings = _warnings(responses)
    notes, reserved = _notes_that_fit((*warnings, *advice), max_tokens)
    taken, _ = take(entries, max_tokens - reserved - estimate_tokens(frame(sentence)))
    text = _with_notes(write_block(sentence, taken) if entries else sentence, notes)
    structured = SearchFound(
        results=tuple(places[: len(taken)]),
        omitted=count - len(taken),
        recommendations=advice,
        warnings=warnings,
        tokens=estimate_tokens(text),
    )
    return Answer(text, structured)


def _notes_that_fit(notes: Sequence[str], max_tokens: int) -> tuple[list[str], int]:
    """The first notes that take no more than their share of a budget, and their tokens."""
    fitting: list[str] = []
    spent = 0
    for note in notes:
        price = estimate_tokens(_with_notes("", [note]))
        if spent + price > max_tokens * NOTES_SHARE:
            break
        fitting.append(note)
        spent += price
    return fitting, spent


def _with_notes(text: str, notes: Sequence[str]) -> str:
    return "\n".join([text, *(f"NOTE: {one_line(note)}" for note in notes)])


def _warnings(responses: Sequence[OperationResponse]) -> tuple[str, ...]:
    errors = [error for response in responses for error in response.errors]
    said = (f"{error.file}: {error.message}" if error.file else error.message for error in errors)
    return tuple(dict.fromkeys(said))


def _search_entry(item: SearchResult) -> Entry:
    about = item.metadata
    name = ".".join(part for part in (about.class_name, about.function_name) if part)
    where = place(item.collection_name, about.file_path, about.line_start, about.line_end, name)
    return Entry(
        "CTX", item.citation, f"{where} ({verification_label(item.verification)})", item.content, about.file_type
    )


def _search_place(item: SearchResult) -> Place:
    about = item.metadata
    return Place(
        citation=item.citation,
        index=item.collection_name,
        path=about.file_path,
        lines=LineSpan(start=about.line_start, end=about.line_end),
        score=item.score,
        verification=item.verification.state,
    )


def _similar_entry(item: SimilarItem) -> Entry:
    where = place(item.collection_name, item.file_path, item.line_start, item.line_end)
    facts = f"{where} ({verification_label(item.verification)}). {item.explanation}"
    return Entry("CTX", item.citation, facts, item.code_snippet, Path(item.file_path).suffix.lstrip("."))


def _similar_place(item: SimilarItem) -> Place:
    return Place(
        citation=item.citation,
        index=item.collection_name,
        path=item.file_path,
        lines=LineSpan(start=item.line_start, end=item.line_end),
        score=item.similarity_score,
        verification=item.verification.state,
    )


def _known(summary: IndexSummary) -> KnownIndex:
    return KnownIndex(
        name=summary.name,
        path=None if summary.path is None else str(summary.path),
        files=summary.files,
        chunks=summary.chunks,
        updated_at=summary.updated_at,
        languages=dict(summary.languages),
    )


def _line(index: KnownIndex) -> str:
    languages = ", ".join(f"{count} {name}" for name, count in list(index.languages.items())[:5])
    place = index.path or "docs and source of the Agent Development Kit"
    return one_line(f"{index.name}: {place}; {index.files} files ({languages}), updated {index.updated_at or 'never'}")


def _checked_line(item: IndexAnalysis) -> str:
    return one_line(
        f"{item.collection_name}, checked: {item.changed_files} files changed and {item.missing_files} are gone since "
        f"it was indexed {item.age_days:.1f} days ago; {item.duplicate_chunks} of {item.total_chunks} chunks "
        "repeat others"
    )


OPERATION_TOOLS: tuple[Tool, ...] = (
    Tool(
        "search_code_and_docs",
        "Search code and docs",
        "Search the code and documentation of an indexed codebase by meaning, words and names; each result with its "
        "place, a checked citation and its text. The index `adk` holds Google's Agent Development Kit; list_indexes "
        "names the others. For questions on the ADK alone, find_adk_evidence gives a more thorough answer.",
        SearchCodeAndDocs,
        SearchFound,
        search_code_and_docs,
    ),
    Tool(
        "find_similar_code",
        "Find similar code",
        "Find code like a snippet in an indexed codebase: other implementations of the same thing, or copies. Says for "
        "each result how similar it is and what both have in common. Use it before you write something that may exist "
        "already, or to find every place that needs the same change.",
        FindSimilarCode,
        SearchFound,
        find_similar_code,
    ),
    Tool(
        "get_task_context",
        "Get the context of a task",
        "Gather what to read before a task in an indexed codebase: the most relevant code and docs with checked "
        "citations, and the files that they import or that use them, within a token budget. Call it once at the "
        "beginning of a task, then search for what is missing.",
        GetTaskContext,
        TaskContext,
        get_task_context,
    ),
    Tool(
        "index_codebase",
        "Index a codebase",
        "Index the folder of a project on this machine under a name, so that the other tools can search it; without a "
        "path, read again what has changed in an index that is there. Everything stays on this machine with the "
        "default settings. Takes seconds to minutes; generated folders such as node_modules are left out.",
        IndexCodebase,
        Indexed,
        index_codebase,
        read_only=False,
    ),
    Tool(
        "list_indexes",
        "List the indexes",
        "List the indexes that can be searched: name, folder, files by language, and when each was brought up to date. "
        "With `check`, say also which files have changed since and how many chunks are repeated.",
        ListIndexes,
        IndexesListed,
        list_known_indexes,
    ),
    Tool(
        "delete_index",
        "Delete an index",
        "Remove the index of a codebase from this machine; the codebase itself is not touched, and index_codebase can "
        "build it again. The main index `adk` cannot be removed here. Ask the user before you call it.",
        DeleteIndex,
        IndexDeleted,
        delete_index,
        read_only=False,
        destructive=True,
    ),
)
