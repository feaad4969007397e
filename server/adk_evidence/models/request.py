"""What a caller may ask (SPEC 5 section 3.1)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import KINDS, SOURCE_TYPES, Kind, SourceType

TaskMode = Literal["build", "debug", "explain", "refactor"]

MAX_QUERY_CHARS = 8000
MAX_RESULTS = 100
MAX_SYMBOLS = 32
# What every pasted traceback has, whatever its format.
TRACEBACK = "Traceback (most recent call last)"


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


_Text = Annotated[str, AfterValidator(plain)]


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
        "`function`, `method`, `module`), `api-reference`, `sample`.",
    )
    repo_ref_hint: _Text | None = Field(default=None, description="Commit, tag or branch that evidence must be of.")

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(kind for kind in KINDS if SOURCE_TYPES[kind] in self.source_types)


class EvidenceRequest(Frozen):
    """One question to the retrieval pipeline."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS)
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
    strict: bool | None = None

    @field_validator("query", mode="before")
    @classmethod
    def _without_middle(cls, value: object) -> object:
        """A long traceback without its middle: its first lines say what is asked, its last ones what was raised."""
        if not isinstance(value, str) or len(value) <= MAX_QUERY_CHARS or TRACEBACK not in value:
            return value
        return f"{value[: MAX_QUERY_CHARS // 4]}\n  ...\n{value[-MAX_QUERY_CHARS // 2 :]}"

    @field_validator("query")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("the query is empty")
        return value
