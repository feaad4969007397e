"""What an analysis tells of an index: each number with some of the places that it counts, which can be opened."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import SymbolKind
from adk_evidence.models.pack import LineSpan

LIMIT = 20
SYMBOL_TOKENS = 2000
SIMILARITY = 0.8
# Below this, the sketches that find pairs would miss too many of them.
LEAST_SIMILARITY = 0.7
MAX_LIMIT = 1000


class AnalysisOptions(Frozen):
    """How much an analysis lists, and from where on it lists something."""

    limit: int = Field(default=LIMIT, ge=1, le=MAX_LIMIT, description="The most entries of each list.")
    symbol_tokens: int = Field(
        default=SYMBOL_TOKENS, ge=1, description="Functions and classes of more tokens (estimated) than this are large."
    )
    similarity: float = Field(
        default=SIMILARITY,
        ge=LEAST_SIMILARITY,
        le=1,
        description="Least share of common five-word sequences that makes two chunks near-duplicates.",
    )


class CodePlace(Frozen):
    """Lines of an indexed file."""

    citation: str
    path: str
    lines: LineSpan
    symbol: str | None = None


class SimilarPlace(CodePlace):
    """Lines that are like those of another place, and how much so."""

    similarity: float = Field(
        ge=0, le=1, description="Five-word sequences that both have, divided by those that either has (Jaccard)."
    )


class DuplicateGroup(Frozen):
    """Chunks whose lines are the same to the letter."""

    chunks: int
    files: int
    bytes: int = Field(description="Of the lines of one of them, in UTF-8.")
    generated: bool = Field(description="Whether all of them are in files that say that a program wrote them.")
    places: tuple[CodePlace, ...]


class NearGroup(Frozen):
    """Chunks that are nearly the same as the first of them."""

    chunks: int
    files: int
    bytes: int = Field(description="Of the lines of the first, in UTF-8.")
    generated: bool = Field(description="Whether all of them are in files that say that a program wrote them.")
    first: CodePlace
    others: tuple[SimilarPlace, ...] = Field(description="Most similar first.")


class Duplicates(Frozen):
    """Texts that the index has several times, those of most bytes first."""

    groups: int
    chunks: int = Field(description="Chunks of all groups, without the first of each.")
    bytes: int = Field(description="Of their lines, without the first of each group.")
    listed: tuple[DuplicateGroup, ...]


class NearDuplicates(Frozen):
    """Texts that the index has nearly so several times, those of most bytes first. Exact copies count once."""

    groups: int
    chunks: int = Field(description="Chunks of all groups, without the first of each.")
    compared: int = Field(description="Different texts that were long enough to be compared.")
    listed: tuple[NearGroup, ...]


class LargeSymbol(CodePlace):
    """A function or class, with what stands inside it."""

    kind: SymbolKind
    tokens: int = Field(description="Estimated.")
    chunks: int


class LargeSymbols(Frozen):
    """Functions and classes that are large, the largest first."""

    functions: int
    classes: int
    listed: tuple[LargeSymbol, ...]


class LeftOut(Frozen):
    """Files without evidence for one reason."""

    reason: str = Field(description="As runs call it: `excluded`, `too_large`, `credential_file`, ...")
    why: str = Field(description="The reason as a sentence.")
    files: int
    folders: int = Field(description="Folders that nobody looked into; their files are not counted.")
    listed: tuple[str, ...] = Field(description="Paths; those of folders end with `/`.")


class Share(Frozen):
    """A part of the index."""

    name: str
    files: int
    chunks: int
    tokens: int = Field(description="Of the chunks' own lines, estimated.")
    bytes: int = Field(description="Of the chunks' own lines in UTF-8, without the licences that open files.")


class Generated(Frozen):
    """Files that say at their beginning that a program wrote them."""

    files: int
    chunks: int
    listed: tuple[CodePlace, ...] = Field(description="The chunk that says so of each of the largest files.")


class DriftPlace(Frozen):
    """Lines of docs that show what the indexed code lacks."""

    path: str
    lines: LineSpan
    kind: Literal["import", "name", "keyword", "await", "deprecated"]
    symbol: str
    text: str


class DocsDrift(Frozen):
    """What the docs of an index show and its code lacks."""

    version: str
    files: int
    imports: int
    missing: int = Field(description="Of the imports.")
    findings: int
    listed: tuple[DriftPlace, ...]


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
    duplicate_chunks: int = Field(description="Chunks whose lines are, to the letter, those of another.")
    duplicates: Duplicates
    near_duplicates: NearDuplicates
    large_symbols: LargeSymbols
    without_evidence: tuple[LeftOut, ...]
    generated: Generated
    by_language: tuple[Share, ...]
    by_kind: tuple[Share, ...] = Field(
        description="By what the chunks define; `page` for texts that are not cut by definitions."
    )
    by_folder: tuple[Share, ...] = Field(description="A file counts for the innermost folder that is listed.")
    drift: DocsDrift | None = Field(
        default=None, description="Absent unless the docs and the source of a released google-adk are indexed."
    )
    recommendations: tuple[str, ...]
