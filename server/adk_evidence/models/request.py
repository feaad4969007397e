"""What a caller may ask (SPEC 5 section 3.1)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import KINDS, SOURCE_TYPES, Kind, SourceType
from adk_evidence.models.lines import LineSpan
from adk_evidence.text.versions import read_version

TaskMode = Literal["build", "debug", "explain", "refactor"]

MAX_QUERY_CHARS = 8000
# How long a text with a traceback may be; it becomes a query of `MAX_QUERY_CHARS` at most.
MAX_PASTED_CHARS = 100_000
MAX_RESULTS = 100
MAX_SYMBOLS = 32
MAX_TAKEN_FROM_CHARS = 300
MAX_WORDINGS = 3
MAX_WORDING_CHARS = 120
# What only pasted tracebacks have: their first line, or in the format of pytest the line of the error.
_TRACEBACK = re.compile(r"Traceback \(most recent call last\)|^E {2,12}[\w.]{1,200}:", re.MULTILINE)
# What is kept of a long text: the question, the beginning of the last traceback, and the end.
_QUESTION_CHARS, _TRACEBACK_CHARS, _END_CHARS = 2000, 2400, 3500
_GAP = "\n  ...\n"


def plain(value: str) -> str:
    """A text that can be logged and answered, and that says something."""
    try:
        # Broken command lines and JSON escapes leave lone surrogates behind.
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("the text is not valid Unicode") from None
    if not value.strip():
        raise ValueError("it is empty")
    return value


def _shortened(value: str) -> str:
    """A long text around its last traceback, which says what was raised; the first lines say what is asked."""
    if len(value) <= MAX_QUERY_CHARS:
        return value
    found = [match.start() for match in _TRACEBACK.finditer(value)]
    if not found:
        raise ValueError(f"it has more than {MAX_QUERY_CHARS} characters and no traceback")
    question, traceback = value[:_QUESTION_CHARS], value[max(found[-1], _QUESTION_CHARS) :]
    if len(traceback) <= _TRACEBACK_CHARS + _END_CHARS:
        return f"{question}{_GAP}{value[-_TRACEBACK_CHARS - _END_CHARS :]}"
    return f"{question}{_GAP}{traceback[:_TRACEBACK_CHARS]}{_GAP}{traceback[-_END_CHARS:]}"


_Text = Annotated[str, AfterValidator(plain)]
# A question as a caller may write it. Only a text with a traceback may be longer than a query, and loses its middle.
QueryText = Annotated[
    str, Field(min_length=1, max_length=MAX_PASTED_CHARS), AfterValidator(plain), AfterValidator(_shortened)
]
Wordings = Annotated[
    tuple[Annotated[str, Field(max_length=MAX_WORDING_CHARS), AfterValidator(plain)], ...],
    Field(max_length=MAX_WORDINGS),
]


class EvidenceFilters(Frozen):
    """Narrowing of a request; empty means no narrowing.

    Paths are gitignore-style globs against the repository-relative path; a plain folder or file name matches
    everything below it.
    """

    path_allowlist: tuple[_Text, ...] = ()
    path_blocklist: tuple[_Text, ...] = ()
    source_types: tuple[SourceType, ...] = Field(default=("docs", "code"), min_length=1)
    languages: tuple[_Text, ...] = Field(default=(), description="File or tab languages, e.g. `py`, `md`, `python`.")
    tags: tuple[_Text, ...] = Field(
        default=(),
        description="Tags that a chunk must all have: `docs` or `code`, its language, its kind of definition (`class`, "
        "`interface`, `type`, `enum`, `function`, `method`, `namespace`, `module`), a decorator (`@app.route`), "
        "`api-reference`, `sample`.",
    )
    repo_ref_hint: _Text | None = Field(default=None, description="Commit, tag or branch of which evidence must be.")

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(kind for kind in KINDS if SOURCE_TYPES[kind] in self.source_types)


def _is_version(value: str) -> str:
    version = read_version(value)
    if version is None:
        raise ValueError("it is not a version such as 1.18.0")
    return str(version)


class ProjectVersion(Frozen):
    """The google-adk that the asker's project uses."""

    version: Annotated[str, AfterValidator(_is_version)]
    taken_from: str = Field(
        default="", max_length=MAX_TAKEN_FROM_CHARS, description="What named the version, e.g. `uv.lock`."
    )


class AskingPlace(Frozen):
    """The lines of a file that a question was made of. `path` is absolute, and only its last name may be a link."""

    path: Path
    lines: LineSpan


class EvidenceRequest(Frozen):
    """One question to the retrieval pipeline."""

    query: QueryText
    wordings: Wordings = Field(
        default=(), description="The question in the words of the ADK, which are searched beside its own."
    )
    task_mode: TaskMode = "build"
    max_results_final: int | None = Field(default=None, ge=1, le=MAX_RESULTS, description="Default: the settings'.")
    time_budget_ms: int | None = Field(default=None, ge=1)
    filters: EvidenceFilters = EvidenceFilters()
    symbols: tuple[_Text, ...] = Field(
        default=(),
        max_length=MAX_SYMBOLS,
        description="Names that the question is about, importable or bare, the most important first, e.g. those "
        "resolved in a selection. Their definitions come first.",
    )
    own_names: tuple[_Text, ...] = Field(
        default=(),
        max_length=MAX_QUERY_CHARS,
        description="Names in the query that the caller's own code defines. The index need not hold them.",
    )
    known_elsewhere: tuple[_Text, ...] = Field(
        default=(),
        max_length=MAX_QUERY_CHARS,
        description="Names in the query that the index asked beside this one holds. They are not said to be unknown.",
    )
    asked_at: AskingPlace | None = Field(
        default=None, description="Where the question stands in the caller's code, which is no answer."
    )
    project: ProjectVersion | None = Field(
        default=None, description="The google-adk of the project that is asked about; a version in the query wins."
    )
    strict: bool | None = None
