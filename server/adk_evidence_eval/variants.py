"""Variants of the settings, measured on golden sets in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from adk_evidence.embedding.factory import make_dense, make_sparse
from adk_evidence.search.rerankers.base import Reranker
from adk_evidence.search.session import EvidenceService
from adk_evidence.search.stages import Ranking
from adk_evidence.settings import Settings
from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.golden import GoldenQuestion, QuestionKind
from adk_evidence_eval.run import Answer, Order, run_queries
from adk_evidence_eval.score import TABLE_METRICS, Scores, mean_scores, score_run, set_kind

# Deeper than any metric looks.
DEPTH = 200
# How many questions a variant is asked before the next variant's turn.
TURN = 10

Golden = Mapping[str, GoldenQuestion]


@dataclass(frozen=True)
class Variant:
    """A name and the settings, by dotted path, that make the variant.

    `order` lists the results; `reranker` takes the place of the one that the settings name. `base` names the variant
    that this one is compared with; without `base`, that is the first of all.
    """

    name: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    order: Order = Ranking.order
    reranker: Reranker | None = None
    base: str | None = None


@dataclass(frozen=True)
class Measured:
    """A variant's scores on one golden set of a kind, by question."""

    variant: Variant
    scores: Mapping[str, Scores]
    kind: QuestionKind = "question"

    @cached_property
    def means(self) -> Scores:
        return mean_scores(self.scores)

    @property
    def metrics(self) -> tuple[str, ...]:
        """What tables show of the set, as far as its targets have scores for it."""
        return tuple(metric for metric in TABLE_METRICS[self.kind] if metric in self.means)

    def interval(self, metric: str) -> Interval:
        """The mean of a metric that the scores have, with its interval."""
        return mean_interval([row[metric] for row in self.scores.values() if metric in row])

    def gain(self, metric: str, over: Measured) -> Interval:
        """The paired difference to another variant on the same golden set."""
        rows = [(row, over.scores[name]) for name, row in self.scores.items()]
        both = [(row[metric], other[metric]) for row, other in rows if metric in row and metric in other]
        return mean_interval([own - other for own, other in both])


class Bench:
    """Measures variants, which share the encoders and the open index as long as their settings for them agree.

    To be closed after use.

    Args:
        load: Settings with overrides, as a nested mapping, on top of what every variant has.
    """

    def __init__(self, load: Callable[[Mapping[str, Any]], Settings]) -> None:
        self._load = load
        self._opened: dict[str, EvidenceService] = {}

    def close(self) -> None:
        opened, self._opened = self._opened, {}
        for service in opened.values():
            service.close()

    def measure(
        self, variants: Sequence[Variant], golden: Golden, tell: Callable[[int], None] = lambda asked: None
    ) -> list[Measured]:
        """Ask every question of a golden set with every variant.

        The variants take turns after some questions, so that a machine that becomes busy slows all of them down. Each
        of these turns begins with an unmeasured one: what the index has in memory speeds up whoever asks next.

        Args:
            variants: What is measured, at least one.
            golden: The questions.
            tell: Is told how many questions are done.

        Raises:
            EvidenceError: The settings are not valid, or the index cannot answer with them.
        """
        scores: list[dict[str, Scores]] = [{} for _ in variants]
        with ExitStack() as stack:
            services = [
                stack.enter_context(closing(self.service(variant.overrides, variant.reranker))) for variant in variants
            ]
            names = list(golden)
            for begin in range(0, len(names), TURN):
                block = {name: golden[name] for name in names[begin : begin + TURN]}
                _answered(variants[0], services[0], block)
                for variant, service, found in zip(variants, services, scores, strict=True):
                    found |= score_run(_answered(variant, service, block), block)
                tell(begin + len(block))
        kind = set_kind(golden)
        return [Measured(variant, found, kind) for variant, found in zip(variants, scores, strict=True)]

    def service(self, overrides: Mapping[str, Any], reranker: Reranker | None = None) -> EvidenceService:
        """A service with these settings, to be closed. It fails rather than answer with a part missing."""
        settings = self._load(nest({"telemetry.event_log": False, "retrieval.strict": True, **overrides}))
        shared = settings.model_dump_json(exclude={"retrieval", "rerank", "pack"})
        if shared not in self._opened:
            dense, sparse = make_dense(settings), make_sparse(settings)
            self._opened[shared] = EvidenceService(settings, dense=dense, sparse=sparse)
        return self._opened[shared].tuned(settings, reranker)


def _answered(variant: Variant, service: EvidenceService, golden: Golden) -> dict[str, Answer]:
    found = run_queries(service, list(golden.values()), DEPTH, details=True, order=variant.order)
    return {answer.id: answer for answer in found}


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
