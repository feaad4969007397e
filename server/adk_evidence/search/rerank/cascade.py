"""Two rerankers in a row: a quick one orders all documents, a careful one orders the best of them again."""

from __future__ import annotations

from collections.abc import Sequence

from adk_evidence.models.request import TaskMode
from adk_evidence.search.query import Query
from adk_evidence.search.rerank.base import RerankDocument, Reranker, RerankScore, scores_of_order


class CascadeReranker:
    """Orders with one reranker, then orders the best documents again with another.

    Args:
        first: Sees every document.
        then: Sees the best documents, in the order of the first.
        size: How many documents the second reranker sees.
    """

    def __init__(self, first: Reranker, then: Reranker, size: int) -> None:
        self.first = first
        self._then = then
        self._size = size

    @property
    def model(self) -> str:
        """Both models, in the order in which they are asked."""
        return f"{self.first.model}, then {self._then.model}"

    def rerank(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[RerankScore]:
        """One score a document, as `scores_of_order` makes them, with the features of both rerankers.

        The feature `first` is the first reranker's score.

        Raises:
            EvidenceError: One of the two cannot answer.
        """
        first = self.first.rerank(query, task_mode, documents)
        order = sorted(range(len(documents)), key=lambda index: (-first[index].score, index))
        head, tail = order[: self._size], order[self._size :]
        then = dict(zip(head, self._then.rerank(query, task_mode, [documents[index] for index in head]), strict=True))
        head.sort(key=lambda index: -then[index].score)
        features = [{**score.features, "first": score.score} for score in first]
        for index, score in then.items():
            features[index].update(score.features)
        scores = scores_of_order([*head, *tail])
        return [RerankScore(score, feature) for score, feature in zip(scores, features, strict=True)]

    def close(self) -> None:
        """Close what the rerankers hold open."""
        for reranker in (self.first, self._then):
            close = getattr(reranker, "close", None)
            if close is not None:
                close()


def first_stage(reranker: Reranker | None) -> Reranker | None:
    """The reranker for intermediate orders: the quick one of a cascade."""
    return reranker.first if isinstance(reranker, CascadeReranker) else reranker
