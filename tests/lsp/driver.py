"""The server with a stand-in for the embedding model: `python -m tests.lsp.driver ROOT`.

It is the product's server but for the model and the command that ingests, which is `tests.lsp.ingest_driver` on the
workplace at ROOT. A question with the word HOLD waits in the embedder, after a notification `test/reached`, until the
client sends `test/release`; `test/load` answers with the load of the process. One with the word NAN gets a pack with
numbers that JSON lacks, one with BREAK fails as no user should cause.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import adk_evidence_lsp.server as server_module
from adk_evidence.admission import Limits
from adk_evidence.models.load import ProcessLoad
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.context import Context
from adk_evidence.search.session import EvidenceService, Session
from adk_evidence.settings import Settings
from adk_evidence.telemetry import log_to_stderr
from adk_evidence_lsp.features import make_server
from adk_evidence_lsp.server import EvidenceServer
from tests.corpora import HashEmbedder, shared_sparse
from tests.released import follow

SECRET = "sk-secret-of-the-user"  # noqa: S105


class Gate:
    """Holds the threads of questions until the client lets them go."""

    def __init__(self) -> None:
        self.server: EvidenceServer | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._open = threading.Event()

    def wait(self) -> None:
        assert self.server is not None and self.loop is not None
        self.loop.call_soon_threadsafe(self.server.protocol.notify, "test/reached", {})
        self._open.wait()

    def release(self) -> None:
        self._open.set()
        self._open = threading.Event()


class Held(HashEmbedder):
    """Waits at the gate for questions with the word HOLD."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    def embed_query(self, text: str) -> list[float]:
        if "HOLD" in text:
            self._gate.wait()
        return super().embed_query(text)


class Odd(Session):
    """Answers some questions as no session should."""

    def find(self, request: EvidenceRequest) -> EvidencePack:
        if "BREAK" in request.query:
            raise RuntimeError(f"{SECRET} in {__file__}")
        pack = super().find(request)
        if "NAN" in request.query:
            return pack.model_copy(update={"debug": {"nan": float("nan"), "inf": [float("inf")]}})
        return pack


class Service(EvidenceService):
    """Opens such sessions."""

    @contextmanager
    def session(self, context: Context | None = None) -> Iterator[Session]:
        with super().session(context) as session:
            yield Odd(self, session.index, session.context)


def main() -> None:
    (root,) = sys.argv[1:]
    server_module.PARENT_POLL_SECONDS = 0.05
    follow(Path(root))
    gate = Gate()

    def open_service(settings: Settings) -> EvidenceService:
        return Service(settings, dense=Held(gate), sparse=shared_sparse())

    server = make_server(open_service, (sys.executable, "-m", "tests.lsp.ingest_driver", root))
    gate.server = server
    # Numbers of requests that a test can reach.
    if most := os.environ.get("TESTS_MOST_WAITING"):
        server.executor.questions.limits = Limits(running=1, waiting=int(most))

    async def release(params: Any) -> None:
        gate.release()

    async def prepare(params: Any) -> None:
        gate.loop = asyncio.get_running_loop()

    async def load(params: Any) -> dict[str, Any]:
        with server.desk.use(None) as (service, _):
            return ProcessLoad(
                requests=server.executor.questions.use(), shared=service.door.shared, caches=service.caches()
            ).model_dump(mode="json")

    server.feature("test/release")(release)
    server.feature("test/load")(load)
    server.feature("test/prepare")(prepare)
    log_to_stderr("debug")
    server.serve_stdio()


if __name__ == "__main__":
    main()
