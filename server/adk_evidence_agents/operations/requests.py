"""What agents may ask of an index (vector-agent.md section 2.1).

`operation.type` says what is done and which parameters it takes. The specification names five types; the tasks
`update`, `delete` and `analyze`, for which it names none, are operations of the same name. `task_type` must be the task
that the operation belongs to.
"""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID, uuid4

from pydantic import AfterValidator, Field, model_validator

from adk_evidence.index.codebase import DEFAULT_CHUNK_TOKENS, DEFAULT_OVERLAP_TOKENS
from adk_evidence.models.analysis import AnalysisOptions
from adk_evidence.models.base import Frozen
from adk_evidence.models.request import MAX_RESULTS, QueryText, plain

TaskType = Literal["index", "search", "update", "delete", "analyze"]
ALL_INDEXES = "*"
MAX_CODE_CHARS = 20_000
MAX_CONTEXT_LINES = 50
MIN_BUNDLE_TOKENS = 200
MAX_BUNDLE_TOKENS = 50_000


Code = Annotated[str, Field(min_length=1, max_length=MAX_CODE_CHARS), AfterValidator(plain)]
Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(plain)]
# As long as a path can be on Linux.
Folder = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(plain)]
Globs = Annotated[tuple[Name, ...], Field(max_length=200)]
TopK = Annotated[int, Field(ge=1, le=MAX_RESULTS)]
Score = Annotated[float, Field(ge=0, le=1)]
Collections = Annotated[
    Name | Annotated[tuple[Name, ...], Field(min_length=1, max_length=20)] | None,
    Field(
        description="Name of an index, several names, or `*` for every index. Default: the index that is called as "
        "`context.project_name` is, if there is one, else the main index `adk`."
    ),
]


class SearchFilters(Frozen):
    """Narrowing of a search; every part that is given must hold."""

    file_type: Name | None = Field(
        default=None, description="Language or extension, e.g. `python`, `typescript`, `md`."
    )
    directory: Name | None = Field(
        default=None,
        description="Folder or file at any depth of the repository, or a gitignore-style glob, e.g. "
        "`src/components`; with `/` before it, from the repository's root.",
    )
    tags: Annotated[tuple[Name, ...], Field(max_length=20)] = Field(
        default=(),
        description="Tags that a result must all have: `code` or `docs`, its language, its kind of definition "
        "(`class`, `interface`, `type`, `enum`, `function`, `method`, `namespace`, `module`), a decorator "
        "(`@app.route`), languages of a page's code tabs, "
        "`api-reference`, `sample`.",
    )


class IndexCodebaseParameters(Frozen):
    """What to index, and how it is cut. What is left out stays as it was where the index is known."""

    codebase_path: Folder = Field(description="Absolute path of the codebase's folder.")
    collection_name: Name = Field(description="Name of the index: lower-case letters, digits, `.`, `_` and `-`.")
    file_patterns: Globs = Field(default=(), description="Globs of the files to take; empty: every known text file.")
    exclude_patterns: Globs = Field(
        default=(), description="Globs of what to leave out besides what tools made (`node_modules/`, `.git/`, ...)."
    )
    chunk_size: int = Field(default=DEFAULT_CHUNK_TOKENS, description="Largest size of a chunk, in tokens.")
    chunk_overlap: int = Field(
        default=DEFAULT_OVERLAP_TOKENS, description="What a chunk repeats of the one before it, if it was cut."
    )


class SearchParameters(Frozen):
    """A question in words or names."""

    query: QueryText
    collection_name: Collections = None
    top_k: TopK = 10
    score_threshold: Score | None = Field(
        default=None,
        description="Least cosine similarity between question and result. There is none by default: with "
        "all-MiniLM-L6-v2 good results of a question in words lie between .3 and .7, and the specification's .7 would "
        "leave out nearly all of them.",
    )
    filters: SearchFilters = SearchFilters()
    context_lines: int = Field(
        default=5, ge=0, le=MAX_CONTEXT_LINES, description="Lines of the source to give before and after a result."
    )


class FindSimilarParameters(Frozen):
    """A piece of code, of which others like it are wanted."""

    reference_code: Code
    collection_name: Collections = None
    top_k: TopK = 10
    similarity_threshold: Score | None = Field(
        default=None,
        description="Least cosine similarity between the snippet and a result; none by default, see score_threshold.",
    )
    filters: SearchFilters = SearchFilters()


class GetContextParameters(Frozen):
    """What an agent is about to do."""

    task_description: QueryText
    collection_name: Collections = None
    agent_type: Name = Field(
        default="general",
        description="The agent that asks, e.g. `build`, `debugger`, `explain`, `refactor`, `docs` or `test`; it steers "
        "the ranking and the mix of docs and code.",
    )
    max_tokens: int = Field(
        default=4000,
        ge=MIN_BUNDLE_TOKENS,
        le=MAX_BUNDLE_TOKENS,
        description="Most tokens (estimated) that the bundle may have when it is written out.",
    )


class NamedIndexParameters(Frozen):
    """One index."""

    collection_name: Name


class AnalyzeParameters(AnalysisOptions):
    """Which indexes to look at, and how much to list."""

    collection_name: Collections = None


class IndexCodebase(Frozen):
    """Build the index of a codebase, or bring it up to date where the name is known."""

    type: Literal["index_codebase"]
    parameters: IndexCodebaseParameters


class SearchCode(Frozen):
    """Search the code."""

    type: Literal["search_code"]
    parameters: SearchParameters


class SearchDocs(Frozen):
    """Search the documentation."""

    type: Literal["search_docs"]
    parameters: SearchParameters


class FindSimilar(Frozen):
    """Find code like a snippet."""

    type: Literal["find_similar"]
    parameters: FindSimilarParameters


class GetContext(Frozen):
    """Gather what an agent should read before a task, within a token budget."""

    type: Literal["get_context"]
    parameters: GetContextParameters


class Update(Frozen):
    """Read again what has changed in an indexed codebase."""

    type: Literal["update"]
    parameters: NamedIndexParameters


class Delete(Frozen):
    """Remove the index of a codebase; its files stay."""

    type: Literal["delete"]
    parameters: NamedIndexParameters


class Analyze(Frozen):
    """What indexes hold, and how far they are up to date."""

    type: Literal["analyze"]
    parameters: AnalyzeParameters = AnalyzeParameters()


Operation = Annotated[
    IndexCodebase | SearchCode | SearchDocs | FindSimilar | GetContext | Update | Delete | Analyze,
    Field(discriminator="type"),
]
TASK_OF: dict[str, TaskType] = {
    "index_codebase": "index",
    "search_code": "search",
    "search_docs": "search",
    "find_similar": "search",
    "get_context": "search",
    "update": "update",
    "delete": "delete",
    "analyze": "analyze",
}


class EmbeddingConfig(Frozen):
    """What the caller takes the index to be embedded with. It is compared with the index; it changes nothing."""

    model: Name | None = Field(default=None, description="Name of the dense model, e.g. `all-MiniLM-L6-v2`.")
    dimensions: int | None = Field(default=None, ge=1, description="Length of its vectors.")
    batch_size: int | None = Field(
        default=None, ge=1, description="Has no effect: batches are a setting (`embedding.dense.batch_size`)."
    )


class RequestContext(Frozen):
    """Who asks. The name chooses the index where a request names none; type and priority are only logged."""

    project_name: Name | None = None
    project_type: Literal["frontend", "backend", "ml", "analytics", "fullstack"] | None = None
    priority: Literal["high", "normal", "low"] = "normal"


class OperationRequest(Frozen):
    """One request of an agent."""

    request_id: UUID = Field(default_factory=uuid4, description="Comes back in the response; made where it is absent.")
    task_type: TaskType
    operation: Operation
    embedding_config: EmbeddingConfig = EmbeddingConfig()
    context: RequestContext = RequestContext()

    @model_validator(mode="after")
    def _task_fits(self) -> OperationRequest:
        task = TASK_OF[self.operation.type]
        if self.task_type != task:
            raise ValueError(f"the operation {self.operation.type} belongs to the task_type {task}")
        return self
