"""Reads the best candidates of the local reranker, and counts what was read as one more feature of its sum.

The reader sees one passage of each candidate: the one whose stored vector is nearest to the question. Its scores are
standardised over all that were read, docs and code together, as the reader compares them itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from adk_evidence.errors import EvidenceError
from adk_evidence.models.pack import ScoreScale, round_score
from adk_evidence.search.lookup import passage_similarities
from adk_evidence.search.rerank.base import RerankDocument, RerankScore
from adk_evidence.search.rerank.local import scaled, weighted
from adk_evidence.search.rerank.reader import READ, passage_text
from adk_evidence.search.run import Hit, Run


def read(
    run: Run, hits: Sequence[Hit], documents: Sequence[RerankDocument], scores: Sequence[RerankScore]
) -> tuple[list[RerankDocument], list[RerankScore]]:
    """The documents and scores of the local reranker with what a reader says, where the settings name a reader.

    Only questions in words are read: the reader was trained on nothing else. Documents behind the first
    `rerank.reader.candidates` count as the worst of those. A reader that fails is a warning, and nothing is read; in
    strict mode, its error ends the request.

    Args:
        run: The request, which learns the reader's weight and name.
        hits: The candidates.
        documents: The same candidates with the scores of the branches.
        scores: Their scores, with the features that made them.
    """
    unread = list(documents), list(scores)
    reader = run.models.reader
    if reader is None or run.reader_failed or run.query.kind != "question" or not run.context.may_spend("reading"):
        return unread
    best = sorted(range(len(hits)), key=lambda place: (-round_score(scores[place].score), place))[: reader.candidates]
    try:
        found = reader.scores(run.query.text, _best_passages(run, [hits[place] for place in best]))
        run.rerank_model = f"{run.rerank_model}, {reader.model}"
    except EvidenceError as exc:
        if run.context.strict:
            raise
        run.context.warn("reader_unavailable", str(exc))
        run.reader_failed = True
        return unread
    weights = {**run.rerank_weights, READ: reader.weight}
    run.rerank_weights = weights
    scale = _scale(found)
    measured = dict(zip(best, found, strict=True))
    known = [
        replace(document, scores={**document.scores, READ: measured[place]}) if place in measured else document
        for place, document in enumerate(documents)
    ]
    made = []
    for place, score in enumerate(scores):
        features = {**score.features, READ: scaled(measured.get(place), scale)}
        made.append(RerankScore(weighted(features, weights), features, {**score.scales, READ: scale}))
    return known, made


def _scale(found: Sequence[float]) -> ScoreScale:
    mean = math.fsum(found) / len(found)
    deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in found) / len(found))
    return ScoreScale(mean=mean, deviation=deviation, lowest=min(found))


def _best_passages(run: Run, hits: Sequence[Hit]) -> list[str]:
    """The text of each hit's nearest passage; of its first one where the vectors are not known."""
    near = passage_similarities(run, hits)
    texts = []
    for hit in hits:
        cosines = near.get(hit.point_id, [0.0])
        texts.append(passage_text(hit.payload, cosines.index(max(cosines))))
    return texts
