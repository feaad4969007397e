"""The Evidence Pack (SPEC 5 section 3.2, design section 5)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import SourceType
from adk_evidence.models.lines import LineSpan as LineSpan
from adk_evidence.models.named import NamedRole
from adk_evidence.models.request import TaskMode
from adk_evidence.models.warning import Warning
from adk_evidence.text.versions import is_same_version

Status = Literal["success", "no_results", "error"]
QualityLevel = Literal["none", "keyword_only", "mixed", "high"]
# What a query is: a pasted traceback, a pasted error message, pasted code, names alone, or a question in words.
QueryKind = Literal["traceback", "error", "code", "names", "question"]
# Why a result stands in a pack though others rank before it: its kind was short, an example was missing, or another
# part of its page or class is a result.
MovedUp = Literal["kind", "example", "neighbour"]
VerificationState = Literal["exact", "moved", "same_tree", "changed", "gone", "unverified"]
# What a result is to a pasted error: where the error or its cause is raised, a call on the way there, a text that holds
# the message, or a guide that may say what to do.
ErrorRole = Literal["raise_site", "cause", "frame", "message", "remedy"]

# Digits of scores in a pack; further digits are the noise of float32 sums.
SCORE_DIGITS = 6


class Passage(Frozen):
    """Some of the lines that a candidate cites, verbatim."""

    lines: LineSpan
    text: str


class Part(Frozen):
    """Lines of a candidate that are shown together or not at all, such as a paragraph or a few statements.

    `needs` are the places among the candidate's parts of what names these lines: headings, signatures, borders of code.
    """

    lines: LineSpan
    worth: float | None = Field(
        description="How well the lines match: those of 0 and more are passages, and where room is shorter or longer "
        "than these, the best are shown. Null where the lines say nothing by themselves."
    )
    needs: tuple[int, ...] = ()


class OutlinePart(Frozen):
    """A section of a page or a member of a class. `lines` go up to the end of what stands below the part."""

    name: str
    lines: LineSpan


class Outline(Frozen):
    """The sections of a page, the members of a class, or the matching places of a file, that candidates are of.

    `citation` names the page or the file; the lines of a part, put behind the path, cite that part alone.
    """

    citation: str
    path: str
    title: str
    ranks: tuple[int, ...] = Field(description="The candidates that are of this page, class or file.")
    parts: tuple[OutlinePart, ...]
    more: int = Field(default=0, description="How many parts are not listed.")


class Mentioned(Frozen):
    """A public symbol that the query names: how it is called and imported, and the lines that define it.

    What another package defines has neither path nor lines.
    """

    symbol: str
    signature: str
    import_statement: str
    path: str = ""
    lines: LineSpan | None = None


class BranchRank(Frozen):
    """Where one retrieval branch placed a candidate."""

    branch: str = Field(description="`dense` or `sparse`, with `#n` for a sub-query's, `symbol` or `asked`.")
    rank: int = Field(ge=1)


class Why(Frozen):
    """Why a candidate stands where it stands."""

    branches: tuple[BranchRank, ...] = ()
    matched_terms: tuple[str, ...] = ()
    similarity: float | None = Field(
        default=None, description="Cosine with the question; null where keywords alone have found the candidate."
    )
    pool_rank: int | None = Field(default=None, description="Rank in the merged pool, before the reranker.")
    role: NamedRole | None = Field(
        default=None, description="What it is to what the request names outright; such results come first."
    )
    named: str | None = Field(default=None, description="The role in words, e.g. `raises the error`.")
    ranking_place: int | None = Field(
        default=None, description="Place in the whole ranking, of which the first places are the results."
    )
    task: str | None = Field(
        default=None, description="The task near the question that the result answers together with others, by title."
    )
    task_role: str | None = Field(default=None, description="What the result is to the task, e.g. `registration`.")
    moved_up: MovedUp | None = Field(
        default=None,
        description="Why a result from behind the first places is here: its kind, or as an example, or as "
        "another part of a page or class that is a result already.",
    )


class Verification(Frozen):
    """Whether the citation holds in the source as it is now."""

    state: VerificationState
    lines: LineSpan | None = Field(default=None, description="Where the text is now, if it moved or changed.")
    path: str | None = Field(default=None, description="The file of `lines`, where it is not the cited one.")
    reason: str = ""


class Drift(Frozen):
    """A name in the code of a text that the answering version of the ADK lacks or calls deprecated, or a call without
    the `await` that this version asks for."""

    kind: Literal["import", "name", "keyword", "await", "deprecated"]
    symbol: str = Field(description="Its import path; a keyword as `google.adk.runners.Runner(app=)`.")
    version: str = Field(description="The version that answers.")
    lines: LineSpan = Field(description="The lines of the cited file that show the name.")
    until: str | None = Field(default=None, description="The last earlier version that has the name.")
    since: str | None = Field(default=None, description="The first later version that has the name.")
    instead: str | None = Field(default=None, description="What the answering version has in place of the name.")
    text: str = Field(description="All this in a sentence.")


class ErrorFrame(Frozen):
    """A call of a pasted traceback in an indexed file. Calls of the user's own code have no such entry."""

    number: int = Field(description="Place among all calls of the traceback, from 1, the outermost call first.")
    function: str | None
    path: str = Field(description="The indexed file.")
    line: int | None = Field(
        description="The line in the answering version; null where that version has other code in its place."
    )
    text: str = Field(default="", description="The line itself, verbatim.")
    citation: str = Field(description="Of the line, or of the function where the line is not known.")
    verification: VerificationState
    rank: int | None = Field(default=None, description="The candidate that shows the line.")


class PastedError(Frozen):
    """An exception that the query quotes, with its calls in indexed files in the order of the traceback."""

    type: str = Field(description="Empty where the traceback is cut off before its exception.")
    message: str
    calls: int = Field(default=0, description="How many calls the traceback has, those of other code included.")
    frames: tuple[ErrorFrame, ...] = ()


class ErrorPart(Frozen):
    """What a candidate is to the pasted error that it is evidence for."""

    role: ErrorRole
    frame: int | None = Field(default=None, description="The call's `number` in the traceback.")
    calls: int | None = Field(default=None, description="How many calls that traceback has.")
    line: int | None = Field(default=None, description="The line that the call stands in, as in `ErrorFrame`.")
    citation: str | None = Field(default=None, description="Of that line alone.")


class LeftOut(Frozen):
    """Cited lines that are for readers of another programming language."""

    lines: LineSpan
    language: str

    @classmethod
    def each(cls, rows: Iterable[tuple[int, int, str]]) -> tuple[LeftOut, ...]:
        """Of rows of first line, last line and language."""
        return tuple(cls(lines=LineSpan(start=first, end=last), language=language) for first, last, language in rows)


class SupportedLanguage(Frozen):
    """A programming language whose ADK has a feature."""

    language: str
    since: str | None = Field(default=None, description="The first version of that ADK with the feature, if known.")


class Availability(Frozen):
    """Where a feature exists, as its page says by the tag "Supported in ADK"."""

    languages: tuple[SupportedLanguage, ...]
    stage: str | None = Field(default=None, description="What the page calls the feature, e.g. `experimental`.")
    lacks: Literal["language", "version"] | None = Field(
        default=None,
        description="What keeps the reader from the feature: the page does not name the reader's language, or names a "
        "later version of google-adk.",
    )
    version: str | None = Field(default=None, description="The reader's version of google-adk, where it is too old.")

    @property
    def since(self) -> str | None:
        """The first version of google-adk, which is the ADK for Python, with the feature."""
        return next((one.since for one in self.languages if one.language == "python"), None)


class Candidate(Frozen):
    """One piece of evidence."""

    rank: int
    index: str | None = Field(
        default=None, description="The name of the index that holds it, where the pack is of two: `adk`, `shop`."
    )
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
    inside_string: int = Field(
        default=0,
        description="How many of the first lines of `text` are of a string that begins before it, e.g. of a docstring.",
    )
    context: str = Field(default="", description="Lines before the cited ones, or of a class around them; not cited.")
    attached: str = Field(default="", description="Files that the cited lines include; not cited.")
    text_tokens: int = Field(description="Estimated tokens of context, text and attached files together.")
    passages: tuple[Passage, ...] = Field(
        default=(),
        description="The parts of `text` to show, in the order of their lines; empty only where another candidate "
        "shows the same or the pack was made without choosing.",
    )
    parts: tuple[Part, ...] = Field(
        default=(), description="What `text` consists of, in order, without what need not be shown."
    )
    attached_shown: str = Field(default="", description="The parts of the attached files to show; not cited.")
    best: LineSpan | None = Field(
        default=None, description="The lines of the passages that match best, which are shown where room is short."
    )
    shown_tokens: int = Field(default=0, description="Estimated tokens of the passages and `attached_shown`.")
    import_statement: str | None = Field(
        default=None, description="The statement that imports the code by its public path, where that is known."
    )
    needs: str | None = Field(
        default=None,
        description="What must be installed for the imports that the code of a page shows, e.g. `google-adk[mcp]`, "
        "where neither the page's lines nor an earlier candidate say so.",
    )
    signature: str | None = Field(
        default=None,
        description="The constructor of the class that this result begins, cut to what counts; of a model without one, "
        "its fields as parameters. Null where this result or an earlier one shows them all, or where none is known.",
    )
    taken_by: tuple[str, ...] = Field(
        default=(),
        description="What objects of the class of this result are passed to, e.g. `App(plugins=)`, where no earlier "
        "candidate is of the same class.",
    )
    same_as: int | None = Field(default=None, description="The rank of an earlier candidate that shows the same text.")
    also_at: tuple[str, ...] = Field(default=(), description="Citations of later candidates that show the same text.")
    adds_little: bool = Field(
        default=False, description="Whether the candidate is hardly a part of the answer, so that prompts leave it out."
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
    availability: Availability | None = Field(
        default=None, description="Where the feature exists that the text is about, if the page says so."
    )
    error: ErrorPart | None = Field(default=None, description="Where the query is a pasted error.")
    citation: str
    citation_confidence: Literal["high", "medium", "low"]
    support: float | None = Field(
        default=None,
        description="How far this text alone supports the question, 0 to 1; null where no scale is known.",
    )
    verification: Verification
    why: Why


class VersionPlan(Frozen):
    """Which versions of the ADK a question names, and which one the index is of."""

    asked: tuple[str, ...] = Field(description="What the question names, e.g. `1.18` or `>=2.0`.")
    indexed: str | None = Field(description="The version of the index; null where nobody knows.")
    is_asked: bool = Field(description="Whether the question names the version of the index, and no other.")


class AdkVersion(Frozen):
    """Which google-adk the project uses, and which one the evidence is of."""

    indexed: str | None = Field(description="The version that was searched; null where nobody knows.")
    wanted: str
    taken_from: str = Field(default="", description="What named the wanted version, e.g. `uv.lock`.")

    @property
    def is_wanted(self) -> bool:
        """Whether the evidence is of the wanted version; a build of one's own, `1.18.0+mine`, counts as its release."""
        return is_same_version(self.indexed, self.wanted.partition("+")[0])


class RetrievalPlan(Frozen):
    """What was asked of the store, and which models ordered what it found."""

    collections_queried: tuple[str, ...]
    hybrid_fusion: str
    prefetch_limits: dict[str, int]
    qdrant_search_params: dict[str, Any]
    question_model: str | None = Field(
        default=None, description="What encoded the question, where that is not what encoded the texts."
    )
    rerank_model: str | None
    required: dict[SourceType, int] = Field(
        default_factory=dict, description="How many results of a kind the mode asks for."
    )
    versions: VersionPlan | None = Field(default=None, description="Where the question names a version.")
    wordings: tuple[str, ...] = Field(
        default=(), description="The question in the words of the ADK, as it was searched beside its own."
    )


class Coverage(Frozen):
    """How the final results split."""

    docs_in_top_k: int
    code_in_top_k: int

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Coverage:
        docs = sum(one.source_type == "docs" for one in candidates)
        return cls(docs_in_top_k=docs, code_in_top_k=len(candidates) - docs)


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
    content: str | None = Field(default=None, description="sha256 of what is indexed; equal for equal content.")


class IndexInfo(Frozen):
    """Which index answered."""

    generation: str
    created_at: str
    fingerprint: str
    dense: Literal["complete", "pending"]
    dense_model: str | None = Field(default=None, description="What questions and chunks are encoded with.")
    corpora: dict[str, CorpusInfo]
    content: str | None = Field(default=None, description="sha256 of what all corpora hold.")


class Beside(Frozen):
    """The second index of a pack that is of two; each has answered by itself, and the results are merged."""

    name: str
    beside: str = Field(description="The name of the first index, which `index` and `retrieval_plan` are of.")
    index: IndexInfo | None = Field(description="Null where this index could not answer.")
    retrieval_plan: RetrievalPlan | None


class EvidencePack(Frozen):
    """The answer. Same request, same index: the same bytes, `debug` and `query_id` aside.

    Same request, same content of the index: the same `pack_id`, wherever the index was built, unless two processors
    compute vectors so differently that results change places.
    """

    pack_id: str
    query_id: str
    status: Status
    query: str
    task_mode: TaskMode
    profile: str
    index: IndexInfo | None
    adk: AdkVersion | None = Field(default=None, description="Where the request names the version of a project.")
    quality: Quality
    retrieval_plan: RetrievalPlan | None
    beside: Beside | None = Field(default=None, description="Where a second index was asked, too.")
    candidates: tuple[Candidate, ...]
    coverage: Coverage
    warnings: tuple[Warning, ...]
    outlines: tuple[Outline, ...] = Field(
        default=(),
        description="What else the page of the first candidate holds, and the pages and classes of several candidates.",
    )
    places: tuple[Outline, ...] = Field(
        default=(),
        description="Of a codebase: where else the files of candidates match. The ranking puts the best place of each "
        "file before further ones.",
    )
    mentioned: tuple[Mentioned, ...] = Field(default=(), description="The public symbols that the query names.")
    errors: tuple[PastedError, ...] = Field(
        default=(), description="The exceptions that the query quotes, in the order of its text."
    )
    debug: dict[str, Any] = Field(default_factory=dict)

    def canonical_json(self) -> str:
        """The canonical form; see `canonical_json`."""
        return canonical_json(self.model_dump(mode="json"))

    def with_id(self) -> EvidencePack:
        """The same pack with `pack_id` set to the sha256 of its canonical form."""
        return self.model_copy(update={"pack_id": content_id(self.model_dump())})


# What two runs, two builds of the same content or two machines may differ in, though the evidence is the same: ids,
# times, and the last digits of measured scores, which sums of float32 in another order change.
_OF_THE_RUN = ("pack_id", "query_id", "debug", "queryUsed")
_OF_THE_BUILD = ("generation", "created_at")
_OF_THE_MACHINE = ("taken_from",)
_MEASURED = ("rerank_score", "support")
_MEASURED_WHY = ("similarity",)
_SORTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), check_circular=False)
# A whole number behind a key: of all quotes before a colon, that of a key alone stands behind a letter.
_WHOLE = re.compile(r'":(?<=\w":)(?:-(?=0\.))?(-?[0-9]+)\.0(?=[,}])')


def canonical_json(pack: Mapping[str, Any]) -> str:
    """The canonical form of a pack that is given as the values of its JSON: what the pack says, and of what.

    Ids and times of the run and of the index's build are left out, and so are measured scores, and where a machine
    keeps the project's version. JavaScript writes 1.0 as 1.
    """
    data = _without(pack, _OF_THE_RUN)
    if isinstance(adk := data.get("adk"), Mapping):
        data["adk"] = _without(adk, _OF_THE_MACHINE)
    data |= _of_index(data)
    if isinstance(beside := data.get("beside"), Mapping):
        data["beside"] = {**beside, **_of_index(beside)}
    if isinstance(candidates := data.get("candidates"), list | tuple):
        data["candidates"] = [_unmeasured(candidate) for candidate in candidates]
    # A walk through all values takes longer than the rest.
    return _WHOLE.sub(r'":\1', _SORTED.encode(data))


def _of_index(data: Mapping[str, Any]) -> dict[str, Any]:
    """The index of a pack, or the second index in one, without what is not of the content."""
    index = data.get("index")
    return {"index": _without(index, _OF_THE_BUILD)} if isinstance(index, Mapping) else {}


def content_id(pack: Mapping[str, Any]) -> str:
    """The `pack_id` that belongs to a pack, given as the values of its JSON: an edited pack has another one."""
    return hashlib.sha256(canonical_json(pack).encode("utf-8", "surrogatepass")).hexdigest()


def is_intact(pack: Mapping[str, Any]) -> bool:
    """Whether the id of a pack, given as the values of its JSON, belongs to its content."""
    try:
        return pack.get("pack_id") == content_id(pack)
    except RecursionError:  # No pack is nested so deeply.
        return False


def _unmeasured(candidate: Any) -> Any:
    if not isinstance(candidate, Mapping):
        return candidate
    kept = _without(candidate, _MEASURED)
    if isinstance(why := kept.get("why"), Mapping):
        kept["why"] = _without(why, _MEASURED_WHY)
    return kept


def _without(data: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in names}


def round_score(value: float) -> float:
    return round(float(value), SCORE_DIGITS)
