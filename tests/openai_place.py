"""A workplace in the profile `openai`: a stand-in of the service and a clock that only waiting moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adk_evidence.embedding.base import Pair
from adk_evidence.embedding.openai import openai_embedder
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.session import EvidenceService
from adk_evidence.services.embeddings import EmbeddingsService
from adk_ingest.pipeline import DryRun, Ingestion
from adk_ingest.progress import Progress
from adk_ingest.publishing.manifest import RunManifest
from adk_ingest.session import ingest
from tests.clocks import FakeTime
from tests.corpora import Workplace
from tests.standins.embeddings import OWN, EmbeddingsStandIn

QUESTION = "how do I retry when a tool throws?"
HOSTED = "https://service.invalid/v1"


@dataclass
class OpenAiPlace:
    """Small corpora and their index. The address says that the service is paid; what is sent goes to the stand-in.

    `values` are settings of `embedding.openai`.
    """

    root: Path
    standin: EmbeddingsStandIn
    values: dict[str, Any] = field(default_factory=dict)
    time: FakeTime = field(default_factory=FakeTime)
    usd_per_million_tokens: dict[str, float] = field(default_factory=lambda: {OWN: 100.0})
    max_cost_usd: float = 20

    def __post_init__(self) -> None:
        embedding = {
            "openai": {"base_url": HOSTED, "model": OWN, "dimension": 64, **self.values},
            "usd_per_million_tokens": self.usd_per_million_tokens,
            "max_cost_usd": self.max_cost_usd,
        }
        self.workplace = Workplace(self.root, {"profile": "openai", "embedding": embedding})
        self.settings = self.workplace.settings
        self.notes: list[str] = []

    def dense(self) -> Pair[Any]:
        embedding = self.settings.embedding
        sent_to = embedding.openai.model_copy(update={"base_url": self.standin.base_url})
        asked = embedding.model_copy(update={"openai": sent_to})
        service = EmbeddingsService(asked, clock=self.time.clock, notice=self.notes.append)
        return Pair.of(openai_embedder(service, embedding))

    def ingest(self) -> RunManifest:
        return ingest(self.settings, "all", self.workplace.sources, Progress(), dense=self.dense())

    def plan(self) -> DryRun:
        return Ingestion(self.settings, Progress(), dense=self.dense()).plan("all", self.workplace.gather())

    def ask(self, **values: Any) -> EvidencePack:
        service = self.answers()
        try:
            return service.find(EvidenceRequest(query=QUESTION, **values))
        finally:
            service.close()

    def answers(self) -> EvidenceService:
        """Answers from the index; close it."""
        return EvidenceService(self.settings, dense=self.dense())
