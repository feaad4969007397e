"""Variants of the settings, measured on golden sets in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from adk_evidence.embedding.base import DenseEmbedder, Pair, SparseEncoder
from adk_evidence.embedding.factory import make_dense, make_sparse
from adk_evidence.search.rerank.base import Reranker
from adk_evidence.search.run import Run
from adk_evidence.search.session import EvidenceService
from adk_evidence.settings import Settings
from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.golden import GoldenQuestion
from adk_evidence_eval.run import Answer, Order, run_queries
from adk_evidence_eval.score import Scores, mean_scores, score_run

# Deeper than any metric looks.
DEPTH = 200
# What tables of variants show; the first one is what variants are compared by.
TABLE_METRICS = ("ndcg@12", "mrr@12", "recall@12", "recall@8k")

Golden = Mapping[str, GoldenQuestion]


@dataclass(frozen=True)
class Variant:
    """A name and the settings, by dotted path, that make it.

    `order` is how its results are listed; `reranker` takes the place of the one that the settings name.
    """

    name: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    order: Order = Run.order
    reranker: Reranker | None = None


@dataclass(frozen=True)
class Measured:
    """A variant's answers to one golden set, and their scores by question."""

    variant: Variant
    answers: Mapping[str, Answer]
    scores: Mapping[str, Scores]

    @cached_property
    def means(self) -> Scores:
        """Means over the questions."""
        return mean_scores(self.scores)

    def interval(self, metric: str) -> Interval:
        """The mean of a metric that the scores have, with its interval."""
        return mean_interval([row[metric] for row in self.scores.values() if metric in row])

    def gain(self, metric: str, over: Measured) -> Interval:
        """The paired difference to another variant on the same golden set."""
        return mean_interval([row[metric] - over.scores[name][metric] for name, row in self.scores.items()])


class Bench:
    """Measures variants; they share the encoders as long as their settings for them agree.

    Args:
        load: Settings with overrides, as a nested mapping, on top of what every variant has.
    """

    def __init__(self, load: Callable[[Mapping[str, Any]], Settings]) -> None:
        self._load = load
        self._encoders: dict[tuple[str, str], tuple[Pair[DenseEmbedder], SparseEncoder]] = {}

    def measure(self, variant: Variant, goldens: Sequence[Golden]) -> list[Measured]:
        """Ask every question of every golden set.

        Raises:
            EvidenceError: The settings are not valid, or the index cannot answer with them.
        """
        service = self.service(variant.overrides, variant.reranker)
        try:
            return [self._ask(service, variant, golden) for golden in goldens]
        finally:
            service.close()

    def service(self, overrides: Mapping[str, Any], reranker: Reranker | None = None) -> EvidenceService:
        """What answers with these settings; to be closed. It fails rather than answer with a part missing."""
        nested = nest({"telemetry.event_log": False, "retrieval.strict": True, **overrides})
        settings = self._load(nested)
        models = (settings.embedding.model_dump_json(), settings.ingestion.lexical.sparse_model)
        if models not in self._encoders:
            self._encoders[models] = (make_dense(settings), make_sparse(settings))
        dense, sparse = self._encoders[models]
        return EvidenceService(settings, dense=dense, sparse=sparse, reranker=reranker)

    def _ask(self, service: EvidenceService, variant: Variant, golden: Golden) -> Measured:
        found = run_queries(service, list(golden.values()), DEPTH, details=True, order=variant.order)
        answers = {answer.id: answer for answer in found}
        return Measured(variant, answers, score_run(answers, golden))


def nest(dotted: Mapping[str, Any]) -> dict[str, Any]:
    """`{"a.b": 1}` as `{"a": {"b": 1}}`."""
    nested: dict[str, Any] = {}
    for path, value in dotted.items():
        *sections, name = path.split(".")
        place = nested
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return nested
