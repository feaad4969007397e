"""Two rerankers in a row: a quick one orders all documents, a careful one orders the best of them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adk_evidence.models.request import TaskMode
from adk_evidence.search.question.query import Query
from adk_evidence.search.rerankers.base import RerankDocument, Reranker, scores_of_order


class CascadeReranker:
    """Orders all documents with the `first` reranker, then the best `size` of them again with the reranker `then`.

    `reword` asks the model behind `then` for other wordings of a question, if that is wanted.
    """

    def __init__(
        self, first: Reranker, then: Reranker, size: int, reword: Callable[[str], tuple[str, ...]] | None = None
    ) -> None:
        self.first = first
        self.reword = reword
        self._then = then
        self._size = size

    def after(self, first: Reranker) -> CascadeReranker:
        """The same, with another reranker for all documents."""
        return CascadeReranker(first, self._then, self._size, self.reword)

    @property
    def model(self) -> str:
        """Both models, in the order in which they are asked."""
        return f"{self.first.model}, then {self._then.model}"

    def rerank(self, query: Query, task_mode: TaskMode, documents: Sequence[RerankDocument]) -> list[float]:
        """Scores of the final order."""
        first = self.first.rerank(query, task_mode, documents)
        order = sorted(range(len(documents)), key=lambda index: (-first[index], index))
        head, tail = order[: self._size], order[self._size :]
        then = dict(zip(head, self._then.rerank(query, task_mode, [documents[index] for index in head]), strict=True))
        head.sort(key=lambda index: -then[index])
        return scores_of_order([*head, *tail])

    def close(self) -> None:
        for reranker in (self.first, self._then):
            close = getattr(reranker, "close", None)
            if close is not None:
                close()


def first_stage(reranker: Reranker | None) -> Reranker | None:
    """The reranker for intermediate orders: the quick one of a cascade."""
    return reranker.first if isinstance(reranker, CascadeReranker) else reranker
