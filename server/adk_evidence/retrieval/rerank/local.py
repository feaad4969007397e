"""The local reranker: a z-scored sum of sparse and dense scores with weights for each kind.

BM25 scores and cosines of two collections live on four scales. Standardising each within its kind makes them
comparable, so that neither branch decides alone and docs do not crowd out code (measured in the shared sheet on
local models: RRF .485/.361 MRR@12 on code/docs pseudo-queries, this sum .502/.385).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adk_evidence.models.chunk import Kind
from adk_evidence.models.request import TaskMode
from adk_evidence.retrieval.query import Query
from adk_evidence.retrieval.rerank.base import RerankDocument, RerankScore

BRANCHES = ("dense", "sparse")


@dataclass(frozen=True)
class Weights:
    """What one standard deviation of each branch is worth."""

    dense: float
    sparse: float


DEFAULT_WEIGHTS: Mapping[Kind, Weights] = {"doc": Weights(0.6, 0.4), "code": Weights(0.6, 0.4)}


class LocalReranker:
    """Scores candidates by what the branches measured; reads no text and loads no model."""

    model = "local-zscore-1"

    def __init__(self, weights: Mapping[Kind, Weights] = DEFAULT_WEIGHTS) -> None:
        self._weights = weights

    def rerank(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[RerankScore]:
        """One score a document: the weighted sum of its standardised branch scores."""
        scores: list[RerankScore] = [RerankScore(0.0)] * len(documents)
        for kind, weights in self._weights.items():
            members = [index for index, document in enumerate(documents) if document.payload.kind == kind]
            if not members:
                continue
            columns = {
                branch: _standardise([documents[index].scores.get(branch) for index in members]) for branch in BRANCHES
            }
            for place, index in enumerate(members):
                features = {branch: columns[branch][place] for branch in BRANCHES}
                total = weights.dense * features["dense"] + weights.sparse * features["sparse"]
                scores[index] = RerankScore(total, features)
        return scores


def _standardise(values: Sequence[float | None]) -> list[float]:
    """Z-scores; a missing score counts as the lowest that was seen, a constant column as nothing."""
    known = [value for value in values if value is not None]
    if not known:
        return [0.0] * len(values)
    floor = min(known)
    filled = [floor if value is None else value for value in values]
    mean = math.fsum(filled) / len(filled)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in filled) / len(filled))
    if deviation < 1e-9:
        return [0.0] * len(values)
    return [(value - mean) / deviation for value in filled]
