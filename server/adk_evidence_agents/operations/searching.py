"""`search_code`, `search_docs` and `find_similar`: the hybrid search of one index or several.

What the question names outright, such as the raise site of a pasted traceback, stands first, as in its own index.

Similar code is found by the snippet's vector and by the words in it. Measured on 112 functions of the ADK without
docstring and under another name: the function itself came first for 83 % of them (MRR .90), by its vector alone for
55 % (MRR .68).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from adk_evidence.models.chunk import ChunkPayload, SourceType
from adk_evidence.models.citation import citation_of
from adk_evidence.models.pack import LineSpan, Quality, Verification, round_score
from adk_evidence.models.request import MAX_RESULTS, EvidenceFilters, EvidenceRequest
from adk_evidence.search.question.query import normalise
from adk_evidence.search.question.scope import filter_of
from adk_evidence.search.session import Neighbour, Session
from adk_evidence.search.stages import Hit
from adk_evidence.store import fusion
from adk_evidence.store.base import Filter, Match
from adk_evidence.store.fusion import Standing
from adk_evidence.text.identifiers import code_identifiers
from adk_evidence_agents.globs import in_any_folder
from adk_evidence_agents.operations.requests import FindSimilarParameters, SearchFilters, SearchParameters
from adk_evidence_agents.operations.run import Run
from adk_evidence_agents.operations.snippets import same_text

BROAD_WORDS = 2
# What people call a language, and its extensions: a file of a language that no chunker knows carries its extension.
_EXTENSIONS: dict[str, tuple[str, ...]] = {
    "typescript": ("ts", "tsx", "mts", "cts"),
    "javascript": ("js", "jsx", "mjs", "cjs"),
    "python": ("py", "pyi"),
    "markdown": ("md", "mdx"),
    "golang": ("go",),
    "rust": ("rs",),
    "kotlin": ("kt", "kts"),
    "ruby": ("rb",),
    "shell": ("sh", "bash"),
    "c++": ("cpp", "cc", "cxx", "hpp"),
    "c#": ("cs",),
}


@dataclass(frozen=True)
class Found:
    """A result of one index, its place in the hybrid order, and its similarity (0 to 1) by the index's dense model."""

    name: str
    session: Session
    hit: Hit
    place: int
    score: float | None
    model: str = ""

    @property
    def payload(self) -> ChunkPayload:
        return self.hit.payload

    @property
    def citation(self) -> str:
        return citation_of(self.payload)

    @property
    def lines(self) -> LineSpan:
        return LineSpan(start=self.payload.start_line, end=self.payload.end_line)

    @cached_property
    def verification(self) -> Verification:
        """What became of the cited lines in their source."""
        return self.session.verify(self.payload)

    @property
    def holds(self) -> bool:
        """Whether the source holds the cited lines or the same code, be they elsewhere."""
        return self.verification.state in ("exact", "moved", "same_tree")


@dataclass(frozen=True)
class Answered:
    """What one index found, best first."""

    name: str
    session: Session
    found: list[Found]
    quality: Quality


def search(run: Run, parameters: SearchParameters, sources: tuple[SourceType, ...]) -> list[Found]:
    """The results of a search, best first."""
    filters, threshold, top_k = parameters.filters, parameters.score_threshold, parameters.top_k
    counted = run.vectors_searched
    request = EvidenceRequest(
        query=parameters.query,
        max_results_final=top_k if threshold is None else MAX_RESULTS,
        filters=_evidence_filters(filters, sources),
    )
    answers = search_indexes(run, request)
    found = merged([answer.found for answer in answers])
    if threshold is not None and any(item.score is None for item in found):
        run.notes.note(
            "embedding_error", "score_threshold was not applied to results that have no similarity.", "warning"
        )
    results = _near(run, found, threshold, "result has the score", "score_threshold")[:top_k]
    _advise_on_filters(run, filters, counted)
    is_broad = len(parameters.query.split()) <= BROAD_WORDS and not code_identifiers(parameters.query)
    if is_broad and filters == SearchFilters():
        run.notes.advise("The query is broad; say more, or add a filter for file type or directory.")
    advise_on_age(run, results)
    if sources == ("docs",):
        for answer in answers:
            if not answer.session.index.has_guides:
                run.notes.advise(f"No documentation is indexed in {answer.name}; index its docs for better results.")
    return results


def search_indexes(run: Run, request: EvidenceRequest) -> list[Answered]:
    """Ask each index."""

    def ask(name: str, session: Session) -> Answered:
        run.check_embedding(session.index.manifest.fingerprint, name)
        ranking = session.rank(request)
        asked = ranking.candidates.encoded.asked
        near = session.neighbours(asked, ranking.final) if asked is not None else []
        run.notes.take_warnings(ranking.question.context.warnings)
        _count(run, session, request.filters, ranking.question.scope.excluded_origins)
        return Answered(name, session, _found(name, session, near), ranking.quality)

    with run.timing_query(normalise(request.query).text):
        return run.ask_each(ask)


def find_similar(run: Run, parameters: FindSimilarParameters) -> list[Found]:
    """Code like a snippet, best first; the snippet's own chunk is left out."""
    code, threshold, top_k = parameters.reference_code, parameters.similarity_threshold, parameters.top_k
    filters = _evidence_filters(parameters.filters, ("code",))
    counted = run.vectors_searched
    # One more than asked for: the snippet's own chunk is left out.
    limit = (top_k if threshold is None else MAX_RESULTS) + 1

    def ask(name: str, session: Session) -> list[Found]:
        run.check_embedding(session.index.manifest.fingerprint, name)
        near = session.similar(code, limit=limit, filters=filters)
        _count(run, session, filters)
        return _found(name, session, near)

    with run.timing_query(code):
        found = _without_itself(run, merged(run.ask_each(ask)), code)
    results = _near(run, found, threshold, "code has the similarity", "similarity_threshold")[:top_k]
    _advise_on_filters(run, parameters.filters, counted)
    advise_on_age(run, results)
    return results


def merged(answers: Sequence[Sequence[Found]]) -> list[Found]:
    """The results of each index in one order; see `fusion.merged`."""
    models = {item.model for found in answers for item in found}
    standings = [
        [Standing(item, int(item.hit.named is None), item.score or 0.0) for item in found] for found in answers
    ]
    return [one.result for one in fusion.merged(standings, comparable=len(models) <= 1)]


def advise_on_age(run: Run, results: Iterable[Found]) -> None:
    """Advise to update each index of which a source no longer holds cited lines."""
    if stale := sorted({item.name for item in results if not item.holds}):
        run.notes.advise(f"Some results are older than their source files; update {', '.join(stale)}.")


def _near(run: Run, found: list[Found], threshold: float | None, closest: str, parameter: str) -> list[Found]:
    """The results that reach a threshold; those without a similarity stay."""
    near = [item for item in found if threshold is None or item.score is None or item.score >= threshold]
    if found and not near:
        best = max(item.score or 0.0 for item in found)
        run.notes.advise(f"The closest {closest} {best:.2f}; lower {parameter} or leave it out.")
    return near


def _advise_on_filters(run: Run, filters: SearchFilters, counted: int) -> None:
    """Advise where the filters left nothing to search; `counted` is what was searched before."""
    if run.vectors_searched == counted and filters != SearchFilters():
        run.notes.advise(
            "Nothing that is indexed passes filters.file_type, filters.directory and filters.tags; change or omit them."
        )


def _evidence_filters(filters: SearchFilters, sources: tuple[SourceType, ...]) -> EvidenceFilters:
    name = (filters.file_type or "").lower().lstrip(".")
    return EvidenceFilters(
        path_allowlist=in_any_folder(filters.directory),
        languages=() if filters.file_type is None else (name, *_EXTENSIONS.get(name, ())),
        source_types=sources,
        tags=filters.tags,
    )


def _count(run: Run, session: Session, filters: EvidenceFilters, excluded_origins: tuple[str, ...] = ()) -> None:
    """Add the chunks of an index that pass the filters to the metrics of the operation."""
    index, store = session.index, session.settings.store
    total = 0
    for kind in filters.kinds:
        collection = store.collection(kind)
        built = filter_of(filters, kind, index)
        if excluded_origins and kind == "doc":
            built = Filter(built.must, built.should, (*built.must_not, Match("origin", excluded_origins)))
        if built:
            total += index.store.count(collection, built)
        elif entry := index.manifest.collections.get(collection):
            total += entry.points
    run.vectors_searched += total


def _found(name: str, session: Session, near: Sequence[Neighbour]) -> list[Found]:
    def score(cosine: float | None) -> float | None:
        return None if cosine is None else round_score(min(1.0, max(0.0, cosine)))

    model = str(session.index.manifest.fingerprint["dense_model"])
    return [Found(name, session, hit, place, score(cosine), model) for place, (hit, cosine) in enumerate(near, 1)]


def _without_itself(run: Run, found: list[Found], code: str) -> list[Found]:
    """Leave out the chunk that is the snippet. Several chunks with its text are copies, which are worth knowing."""
    same = [item for item in found if same_text(item.payload.body, code)]
    if len(same) > 1:
        run.notes.advise(f"The snippet stands in {len(same)} places to the letter; consider keeping one of them.")
        return found
    return [item for item in found if item not in same]
