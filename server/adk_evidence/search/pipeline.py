"""From a request to a ranking (SPEC 5), stage by stage; `pack.assemble` makes the ranking a checked pack.

A part that fails in a stage is a warning, and the request goes on without that part; in strict mode, its error ends the
request.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from adk_evidence.errors import EvidenceError
from adk_evidence.index.opened import Index
from adk_evidence.index.settings import CodebaseSettings
from adk_evidence.models.chunk import Kind
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.render import wording
from adk_evidence.search.calibration import calibration_of
from adk_evidence.search.candidates.encode import encode
from adk_evidence.search.candidates.hybrid import search, wide_enough
from adk_evidence.search.candidates.named import find_named, lead
from adk_evidence.search.candidates.quotes import asking_last
from adk_evidence.search.candidates.tasks import tasks_near
from adk_evidence.search.context import Context
from adk_evidence.search.question.code import with_quoted_code
from adk_evidence.search.question.query import normalise, sub_queries, with_wordings
from adk_evidence.search.question.scope import choose_scope
from adk_evidence.search.ranking.feedback import feed_back, relevant_first
from adk_evidence.search.ranking.gates import choose_final, required_kinds, warn_of_final
from adk_evidence.search.ranking.merge import merge, rerank
from adk_evidence.search.ranking.quality import assess
from adk_evidence.search.ranking.support import check_names, measure_support
from adk_evidence.search.rerankers.base import Reranker
from adk_evidence.search.rerankers.cascade import CascadeReranker, first_stage
from adk_evidence.search.rerankers.local import LocalReranker
from adk_evidence.search.stages import Candidates, Encoded, Hit, Models, Question, Ranking
from adk_evidence.settings import Settings

if TYPE_CHECKING:
    from adk_evidence.symbols.lookup import Symbols
    from adk_evidence.targets.search import TargetSearch


# Fewer candidates than this count as a weak first pass.
WEAK_POOL_SIZE = 20
# How many hits of each collection are looked at where results of its kind were missing among the first ones.
EXPANDED_LIMIT = 90


def begin(
    request: EvidenceRequest,
    index: Index,
    settings: Settings,
    models: Models,
    context: Context,
    symbols: Callable[[], Symbols],
    targets: Callable[[], TargetSearch | None] = lambda: None,
) -> Question:
    """Read a request: its question, its limits and what it searches.

    Raises:
        InvalidRequestError: A path filter cannot be parsed.
    """
    # Limits grow only for a number of results that the request names; the settings' limits fit the settings' number.
    retrieval = wide_enough(settings.retrieval, request.max_results_final or 0)
    context = context.for_request(
        strict=retrieval.strict if request.strict is None else request.strict,
        budget_ms=request.time_budget_ms or settings.pack.time_budget_ms,
    )
    query = with_wordings(normalise(request.query), request.wordings)
    if index.paths["code"]:
        request = with_quoted_code(request, query, symbols)
    scope = choose_scope(
        request.filters,
        query.text,
        index,
        settings,
        context,
        retrieval.language,
        project=request.project,
    )
    size = request.max_results_final or settings.pack.max_results_final
    held = [kind for kind in scope.kinds if index.paths[kind]]
    wanted = required_kinds(request, settings.pack, size, scope.kinds) if settings.expects_every_kind else {}
    absent = tuple(kind for kind in wanted if wanted[kind] and kind not in held)
    for kind in absent:
        context.warn(wording.not_indexed(kind))
    return Question(
        request=request,
        query=query,
        size=size,
        settings=settings.model_copy(update={"retrieval": retrieval}),
        index=index,
        models=models,
        context=context,
        scope=scope,
        query_id=str(uuid.uuid4()),
        symbols=symbols,
        targets=targets,
        required=required_kinds(request, settings.pack, size, held),
        absent_kinds=absent,
    )


def rank(question: Question) -> Ranking:
    """Encode, search, merge, rerank and gate; then measure how far the results can be relied on.

    Raises:
        RequestCancelledError: The caller has gone.
        EvidenceError: A part failed in strict mode, or nothing is left to search with.
    """
    question = _reworded(question)
    context, retrieval, reranker = question.context, question.settings.retrieval, question.models.reranker
    # A careful second stage is asked once, when all candidates are there.
    quick = first_stage(reranker)
    may_expand = retrieval.expansion == "auto"

    with context.stage("encode"):
        added = sub_queries(question.query) if retrieval.expansion == "always" else ()
        encoded = encode(question, (question.query.text, *(one.text for one in question.query.wordings), *added))
    with context.stage("search"):
        limits = dict.fromkeys(question.kinds, retrieval.final_limit_per_collection)
        candidates = _search(question, Candidates(encoded), limits)
    with context.stage("named"):
        candidates = find_named(question, candidates)
    if may_expand and _is_weak(candidates, question.settings) and context.may_spend("sub-queries"):
        may_expand = False
        candidates = _expand(question, candidates, question.kinds)
    if _feeds_back(question, encoded, quick) and context.may_spend("feedback"):
        first, _ = rerank(question, candidates, quick)
        with context.stage("feedback"):
            candidates = feed_back(question, candidates, first)

    chosen = _choose(question, candidates, quick)
    if chosen.missing and context.may_spend("the second try for coverage"):
        with context.stage("coverage"):
            more = dict.fromkeys(chosen.missing, max(EXPANDED_LIMIT, retrieval.final_limit_per_collection))
            candidates = _search(question, candidates, more)
        chosen = _choose(question, candidates, quick)
    if chosen.missing and may_expand and context.may_spend("sub-queries"):
        candidates = _expand(question, candidates, chosen.missing)
        chosen = _choose(question, candidates, quick)
    if reranker is not quick and context.may_spend("the second reranker"):
        chosen = _choose(question, candidates, reranker)

    with context.stage("names"):
        names = check_names(question, candidates)
    with context.stage("support"):
        support = measure_support(question, chosen.final)
    warn_of_final(question, chosen.final, chosen.missing)
    quality = assess(question, candidates.encoded, chosen.final, names, support)
    return Ranking(question, candidates, chosen.ranked, chosen.final, chosen.rerank_model, names, support, quality)


def _reworded(question: Question) -> Question:
    """The question with the wordings of a language model, where one is to be asked and the request has none.

    Names, code and tracebacks are in the words of the ADK already, and other code has other words. A model that cannot
    be asked orders nothing either.
    """
    context, query, reranker = question.context, question.query, question.models.reranker
    reword = reranker.reword if isinstance(reranker, CascadeReranker) else None
    in_words = query.kind in ("question", "error") and not query.wordings
    of_adk = not isinstance(question.settings, CodebaseSettings)
    if reword is None or not in_words or not of_adk or not context.may_spend("other wordings"):
        return question
    with context.stage("wordings"):
        try:
            return replace(question, query=with_wordings(query, reword(query.text)))
        except EvidenceError as exc:
            if context.strict:
                raise
            context.warn(wording.unavailable("wordings_unavailable", exc))
            # The same service would only let the request wait for another time-out.
            return replace(question, models=replace(question.models, reranker=first_stage(reranker)))


def _search(question: Question, candidates: Candidates, limits: Mapping[Kind, int]) -> Candidates:
    """The candidates with what a search of some kinds finds now."""
    hits = {**candidates.hits, **search(question, candidates.encoded, limits)}
    merged, near = merge(question, hits), tasks_near(hit for found in hits.values() for hit in found)
    return replace(candidates, hits=hits, limits={**candidates.limits, **limits}, merged=merged, tasks=near)


def _expand(question: Question, candidates: Candidates, kinds: Sequence[Kind]) -> Candidates:
    """Search once more with sub-queries beside the question."""
    with question.context.stage("expand"):
        encoded = encode(question, sub_queries(question.query), candidates.encoded)
        limits = {kind: candidates.limits[kind] for kind in kinds}
        return _search(question, replace(candidates, encoded=encoded), limits)


class _Chosen(NamedTuple):
    """The candidates in their order, the results, the kinds of which they are too few, and the reranker's model."""

    ranked: Sequence[Hit]
    final: Sequence[Hit]
    missing: tuple[Kind, ...]
    rerank_model: str | None


def _choose(question: Question, candidates: Candidates, reranker: Reranker | None) -> _Chosen:
    ranked, model = rerank(question, candidates, reranker)
    # A second stage reads texts and goes by the question as it was asked: its order is better than the first one's.
    if reranker is first_stage(question.models.reranker):
        ranked = relevant_first(candidates.relevant, ranked)
    ranked = asking_last(question, lead(candidates.named, ranked))
    return _Chosen(ranked, *choose_final(question, ranked), model)


def _feeds_back(question: Question, encoded: Encoded, reranker: Reranker | None) -> bool:
    """Whether the moved query would change anything for the better.

    Only what is asked in words is worded otherwise than its answer: the first results for pasted frames, code or names
    are no example of one. Only the local reranker goes by how near the query is. In codebases other than the ADK's, a
    moved query costs .01 to .02 of nDCG@10.
    """
    asked = question.query.kind in ("question", "error") and encoded.dense_used
    by_nearness = isinstance(reranker, LocalReranker) and reranker.files is None
    return asked and by_nearness and bool(question.settings.retrieval.feedback_passages)


def _is_weak(candidates: Candidates, settings: Settings) -> bool:
    """Whether the question found little, or nothing that is close to the question."""
    calibration = calibration_of(settings)
    everything = [hit for found in candidates.hits.values() for hit in found]
    similarities = [hit.similarity for hit in everything if hit.similarity is not None]
    if len(everything) < WEAK_POOL_SIZE:
        return True
    return calibration is not None and max(similarities, default=math.inf) < calibration.weak
