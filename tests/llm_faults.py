"""What every fault of a language model's service does to the reranker that asks it; a column of the fault matrix."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from adk_evidence.errors import EvidenceError
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.rerankers.cascade import CascadeReranker
from adk_evidence.search.rerankers.llm import LlmReranker
from adk_evidence.search.rerankers.local import LocalReranker
from adk_evidence.search.session import EvidenceService
from adk_evidence.services.chat import KEY_VARIABLES, ChatService
from tests.answers import told
from tests.clocks import FakeTime
from tests.corpora import HashEmbedder, Workplace, shared_sparse
from tests.standins.json_service import Fault, closed_port
from tests.standins.llm import CHAT, KEY, MODEL, LlmStandIn
from tests.store_faults import EXPIRED, MISFIT, OUTAGE, OUTAGE_SECONDS, REFUSED, tries_of

CALL = "rerank (language model)"
# What a request that never ends is given, in real seconds.
SHORT_SECONDS = 0.8


def llm_cell(index: Workplace, name: str, fault: Fault | None) -> str:
    """What a fault does to questions of an ingested index; `fault` is None where the service is down or away."""
    time = FakeTime(running=True)
    own = {
        EXPIRED: Fault(401, f"The key {KEY} has expired."),
        MISFIT: Fault(mode="alter", change=lambda answer: _ordered(answer, [98, 99])),
        "missing vector or score": Fault(mode="alter", change=lambda answer: _ordered(answer, [1])),
    }
    with (
        patch.dict("os.environ", {KEY_VARIABLES[0]: KEY}),
        LlmStandIn(now=lambda: time.time) as standin,
        closed_port() as closed,
    ):
        address = closed if name == REFUSED else standin.base_url
        return _Cell(index, standin, address, time, name, own.get(name, fault)).ask()


def _ordered(answer: dict[str, Any], order: list[int]) -> dict[str, Any]:
    answer["choices"][0]["message"]["content"] = json.dumps({"order": order})
    return answer


@dataclass
class _Cell:
    index: Workplace
    standin: LlmStandIn
    address: str
    time: FakeTime
    name: str
    fault: Fault | None

    def ask(self) -> str:
        lasting = self._lasting()
        if self.fault is None:
            return lasting
        self.standin.recover()
        self.standin.strike(CHAT, self.fault)
        waited, before = self.time.waited, len(self.standin.requests)
        with closing(self._service()) as service:
            said = self._said(self._find(service, "how do I retry once?"))
        tries = tries_of(len(self.standin.requests) - before)
        return f"once: {said}, {tries}, {self.time.waited - waited:.1f} s. Lasting: {lasting}"

    def _lasting(self) -> str:
        if self.name == OUTAGE:
            self.standin.go_down_until(self.time.time + OUTAGE_SECONDS)
        elif self.fault is not None:
            self.standin.strike_always(CHAT, self.fault)
        with closing(self._service()) as service:
            began = self.time.time
            said = self._said(self._find(service, "how do I retry first?"))
            assert self.time.time - began < service.settings.rerank.llm.timeout_seconds + 5, "it hung"
            tries = "" if self.name == REFUSED else f", {tries_of(len(self.standin.requests))}"
            strict = self._strict(service)
            self._find(service, "how do I retry a third time?")
            before = len(self.standin.requests)
            spared = "in a row" in " ".join(told(self._find(service, "how do I retry a fourth time?")))
            assert not spared or len(self.standin.requests) == before
            self.time.clock.sleep(OUTAGE_SECONDS + 1)
            self.standin.recover()
            back = self.name == REFUSED or not told(self._find(service, "how do I retry at last?"))
        assert back
        return f"{said}{tries}; strict: {strict}; {'then not asked' if spared else 'asked each time'}"

    def _service(self) -> EvidenceService:
        llm: dict[str, Any] = {"base_url": self.address, "model": MODEL}
        if self.name == "body that never ends":
            llm["timeout_seconds"] = SHORT_SECONDS
        # A small index is always "weak": leave expansion out.
        weak = {"retrieval": {"expansion": "never", "feedback_passages": 0}}
        settings = self.index.settings_with({**weak, "rerank": {"provider": "llm", "llm": llm}})
        chosen = settings.rerank.llm
        model = LlmReranker(ChatService(chosen, clock=self.time.clock), chosen)
        cascade = CascadeReranker(LocalReranker(), model, chosen.max_documents)
        return EvidenceService(settings, dense=HashEmbedder(), sparse=shared_sparse(), reranker=cascade)

    def _find(self, service: EvidenceService, query: str) -> EvidencePack:
        pack = service.find(EvidenceRequest(query=query))
        assert pack.candidates and KEY not in pack.model_dump_json(), f"the key leaked by {self.name}"
        return pack

    def _strict(self, service: EvidenceService) -> str:
        try:
            service.find(EvidenceRequest(query="how do I retry strictly?", strict=True))
        except EvidenceError as exc:
            assert KEY not in f"{exc} {exc!r}", f"the key leaked by {self.name}"
            return exc.code
        return "an answer"

    @staticmethod
    def _said(pack: EvidencePack) -> str:
        return told(pack)[0].partition(":")[0] if told(pack) else "full answer"
