"""A process of its own for tests: `python -m tests.process.watch_driver ARGUMENTS` is `adk-ingest` without a model."""

from __future__ import annotations

import signal
import sys

import pytest

import adk_ingest.indexes.codebase as codebase
import adk_ingest.pipeline as pipeline
from adk_ingest.commands.cli import app
from tests.corpora import HashEmbedder

if __name__ == "__main__":
    # Shells have background jobs ignore Ctrl+C, and the tests may run in one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    patch = pytest.MonkeyPatch()
    for module in (codebase, pipeline):
        patch.setattr(module, "make_dense", lambda *_, **__: HashEmbedder())
    app(sys.argv[1:])
