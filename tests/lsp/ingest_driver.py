"""`adk-ingest` without a model: `python -m tests.lsp.ingest_driver ROOT all --home=... --json ...`.

Where the file `hold` is in ROOT, the run stops after its first vectors and waits to be ended; where `no-targets` is,
there is no model for the symbols; where `keywords-first` is, an index without vectors is published first. While the
process lives it holds the lock `ROOT/ingesting.lock`.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock

import adk_ingest.pipeline as pipeline
import adk_ingest.targets.build as build
from adk_evidence.errors import ModelError
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

    def no_model(*_: object, **__: object) -> None:
        raise ModelError("There is no model.")

    end_with_parent()
    patch = pytest.MonkeyPatch()
    if (folder / "no-targets").exists():
        patch.setattr(build, "_embed", no_model)
    if (folder / "keywords-first").exists():
        patch.setattr(pipeline, "LEXICAL_FIRST", 1)
    patch.setattr(pipeline, "make_dense", lambda *_, **__: HashEmbedder(batch_size=4, on_batch=on_batch))
    with FileLock(folder / "ingesting.lock", timeout=0):
        app(arguments)


if __name__ == "__main__":
    main()
