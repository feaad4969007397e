"""What an analysis tells of an index: each number with some of the places that it counts, which can be opened."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adk_evidence.models.base import Frozen
from adk_evidence.models.pack import LineSpan

LIMIT = 20
MAX_LIMIT = 1000


class AnalysisOptions(Frozen):
    """How much an analysis lists."""

    limit: int = Field(default=LIMIT, ge=1, le=MAX_LIMIT, description="The most entries of each list.")


class CodePlace(Frozen):
    """Lines of an indexed file."""

    citation: str
    path: str
    lines: LineSpan
    symbol: str | None = None


class DuplicateGroup(Frozen):
    """Chunks whose lines are the same to the letter."""

    chunks: int
    files: int
    bytes: int = Field(description="Of the lines of one of them, in UTF-8.")
    places: tuple[CodePlace, ...]


class Duplicates(Frozen):
    """Texts that the index has several times, those of most bytes first."""

    groups: int
    chunks: int = Field(description="Chunks of all groups, without the first of each.")
    bytes: int = Field(description="Of their lines, without the first of each group.")
    listed: tuple[DuplicateGroup, ...]


class LeftOut(Frozen):
    """Files without evidence for one reason."""

    reason: str = Field(description="As runs call it: `excluded`, `too_large`, `credential_file`, ...")
    why: str = Field(description="The reason as a sentence.")
    files: int
    folders: int = Field(description="Folders that nobody looked into; their files are not counted.")
    listed: tuple[str, ...] = Field(description="Paths; those of folders end with `/`.")


class CorpusFacts(Frozen):
    """One corpus of an index."""

    name: str
    kind: Literal["doc", "code"]
    repo: str
    commit: str
    ref: str | None = None
    files: int
    chunks: int
    current_commit: str | None = Field(default=None, description="Of the checkout now; absent where there is none.")
    commits_since: int | None = Field(default=None, description="Commits of the checkout that the index lacks.")


class IndexAnalysis(Frozen):
    """What an index holds, and how far it is up to date."""

    collection_name: str
    codebase_path: str | None = Field(default=None, description="Absent for the main index.")
    total_files: int
    total_chunks: int
    total_vectors: int
    index_size_bytes: int = Field(description="Of its folder on this machine.")
    created_at: str
    age_days: float
    dense: Literal["complete", "pending"]
    dense_model: str
    dense_dimensions: str = Field(description="One number, or one for docs and one for code.")
    sparse_model: str
    languages: dict[str, int] = Field(description="Number of files by extension.")
    corpora: tuple[CorpusFacts, ...]
    changed_files: int | None = Field(
        default=None, description="Indexed files that now read otherwise; absent where the sources were not compared."
    )
    missing_files: int | None = Field(default=None, description="Indexed files that are no longer there.")
    added_files: int | None = Field(default=None, description="Files that an update would add.")
    stale_files: tuple[str, ...] = Field(default=(), description="The first changed and missing files.")
    new_files: tuple[str, ...] = Field(default=(), description="The first added files.")
    duplicates: Duplicates
    without_evidence: tuple[LeftOut, ...]
