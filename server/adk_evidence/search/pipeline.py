"""From a request to a ranking (SPEC 5), stage by stage; `pack.assemble` makes the ranking a checked pack.

A part that fails in a stage is a warning, and the request goes on without that part; in strict mode, its error ends the
request.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from adk_evidence.index.opened import Index
from adk_evidence.models.chunk import Kind
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.calibration import calibration_of
from adk_evidence.search.candidates.encode import encode
from adk_evidence.search.candidates.hybrid import search, wide_enough
from adk_evidence.search.candidates.named import find_named, lead
from adk_evidence.search.context import Context
from adk_evidence.search.question.code import with_quoted_code
from adk_evidence.search.question.query import normalise, sub_queries
from adk_evidence.search.question.scope import choose_scope
from adk_evidence.search.ranking.feedback import feed_back, relevant_first
from adk_evidence.search.ranking.gates import choose_final, require_kinds, warn_of_final
from adk_evidence.search.ranking.merge import merge, rerank
from adk_evidence.search.ranking.quality import assess
from adk_evidence.search.ranking.support import check_names, measure_support
from adk_evidence.search.rerankers.base import Reranker
from adk_evidence.search.rerankers.cascade import first_stage
from adk_evidence.search.rerankers.local import LocalReranker
from adk_evidence.search.run import Models, Run
from adk_evidence.settings import Settings

if TYPE_CHECKING:
    from adk_evidence.symbols.lookup import Symbols
    from adk_evidence.targets.search import TargetSearch


# Fewer candidates than this count as a weak first pass.
WEAK_POOL_SIZE = 20


def begin(
    request: EvidenceRequest,
    index: Index,
    settings: Settings,
    models: Models,
    context: Context,
    symbols: Callable[[], Symbols],
    targets: Callable[[], TargetSearch | None] = lambda: None,
) -> Run:
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
    query = normalise(request.query)
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
    return Run(
        query_id=str(uuid.uuid4()),
        request=request,
        query=query,
        size=request.max_results_final or settings.pack.max_results_final,
        settings=settings.model_copy(update={"retrieval": retrieval}),
        index=index,
        models=models,
        context=context,
        scope=scope,
        limits=dict.fromkeys(scope.kinds, retrieval.final_limit_per_collection),
        symbols=symbols,
        targets=targets,
    )


def rank(run: Run) -> Run:
    """Encode, search, merge, rerank and gate; then measure how far the results can be relied on.

    Raises:
        RequestCancelledError: The caller has gone.
        EvidenceError: A part failed in strict mode, or nothing is left to search with.
    """
    context, retrieval = run.context, run.settings.retrieval
    # A careful second stage is asked once, when all candidates are there.
    quick = first_stage(run.models.reranker)

    with context.stage("encode"):
        run.sub_queries = sub_queries(run.query) if retrieval.expansion == "always" else ()
        encode(run, (run.query.text, *run.sub_queries))
        run.asked = run.vectors[0]
    require_kinds(run)
    with context.stage("search"):
        _search(run, run.kinds)
    with context.stage("named"):
        run.named = find_named(run)
    if _may_expand(run) and _is_weak(run) and context.may_spend("sub-queries"):
        _expand(run, run.kinds)
    if _feeds_back(run, quick) and context.may_spend("feedback"):
        with context.stage("feedback"):
            rerank(run, quick)
            feed_back(run)

    _choose(run, quick)
    if run.missing and context.may_spend("the second try for coverage"):
        with context.stage("coverage"):
            run.limits |= dict.fromkeys(run.missing, retrieval.expanded_limit_per_collection)
            _search(run, run.missing)
            _choose(run, quick)
    if run.missing and _may_expand(run) and context.may_spend("sub-queries"):
        _expand(run, run.missing)
        _choose(run, quick)
    if run.models.reranker is not quick and context.may_spend("the second reranker"):
        _choose(run, run.models.reranker)

    with context.stage("names"):
        check_names(run)
    with context.stage("support"):
        measure_support(run)
    warn_of_final(run)
    run.quality = assess(run)
    return run


def _expand(run: Run, kinds: Sequence[Kind]) -> None:
    """Search once more with sub-queries beside the question."""
    with run.context.stage("expand"):
        run.sub_queries = sub_queries(run.query)
        encode(run, run.sub_queries)
        _search(run, kinds)


def _search(run: Run, kinds: Sequence[Kind]) -> None:
    run.hits |= search(run, kinds)
    merge(run)


def _choose(run: Run, reranker: Reranker | None) -> None:
    rerank(run, reranker)
    # A second stage reads texts and goes by the question as it was asked: its order is better than the first one's.
    if reranker is first_stage(run.models.reranker):
        run.ranked = relevant_first(run)
    run.ranked = lead(run.named, run.ranked)
    choose_final(run)


def _feeds_back(run: Run, reranker: Reranker | None) -> bool:
    """Whether the moved query would change anything for the better.

    Only what is asked in words is worded otherwise than its answer: the first results for pasted frames, code or names
    are no example of one. And only the local reranker goes by how near the query is.
    """
    asked = run.query.kind in ("question", "error") and run.dense_used
    return asked and bool(run.settings.retrieval.feedback_passages) and isinstance(reranker, LocalReranker)


def _may_expand(run: Run) -> bool:
    return run.settings.retrieval.expansion == "auto" and not run.sub_queries


def _is_weak(run: Run) -> bool:
    """Whether the question found little, or nothing that is close to the question."""
    calibration = calibration_of(run.settings)
    everything = [hit for found in run.hits.values() for hit in found]
    similarities = [hit.similarity for hit in everything if hit.similarity is not None]
    if len(everything) < WEAK_POOL_SIZE:
        return True
    return calibration is not None and max(similarities, default=math.inf) < calibration.weak
