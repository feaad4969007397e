"""What every fault of a Qdrant server does to a query, an upload and a count: the store's part of the fault matrix."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from adk_evidence.errors import EvidenceError
from adk_evidence.services import qdrant as server_client
from adk_evidence.services.qdrant import ServerConnection, query_breaker, query_patience, upload_patience
from adk_evidence.services.resilience import BREAKER_SECONDS
from adk_evidence.settings import load_settings
from adk_evidence.store.base import Fusion, Prefetch
from adk_evidence.store.qdrant_server import ServerIndexReader, ServerRecord
from tests.clocks import FakeTime
from tests.core.test_server_client import KEY, SPEC, fill, writer
from tests.core.test_store_contract import axis, point, terms
from tests.standins.qdrant import QdrantStandIn

QUERY, UPLOAD, COUNT = "store: query", "store: upload", "store: count"
REQUESTS = {QUERY: "points/query", UPLOAD: r"PUT .*/points$", COUNT: "points/count"}
POINTS = 12
OUTAGE_SECONDS = 60
REFUSED, OUTAGE, EXPIRED, MISFIT = (
    "connection refused", f"outage of {OUTAGE_SECONDS} s", "expired key", "wrong dimension or index",
)  # fmt: skip
SHORT_SECONDS = 0.3
# Faults of single requests; the others are states of the server.
STRIKES: dict[str, tuple[Any, dict[str, Any]]] = {
    "429, Retry-After: 7": (429, {"headers": {"Retry-After": "7"}}),
    "429": (429, {"message": ""}),
    "500": (500, {}),
    "502": (502, {}),
    "503": (503, {}),
    "reset inside the body": ("reset mid-body", {}),
    "body that never ends": ("slow body", {}),
    "no JSON": ("garbage", {}),
    "missing vector or score": ("missing score", {}),
}
# A count has neither vectors nor scores, and what answers an upload has no scores.
CANNOT_HAPPEN = {(MISFIT, COUNT), ("missing vector or score", COUNT), ("missing vector or score", UPLOAD)}


def store_cell(root: Path, fault: str, call: str) -> str:
    """What a fault does to a call; `root` is an empty folder."""
    if (fault, call) in CANNOT_HAPPEN:
        return "-"
    time = FakeTime(running=True)
    with QdrantStandIn(key=KEY) as server, _on_the_clock(time, server, fault):
        cell = _Cell(server, fill(server, root), time, fault, call)
        return cell.upload() if call == UPLOAD else cell.ask()


@contextmanager
def _on_the_clock(time: FakeTime, server: QdrantStandIn, fault: str) -> Iterator[None]:
    """Waits take no time, and none is random. A server that is away for a while is back after it."""
    back = time.time + OUTAGE_SECONDS - 1

    def sleep(seconds: float) -> None:
        time.clock.sleep(seconds)
        if fault == OUTAGE and server._server is None and time.time >= back:
            server.up()

    with patch.object(server_client, "Clock", lambda **_: replace(time.clock, sleep=sleep)):
        yield


@dataclass
class _Cell:
    server: QdrantStandIn
    folder: Path
    time: FakeTime
    fault: str
    call: str

    def __post_init__(self) -> None:
        store = {"kind": "server", "url": self.server.url}
        self.settings = load_settings({"store": store}, user_file=self.folder / "none.yaml")
        self.query_patience, self.upload_patience = query_patience(self.settings), upload_patience(self.settings)
        if self.fault == "body that never ends":
            self.query_patience = replace(
                self.query_patience, try_seconds=SHORT_SECONDS, deadline_seconds=SHORT_SECONDS
            )
            self.upload_patience = replace(self.upload_patience, try_seconds=SHORT_SECONDS)

    # --- ingestion ---

    def upload(self) -> str:
        once = ""
        if self.fault in STRIKES:
            once = f"once: {self._upload(times=1)}. Lasting: "
        return once + self._upload()

    def _upload(self, times: float = float("inf")) -> str:
        index = writer(self.server, self.folder, patience=self.upload_patience, batch_points=4)
        with closing(index):
            index.count("docs")
            # What opened the index waits for nothing.
            before, waited = len(self.time.waits), self.time.waited
            began = self.time.time
            with self._struck(times):
                try:
                    index.upsert("docs", [point(n, text="again") for n in range(POINTS)])
                    stopped = None
                except EvidenceError as exc:
                    stopped = self._checked(exc)
            more, seconds = len(self.time.waits) - before, self.time.waited - waited
            longest = self.upload_patience.try_seconds * self.upload_patience.attempts
            assert self.time.time - began < seconds + longest + 1, "it hung past its time-out"
        with closing(writer(self.server, self.folder, patience=self.upload_patience)) as again:
            if stopped:
                again.upsert("docs", [point(n, text="again") for n in range(POINTS)])
            assert again.count("docs") == POINTS
            assert all(record.payload["text"] == "again" for record in again.scroll("docs")[0])
        if stopped is None:
            return f"complete after {tries_of(more, ' more')}, {seconds:.0f} s"
        return f"stops with {stopped} in {tries_of(more + 1)}, {seconds:.0f} s; the next run goes on"

    # --- questions ---

    def ask(self) -> str:
        once = ""
        if self.fault in STRIKES:
            with closing(self._reader()) as reader, self._struck(times=1):
                once = f"once: {self._asked(reader)}. Lasting: "
        return once + self._lasting()

    def _lasting(self) -> str:
        with closing(self._reader()) as reader:
            with self._struck():
                said = self._asked(reader)
                for _ in range(2):
                    self._asked(reader)
                seen = len(self.server.seen)
                spared = "not asked for a while" in self._message(reader)
                assert not spared or len(self.server.seen) == seen
            opened = "then not asked" if spared else "asked each time"
            self.time.clock.sleep(BREAKER_SECONDS + 1)
            assert self._asked(reader).startswith("full answer, 1 try")
        return f"{said}; {opened}; back {'within 31 s' if spared else 'at once'}"

    def _reader(self) -> ServerIndexReader:
        breaker = query_breaker(self.time.clock)
        connection = ServerConnection(self.server.url, self.query_patience, key=KEY, breaker=breaker)
        return ServerIndexReader(self.folder, [SPEC], connection)

    def _asked(self, reader: ServerIndexReader) -> str:
        before, waited, began = len(self.time.waits), self.time.waited, self.time.time
        try:
            self._question(reader)
            said = "full answer"
        except EvidenceError as exc:
            said = self._checked(exc)
        limit = self.query_patience.deadline_seconds or 0.0
        assert self.time.time - began < limit + 1, "it hung past its time-out"
        return f"{said}, {tries_of(len(self.time.waits) - before + 1)}, {self.time.waited - waited:.1f} s"

    def _question(self, reader: ServerIndexReader) -> None:
        if self.call == COUNT:
            assert reader.count("docs") == POINTS
        else:
            branches = [Prefetch("dense", axis(1), 5), Prefetch("lexical", terms(1), 5)]
            assert len(reader.hybrid_query("docs", branches, Fusion(), limit=2).fused) == 2

    def _message(self, reader: ServerIndexReader) -> str:
        try:
            self._question(reader)
        except EvidenceError as exc:
            return exc.message
        return ""

    # --- both ---

    @contextmanager
    def _struck(self, times: float = float("inf")) -> Iterator[None]:
        """The fault, for the length of a block."""
        with ExitStack() as stack:
            if self.fault in STRIKES:
                how, more = STRIKES[self.fault]
                stack.enter_context(self.server.failing(REQUESTS[self.call], how, times=times, **more))
            elif self.fault == EXPIRED:
                stack.enter_context(patch.object(self.server, "key", "another"))
            elif self.fault == MISFIT:
                stack.enter_context(patch.dict(self._collection().dense["dense"], size=4))
            else:
                self.server.down()
                stack.callback(self._up)
            yield

    def _up(self) -> None:
        if self.server._server is None:
            self.server.up()

    def _collection(self) -> Any:
        record = ServerRecord.read(self.folder)
        assert record is not None
        return self.server.collections[record.collections["docs"]]

    def _checked(self, failure: EvidenceError) -> str:
        """The failure's code; the key is nowhere in it, and it is one sentence."""
        shown = "".join(traceback.format_exception(failure)) + repr(failure)
        assert KEY not in shown, f"the key leaked by {self.fault}"
        assert failure.message.startswith("The collection docs cannot ") and "\n" not in failure.message
        return failure.code


def tries_of(number: int, more: str = "") -> str:
    return f"{number}{more} {'try' if number == 1 else 'tries'}"
