"""Where the two commands start. Nothing is imported before an interrupt is expected."""

import importlib
import sys

# The exit code of a program that Ctrl-C ended.
INTERRUPTED = 130


def evidence() -> None:
    """Entry point of `adk-evidence`."""
    _run("adk_evidence_cli.main")


def ingest() -> None:
    """Entry point of `adk-ingest`."""
    _run("adk_ingest.cli")


def _run(module: str) -> None:
    try:
        importlib.import_module(module).run()
    except KeyboardInterrupt:
        # Within a command, `friendly_errors` has told more; this is the time before it.
        sys.exit(INTERRUPTED)
