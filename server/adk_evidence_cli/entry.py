"""Where the two commands start. Nothing is imported before an interrupt is expected."""

import importlib
import os
import sys

# As the extension of VS Code starts the server. To build the whole command line takes a sixth of a second.
_SERVER = ["serve", "lsp", "--log-level", "info"]


def evidence() -> None:
    """Entry point of `adk-evidence`."""
    _run("adk_evidence_lsp.stdio" if sys.argv[1:] == _SERVER else "adk_evidence_cli.main")


def ingest() -> None:
    """Entry point of `adk-ingest`."""
    _run("adk_ingest.commands.cli")


def _run(module: str) -> None:
    try:
        if sys.executable and sys.getfilesystemencoding() != "utf-8":
            # The locale has another encoding. Names of files are UTF-8 here, as arguments are.
            os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606
        importlib.import_module(module).run()
    except KeyboardInterrupt:
        # Before a command runs; within it, `friendly_errors` says more and ends with the same exit code.
        sys.exit(130)
