"""Where the two commands start. Nothing is imported before an interrupt is expected."""

import importlib
import sys


def evidence() -> None:
    """Entry point of `adk-evidence`."""
    _run("adk_evidence_cli.main")


def ingest() -> None:
    """Entry point of `adk-ingest`."""
    _run("adk_ingest.commands.cli")


def _run(module: str) -> None:
    try:
        importlib.import_module(module).run()
    except KeyboardInterrupt:
        # Before a command runs; within it, `friendly_errors` says more and ends with the same exit code.
        sys.exit(130)
