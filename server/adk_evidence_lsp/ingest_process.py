"""`adk-ingest` as the server's child: `python -m adk_evidence_lsp.ingest_process all --json ...`.

The child ends with its parent, even a killed one: the parent holds the other end of the child's standard input.
"""

from __future__ import annotations

import os
import sys
import threading

ORPHANED = 130


def end_with_parent() -> None:
    """End this process when its standard input does. A run may end at any point: the index stays as it was."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        os._exit(ORPHANED)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    from adk_ingest.commands.cli import run
    from adk_ingest.priority import lower_priority

    end_with_parent()
    # An ingestion may take minutes in which its user goes on to write.
    lower_priority()
    run()


if __name__ == "__main__":
    main()
