"""What every fault of the services does to every call: `python -m tests.fault_matrix` prints it.

Each cell runs the product against a stand-in, of Voyage, of OpenAI's embeddings, of a language model (`llm_faults.py`)
or of a Qdrant server (`store_faults.py`), once with a fault that strikes once and once with one that lasts. It says how
often the service was asked, what was waited for, and how the product came out.
"""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from adk_evidence import files
from adk_evidence.errors import EvidenceError
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.rerankers import voyage as rerankers
from adk_evidence.search.rerankers.voyage import TIMEOUT_SECONDS
from adk_evidence.services import voyage as services
from adk_evidence.services.embeddings import KEY_VARIABLES as EMBEDDINGS_KEYS
from adk_evidence.services.resilience import BREAKER_SECONDS
from adk_evidence.services.voyage import INGESTION_SECONDS, KEY_VARIABLE, QUERY_SECONDS
from tests.answers import codes, told
from tests.clocks import FakeTime
from tests.corpora import Workplace
from tests.llm_faults import CALL as LLM
from tests.llm_faults import llm_cell
from tests.openai_place import OpenAiPlace
from tests.standins.embeddings import EMBEDDINGS, EmbeddingsStandIn
from tests.standins.embeddings import KEY as OPENAI_KEY
from tests.standins.json_service import Fault, closed_port
from tests.standins.voyage import CONTEXT, EMBED, KEY, RERANK, VoyageStandIn
from tests.store_faults import EXPIRED, MISFIT, OUTAGE, OUTAGE_SECONDS, REFUSED, REQUESTS, store_cell, tries_of
from tests.voyage_place import VoyagePlace

# What a request that never ends is given, in real seconds.
SHORT_SECONDS = 0.8
# Of an ingestion, so that a fault strikes between two.
SMALL_REQUESTS: dict[str, Any] = {"ingestion": {"batching": {"voyage_dense_max_items": 4}}}
SMALL_TEXTS: dict[str, Any] = {"request_items": 8}
# A small index is always "weak": leave expansion out, so that one thing is tested at a time.
NEVER_WEAK: dict[str, Any] = {"retrieval": {"expansion": "never"}}
WRITTEN = (".json", ".jsonl", ".sqlite", ".sqlite-wal")


def _fewer(answer: dict[str, Any]) -> dict[str, Any]:
    """One vector or score is missing."""
    data = answer["data"]
    if "data" in data[0]:
        data[0]["data"].pop()
    else:
        data.pop()
    return answer


def _misfits(answer: dict[str, Any]) -> dict[str, Any]:
    """Vectors of half the length, or a score of a document that was not sent."""
    for row in answer["data"]:
        for item in row.get("data", [row]):
            if "embedding" in item:
                raw = base64.b64decode(item["embedding"])
                item["embedding"] = base64.b64encode(raw[: len(raw) // 2]).decode()
            else:
                item["index"] += 1
    return answer


def _halved(answer: dict[str, Any]) -> dict[str, Any]:
    """Vectors of half the length, as numbers."""
    for row in answer["data"]:
        row["embedding"] = row["embedding"][: len(row["embedding"]) // 2]
    return answer


FAULTS: dict[str, Fault | None] = {
    "429, Retry-After: 7": Fault(429, "Too many requests.", retry_after="7"),
    "429": Fault(429, "Too many requests."),
    "500": Fault(500, "Internal error."),
    "502": Fault(502, body="<html>Bad gateway</html>"),
    "503": Fault(503, "Overloaded."),
    REFUSED: None,
    "reset inside the body": Fault(mode="reset"),
    "body that never ends": Fault(mode="slow"),
    "no JSON": Fault(200, body="<html>Log in</html>"),
    MISFIT: Fault(mode="alter", change=_misfits),
    "missing vector or score": Fault(mode="alter", change=_fewer),
    EXPIRED: Fault(401, f"Provided API key {KEY} has expired."),
    OUTAGE: None,
}
# What the service of OpenAI does otherwise than Voyage's: numbers where those have base64, and another key.
OPENAI_FAULTS: dict[str, Fault] = {
    MISFIT: Fault(mode="alter", change=_halved),
    EXPIRED: Fault(401, f"Incorrect API key provided: {OPENAI_KEY}."),
}
OPENAI_INGEST, OPENAI_ASK = "embed (OpenAI)", "query (OpenAI)"
INGESTED = {"contextual embed": CONTEXT, "embed": EMBED, OPENAI_INGEST: EMBEDDINGS}
ASKED = {"query (docs)": CONTEXT, "query (code)": EMBED, "rerank": RERANK, OPENAI_ASK: EMBEDDINGS}
STORE = tuple(REQUESTS)
CALLS = (*INGESTED, *ASKED, LLM, *STORE)


class LeakError(AssertionError):
    """The key was found where it must not be."""


@dataclass
class Bench:
    """Runs cells below a folder; `index` is an ingested place that questions are asked of.

    `requests` is how many requests an ingestion without a fault sends to each endpoint.
    """

    root: Path

    def __post_init__(self) -> None:
        os.environ[KEY_VARIABLE] = KEY
        os.environ["NO_PROXY"] = "127.0.0.1"
        # Nothing here is about a machine that loses its power.
        files._fsync = lambda path, flags: None
        self._number = 0
        with VoyageStandIn() as standin:
            VoyagePlace(self.root / "index", standin.base_url, overrides=SMALL_REQUESTS).ingest()
            self.requests = {endpoint: len(standin.sent(endpoint)) for endpoint in (CONTEXT, EMBED)}

    def cell(self, fault: str, call: str) -> str:
        """What a fault does to a call."""
        with ExitStack() as stack:
            root = self._fresh()
            # An index takes tens of megabytes.
            stack.callback(shutil.rmtree, root, ignore_errors=True)
            if call in STORE:
                return store_cell(root, fault, call)
            if call == LLM:
                return llm_cell(self._small_index, fault, FAULTS[fault])
            time = FakeTime(running=True)
            closed = stack.enter_context(closed_port())
            bench: _Cell
            if call in (OPENAI_INGEST, OPENAI_ASK):
                requests = self._openai_requests
                openai = stack.enter_context(EmbeddingsStandIn(now=lambda: time.time))
                address = closed if fault == REFUSED else openai.base_url
                bench = _OpenAiCell(root, self.root / "openai", openai, address, time, fault, requests)
            else:
                voyage = stack.enter_context(VoyageStandIn(now=lambda: time.time))
                address = closed if fault == REFUSED else voyage.base_url
                bench = _Cell(root, self.root / "index", voyage, address, time, fault, self.requests)
            return bench.ingest(INGESTED[call]) if call in INGESTED else bench.ask(ASKED[call])

    @cached_property
    def _small_index(self) -> Workplace:
        workplace = Workplace(self.root / "small")
        workplace.ingest()
        return workplace

    @cached_property
    def _openai_requests(self) -> dict[str, int]:
        """How many requests an ingestion sends to OpenAI; it makes the index that questions are asked of."""
        os.environ[EMBEDDINGS_KEYS[0]] = OPENAI_KEY
        with EmbeddingsStandIn() as standin:
            OpenAiPlace(self.root / "openai", standin, SMALL_TEXTS, more=NEVER_WEAK).ingest()
            return {EMBEDDINGS: len(standin.sent(EMBEDDINGS))}

    def _fresh(self) -> Path:
        self._number += 1
        return self.root / f"cell-{self._number}"


@dataclass
class _Cell:
    root: Path
    index: Path
    standin: Any
    address: str
    time: FakeTime
    fault: str
    requests: dict[str, int]

    key: ClassVar = KEY
    # For how many things a question asks the service: vectors, and the order of the results.
    uses: ClassVar = 2

    @property
    def _struck(self) -> Fault | None:
        return FAULTS[self.fault]

    # --- ingestion ---

    def ingest(self, endpoint: str) -> str:
        once = self._ingest(self.root / "once", endpoint, lasting=False)
        self.standin.recover()
        if self.fault in (REFUSED, OUTAGE):
            return once
        return f"once: {once}. Lasting: {self._ingest(self.root / 'lasting', endpoint, lasting=True)}"

    def _ingest(self, root: Path, endpoint: str, *, lasting: bool) -> str:
        place = self._place(root, self.address)
        waited, before = self.time.waited, len(self.standin.sent(endpoint))
        # The first request passes, so that there is something to keep.
        self._strike(endpoint, lasting=lasting, spare=1)
        try:
            run = place.ingest()
        except EvidenceError as exc:
            self._search_for_the_key(root, str(exc), repr(exc.__cause__), *place.notes)
            failed = place.workplace.runs()[0]
            kept = failed.vectors_embedded
            report = place.workplace.failure(failed.run_id)
            assert (failed.status, report.stage) == ("failed", "embed"), report
            tries = len(self.standin.sent(endpoint)) - before - 1
            seconds = self.time.waited - waited
            self.standin.recover()
            again = self._place(root, self.standin.base_url).ingest()
            total = again.vectors_from_cache + again.vectors_embedded
            assert again.status == "complete" and again.vectors_from_cache == kept, (kept, again)
            assert self.fault == REFUSED or 0 < kept < total
            asked = f" in {tries_of(tries)}" if self.fault != REFUSED else ""
            saved = "nothing was paid for" if self.fault == REFUSED else "finished vectors are kept"
            return f"stops with {exc.code}{asked}, {seconds:.0f} s; {saved}, the next run goes on"
        assert run.status == "complete"
        self._search_for_the_key(root, *place.notes)
        more = len(self.standin.sent(endpoint)) - before - self.requests[endpoint]
        return f"complete after {tries_of(more, ' more')}, {self.time.waited - waited:.0f} s"

    # --- questions ---

    def ask(self, endpoint: str) -> str:
        if self.fault in (REFUSED, OUTAGE):
            return self._lasting(endpoint)
        service = self._place(self.index, self.address).answers()
        self._strike(endpoint, lasting=False)
        waited = self.time.waited
        try:
            pack = service.find(EvidenceRequest(query="how do I retry once?"))
        finally:
            service.close()
        tries = len(self.standin.sent(endpoint))
        found = "full answer" if not told(pack) else f"{codes(pack)[0]}"
        once = f"once: {found}, {tries_of(tries)}, {self.time.waited - waited:.1f} s"
        self.standin.recover()
        return f"{once}. Lasting: {self._lasting(endpoint)}"

    def _lasting(self, endpoint: str) -> str:
        service = self._place(self.index, self.address).answers()
        self._strike(endpoint, lasting=True)
        before, began = len(self.standin.sent(endpoint)), self.time.time
        try:
            pack = service.find(EvidenceRequest(query="how do I retry first?"))
            tries = len(self.standin.sent(endpoint)) - before
            # The question's limit for each of what is asked, and a second for a slow machine.
            limits = services.QUERY_SECONDS, TIMEOUT_SECONDS
            assert self.time.time - began < sum(limits) + 1, "it hung past its time-out"
            self._search_for_the_key(self.index, pack.model_dump_json())
            assert pack.candidates and pack.quality.level in ("mixed", "keyword_only"), pack.quality
            said = f"{codes(pack)[0]} ({pack.quality.note.rpartition('; ')[2].rstrip('.')})"
            assert len({*codes(pack)}) == (self.uses if self.fault in (REFUSED, OUTAGE) else 1)
            strict = self._strict(service)
            opened = self._opens(service, endpoint)
            back = self._comes_back(service)
        finally:
            service.close()
        asked = "" if self.fault == REFUSED else f", {tries_of(tries)}"
        return f"{said}{asked}; strict: {strict}; {opened}; {back}"

    def _strict(self, service: Any) -> str:
        try:
            service.find(EvidenceRequest(query="how do I retry strictly?", strict=True))
        except EvidenceError as exc:
            self._search_for_the_key(self.index, str(exc), repr(exc))
            return exc.code
        return "an answer"

    def _opens(self, service: Any, endpoint: str) -> str:
        """Whether the breaker spares the service after three failures in a row; one or two were before."""
        for number in ("third", "fourth"):
            service.find(EvidenceRequest(query=f"how do I retry a {number} time?"))
        if self.fault == REFUSED:
            pack = service.find(EvidenceRequest(query="how do I retry a fifth time?"))
            return "then not asked" if "in a row" in " ".join(told(pack)) else "asked each time"
        before = len(self.standin.sent(endpoint))
        service.find(EvidenceRequest(query="how do I retry a fifth time?"))
        return "then not asked" if len(self.standin.sent(endpoint)) == before else "asked each time"

    def _comes_back(self, service: Any) -> str:
        self.time.clock.sleep(BREAKER_SECONDS + 1)
        if self.fault == OUTAGE:
            self.time.clock.sleep(OUTAGE_SECONDS)
        elif self.fault == REFUSED:
            return "tried again after 30 s"
        self.standin.recover()
        pack = service.find(EvidenceRequest(query="how do I retry at last?"))
        assert not told(pack), told(pack)
        return "back within 31 s"

    # --- both ---

    def _strike(self, endpoint: str, *, lasting: bool, spare: int = 0) -> None:
        """Arrange the fault; the first `spare` requests pass."""
        fault = self._struck
        if self.fault == OUTAGE:
            self.standin.go_down_until(self.time.time + OUTAGE_SECONDS)
        elif fault is not None:
            self.standin.strike(endpoint, *[None] * spare, *([] if lasting else [fault]))
            if lasting:
                self.standin.strike_always(endpoint, fault)

    def _place(self, root: Path, address: str) -> Any:
        short = self.fault == "body that never ends"
        # No test waits for the time-outs of users.
        services.INGESTION_SECONDS = SHORT_SECONDS if short else INGESTION_SECONDS
        services.QUERY_SECONDS = SHORT_SECONDS if short else QUERY_SECONDS
        rerankers.TIMEOUT_SECONDS = SHORT_SECONDS if short else TIMEOUT_SECONDS
        return VoyagePlace(root, address, self.time, SMALL_REQUESTS)

    def _search_for_the_key(self, root: Path, *texts: str) -> None:
        # Manifests, logs and caches; the store's own files are large and mostly holes.
        written = [path for path in root.rglob("*") if path.suffix in WRITTEN]
        key = self.key.encode()
        if any(self.key in text for text in texts) or any(key in path.read_bytes() for path in written):
            raise LeakError(f"the key leaked by {self.fault}")


class _OpenAiCell(_Cell):
    """The same with OpenAI's embeddings, for docs and code alike."""

    key: ClassVar = OPENAI_KEY
    uses: ClassVar = 1

    @property
    def _struck(self) -> Fault | None:
        return OPENAI_FAULTS.get(self.fault, FAULTS[self.fault])

    def _place(self, root: Path, address: str) -> Any:
        values = dict(SMALL_TEXTS)
        if self.fault == "body that never ends":
            values |= {"timeout_seconds": SHORT_SECONDS}
        return OpenAiPlace(root, self.standin, values, self.time, address, NEVER_WEAK)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        print("| fault | " + " | ".join(CALLS) + " |")
        print("| --- " * (len(CALLS) + 1) + "|")
        for name in FAULTS:
            print(f"| {name} | " + " | ".join(bench.cell(name, call) for call in CALLS) + " |", flush=True)
