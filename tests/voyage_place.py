"""A workplace in the profile `voyage`: stand-in, tiny SPLADE and a clock that only waiting moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adk_evidence.embedding.base import Pair
from adk_evidence.embedding.factory import make_sparse
from adk_evidence.embedding.splade import MODEL as SPLADE
from adk_evidence.embedding.splade import SpladeEncoder
from adk_evidence.embedding.voyage import voyage_embedders
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.rerankers.voyage import VoyageReranker
from adk_evidence.search.session import EvidenceService
from adk_evidence.services.voyage import VoyageService
from adk_ingest.pipeline import DryRun
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import Mode, RunManifest
from adk_ingest.session import ingest, plan
from tests.clocks import FakeTime
from tests.corpora import CODE, DOCS, Workplace
from tests.onnx_models import words_of, write_splade

QUESTION = "how do I retry when a tool throws?"


@dataclass
class VoyagePlace:
    """Small corpora, their index and what asks the service at `base_url`.

    The store is embedded where `overrides` do not say `store.kind: server` and an address.
    """

    root: Path
    base_url: str | None
    time: FakeTime = field(default_factory=FakeTime)
    overrides: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        models = self.root / "models"
        splade = models / SPLADE
        if not splade.exists():
            write_splade(splade, words_of([*DOCS.values(), *CODE.values(), QUESTION]), limit=64)
        overrides: dict[str, Any] = {
            "profile": "voyage",
            "store": {"kind": "edge"},
            # A small index is always "weak": leave expansion out, so that one thing is tested at a time.
            "retrieval": {"expansion": "never"},
            "embedding": {
                "dense": {"models_path": models},
                "voyage": {"base_url": self.base_url, "dimension": 256},
            },
        }
        self.workplace = Workplace(self.root, _merged(overrides, self.overrides))
        self.settings = self.workplace.settings
        self.sparse: SpladeEncoder = make_sparse(self.settings)  # type: ignore[assignment]
        self.notes: list[str] = []

    def service(self) -> VoyageService:
        return VoyageService(self.settings, clock=self.time.clock, notice=self.notes.append)

    def dense(self) -> Pair[Any]:
        return voyage_embedders(self.service(), self.settings)

    def reranker(self) -> VoyageReranker:
        return VoyageReranker(self.service(), self.settings.rerank)

    def ingest(self, mode: Mode = "all", progress: Progress | None = None, dense: Any = None) -> RunManifest:
        sources = self.workplace.sources
        return ingest(
            self.settings, mode, sources, progress or Progress(), dense=dense or self.dense(), sparse=self.sparse
        )

    def plan(self, mode: Mode = "all") -> DryRun:
        return plan(self.settings, mode, self.workplace.sources, Progress())

    def answers(self) -> EvidenceService:
        """Answers from the index; close it."""
        return EvidenceService(self.settings, dense=self.dense(), sparse=self.sparse, reranker=self.reranker())

    def ask(self, query: str = QUESTION, **values: Any) -> EvidencePack:
        service = self.answers()
        try:
            return service.find(EvidenceRequest(query=query, **values))
        finally:
            service.close()


def _merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in more.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
