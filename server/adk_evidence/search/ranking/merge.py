"""From the hits of all collections to one ranking: merge, leave out what cannot be cited, rerank (SPEC 5 section 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from adk_evidence.errors import EvidenceError
from adk_evidence.models.chunk import KINDS, ChunkPayload, Kind, sha256_text
from adk_evidence.models.citation import can_be_cited
from adk_evidence.models.pack import SCORE_DIGITS
from adk_evidence.render import wording
from adk_evidence.search.candidates.tasks import task_of
from adk_evidence.search.rerankers.base import RerankDocument, Reranker
from adk_evidence.search.stages import Candidates, Hit, Question
from adk_evidence.store.base import Vector

# Of a candidate's text that the reranker sees, in tokens; models read little more.
BODY_TOKENS = 1200
MAX_TEXT_KEYS = 65_536
_text_keys: dict[str, str] = {}


def merge(question: Question, by_kind: Mapping[Kind, Sequence[Hit]]) -> list[Hit]:
    """Join the hits of all collections, without repeated evidence and without chunks that have no address to cite.

    Hits are joined by their ranks, docs first at equal rank: scores of two collections are not comparable.
    """
    hits = [hit for found in by_kind.values() for hit in found]
    unique = dedup(sorted(hits, key=lambda hit: (hit.fused_rank, hit.kind != "doc", hit.point_id)))
    merged = [hit for hit in unique if can_be_cited(hit.payload, question.index.is_published(hit.payload))]
    if left_out := len(unique) - len(merged):
        question.context.warn(wording.provenance(left_out))
    return merged


def rerank(question: Question, candidates: Candidates, reranker: Reranker | None) -> tuple[list[Hit], str | None]:
    """The pool of merged hits in the reranker's order, and the reranker's model.

    A reranker that fails is a warning, and the search's own order stays.
    """
    with question.context.stage("rerank"):
        return _reranked(question, candidates, reranker)


def _reranked(question: Question, candidates: Candidates, reranker: Reranker | None) -> tuple[list[Hit], str | None]:
    context, hits = question.context, pool(candidates.merged, question.settings.retrieval.pool_size)
    if reranker is None or not hits or context.failed.reranker:
        return _placed(hits), None
    documents = _documents(question, candidates, hits)
    try:
        scores = reranker.rerank(question.query, question.request.task_mode, documents)
    except EvidenceError as exc:
        if context.strict:
            raise
        context.warn(wording.unavailable("rerank_unavailable", exc))
        context.failed.reranker = True
        return _placed(hits), None
    # Rounded as in a pack, so that the noise of float32 sums decides nothing.
    rounded = np.round(scores, SCORE_DIGITS).tolist()
    scored = [
        hit._replace(pool_rank=place, rerank_score=score)
        for place, (hit, score) in enumerate(zip(hits, rounded, strict=True), 1)
    ]
    return sorted(scored, key=lambda hit: (-(hit.rerank_score or 0.0), hit.pool_rank)), reranker.model


def _placed(hits: Sequence[Hit]) -> list[Hit]:
    """The pool in its own order."""
    return [hit._replace(pool_rank=place) for place, hit in enumerate(hits, 1)]


def dedup(hits: Iterable[Hit]) -> list[Hit]:
    """Drop repeated evidence in the three ordered steps of SPEC 5 section 8.2, keeping the order.

    1. the same candidate id; 2. the same lines of the same code file; 3. the same text but for white space: the chunk
    with the richer provenance stays. An API reference entry repeats the docstring of a definition; where both are
    here, the entry gives way to the definition's own source.
    """
    by_text: dict[str, Hit] = {}
    for hit in _first_by(_code_span, _first_by(_chunk, hits)):
        key = _text_key(hit.payload)
        kept = by_text.get(key)
        if kept is None:
            by_text[key] = hit
        elif _provenance(hit.payload) > _provenance(kept.payload):
            # A richer twin takes the better rank of the two: dicts keep the first insertion's place.
            by_text[key] = hit
    return list(by_text.values())


def pool(hits: Sequence[Hit], size: int) -> list[Hit]:
    """The candidates for the reranker: up to half from each kind, the rest borrowed by the stronger side."""
    by_kind = _by_kind(hits)
    chosen = {id(hit) for found in by_kind.values() for hit in found[: size // 2]}
    spare = [hit for hit in hits if id(hit) not in chosen]
    chosen |= {id(hit) for hit in spare[: size - len(chosen)]}
    return [hit for hit in hits if id(hit) in chosen]


def _by_kind(hits: Iterable[Hit]) -> dict[Kind, list[Hit]]:
    found: dict[Kind, list[Hit]] = {kind: [] for kind in KINDS}
    for hit in hits:
        found[hit.payload.kind].append(hit)
    return found


def _first_by(key: Callable[[Hit], object], hits: Iterable[Hit]) -> list[Hit]:
    seen: dict[object, Hit] = {}
    for hit in hits:
        seen.setdefault(key(hit), hit)
    return list(seen.values())


def _chunk(hit: Hit) -> object:
    """What the candidate id says, which takes longer to write."""
    payload = hit.payload
    return (payload.repo, payload.commit, payload.path, payload.chunk_id)


def _code_span(hit: Hit) -> object:
    payload = hit.payload
    if payload.kind != "code":
        return _chunk(hit)
    columns = (payload.start_col, payload.end_col)
    return (payload.repo, payload.commit, payload.path, payload.start_line, payload.end_line, columns)


def _text_key(payload: ChunkPayload) -> str:
    # The same lines have the same hash, so that a body is normalised once and not in every request.
    key = _text_keys.get(payload.source_hash)
    if key is None:
        if len(_text_keys) >= MAX_TEXT_KEYS:
            _text_keys.clear()
        key = _text_keys[payload.source_hash] = sha256_text(" ".join(payload.body.split()))
    return key


def _provenance(payload: ChunkPayload) -> int:
    return sum(bool(part) for part in (payload.uri, payload.symbol, payload.headings, payload.origin == "repository"))


def _documents(question: Question, candidates: Candidates, hits: Sequence[Hit]) -> list[RerankDocument]:
    """What the reranker sees: each hit with its exact dense and sparse scores, also where a branch did not return it.

    `dense` is the similarity of a chunk's best passage; `mean` is the mean similarity of all its passages; `asked` is
    the similarity of the nearest question that was written for the chunk, and `task` that of the nearest task that the
    chunk is a part of.
    """
    scored = [_scores(question, candidates, hits, number) for number in range(1 + len(question.query.wordings))]
    for hit in [hit for hit in hits if hit.payload.tasks] if candidates.tasks else ():
        if task := task_of(hit.payload, candidates.tasks):
            # A task near the question is near to it in whatever words.
            for scores in scored:
                scores[hit.point_id]["task"] = candidates.tasks[task[0]]
    own, *others = scored
    return [
        RerankDocument(hit.payload, BODY_TOKENS, own[hit.point_id], tuple(one[hit.point_id] for one in others))
        for hit in hits
    ]


def _scores(
    question: Question, candidates: Candidates, hits: Sequence[Hit], number: int
) -> dict[str, dict[str, float]]:
    """The exact scores of each hit by its point id, for the question (0) or one of its wordings."""
    store, query = question.settings.store, candidates.encoded.queries[number]
    # A branch has scored every hit that it returned, but for a query that feedback has moved since.
    suffix = f"#{number}" if number else ""
    is_moved = bool(candidates.relevant) and not number
    scored = {} if is_moved else {f"{branch}{suffix}": branch for branch in ("dense", "sparse", "asked")}
    scores: dict[str, dict[str, float]] = {
        hit.point_id: {scored[place.branch]: place.score for place in hit.branches if place.branch in scored}
        for hit in hits
    }
    for kind, members in _by_kind(hits).items():
        ids = [hit.point_id for hit in members]
        queries: dict[str, Vector] = {}
        if kind in query.dense:
            names = question.index.manifest.collections[store.collection(kind)].dense
            queries |= dict.fromkeys(names, query.dense[kind])
        if query.sparse:
            queries[store.sparse_vector] = query.sparse
        if not ids or not queries:
            continue
        branches = {
            store.sparse_vector: "sparse",
            store.mean_vector(kind): "mean",
            store.questions_vector(kind): "asked",
        }
        known = {
            name: {point for point in ids if branches.get(name, "dense") in scores[point]} for name in queries if scored
        }
        found = question.index.store.score_points(store.collection(kind), ids, queries, known)
        for name, by_id in found.items():
            for point, score in by_id.items():
                scores[point][branches.get(name, "dense")] = score
    return scores
