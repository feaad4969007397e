"""`adk-ingest` without a model: `python -m tests.lsp.ingest_driver ROOT all --home=... --json ...`.

Where the file `hold` is in ROOT, the run stops after its first vectors and waits to be ended; where `keywords-first`
is, an index without vectors is published first. While the process lives it holds the lock `ROOT/ingesting.lock`.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock

import adk_ingest.pipeline as pipeline
from adk_evidence_lsp.ingest_process import end_with_parent
from adk_ingest.commands.cli import app
from tests.corpora import HashEmbedder


def main() -> None:
    root, *arguments = sys.argv[1:]
    folder = Path(root)

    def on_batch(done: int) -> None:
        if done and (folder / "hold").exists():
            print('{"event": "note", "message": "held"}', file=sys.stderr, flush=True)
            threading.Event().wait()

    end_with_parent()
    patch = pytest.MonkeyPatch()
    if (folder / "keywords-first").exists():
        patch.setattr(pipeline, "LEXICAL_FIRST", 1)
    patch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder(batch_size=4, on_batch=on_batch))
    with FileLock(folder / "ingesting.lock", timeout=0):
        app(arguments)


if __name__ == "__main__":
    main()
