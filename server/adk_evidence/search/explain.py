"""Computes the scores and the order of a pack once more from the numbers that the pack itself has.

Nothing is searched: `why` of each candidate and the retrieval plan hold the parts, and the formulas are those of the
search. A pack's numbers are rounded, so that a score agrees where rounding of its parts can explain the difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from adk_evidence.models.base import Frozen
from adk_evidence.models.chunk import SOURCE_TYPES
from adk_evidence.models.pack import (
    SCORE_DIGITS,
    BranchRank,
    Candidate,
    Coverage,
    EvidencePack,
    RetrievalPlan,
    content_id,
    is_intact,
    round_score,
)
from adk_evidence.search.calibration import SupportWeights
from adk_evidence.search.pack.questions import NEAR
from adk_evidence.search.question.query import normalise
from adk_evidence.search.ranking.changelog import asks_for_changes, is_changelog
from adk_evidence.search.ranking.support import MEASURES, Measures
from adk_evidence.search.rerankers.local import LocalReranker, scaled, weighted
from adk_evidence.search.together import tiers
from adk_evidence.store.fusion import RANGE, distributed, reciprocal, reciprocal_rank

# `agrees` and `differs`: what was computed again, and whether it is what the pack shows. `outside`: the number comes
# from a model or a service, and nothing here can compute it. `unknown`: the pack lacks the parts, as packs of older
# versions do.
State = Literal["agrees", "differs", "outside", "unknown"]
StepName = Literal[
    "fusion",
    "pool",
    "features",
    "rerank",
    "moved",
    "place",
    "moved_up",
    "support",
    "question",
    "order",
    "coverage",
    "pack_id",
]

# Half of the last digit that a pack shows.
_ROUNDING: float = 0.5 * 10**-SCORE_DIGITS
# What sums of float64 in another order may add.
_NOISE = 1e-9
# Earlier versions of the reranker have other features, whose weights a pack has.
_LOCAL = LocalReranker.model.rpartition("-")[0]


class Step(Frozen):
    """One number or place of a pack, and whether it follows from the others; `says` is a sentence."""

    name: StepName
    state: State
    says: str


class ExplainedCandidate(Frozen):
    """The steps of one candidate, in the order of the search."""

    rank: int
    citation: str
    steps: tuple[Step, ...]


class Explanation(Frozen):
    """What became of computing a pack again. `agrees` is false if a single step differs."""

    pack_id: str
    agrees: bool
    steps: tuple[Step, ...]
    candidates: tuple[ExplainedCandidate, ...]


def explain(pack: EvidencePack, written: Mapping[str, Any], rank: int | None = None) -> Explanation:
    """Compute each score and place of a pack again.

    Args:
        pack: The pack.
        written: The same pack as the values of its JSON, of which its id was made.
        rank: Show the steps of this candidate alone.
    """
    whole = [_pack_id(pack, written)]
    if pack.beside is not None:
        whole += _merged(pack)
    candidates = []
    for name, part in _parts(pack):
        plan = part.retrieval_plan
        if plan is None:
            continue
        of_part = _whole(part, plan)
        whole += (step.model_copy(update={"says": f"{name}: {step.says}"}) for step in of_part) if name else of_part
        asked = normalise(pack.query, errors=plan.query_kind in ("traceback", "error"))
        of_changes = asks_for_changes(asked.text)
        ranks = {one.candidate_id: one.rank for one in pack.candidates}
        candidates += [
            ExplainedCandidate(
                rank=ranks[one.candidate_id], citation=one.citation, steps=tuple(_steps(one, plan, of_changes))
            )
            for one in part.candidates
            if rank in (None, ranks[one.candidate_id])
        ]
    candidates.sort(key=lambda one: one.rank)
    steps = [*whole, *(step for one in candidates for step in one.steps)]
    agrees = all(step.state != "differs" for step in steps)
    return Explanation(pack_id=pack.pack_id, agrees=agrees, steps=tuple(whole), candidates=tuple(candidates))


def _pack_id(pack: EvidencePack, written: Mapping[str, Any]) -> Step:
    if is_intact(written):
        return _step("pack_id", "agrees", f"The pack's id is the hash of its content: {pack.pack_id[:12]}.")
    shown, made = pack.pack_id[:12] or "empty", content_id(written)[:12]
    return _step("pack_id", "differs", f"The pack was edited: its id is {shown}, but its content has the hash {made}.")


# Packs of two indexes


def _parts(pack: EvidencePack) -> Iterator[tuple[str | None, EvidencePack]]:
    """The pack; of a pack of two indexes, the name of each and what it has answered, as far as that is shown."""
    if pack.beside is None:
        yield None, pack
        return
    for name, plan in ((pack.beside.beside, pack.retrieval_plan), (pack.beside.name, pack.beside.retrieval_plan)):
        own = [one for one in pack.candidates if one.index == name]
        part = {
            "beside": None,
            "retrieval_plan": plan,
            "candidates": tuple(one.model_copy(update={"rank": one.why.own_rank or one.rank}) for one in own),
            "coverage": Coverage.of(own),
        }
        yield name, pack.model_copy(update=part)


def _merged(pack: EvidencePack) -> Iterator[Step]:
    """The order of the results of two indexes; how many each has also depends on results that are not shown."""
    names = {one.index for one in pack.candidates}
    known = {pack.beside.beside, pack.beside.name} if pack.beside is not None else set()
    if names - known:
        yield _step("order", "differs", "A result names neither of the two indexes.")
        return
    if any(one.why.own_rank is None or one.why.near_rank is None for one in pack.candidates):
        yield _step("order", "unknown", "The pack does not say at which ranks its results were merged.")
        return
    wrong = [one.rank for place, one in enumerate(pack.candidates, 1) if one.rank != place]
    if wrong:
        yield _step("order", "differs", f"Result {wrong[0]} does not stand at its rank.")
        return
    keys: dict[int, tuple[int, float]] = {}
    for name in known:
        own = [one for one in pack.candidates if one.index == name]
        for one, tier in zip(own, tiers(own), strict=True):
            keys[one.rank] = (tier, -reciprocal_rank(one.why.own_rank or 1, one.why.near_rank or 1))
    for before, after in pairwise(pack.candidates):
        if keys[before.rank] > keys[after.rank]:
            says = f"Result {before.rank} stands before result {after.rank}, though its ranks are behind."
            yield _step("order", "differs", says)
            return
    yield _step("order", "agrees", "The results of both indexes follow their own ranks and the ranks by similarity.")


# One candidate


def _steps(candidate: Candidate, plan: RetrievalPlan, of_changes: bool) -> Iterator[Step]:
    """The steps of one candidate; `of_changes` is whether the question asks what changed."""
    why = candidate.why
    if why.fused_score is not None:
        yield _fusion(candidate, plan)
    elif why.named is not None:
        yield _step("fusion", "agrees", f"No branch returned this result: the request names it ({why.named}).")
    elif why.mentioned is not None:
        says = f"No branch returned this result: the question's words name it ({why.mentioned})."
        yield _step("fusion", "agrees", says)
    else:
        yield _step("fusion", "unknown", "The pack does not say how this result was found.")
    if why.pool_rank is not None:
        yield _pooled(candidate, plan)
    if why.rerank_score is not None:
        yield from _reranked(candidate, plan, of_changes)
    yield from _placed(candidate, plan)
    yield from _similarity(candidate)
    if candidate.support is not None:
        yield _support(candidate, plan)
    if why.question is not None:
        near = f"A question written for this text has the cosine {why.question.similarity} with the one asked"
        state: State = "agrees" if NEAR <= why.question.similarity <= 1 + _ROUNDING else "differs"
        yield _step("question", state, f"{near}, {NEAR} or more: {why.question.text}")


def _fusion(candidate: Candidate, plan: RetrievalPlan) -> Step:
    shown = candidate.why.fused_score or 0.0
    branches, scales = candidate.why.branches, plan.fusion_scales.get(candidate.collection, {})
    if not branches:
        return _step("fusion", "unknown", "The pack does not list the branches.")
    if plan.hybrid_fusion == "rrf" and plan.rrf_k is not None and plan.rrf_k > 0:
        terms = [f"1/({plan.rrf_k}+{branch.rank - 1}) {branch.branch}" for branch in branches]
        total = sum(reciprocal(branch.rank - 1, plan.rrf_k) for branch in branches)
        return _compared("fusion", " + ".join(terms), total, shown, 0.0)
    if plan.hybrid_fusion != "dbsf" or any(branch.branch not in scales for branch in branches):
        return _step("fusion", "unknown", f"The pack lacks the numbers of the fusion {plan.hybrid_fusion}.")

    def share(branch: BranchRank) -> float:
        return distributed(branch.score, scales[branch.branch].mean, scales[branch.branch].deviation)

    terms = [f"{share(branch):.6f} {branch.branch}" for branch in branches]
    inexact = sum(
        _inexact(share(branch) * RANGE, scales[branch.branch].deviation) / RANGE
        for branch in branches
        if scales[branch.branch].deviation
    )
    return _compared("fusion", " + ".join(terms), sum(map(share, branches)), shown, inexact)


def _pooled(candidate: Candidate, plan: RetrievalPlan) -> Step:
    why = candidate.why
    place = f"Place {why.pool_rank} of the pool"
    if plan.pool_size is None or why.fused_rank is None:
        return _step("pool", "unknown", f"{place}; the pack does not say how large the pool may be.")
    limit = plan.final_limits.get(candidate.collection)
    if why.pool_rank is not None and why.pool_rank > plan.pool_size:
        return _step("pool", "differs", f"{place}, which holds at most {plan.pool_size} results.")
    if limit is not None and why.fused_rank > limit:
        return _step("pool", "differs", f"Fused rank {why.fused_rank}, though {limit} results of its kind were taken.")
    took = "" if why.took_rank is None else f", in the place of the same text at rank {why.took_rank}"
    return _step("pool", "agrees", f"{place} from fused rank {why.fused_rank}{took}.")


def _reranked(candidate: Candidate, plan: RetrievalPlan, of_changes: bool) -> Iterator[Step]:
    why, model = candidate.why, plan.rerank_model or "none"
    shown = why.rerank_score or 0.0
    if candidate.rerank_score != why.rerank_score:
        yield _step("rerank", "differs", f"The result shows the score {candidate.rerank_score}, `why` shows {shown}.")
    reranker, _, beside = model.partition(", ")
    local = reranker.rpartition("-")[0] == _LOCAL and not beside
    # The local reranker is the first of two where a language model orders its best results again.
    first = local or "first" in why.features
    if not first:
        yield _step("rerank", "outside", f"The score {shown} comes from {model}, outside of ADK Evidence.")
        return
    own = {name: value for name, value in why.features.items() if name in plan.rerank_weights}
    if not {"dense", "mean"} <= plan.rerank_weights.keys() or (local and len(own) < len(why.features)):
        yield _step("rerank", "unknown", "The pack lacks the weights of the reranker's features.")
        return
    yield from _features(candidate, plan)
    if "changelog" in plan.rerank_weights:
        yield from _changelog(candidate, of_changes)
    if elsewhere := why.features.get("elsewhere"):
        lacks = candidate.availability is not None and candidate.availability.lacks == "language"
        told = f"elsewhere: the docs {'name' if lacks else 'do not name'} other languages than the reader's alone"
        yield _compared("features", told, float(lacks), elsewhere, 0.0)
    named = " + ".join(f"{_weight(plan.rerank_weights, name, own)} x {value} {name}" for name, value in own.items())
    inexact = sum(abs(weight) for weight in plan.rerank_weights.values()) * _ROUNDING
    score = shown if local else why.features["first"]
    yield _compared("rerank", named or "no feature", weighted(own, plan.rerank_weights), score, inexact)
    if not local:
        yield _step("rerank", "outside", f"The score {shown} is made of an order that comes from outside: {model}.")


def _weight(weights: Mapping[str, float], name: str, features: Mapping[str, float]) -> str:
    if name == "dense" and "mean" in features:
        return f"({round_score(weights[name])} - {round_score(weights['mean'])} of mean)"
    return f"{round_score(weights[name])}"


def _features(candidate: Candidate, plan: RetrievalPlan) -> Iterator[Step]:
    """The features that standardise a score of a branch. What most other features count stands in texts."""
    scales, scores = plan.rerank_scales.get(candidate.collection, {}), candidate.why.scores
    for name, scale in scales.items():
        shown = candidate.why.features.get(name)
        if shown is None:
            yield _step("features", "differs", f"The feature {name} is missing.")
            continue
        # The scale of scores that are all the same is lost by rounding.
        if abs(scale.deviation) <= _ROUNDING:
            yield _step("features", "agrees", f"{name}: all scores are the same.")
            continue
        value = scores.get(name)
        given = f"no score, so {scale.lowest}," if value is None else f"{value}"
        told = f"{name}: ({given} - {scale.mean}) / {scale.deviation}"
        again = scaled(value, scale)
        yield _compared("features", told, again, shown, _inexact(again, scale.deviation))


def _changelog(candidate: Candidate, of_changes: bool) -> Iterator[Step]:
    """The feature of what tells of changes, for a question that does not ask what changed."""
    is_one = is_changelog(candidate.path, candidate.headings)
    shown = candidate.why.features.get("changelog", 0.0)
    if is_one or shown:
        told = "path and headings are those of a changelog" if is_one else "path and headings are of no changelog"
        asks = "asks" if of_changes else "does not ask"
        again = 1.0 if is_one and not of_changes else 0.0
        yield _compared("features", f"changelog: {told}, and the question {asks} what changed", again, shown, 0.0)


def _inexact(standardised: float, deviation: float) -> float:
    """By how much a standardised score may be off because score, mean and deviation were rounded."""
    return _ROUNDING * (2 + abs(standardised)) / max(deviation - _ROUNDING, _ROUNDING)


def _placed(candidate: Candidate, plan: RetrievalPlan) -> Iterator[Step]:
    why, place = candidate.why, candidate.why.ranking_place
    if place is None or plan.results is None or plan.buffer is None:
        yield _step("place", "unknown", "The pack does not say at which place of the whole ranking this result stood.")
        return
    if why.rerank_moved is not None and why.pool_rank is not None:
        moved = why.pool_rank - place
        told = f"Place {why.pool_rank} of the pool, place {place} of the ranking: moved by {moved}"
        state: State = "agrees" if moved == why.rerank_moved else "differs"
        yield _step("moved", state, f"{told}{'' if state == 'agrees' else f', not by {why.rerank_moved}'}.")
    if why.moved_up is None:
        state = "agrees" if candidate.rank <= place <= plan.results else "differs"
        why_here = _first_of(candidate)
        yield _step("place", state, f"Place {place} of the ranking{why_here}, result {candidate.rank}.")
    else:
        last = plan.neighbour_buffer or 0 if why.moved_up == "neighbour" else plan.buffer
        state = "agrees" if plan.results < place <= last else "differs"
        needed = {
            "kind": f"there were too few results of {candidate.source_type}",
            "example": "an example was missing",
            "neighbour": "another part of its page, class or file is a result, too",
        }
        says = f"Place {place} of the ranking, behind the first {plan.results}: {needed[why.moved_up]}."
        yield _step("moved_up", state, says)


def _first_of(candidate: Candidate) -> str:
    if candidate.why.named is not None:
        return f", because the request names it ({candidate.why.named})"
    if candidate.why.mentioned is not None:
        return f", which the question's words name ({candidate.why.mentioned})"
    if candidate.why.feedback_rank is not None:
        return f", number {candidate.why.feedback_rank} of those that moved the question"
    return ""


def _similarity(candidate: Candidate) -> Iterator[Step]:
    """The score of the dense branch stands twice in a pack: by itself, and as a measure of the support."""
    measured = candidate.why.measures.get("similarity")
    dense = next((branch.score for branch in candidate.why.branches if branch.branch == "dense"), None)
    if measured is not None and dense is not None and abs(measured - dense) > 2 * _ROUNDING + _NOISE:
        says = f"The measured similarity is {measured}, but the score of the dense branch is {dense}."
        yield _step("support", "differs", says)


def _support(candidate: Candidate, plan: RetrievalPlan) -> Step:
    measured, weights, shown = candidate.why.measures, plan.support_weights, candidate.support or 0.0
    if set(MEASURES) - measured.keys() or {"bias", *MEASURES} - weights.keys():
        return _step("support", "unknown", "The pack lacks what the support was computed from.")
    measures = Measures(**{name: measured[name] for name in MEASURES})
    # The thresholds of a good answer play no part in a score.
    again = measures.score(SupportWeights(**{name: weights[name] for name in ("bias", *MEASURES)}, high=0.5, nearest=0))
    inexact = sum(abs(weights[name]) for name in MEASURES) * _ROUNDING / 4
    named = " + ".join(f"{weights[name]} x {measured[name]} {name}" for name in MEASURES)
    return _compared("support", f"logistic of {weights['bias']} + {named}", again, shown, inexact)


# The whole pack


def _whole(pack: EvidencePack, plan: RetrievalPlan) -> Iterator[Step]:
    wrong = [one.rank for place, one in enumerate(pack.candidates, 1) if one.rank != place]
    if wrong:
        yield _step("order", "differs", f"Result {wrong[0]} does not stand at its rank.")
    yield _branches(pack.candidates)
    yield _pool_order(pack.candidates)
    yield _ranking(pack.candidates, plan)
    if plan.results is not None:
        yield _chosen(pack, plan)


def _branches(candidates: Sequence[Candidate]) -> Step:
    """Within a branch and within a collection, a better rank has no lower score."""
    ranked: dict[tuple[str, str], list[tuple[int, float, int]]] = {}
    for one in candidates:
        if one.why.fused_rank is not None and one.why.fused_score is not None:
            ranked.setdefault((one.collection, "fusion"), []).append(
                (one.why.fused_rank, one.why.fused_score, one.rank)
            )
        for branch in one.why.branches:
            ranked.setdefault((one.collection, branch.branch), []).append((branch.rank, branch.score, one.rank))
    for (collection, name), found in ranked.items():
        for (better, high, first), (worse, low, second) in pairwise(sorted(found)):
            if better == worse or high < low:
                says = f"Results {first} and {second} have ranks {better} and {worse} in {name} of {collection}"
                return _step("order", "differs", f"{says}, but scores {high} and {low}.")
    return _step("order", "agrees", "In every branch, and in the fusion of each collection, ranks follow the scores.")


def _pool_order(candidates: Sequence[Candidate]) -> Step:
    """The pool is ordered by fused ranks, docs first at equal rank."""
    pooled = sorted((one for one in candidates if one.why.pool_rank), key=lambda one: one.why.pool_rank or 0)
    for before, after in pairwise(pooled):
        first, second = (one.why.took_rank or one.why.fused_rank or 0 for one in (before, after))
        # Whose place a result took is not known but for the rank.
        docs_first = before.source_type == "docs" or after.source_type == "code"
        known = before.why.took_rank is None and after.why.took_rank is None
        if first > second or (first == second and known and not docs_first):
            says = f"Result {before.rank} comes before result {after.rank} in the pool"
            return _step("pool", "differs", f"{says}, but has the fused rank {first} against {second}.")
        if before.why.pool_rank == after.why.pool_rank:
            return _step("pool", "differs", f"Results {before.rank} and {after.rank} have one place in the pool.")
    return _step("pool", "agrees", "The pool follows the fused ranks, docs before code at equal rank.")


def _ranking(candidates: Sequence[Candidate], plan: RetrievalPlan) -> Step:
    """Named results, then those that moved the question, then the others by the reranker's score or by the pool."""
    if any(one.why.ranking_place is None for one in candidates):
        return _step("order", "unknown", "The pack does not say at which places of the ranking its results stood.")
    for before, after in pairwise(candidates):
        if (before.why.ranking_place or 0) >= (after.why.ranking_place or 0):
            says = f"Result {before.rank} was at place {before.why.ranking_place} of the ranking"
            return _step("order", "differs", f"{says}, result {after.rank} at place {after.why.ranking_place}.")
    # What the words of the question name stands behind the first results, whatever its score.
    for before, after in pairwise(one for one in candidates if one.why.mentioned is None or one.why.named is not None):
        first, second = _group(before), _group(after)
        if first > second or (first == second and first[0] == _OTHERS and _key(before) > _key(after)):
            says = f"Result {before.rank} stands before result {after.rank}"
            return _step("order", "differs", f"{says}, though its score or its place in the pool is behind.")
    by = "the reranker's scores" if plan.rerank_model else "the order of the pool"
    says = f"Results that the request names come first, then those that moved the question, then the others by {by}."
    return _step("order", "agrees", says)


_NAMED, _RELEVANT, _OTHERS = range(3)


def _group(candidate: Candidate) -> tuple[int, int]:
    if candidate.why.named is not None:
        return _NAMED, 0
    if candidate.why.feedback_rank is not None:
        return _RELEVANT, candidate.why.feedback_rank
    return _OTHERS, 0


def _key(candidate: Candidate) -> tuple[float, int]:
    return -(candidate.why.rerank_score or 0.0), candidate.why.pool_rank or 0


def _chosen(pack: EvidencePack, plan: RetrievalPlan) -> Step:
    """At most as many results as asked for; a kind whose results moved up has no more than the mode requires."""
    wanted = plan.results or 0
    if len(pack.candidates) > wanted:
        says = f"The pack has {len(pack.candidates)} results where {wanted} were asked for."
        return _step("coverage", "differs", says)
    counts = {kind: sum(one.source_type == kind for one in pack.candidates) for kind in SOURCE_TYPES.values()}
    if (pack.coverage.docs_in_top_k, pack.coverage.code_in_top_k) != (counts["docs"], counts["code"]):
        says = f"The pack has {counts['docs']} results of docs and {counts['code']} of code, and says otherwise."
        return _step("coverage", "differs", says)
    for kind, count in counts.items():
        moved = [one for one in pack.candidates if one.why.moved_up == "kind" and one.source_type == kind]
        if moved and count > plan.required.get(kind, 0):
            says = f"Result {moved[0].rank} moved up for {kind}, though there were enough without it."
            return _step("coverage", "differs", says)
    required = ", ".join(f"{minimum} of {kind}" for kind, minimum in plan.required.items()) or "nothing of each kind"
    found = f"{counts['docs']} results of docs and {counts['code']} of code"
    return _step("coverage", "agrees", f"{found}; the mode asks for {required}.")


def _compared(name: StepName, told: str, again: float, shown: float, inexact: float) -> Step:
    # Sums of edited numbers may be infinite.
    agrees = math.isfinite(again) and abs(again - shown) <= _ROUNDING + inexact + _NOISE
    value = round_score(again)
    if not agrees:
        return _step(name, "differs", f"{told}: recomputed {value}, but the pack shows {shown}.")
    end = f"= shown {shown}" if value == shown else f"and shown {shown} differ by rounding alone"
    return _step(name, "agrees", f"{told}: recomputed {value} {end}.")


def _step(name: StepName, state: State, says: str) -> Step:
    return Step(name=name, state=state, says=says)
