"""The servers of the tests in the editor, on the workplace that workplace.py made at ROOT.

`python server.py ROOT serve lsp` and `python server.py ROOT serve mcp [OPTION...]`: the product's, but for the model.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

CHECKOUT = str(Path(__file__).resolve().parents[3])
sys.path.insert(0, CHECKOUT)
os.environ["PYTHONPATH"] = CHECKOUT  # for the process that it ingests with


def main() -> None:
    """Serve what the command line says."""
    program, root, *words = sys.argv
    if words[:2] == ["serve", "lsp"]:
        from tests.lsp.driver import main as serve

        sys.argv = [program, root]
        serve()
    else:
        from tests.corpora import HashEmbedder

        from adk_evidence.search import session as door
        from adk_evidence_cli.main import run

        door.make_dense = lambda settings: HashEmbedder()
        sys.argv = [program, *words]
        run()


if __name__ == "__main__":
    main()
