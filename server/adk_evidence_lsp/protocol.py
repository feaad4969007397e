"""The wire: methods and parameters of the server's own requests, and the settings that it pulls from the client.

Parameters and settings are camelCase, as in the language server protocol. Results are the core's models unchanged, so
that a pack is the same bytes on every surface; `queryUsed` comes beside the pack's own fields.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pygls.exceptions import JsonRpcInvalidParams

from adk_evidence.documents.document import MAX_READ_CHARS
from adk_evidence.models.base import Frozen
from adk_evidence.models.pack import EvidencePack, IndexInfo, LineSpan, Verification
from adk_evidence.models.prompt import Turn
from adk_evidence.models.request import MAX_PASTED_CHARS, MAX_SYMBOLS, EvidenceFilters, TaskMode
from adk_evidence.targets.target import MAX_QUERY_CHARS, MAX_TARGETS, SearchMode
from adk_evidence.validation import first_problem

EVIDENCE = "adk/evidence"
SYMBOL = "adk/symbol"
TARGETS = "adk/targets"
SOURCE = "adk/source"
STATUS = "adk/status"
INGEST = "adk/ingest"
INDEX = "adk/index"
RENDER = "adk/render"
CHECK = "adk/check"
CHECK_CODE = "adk/checkCode"

# The notification that says how far an ingestion is. Clients may ignore a notification that begins with a dollar sign.
INGEST_PROGRESS = "$/adk/ingestProgress"

# The command (workspace/executeCommand) that shows evidence in any editor, with the parameters of `adk/evidence`.
SHOW_EVIDENCE = "adkEvidence.server.showEvidence"
# The client's own commands that show evidence, and that open a citation. Only for clients that list them in their
# experimental capability `{"commands": {"commands": [...]}}`; the server does not run them.
CLIENT_FIND_EVIDENCE = "adkEvidence.findEvidence"
CLIENT_OPEN_CITATION = "adkEvidence.openCitation"
SECTION = "adkEvidence"

REQUEST_FAILED = -32803
MAX_RESULTS = 100
MAX_FOLDERS = 1000
MAX_UINT = 2**31 - 1

Token = str | int


def _without_null(value: str | None) -> str | None:
    # No system takes such a path, and the calls that meet it fail in different ways.
    if value is not None and "\0" in value:
        raise ValueError("it holds a null character")
    return value


_NoNull = AfterValidator(_without_null)
# The URI of a folder of the workspace, or of a document in one.
_Folder = Annotated[Annotated[str, Field(min_length=1, max_length=4000)] | None, _NoNull]


class _Params(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)


class _Lsp(BaseModel):
    # The protocol lets clients add members to its own structures.
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Settings(BaseModel):
    # What the server does not know is the client's.
    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel)


class DocumentId(_Lsp):
    """A document that is open in the editor."""

    uri: str = Field(min_length=1)


class Position(_Lsp):
    """A place in a document: line and UTF-16 offset in it, from 0."""

    line: int = Field(ge=0, le=MAX_UINT)
    character: int = Field(ge=0, le=MAX_UINT)


class Range(_Lsp):
    """A selection; `end` is exclusive."""

    start: Position
    end: Position


class EvidenceParams(_Params):
    """`adk/evidence`: a question, or the place in an open document to make one of.

    The answer is of the google-adk that the project of the document uses, or else the project at the URI `folder`. A
    later request for the same document, or with the same `supersedeKey`, cancels this one.
    """

    query: str | None = Field(default=None, max_length=MAX_PASTED_CHARS)
    wordings: tuple[str, ...] = ()
    symbols: tuple[str, ...] = Field(default=(), max_length=MAX_SYMBOLS)
    text_document: DocumentId | None = None
    range: Range | None = None
    position: Position | None = None
    task_mode: TaskMode | None = None
    max_results: int | None = Field(default=None, ge=1, le=MAX_RESULTS)
    filters: EvidenceFilters = EvidenceFilters()
    time_budget_ms: int | None = Field(default=None, ge=1, le=MAX_UINT)
    strict: bool | None = None
    folder: _Folder = None
    supersede_key: str | None = Field(default=None, min_length=1, max_length=1000)
    work_done_token: Token | None = None

    @model_validator(mode="after")
    def _askable(self) -> EvidenceParams:
        if self.query is None and (self.text_document is None or (self.range or self.position) is None):
            raise ValueError("query is missing, and so is textDocument with a range or a position to make one of")
        return self


class SymbolParams(_Params):
    """`adk/symbol`: a name, or the place of one in an open document; `folder` as in `adk/evidence`."""

    name: str | None = Field(default=None, min_length=1, max_length=500)
    text_document: DocumentId | None = None
    position: Position | None = None
    folder: _Folder = None

    @model_validator(mode="after")
    def _askable(self) -> SymbolParams:
        if self.name is None and (self.text_document is None or self.position is None):
            raise ValueError("name is missing, and so is textDocument with a position")
        return self


class TargetsParams(_Params):
    """`adk/targets`: a name, the beginning of one, or what a symbol is for; `folder` as in `adk/evidence`.

    `python` is the user's interpreter or virtual environment: results say whether its google-adk has them. A later
    request with the same `supersedeKey` cancels this one, for results while somebody types.
    """

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS)
    limit: int = Field(default=10, ge=1, le=MAX_TARGETS)
    mode: SearchMode = "auto"
    python: Annotated[str | None, _NoNull] = Field(default=None, min_length=1, max_length=4000)
    folder: _Folder = None
    supersede_key: str | None = Field(default=None, min_length=1, max_length=1000)


class SourceParams(_Params):
    """`adk/source`: a citation, a candidate's id, or a path of the index with a commit and lines.

    The index of the version that the project at `folder` uses is read first, then those of other versions.
    """

    citation: str | None = Field(default=None, min_length=1, max_length=4000)
    candidate_id: str | None = Field(default=None, min_length=1, max_length=4000)
    path: str | None = Field(default=None, min_length=1, max_length=4000)
    repo: str | None = Field(default=None, min_length=1, max_length=200)
    commit: str | None = Field(default=None, min_length=1, max_length=200)
    lines: LineSpan | None = None
    folder: _Folder = None

    @model_validator(mode="after")
    def _one_way(self) -> SourceParams:
        if sum(part is not None for part in (self.citation, self.candidate_id, self.path)) == 0:
            raise ValueError("one of citation, candidateId and path is needed")
        if self.lines is not None and not 1 <= self.lines.start <= self.lines.end:
            raise ValueError("lines count from 1 and end after they start")
        return self


class StatusParams(_Params):
    """`adk/status`: `folder` is the URI of a folder of the workspace, whose index is told.

    Without `examined` there are no findings: for these, the index is opened once more, which takes as long as answers.
    """

    folder: _Folder = None
    examined: bool = True


class IngestParams(_Params):
    """`adk/ingest`: what `adk-ingest` is to do.

    With `folder`, the URI of a folder of the workspace, the google-adk that its project uses gets an index.
    """

    mode: Literal["docs", "code", "all"] = "all"
    docs: Annotated[str | None, _NoNull] = Field(default=None, min_length=1, max_length=4000)
    code: Annotated[str | None, _NoNull] = Field(default=None, min_length=1, max_length=4000)
    offline: bool = False
    folder: _Folder = None
    work_done_token: Token | None = None


class IndexParams(_Params):
    """`adk/index`: index the code of a folder of the workspace, given by its URI, or bring its index up to date.

    Questions from the folder then search it beside the ADK, unless `projectCode.enabled` is off.
    """

    folder: Annotated[str, Field(min_length=1, max_length=4000), _NoNull]
    work_done_token: Token | None = None


def _without_question(pack: Any) -> Any:
    # A client may send back what `adk/evidence` answered.
    return {key: value for key, value in pack.items() if key != "queryUsed"} if isinstance(pack, dict) else pack


class RenderParams(_Params):
    """`adk/render`: a pack as text to paste. `candidateIds` chooses some of its results; other members are a prompt's.

    `system` is the caller's own instructions, trusted; `history` the turns before the question, oldest first.
    """

    # `schema.py` replaces this schema: what a client sends back is the result of `adk/evidence`.
    pack: Annotated[EvidencePack, BeforeValidator(_without_question), WithJsonSchema({"type": "object"})]
    format: Literal["markdown", "prompt"]
    candidate_ids: tuple[str, ...] | None = None
    max_tokens: int | None = Field(default=None, ge=1, le=MAX_UINT)
    system: str = ""
    history: tuple[Turn, ...] = ()
    max_documents: int | None = Field(default=None, ge=1, le=MAX_RESULTS)
    max_document_tokens: int | None = Field(default=None, ge=1, le=MAX_UINT)


class CheckParams(_Params):
    """`adk/check`: a pack that was saved, maybe by another version of the product or with other sources."""

    # `schema.py` replaces this schema, too.
    pack: Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]


class CheckCodeParams(_Params):
    """`adk/checkCode`: Python code, or a Markdown text with blocks of Python; `folder` as in `adk/evidence`.

    A version that `question` names wins, as in `adk/evidence`. The result is null where nobody knows which google-adk
    to check against.
    """

    text: str = Field(max_length=MAX_READ_CHARS)
    language: Literal["python", "markdown"] = "python"
    question: str = Field(default="", max_length=MAX_PASTED_CHARS)
    folder: _Folder = None


# The parameters of each request.
PARAMS: dict[str, type[BaseModel]] = {
    EVIDENCE: EvidenceParams,
    SYMBOL: SymbolParams,
    TARGETS: TargetsParams,
    SOURCE: SourceParams,
    STATUS: StatusParams,
    INGEST: IngestParams,
    INDEX: IndexParams,
    RENDER: RenderParams,
    CHECK: CheckParams,
    CHECK_CODE: CheckCodeParams,
}


class RenderResult(Frozen):
    """`adk/render`'s result: the text, its estimated tokens, and how many results are in it.

    `note` is a sentence where a prompt holds no result or exceeds its budget, else empty.
    """

    text: str
    tokens: int
    included: int
    note: str


class CheckedCandidate(Frozen):
    """What became of the text that a candidate of a saved pack cites."""

    candidate_id: str
    verification: Verification


class CheckResult(Frozen):
    """`adk/check`'s result. `intact` says whether the pack is as it was made."""

    intact: bool
    candidates: tuple[CheckedCandidate, ...]


class IngestedCorpus(Frozen):
    """One corpus of the index, and how many passages were made of it."""

    repo: str
    commit: str
    chunks: int


class IngestResult(Frozen):
    """`adk/ingest`'s result. `seconds` is how long the run took; `notices` are its remarks.

    `missing` has the corpora that could not be read, each with the reason, `failed_files` the files that could not be
    split into passages: the index holds nothing of them.
    """

    status: Literal["complete", "incomplete", "unchanged"]
    corpora: dict[str, IngestedCorpus]
    missing: dict[str, str]
    failed_files: tuple[str, ...]
    seconds: float
    notices: tuple[str, ...]


class IndexResult(Frozen):
    """`adk/index`'s result: what the run left in the index, which `name` names.

    `skipped` names the files that the index lacks though patterns ask for them, each with the reason in brackets.
    `partial`: an error kept files out.
    """

    name: str
    files: int
    chunks: int
    skipped: tuple[str, ...]
    seconds: float
    warnings: tuple[str, ...]
    status: Literal["success", "partial", "unchanged"]


class IngestProgress(Frozen):
    """`$/adk/ingestProgress`: how far an ingestion is, also that of a folder's code.

    `stage` is discover, chunk, upsert, verify, publish, embed or targets. `fraction` is that of the whole ingestion,
    from 0 to 1; `seconds_left` is null while nobody knows. `answers` says how the index that this
    ingestion published can answer: not yet, by keywords, or by meaning.
    """

    stage: str
    fraction: float
    seconds_left: int | None
    answers: Literal["nothing", "keywords", "meaning"]


class FindingInfo(Frozen):
    """One thing that `adk-evidence doctor` looks at."""

    what: str
    state: Literal["ok", "note", "broken"]
    found: str
    mend: str


class ProjectStatus(Frozen):
    """Which google-adk a folder of the workspace uses.

    `folder` is its URI as the client named it. `asked` is the range that the project gives, if it gives no exact
    version. `indexed` is the version of the index that answers, null where nobody knows; `exact` says whether that is
    `version`.
    """

    folder: str
    version: str
    taken_from: str
    asked: str
    indexed: str | None
    exact: bool


class ServerStatus(Frozen):
    """`adk/status`'s result.

    `symbols` is false where the list of the index's symbols is missing, has no vectors or is of earlier code.
    `projects` are the folders of the workspace that use google-adk. `services` are the settings by which services get
    indexed texts, such as `store.kind`; without them, all texts stay on the machine of the server.
    """

    version: str
    home: Path
    profile: str
    services: tuple[str, ...]
    index: IndexInfo | None
    symbols: bool
    models: dict[str, str | int]
    findings: tuple[FindingInfo, ...]
    ingesting: bool
    settings_problem: str | None
    projects: tuple[ProjectStatus, ...]


def _empty_is_none(value: Any) -> Any:
    # Editors send "" for a text that nobody set.
    return None if value == "" else value


_Optional = Annotated[str | None, BeforeValidator(_empty_is_none), _NoNull]


class Switch(_Settings):
    """Whether the server does something that the user can switch off."""

    enabled: bool = True


class DiagnosticSettings(Switch):
    """How grave diagnostics are, by their codes; what is not named has the server's own severity."""

    severity: dict[str, Literal["error", "warning", "information", "hint", "off"]] = Field(default={}, max_length=100)


class ClientSettings(_Settings):
    """The section `adkEvidence` of the client's settings.

    `project_code` says whether questions search the code of the project beside the ADK, where the project's folder is
    indexed. `interpreters` are the Pythons that the user has chosen for folders of the workspace, by the folders' URIs.
    """

    home: _Optional = None
    profile: _Optional = None
    task_mode: TaskMode = "build"
    max_results: int | None = Field(default=None, ge=1, le=MAX_RESULTS)
    time_budget_ms: int | None = Field(default=None, ge=1, le=MAX_UINT)
    hover: Switch = Switch()
    diagnostics: DiagnosticSettings = DiagnosticSettings()
    project_code: Switch = Switch()
    interpreters: dict[str, Annotated[str, _NoNull]] = Field(default={}, max_length=MAX_FOLDERS)
    log_level: Literal["debug", "info", "warning", "error"] | None = None


_Model = TypeVar("_Model", bound=BaseModel)


def parse_params(model: type[_Model], params: Any) -> _Model:
    """Validate the parameters of a request; a missing `params` member is an empty object.

    Raises:
        JsonRpcInvalidParams: One sentence that names the first member that is wrong.
    """
    try:
        return model.model_validate({} if params is None else params)
    except ValidationError as exc:
        raise JsonRpcInvalidParams(f"The parameters are not valid: {first_problem(exc)}.") from None


def json_safe(value: Any) -> Any:
    """The value with null for NaN and infinities: JSON lacks them, and a client that meets one gets no answer."""
    if isinstance(value, dict):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
