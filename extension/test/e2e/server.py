"""The language server of the tests in the editor: `python server.py ROOT`, on the workplace that workplace.py made.

It is `tests.lsp.driver`: the product's server, but for the model.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

CHECKOUT = str(Path(__file__).resolve().parents[3])
sys.path.insert(0, CHECKOUT)
os.environ["PYTHONPATH"] = CHECKOUT  # for the process that it ingests with

from tests.lsp.driver import main  # noqa: E402

if __name__ == "__main__":
    main()
