"""The Evidence Pack (SPEC 5 section 3.2, design section 5)."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import Field

from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import ProgrammingLanguage, SourceType
from adk_evidence.models.request import TaskMode

Status = Literal["success", "no_results", "error"]
QualityLevel = Literal["none", "keyword_only", "mixed", "high"]
# What a query is: a pasted traceback, a pasted error message, pasted code, names alone, or a question in words.
QueryKind = Literal["traceback", "error", "code", "names", "question"]
VerificationState = Literal["exact", "moved", "changed", "gone", "unverified"]

# Digits of scores in a pack; further digits are the noise of float32 sums.
SCORE_DIGITS = 6


class LineSpan(Frozen):
    """Lines of a file, 1-based and inclusive."""

    start: int
    end: int

    def touches(self, start: int, end: int) -> bool:
        """Whether some of lines `start` to `end` are among these."""
        return self.start <= end and start <= self.end


class Passage(Frozen):
    """Some of the lines that a candidate cites, verbatim."""

    lines: LineSpan
    text: str


class OutlinePart(Frozen):
    """A section of a page or a member of a class. `lines` go up to the end of what stands below the part."""

    name: str
    lines: LineSpan


class Outline(Frozen):
    """The sections of a page, or the members of a class, that candidates are of.

    `citation` names the page or the class; the lines of a part, put behind the path, cite that part alone.
    """

    citation: str
    path: str
    title: str
    ranks: tuple[int, ...] = Field(description="The candidates that are of this page or class.")
    parts: tuple[OutlinePart, ...]
    more: int = Field(default=0, description="How many parts are not listed.")


class BranchRank(Frozen):
    """Where one retrieval branch placed a candidate."""

    branch: str = Field(description="`dense` or `sparse`, with `#n` for a sub-query's.")
    rank: int
    score: float


class Why(Frozen):
    """Why a candidate stands where it stands."""

    branches: tuple[BranchRank, ...] = ()
    matched_terms: tuple[str, ...] = ()
    fused_rank: int | None = None
    fused_score: float | None = None
    pool_rank: int | None = Field(default=None, description="Rank in the merged pool, before the reranker.")
    rerank_score: float | None = None
    rerank_moved: int | None = Field(default=None, description="Places won (positive) or lost by the reranker.")
    features: dict[str, float] = Field(default_factory=dict, description="What the reranker went by.")
    named: str | None = Field(
        default=None,
        description="How the request names this evidence outright, e.g. `raises the error`; such results come first.",
    )


class Verification(Frozen):
    """Whether the citation holds in the source as it is now."""

    state: VerificationState
    lines: LineSpan | None = Field(default=None, description="Where the text is now, if it moved or changed.")
    reason: str = ""


class Drift(Frozen):
    """A name in the code of a text that the answering version of the ADK lacks, or calls deprecated."""

    kind: Literal["import", "name", "keyword", "deprecated"]
    symbol: str = Field(description="Its import path; a keyword as `google.adk.runners.Runner(app=)`.")
    version: str = Field(description="The version that answers.")
    lines: LineSpan = Field(description="The lines of the cited file that show the name.")
    until: str | None = Field(default=None, description="The last earlier version that has the name.")
    since: str | None = Field(default=None, description="The first later version that has the name.")
    instead: str | None = Field(default=None, description="What the answering version has in place of the name.")
    text: str = Field(description="All this in a sentence.")


class LeftOut(Frozen):
    """Cited lines that are for readers of another programming language."""

    lines: LineSpan
    language: str


class Candidate(Frozen):
    """One piece of evidence."""

    rank: int
    rerank_score: float | None
    collection: str
    source_type: SourceType
    origin: str = "repository"
    repo: str
    ref: str
    path_or_url: str
    path: str
    chunk_id: str
    candidate_id: str
    text: str = Field(description="The cited lines, verbatim and nothing else.")
    context: str = Field(default="", description="Lines before the cited ones, or of a class around them; not cited.")
    attached: str = Field(default="", description="Files that the cited lines include; not cited.")
    text_tokens: int = Field(description="Estimated tokens of context, text and attached files together.")
    passages: tuple[Passage, ...] = Field(
        default=(),
        description="The parts of `text` to show, in the order of their lines; empty only where another candidate "
        "shows the same or the pack was made without choosing.",
    )
    attached_shown: str = Field(default="", description="The parts of the attached files to show; not cited.")
    shown_tokens: int = Field(default=0, description="Estimated tokens of the passages and `attached_shown`.")
    import_statement: str | None = Field(
        default=None, description="The statement that imports the code by its public path, where that is known."
    )
    same_as: int | None = Field(default=None, description="The rank of an earlier candidate that shows the same text.")
    also_at: tuple[str, ...] = Field(default=(), description="Citations of later candidates that show the same text.")
    adds_little: bool = Field(
        default=False, description="Whether the candidates before this one leave this one little to add."
    )
    symbol: str | None = None
    headings: tuple[str, ...] = ()
    title: str | None = None
    language: str
    for_language: str | None = Field(
        default=None, description="The programming language of the readers that the text is for, if not for all."
    )
    lines: LineSpan | None = None
    left_out: tuple[LeftOut, ...] = Field(
        default=(), description="Lines of `text` for readers of another language, which need not be shown."
    )
    drift: tuple[Drift, ...] = Field(
        default=(),
        description="Names in the code of this text that the answering version of the ADK lacks or calls deprecated.",
    )
    citation: str
    citation_confidence: Literal["high", "medium", "low"]
    support: float | None = Field(
        default=None,
        description="How far this text alone supports the question, 0 to 1; null where no scale is known.",
    )
    verification: Verification
    why: Why


class VersionPlan(Frozen):
    """Which versions of the ADK were searched."""

    asked: tuple[str, ...] = Field(description="What the question names, e.g. `1.18` or `>=2.0`.")
    basis: Literal["question", "nearest", "newest", "request"] = Field(
        description="What decided: the question, what is nearest to it, the newest one, or the request's filter."
    )
    searched: dict[str, tuple[str, ...]] = Field(description="By collection; one without known versions is left out.")
    left_out: dict[str, tuple[str, ...]] = Field(description="By collection: indexed, but not searched.")


class LanguagePlan(Frozen):
    """For readers of which programming languages pages were searched."""

    reader: ProgrammingLanguage = Field(description="The language of the reader, from the settings.")
    also: tuple[str, ...] = Field(
        default=(),
        description="Others that the question or its filters name. What pages have for readers of any other language "
        "was not searched.",
    )


class RetrievalPlan(Frozen):
    """What was asked of the store."""

    query_kind: QueryKind = Field(default="question", description="What the query is; told by its structure.")
    collections_queried: tuple[str, ...]
    hybrid_fusion: str
    rrf_k: int | None
    prefetch_limits: dict[str, int]
    final_limits: dict[str, int]
    qdrant_search_params: dict[str, Any]
    sub_queries: tuple[str, ...]
    feedback: dict[str, float] | None = Field(
        default=None, description="Passages that moved the query, and by how much."
    )
    rerank_model: str | None
    filters: dict[str, Any] = Field(default_factory=dict)
    excluded_origins: tuple[str, ...] = Field(default=(), description="Kinds of docs that were left out on purpose.")
    versions: VersionPlan | None = Field(
        default=None, description="Where the question names a version, or several are indexed."
    )
    languages: LanguagePlan | None = Field(
        default=None, description="For whose readers pages were searched; null where for all."
    )


class Coverage(Frozen):
    """How the final results split."""

    docs_in_top_k: int
    code_in_top_k: int


class Quality(Frozen):
    """How far the answer can be relied on, with a sentence for a person or a model."""

    level: QualityLevel
    note: str


class CorpusInfo(Frozen):
    """One corpus of the index."""

    repo: str
    commit: str
    ref: str | None = None
    source: str
    chunks: int


class IndexInfo(Frozen):
    """Which index answered."""

    generation: str
    created_at: str
    fingerprint: str
    dense: Literal["complete", "pending"]
    corpora: dict[str, CorpusInfo]


class EvidencePack(Frozen):
    """The answer. Same request, same index: the same bytes, `debug` and `query_id` aside."""

    pack_id: str
    query_id: str
    status: Status
    query: str
    task_mode: TaskMode
    profile: str
    index: IndexInfo | None
    quality: Quality
    retrieval_plan: RetrievalPlan | None
    candidates: tuple[Candidate, ...]
    coverage: Coverage
    warnings: tuple[str, ...]
    outlines: tuple[Outline, ...] = Field(
        default=(),
        description="What else the page of the first candidate holds, and the pages and classes of several candidates.",
    )
    debug: dict[str, Any] = Field(default_factory=dict)

    def canonical_json(self) -> str:
        """The pack without what differs between two runs: ids of the run and timings."""
        data = self.model_dump(mode="json", exclude={"pack_id", "query_id", "debug"})
        return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    def with_id(self) -> EvidencePack:
        """The same pack with `pack_id` set to the sha256 of its canonical form."""
        digest = hashlib.sha256(self.canonical_json().encode("utf-8", "surrogatepass")).hexdigest()
        return self.model_copy(update={"pack_id": digest})


def round_score(value: float) -> float:
    return round(float(value), SCORE_DIGITS)
