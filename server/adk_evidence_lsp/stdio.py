"""Starts the language server over standard input and output, for the command line and for editors."""

from __future__ import annotations

import gc


def run(log_level: str = "info") -> None:
    """Serve one client until it ends, and log to standard error from a level on. Does not return."""
    # What the start loads stays; to look for garbage among it takes a sixth of the time to the first answer.
    gc.disable()
    from adk_evidence.telemetry import log_to_stderr
    from adk_evidence_lsp.features import make_server

    log_to_stderr(log_level)
    make_server().serve_stdio()
