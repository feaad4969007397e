"""A process of its own for tests: `python -m tests.process.ingest_driver ingest|ask ROOT [STAGE]`.

`ingest` runs the real command on the workplace at ROOT. At STAGE it prints `reached` and waits for a
line on its standard input. `ask` answers one question again and again, a JSON line each, until its standard input is
closed.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import adk_ingest.pipeline as pipeline
from adk_evidence.embedding.bm25 import Bm25Encoder
from adk_evidence.models.request import EvidenceRequest
from adk_ingest.commands.cli import app
from adk_ingest.publishing.manifest import RunLog, RunManifest
from tests.corpora import HashEmbedder, Workplace

QUESTION = "how do I retry when a tool throws?"


def ingest(workplace: Workplace, stage: str) -> None:
    waited = threading.Event()

    def wait() -> None:
        if not waited.is_set():
            waited.set()
            print("reached", flush=True)
            sys.stdin.readline()

    # After a batch, so that there is something to keep.
    embedder = HashEmbedder(batch_size=4, on_batch=lambda done: wait() if stage == "embed" and done else None)
    patch = pytest.MonkeyPatch()
    patch.setattr(pipeline, "make_dense", lambda *_, **__: embedder)
    save, encode = RunLog.save, Bm25Encoder.encode_documents

    def watched_save(self: RunLog, run: RunManifest) -> None:
        save(self, run)
        if stage != "embed" and run.cursor is not None and run.cursor.stage == stage:
            wait()

    def watched_encode(self: Bm25Encoder, *arguments: Any) -> Any:
        if stage == "sparse":
            wait()
        return encode(self, *arguments)

    patch.setattr(RunLog, "save", watched_save)
    patch.setattr(Bm25Encoder, "encode_documents", watched_encode)
    corpora = ["--docs", str(workplace.docs), "--code", str(workplace.code)]
    app(["all", *corpora, "--home", str(workplace.home), "--offline"])


def ask(workplace: Workplace) -> None:
    stopped = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        stopped.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    service = workplace.service()
    while not stopped.is_set():
        pack = service.find(EvidenceRequest(query=QUESTION))
        answer = {
            "generation": pack.index.generation if pack.index else None,
            "results": len(pack.candidates),
            "warnings": list(map(str, pack.warnings)),
        }
        print(json.dumps(answer), flush=True)
    service.close()


if __name__ == "__main__":
    what, root, *rest = sys.argv[1:]
    if what == "ask":
        ask(Workplace(Path(root)))
    else:
        ingest(Workplace(Path(root)), *rest)
